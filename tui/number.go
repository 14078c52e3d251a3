package tui

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"fairgate/fairness"
)

// none is drawn where a quantity does not exist.
const none = "–"

// A rateFormat writes the rates of one column of a table in one way, so that their decimal points stand below each other.
type rateFormat struct {
	decimals int
	divisor  float64
	unit     string
}

// formatFor finds the format in which the largest is short and the smallest still has its significant digits.
func formatFor(smallest, largest float64) rateFormat {
	f := rateFormat{divisor: 1, unit: "/s"}
	switch {
	case largest >= 9_999_999:
		f = rateFormat{divisor: 1e6, unit: "M/s"}
	case largest >= 99_999:
		f = rateFormat{divisor: 1e3, unit: "k/s"}
	}
	switch smallest /= f.divisor; {
	case smallest <= 0 || smallest >= 100:
	case smallest >= 10:
		f.decimals = 1
	default:
		f.decimals = 2
	}
	whole := len(strconv.Itoa(int(largest / f.divisor)))
	switch most := max(0, 4-whole); {
	case f.decimals <= most:
	case smallest < 10 && whole <= 4: // a digit for the little, though the large ones need none
		f.decimals = max(most, 1)
	default:
		f.decimals = most
	}
	return f
}

func (f rateFormat) text(n fairness.Number) string {
	if !n.Exists() {
		return none
	}
	return fairness.Number(float64(n)/f.divisor).Format(f.decimals) + f.unit
}

// columnFormat is the format for a column of rates.
func columnFormat(n int, of func(int) fairness.Number) rateFormat {
	smallest, largest := math.Inf(1), 0.0
	for i := range n {
		if v := of(i).Float(0); v > 0 {
			smallest, largest = min(smallest, v), max(largest, v)
		}
	}
	if largest == 0 {
		smallest = 0
	}
	return formatFor(smallest, largest)
}

// perSecond writes a single rate: about three digits.
func perSecond(v float64) string {
	f := formatFor(v, v)
	if v == math.Trunc(v) && f.divisor == 1 {
		f.decimals = 0
	}
	return f.text(fairness.Number(v))
}

// percent writes a part of one.
func percent(n fairness.Number) string {
	if !n.Exists() {
		return none
	}
	v := float64(n) * 100
	switch {
	case v > 0 && v < 0.5:
		return "<1%"
	case v > 99.5 && v < 100:
		return ">99%"
	}
	return fmt.Sprintf("%.0f%%", v)
}

// clock writes a time of the run as minutes and seconds, or with hours where there are any.
func clock(d time.Duration) string {
	s := int64(max(0, d) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// wait writes a short duration as "<1 ms", "2–5 ms", "1 s" need it.
func wait(d time.Duration) (number, unit string) {
	switch {
	case d < time.Millisecond:
		return strconv.FormatFloat(float64(d)/1e3, 'g', 3, 64), "µs"
	case d < time.Second:
		return strconv.FormatFloat(float64(d)/1e6, 'g', 3, 64), "ms"
	case d < 10*time.Minute:
		return strconv.FormatFloat(float64(d)/1e9, 'g', 3, 64), "s"
	}
	return strconv.FormatFloat(float64(d)/6e10, 'f', 0, 64), "min"
}

// waitBetween writes a range of durations.
func waitBetween(from, to time.Duration) string {
	n, unit := wait(to)
	switch {
	case from <= 0:
		return "<" + n + " " + unit
	case to >= 24*time.Hour:
		n, unit = wait(from)
		return "≥" + n + " " + unit
	}
	m, lower := wait(from)
	if lower != unit {
		m += " " + lower
	}
	return m + "–" + n + " " + unit
}

// millis writes milliseconds in the unit that suits them.
func millis(n fairness.Number) string {
	if !n.Exists() {
		return none
	}
	if n <= 0 {
		return "0 ms"
	}
	number, unit := wait(time.Duration(min(float64(n), 1e12) * 1e6))
	return number + " " + unit
}

// waitsFormat writes the waits of one column, given in milliseconds, in the unit that suits the longest.
func waitsFormat(n int, of func(int) fairness.Number) func(fairness.Number) string {
	longest := 0.0
	for i := range n {
		longest = max(longest, of(i).Float(0))
	}
	decimals, divisor, unit := 1, 1.0, " ms"
	switch {
	case longest >= 1000:
		decimals, divisor, unit = 2, 1000, " s"
	case longest < 1:
		decimals, divisor, unit = 0, 0.001, " µs"
	}
	return func(v fairness.Number) string {
		if !v.Exists() {
			return none
		}
		return fairness.Number(float64(v)/divisor).Format(decimals) + unit
	}
}
