package limiter

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Never is the needed wait of an attempt that could not be admitted however
// long it waited, as when its cost is above the burst.
const Never = time.Duration(math.MaxInt64)

// Rate is an exact rate: Tokens every Per. The zero Rate means "not set".
//
// A rate written with a decimal fraction keeps its exactness by scaling both
// parts ("1.39/s" is 139 tokens every 100 s) and remembers in Decimals how many
// digits stood after the point, so that it prints as it was written and an
// algorithm that counts whole windows can refuse it.
type Rate struct {
	Tokens   int64
	Per      time.Duration
	Decimals uint8
}

// PerSecond is the rate n/s.
func PerSecond(n int64) Rate { return Rate{Tokens: n, Per: time.Second} }

// IsZero reports whether the rate is not set.
func (r Rate) IsZero() bool { return r.Tokens == 0 && r.Per == 0 }

// PerSecond is the rate in tokens per second, for people and for measures; no
// decision is ever made from it.
func (r Rate) PerSecond() float64 {
	if r.Per <= 0 {
		return 0
	}
	return float64(r.Tokens) / float64(r.Per) * 1e9
}

// Reduced is the rate as the smallest whole numbers: tokens every per
// nanoseconds, their common divisor taken out.
func (r Rate) Reduced() (tokens, per uint64) {
	a, b := uint64(r.Tokens), uint64(r.Per)
	g := gcd(a, b)
	if g == 0 {
		return 0, 1
	}
	return a / g, b / g
}

// Scaled is the rate multiplied by num/den, exactly where whole tokens allow it
// and otherwise rounded to the nearest thousandth of a token.
func (r Rate) Scaled(num, den int64) Rate {
	hi, lo := bits.Mul64(uint64(r.Tokens), uint64(num))
	if hi == 0 && lo <= math.MaxInt64 && lo%uint64(den) == 0 {
		r.Tokens = int64(lo / uint64(den))
		return r
	}
	milli := math.Round(float64(r.Tokens) * float64(num) / float64(den) * 1000)
	if milli < 1 || milli > math.MaxInt64/2 || r.Per > Never/1000 {
		return r
	}
	s := Rate{Tokens: int64(milli), Per: r.Per * 1000, Decimals: r.Decimals + 3}
	for s.Decimals > 0 && s.Tokens%10 == 0 {
		s.Tokens, s.Per, s.Decimals = s.Tokens/10, s.Per/10, s.Decimals-1
	}
	return s
}

// Check reports what is wrong with a rate that must be positive.
func (r Rate) Check() error {
	switch {
	case r.IsZero():
		return fmt.Errorf("a rate is missing: write for example 1000/s, 60/m or 17/30s")
	case r.Tokens <= 0 || r.Per <= 0:
		return fmt.Errorf("rate %s must be above zero: write for example 1000/s", r)
	case r.Tokens > int64(r.Per):
		return fmt.Errorf("rate %s is above 1000000000/s, the fastest that is counted exactly", r)
	}
	return nil
}

// String is the rate as a person would write it: "1000/s", "17/30s", "1.39/s".
func (r Rate) String() string {
	n := strconv.FormatInt(r.Tokens, 10)
	per := r.Per
	if d := int(r.Decimals); d > 0 {
		for range d {
			per /= 10
		}
		neg := strings.HasPrefix(n, "-")
		n = strings.TrimPrefix(n, "-")
		if len(n) <= d {
			n = strings.Repeat("0", d-len(n)+1) + n
		}
		n = n[:len(n)-d] + "." + n[len(n)-d:]
		if neg {
			n = "-" + n
		}
	}
	switch per {
	case time.Second:
		return n + "/s"
	case time.Minute:
		return n + "/m"
	case time.Hour:
		return n + "/h"
	case 24 * time.Hour:
		return n + "/d"
	}
	return n + "/" + shortDuration(per)
}

// shortDuration is d without the zero parts that time.Duration prints ("1h0m0s").
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

// ParseRate reads a rate: a number, a slash, and a unit (s, m, h, d) or a
// duration, as in 1000/s, 60/m, 1.39/s, 17/30s, 100/72s. A bare number is an error,
// since it does not say what it counts by.
func ParseRate(s string) (Rate, error) {
	const remedy = "write for example 1000/s, 60/m, 17/30s or 1.39/s"
	text := strings.TrimSpace(s)
	number, unit, ok := strings.Cut(text, "/")
	if !ok {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return Rate{}, fmt.Errorf("rate %q has no unit: write %s/s, or %s/m, …", s, text, text)
		}
		return Rate{}, fmt.Errorf("%q is no rate: %s", s, remedy)
	}
	number, unit = strings.TrimSpace(number), strings.TrimSpace(unit)
	whole, fraction, _ := strings.Cut(number, ".")
	if len(fraction) > 9 {
		return Rate{}, fmt.Errorf("rate %q has more than nine digits after the point: %s", s, remedy)
	}
	fraction = strings.TrimRight(fraction, "0")
	tokens, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil || strings.HasPrefix(number, "+") {
		return Rate{}, fmt.Errorf("rate %q does not begin with a number: %s", s, remedy)
	}
	var per time.Duration
	switch unit {
	case "s", "sec", "second":
		per = time.Second
	case "m", "min", "minute":
		per = time.Minute
	case "h", "hour":
		per = time.Hour
	case "d", "day":
		per = 24 * time.Hour
	default:
		if per, err = time.ParseDuration(unit); err != nil {
			return Rate{}, fmt.Errorf("rate %q has unit %q, which is neither s, m, h, d nor a duration: %s", s, unit, remedy)
		}
	}
	r := Rate{Tokens: tokens, Per: per, Decimals: uint8(len(fraction))}
	for range r.Decimals {
		if r.Per > Never/10 {
			return Rate{}, fmt.Errorf("rate %q is too finely divided: %s", s, remedy)
		}
		r.Per *= 10
	}
	if err := r.Check(); err != nil {
		return Rate{}, err
	}
	return r, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
