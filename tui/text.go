package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// width is how many columns a text takes.
func width(s string) int { return ansi.StringWidth(s) }

// clean makes a text from outside safe to draw: no control character, no escape sequence, no
// mark that turns the direction of writing, no broken UTF-8. A name cannot move the cursor.
func clean(s string) string {
	if isPrintableASCII(s) {
		return s
	}
	s = ansi.Strip(strings.ToValidUTF8(s, "?"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r == utf8.RuneError:
			return '?'
		case r == '\u200d': // joins the parts of an emoji
			return r
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return -1
		}
		return r
	}, s)
}

func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// fit shortens a text to at most w columns, with an ellipsis where something was left out.
func fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w || width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// pick is the first of several ways to say a thing that fits w columns, or the last one shortened.
func pick(w int, ways ...string) string {
	for _, s := range ways {
		if width(s) <= w {
			return s
		}
	}
	return fit(ways[len(ways)-1], w)
}

// wrap breaks a text at spaces into at most h lines of at most w columns; what does not fit ends in an ellipsis.
func wrap(s string, w, h int) []string {
	if w <= 0 || h <= 0 || s == "" {
		return nil
	}
	var lines []string
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && width(lines[n-1])+1+width(word) <= w {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	if len(lines) > h {
		rest := strings.Join(lines[h-1:], " ")
		lines = append(lines[:h-1], rest)
	}
	for i := range lines {
		lines[i] = fit(lines[i], w)
	}
	return lines
}
