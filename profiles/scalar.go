package profiles

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
)

// Bounds of single values.
const (
	maxTime  = 10_000 * time.Hour
	maxWhole = 1_000_000_000_000 // tokens: 1e9/s, the fastest rate, for a quarter of an hour
	maxText  = 4000
	maxName  = 64
)

// scalar is a field whose value is one scalar. parse gets the text and whether
// it stood without quotes; show is nil-able text for writing.
func scalar[T, V any](key, should string, at func(*T) *V, parse func(s string, plain bool) (V, error), show func(V) *node) field[T] {
	return field[T]{
		key: key,
		read: func(r *reader, n *node, path string, t *T) {
			if !r.isScalar(n, path, should) {
				return
			}
			v, err := parse(n.text, n.plain)
			if err != nil {
				r.fail(n.at, path, "%s", err)
				return
			}
			*at(t) = v
		},
		write: func(t *T) *node { return show(*at(t)) },
	}
}

// text is a field of one line or more of text.
func text[T any](key string, at func(*T) *string) field[T] {
	return scalar(key, "a text", at, func(s string, _ bool) (string, error) {
		return readText(s)
	}, func(s string) *node {
		if s == "" {
			return nil
		}
		return quotedNode(s)
	})
}

func readText(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", errors.New("is empty: write a text, or leave the key out")
	}
	if len(s) > maxText {
		return "", fmt.Errorf("has %d bytes: a text has at most %d", len(s), maxText)
	}
	for _, c := range s {
		if isControl(c) && c != '\n' {
			return "", fmt.Errorf("holds an invisible character (%U): take it out", c)
		}
	}
	return s, nil
}

// word is a field that holds one of some words.
func word[T any, V ~string](key string, at func(*T) *V, choices ...V) field[T] {
	return scalar(key, "one of "+list(words(choices)), at, func(s string, _ bool) (V, error) {
		if slices.Contains(choices, V(s)) {
			return V(s), nil
		}
		return "", noSuch(s, words(choices))
	}, func(v V) *node {
		if v == "" {
			return nil
		}
		return plainNode(string(v))
	})
}

func words[V ~string](vs []V) []string {
	s := make([]string, len(vs))
	for i, v := range vs {
		s[i] = string(v)
	}
	return s
}

// noSuch is the error of a word that is none of the choices.
func noSuch(s string, choices []string) error {
	if near := suggest(s, choices); near != "" {
		return fmt.Errorf("%s is not known: did you mean %s? (%s)", quote(s), near, list(choices))
	}
	return fmt.Errorf("%s is not known: write %s", quote(s), list(choices))
}

// rate is a field that holds a rate.
func rate[T any](key string, at func(*T) *limiter.Rate) field[T] {
	return scalar(key, "a rate such as 1000/s", at, readRate, showRate)
}

func readRate(s string, _ bool) (limiter.Rate, error) {
	if len(s) > maxName {
		return limiter.Rate{}, fmt.Errorf("%s is no rate: write for example 1000/s, 60/m, 17/30s or 1.39/s", quote(s))
	}
	return limiter.ParseRate(s)
}

func showRate(r limiter.Rate) *node {
	if r.IsZero() {
		return nil
	}
	return plainNode(r.String())
}

// rateFromZero is a rate that may be 0/s, as where a ramp begins.
func rateFromZero[T any](key string, at func(*T) *limiter.Rate) field[T] {
	return scalar(key, "a rate such as 0/s or 100/s", at, func(s string, plain bool) (limiter.Rate, error) {
		unit, zero := strings.CutPrefix(strings.TrimSpace(s), "0/")
		if !zero {
			return readRate(s, plain)
		}
		r, err := readRate("1/"+unit, plain)
		if err != nil {
			return r, fmt.Errorf("rate %s has a unit that is neither s, m, h, d nor a duration: write for example 0/s", quote(s))
		}
		r.Tokens = 0
		return r, nil
	}, showRate)
}

// duration is a field that holds a time from least upwards.
func duration[T any](key string, least time.Duration, at func(*T) *time.Duration) field[T] {
	return scalar(key, "a duration such as 250ms", at, func(s string, _ bool) (time.Duration, error) {
		return readDuration(s, least)
	}, durationNode)
}

