package fairness

import (
	"encoding/json"
	"math"
	"strconv"
)

// Number is a measured quantity that may not exist: NaN stands for "there is none"
// and becomes null in JSON. It never prints as NaN, an infinity or a negative zero.
type Number float64

// None is the quantity that does not exist.
var None = Number(math.NaN())

// Exists reports whether the quantity exists and is finite.
func (n Number) Exists() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// Float is the number, or instead where it does not exist.
func (n Number) Float(instead float64) float64 {
	if n.Exists() {
		return float64(n)
	}
	return instead
}

// Format is the number with so many decimals, or "n/a".
func (n Number) Format(decimals int) string {
	if !n.Exists() {
		return "n/a"
	}
	s := strconv.FormatFloat(float64(n), 'f', decimals, 64)
	if v, err := strconv.ParseFloat(s, 64); err == nil && v == 0 && s[0] == '-' {
		s = s[1:]
	}
	return s
}

// MarshalJSON writes null for what does not exist, and at most nine significant digits.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Exists() {
		return []byte("null"), nil
	}
	if n == 0 {
		return []byte("0"), nil
	}
	return json.Marshal(nineDigits(float64(n)))
}

// nineDigits is the value rounded to nine significant digits, and never a negative zero.
func nineDigits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	return v + 0
}

// UnmarshalJSON reads null as None.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = None
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*n = Number(f)
	return nil
}
