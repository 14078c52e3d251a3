package report

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// rate is a number per second with about three digits that count, and its unit.
func rate(n fairness.Number) string {
	if !n.Exists() {
		return "n/a"
	}
	return rateDigits(n) + "/s"
}

// rateDigits is rate without the unit.
func rateDigits(n fairness.Number) string {
	switch a := math.Abs(n.Float(0)); {
	case a >= 99.95 || a == 0:
		return n.Format(0)
	case a >= 9.995:
		return n.Format(1)
	case a >= 0.9995:
		return n.Format(2)
	}
	return n.Format(3)
}

// decimalsFor is how many decimals a column needs so that its smallest number still shows two digits that count, at most 3.
// One count for the whole column keeps the decimal points under each other.
func decimalsFor(column []fairness.Number) int {
	smallest := math.Inf(1)
	for _, n := range column {
		if a := math.Abs(n.Float(0)); a > 0 && a < smallest {
			smallest = a
		}
	}
	switch {
	case smallest >= 9.95:
		return 0
	case smallest >= 0.995:
		return 1
	case smallest >= 0.0995:
		return 2
	}
	return 3
}

// percent of a part of one: "96%", and one decimal below ten so that small shares do not read as nothing.
func percent(n fairness.Number) string {
	if !n.Exists() {
		return "n/a"
	}
	p := n * 100
	if p > 0 && p < 0.05 {
		return "<0.1%"
	}
	if a := math.Abs(p.Float(0)); a > 0 && a < 9.95 || a > 99 && a < 99.95 {
		return p.Format(1) + "%"
	}
	return p.Format(0) + "%"
}

// count is an integer with its thousands set apart: 15,190.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural is "1 client", "3 clients".
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// milliseconds is a duration given in milliseconds, in the unit that suits it.
func milliseconds(n fairness.Number) string {
	if !n.Exists() {
		return "n/a"
	}
	switch ms := n.Float(0); {
	case ms == 0:
		return "0 ms"
	case ms < 0.01:
		return "<0.01 ms"
	case ms < 1:
		return n.Format(2) + " ms"
	case ms < 9.95:
		return n.Format(1) + " ms"
	case ms < 999.5:
		return n.Format(0) + " ms"
	case ms < 99_950:
		return (n / 1000).Format(1) + " s"
	}
	return (n / 1000).Format(0) + " s"
}

// clock is an offset from the start as minutes and seconds: "00:07", "1:02:03".
func clock(d time.Duration) string {
	s := int64(d / time.Second)
	two := func(n int64) string {
		if n < 10 {
			return "0" + strconv.FormatInt(n, 10)
		}
		return strconv.FormatInt(n, 10)
	}
	if h := s / 3600; h > 0 {
		return strconv.FormatInt(h, 10) + ":" + two(s/60%60) + ":" + two(s%60)
	}
	return two(s/60) + ":" + two(s%60)
}

// clean is s on one line and without control characters: names and titles come from files that others wrote, and must
// not be able to move the cursor of whoever reads the report.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar, unicode.Is(unicode.Bidi_Control, r):
			return '?'
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// left is s in exactly width columns, cut with an ellipsis where it is longer.
func left(s string, width int) string {
	s = ansi.Truncate(s, width, "…")
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}

// right is s at the right of width columns; a longer one is left whole.
func right(s string, width int) string {
	return strings.Repeat(" ", max(0, width-lipgloss.Width(s))) + s
}

// wrap breaks text at blanks, and only there, into lines of at most width columns; a word that is longer than that is cut.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		for _, piece := range strings.Split(ansi.Hardwrap(word, width, false), "\n") {
			last := len(lines) - 1
			switch {
			case lines[last] == "":
				lines[last] = piece
			case lipgloss.Width(lines[last])+1+lipgloss.Width(piece) <= width:
				lines[last] += " " + piece
			default:
				lines = append(lines, piece)
			}
		}
	}
	return lines
}
