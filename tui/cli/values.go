package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
)

// A choice is a flag whose value is one of a few words.
type choice struct {
	to    *string
	words []string
}

func (c *choice) String() string {
	if c.to == nil {
		return ""
	}
	return *c.to
}
func (c *choice) Type() string { return "word" }
func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		if near := nearest(s, c.words); near != "" {
			return fmt.Errorf("there is no %q, did you mean %s? (%s)", s, near, oneOf(c.words))
		}
		return fmt.Errorf("there is no %q: write %s", s, oneOf(c.words))
	}
	*c.to = s
	return nil
}

// A rateFlag is a rate with its unit.
type rateFlag struct{ to *limiter.Rate }

func (r rateFlag) String() string {
	if r.to == nil || r.to.IsZero() {
		return ""
	}
	return r.to.String()
}
func (r rateFlag) Type() string { return "rate" }
func (r rateFlag) Set(s string) error {
	rate, err := limiter.ParseRate(s)
	if err == nil {
		*r.to = rate
	}
	return err
}

// A perSecondFlag is a rate, with its unit or, as a bare number, per second.
type perSecondFlag struct {
	to   *limiter.Rate
	bare *bool // it had no unit
}

func (p perSecondFlag) String() string { return rateFlag{p.to}.String() }
func (p perSecondFlag) Type() string   { return "rate" }
func (p perSecondFlag) Set(s string) error {
	_, err := strconv.ParseFloat(s, 64)
	if *p.bare = err == nil; *p.bare {
		s += "/s"
	}
	return rateFlag{p.to}.Set(s)
}

// A countFlag is a whole number, at least 1.
type countFlag struct{ to *int64 }

func (c countFlag) String() string {
	if c.to == nil || *c.to == 0 {
		return ""
	}
	return strconv.FormatInt(*c.to, 10)
}
func (c countFlag) Type() string { return "n" }
func (c countFlag) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range: write a whole number, at least 1", s)
	case err != nil:
		return fmt.Errorf("%q is no whole number: write for example 100", s)
	case n < 1:
		return fmt.Errorf("%d is too small: write a whole number, at least 1", n)
	}
	*c.to = n
	return nil
}

// A durationFlag is a length of time with its unit, at least least.
type durationFlag struct {
	to    *time.Duration
	least time.Duration
}

func (d durationFlag) String() string {
	if d.to == nil || *d.to == 0 {
		return ""
	}
	return d.to.String()
}
func (d durationFlag) Type() string { return "time" }
func (d durationFlag) Set(s string) error {
	v, err := time.ParseDuration(s)
	switch {
	case err != nil:
		if _, bare := strconv.ParseFloat(s, 64); bare == nil && s != "0" {
			return fmt.Errorf("%q has no unit: write %ss, or %sms, %sm, …", s, s, s, s)
		}
		return fmt.Errorf("%q is no length of time: write for example 30s, 250ms or 2m", s)
	case v < d.least:
		return fmt.Errorf("%s is too short: write at least %s", v, d.least)
	}
	*d.to = v
	return nil
}

// A seedFlag is a seed: any whole number from 0 up.
type seedFlag struct{ to *uint64 }

func (f seedFlag) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return strconv.FormatUint(*f.to, 10)
}
func (f seedFlag) Type() string { return "n" }
func (f seedFlag) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no seed: write a whole number from 0 up", s)
	}
	*f.to = n
	return nil
}

// A factorFlag is a number above zero.
type factorFlag struct{ to *float64 }

func (f factorFlag) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return strconv.FormatFloat(*f.to, 'g', -1, 64)
}
func (f factorFlag) Type() string { return "n" }
func (f factorFlag) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(v > 0) || v > 1e6 {
		return fmt.Errorf("%q is no factor: write a number above zero, for example 10", s)
	}
	*f.to = v
	return nil
}

// A naturalFlag is a whole number from 0 up.
type naturalFlag struct{ to *int64 }

func (n naturalFlag) String() string {
	if n.to == nil || *n.to == 0 {
		return ""
	}
	return strconv.FormatInt(*n.to, 10)
}
func (n naturalFlag) Type() string { return "n" }
func (n naturalFlag) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 32)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no count: write a whole number from 0 up", s)
	}
	*n.to = v
	return nil
}

// A partFlag is a part of 1, or a percentage.
type partFlag struct{ to *float64 }

func (p partFlag) String() string {
	if p.to == nil || *p.to == 0 {
		return ""
	}
	return strconv.FormatFloat(*p.to, 'g', -1, 64)
}
func (p partFlag) Type() string { return "part" }
func (p partFlag) Set(s string) error {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return fmt.Errorf("%q is no part: write it between 0 and 1, as 0.001 or 0.1%%", s)
	}
	*p.to = v
	return nil
}