func durationNode(d time.Duration) *node { return plainNode(shortDuration(d)) }

// shortDuration is d without the zero parts of time.Duration's "1h0m0s".
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func readDuration(s string, least time.Duration) (time.Duration, error) {
	const remedy = "write a number and a unit, as in 250ms, 30s, 5m or 1h30m"
	if f, err := strconv.ParseFloat(s, 64); err == nil && f != 0 {
		return 0, fmt.Errorf("%s has no unit: write %ss, or %sms, …", quote(s), printable(s), printable(s))
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s is no duration: %s", quote(s), remedy)
	case d < least && least > 0:
		return 0, fmt.Errorf("%s must be above zero: %s", quote(s), remedy)
	case d < least:
		return 0, fmt.Errorf("%s must not be below zero: %s", quote(s), remedy)
	case d > maxTime:
		return 0, fmt.Errorf("%s is more than %s, the longest time that a profile may hold", quote(s), shortDuration(maxTime))
	}
	return d, nil
}

// above is the least duration of a field that must not be zero.
const above = time.Nanosecond

// whole is a field that holds a whole number.
func whole[T any, V ~int | ~int64](key string, least, most int64, at func(*T) *V) field[T] {
	return scalar(key, "a whole number", at, func(s string, plain bool) (V, error) {
		n, err := readWhole(s, plain, least, most)
		return V(n), err
	}, func(v V) *node { return plainNode(fmt.Sprint(v)) })
}

func readWhole(s string, plain bool, least, most int64) (int64, error) {
	if !plain {
		return 0, fmt.Errorf("%s is a text and should be a whole number: write it without quotes", quote(s))
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > most:
		return 0, fmt.Errorf("%s is too large: it may be %d at most", printable(s), most)
	case err != nil:
		return 0, fmt.Errorf("%s is no whole number: write it in digits alone, as in %d", quote(s), max(least, 10))
	case n < least:
		return 0, fmt.Errorf("%s is too small: it must be %d or more", printable(s), least)
	}
	return n, nil
}

// optional is a whole number for which 0 and "not said" differ.
func optional[T any](key string, least, most int64, at func(*T) **int64) field[T] {
	return scalar(key, "a whole number", at, func(s string, plain bool) (*int64, error) {
		n, err := readWhole(s, plain, least, most)
		return &n, err
	}, func(v *int64) *node {
		if v == nil {
			return nil
		}
		return plainNode(strconv.FormatInt(*v, 10))
	})
}

// fraction is a field that holds a number from 0 to most.
func fraction[T any](key string, most float64, at func(*T) *float64) field[T] {
	return scalar(key, "a number", at, func(s string, plain bool) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		switch {
		case !plain:
			return 0, fmt.Errorf("%s is a text and should be a number: write it without quotes", quote(s))
		case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) || strings.ContainsAny(s, "_xXpP"):
			return 0, fmt.Errorf("%s is no number: write one from 0 to %g, as in 0.1", quote(s), most)
		case f < 0 || f > most:
			return 0, fmt.Errorf("%s is out of range: it goes from 0 to %g", printable(s), most)
		}
		return f + 0, nil // + 0: a negative zero becomes a plain one
	}, floatNode)
}

// yesNo is a field that holds true or false.
func yesNo[T any](key string, at func(*T) *bool) field[T] {
	return scalar(key, "true or false", at, readYesNo, func(v bool) *node {
		return plainNode(strconv.FormatBool(v))
	})
}

func readYesNo(s string, plain bool) (bool, error) {
	if plain && (s == "true" || s == "false") {
		return s == "true", nil
	}
	return false, fmt.Errorf("%s is neither true nor false: write one of the two", quote(s))
}

// sparse is a field whose zero value means "not said" and is not written.
func sparse[T any](f field[T]) field[T] {
	write := f.write
	f.write = func(t *T) *node {
		n := write(t)
		if n == nil {
			return nil
		}
		switch n.text {
		case "0", "0s", "false", "":
			return nil
		}
		return n
	}
	return f
}
