package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestCanvasClips(t *testing.T) {
	c := newCanvas(6, 3)
	p := c.pane(rect{1, 1, 4, 1})
	for _, at := range []struct {
		x, y int
		s    string
	}{{-2, 0, "abcdefghijk"}, {0, 1, "below"}, {0, -1, "above"}, {3, 0, "あ"}} {
		p.text(at.x, at.y, inkPlain, at.s)
	}
	// Of あ only one column would fit: a space stands there.
	if got, want := c.paint(new(look)), "      \n cde  \n      "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCanvasLeavesNoHalfOfAWideCharacter(t *testing.T) {
	for x := range 6 {
		c := newCanvas(6, 1)
		p := c.pane(rect{0, 0, 6, 1})
		p.text(1, 0, inkPlain, "あい")
		p.text(x, 0, inkPlain, "x")
		if got := c.paint(new(look)); ansi.StringWidth(got) != 6 || strings.Count(got, "x") != 1 {
			t.Errorf("x at %d: %q", x, got)
		}
	}
}

// A vowel sign belongs to the letter before it, even where another text drew that letter.
func TestCanvasKeepsTextsApart(t *testing.T) {
	c := newCanvas(6, 1)
	p := c.pane(rect{0, 0, 6, 1})
	p.text(0, 0, inkPlain, "┊")
	p.text(1, 0, inkPlain, "ः")
	c.settle()
	if got := c.paint(new(look)); got != "┊?    " {
		t.Errorf("%q", got)
	}
}

// Whatever is drawn wherever, every line is as wide as the canvas, and no control character gets through.
func TestCanvasProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 30).Draw(t, "w"), rapid.IntRange(1, 4).Draw(t, "h")
		c := newCanvas(w, h)
		for range rapid.IntRange(0, 6).Draw(t, "texts") {
			p := c.pane(rect{rapid.IntRange(0, w).Draw(t, "x"), rapid.IntRange(0, h).Draw(t, "y"), rapid.IntRange(0, 40).Draw(t, "pane w"), rapid.IntRange(0, 5).Draw(t, "pane h")})
			p.text(rapid.IntRange(-5, 30).Draw(t, "at"), rapid.IntRange(-1, 4).Draw(t, "row"), ink(rapid.IntRange(0, int(inks)-1).Draw(t, "ink")), rapid.String().Draw(t, "text"))
		}
		c.settle()
		lines := strings.Split(c.paint(new(look)), "\n")
		if len(lines) != h {
			t.Fatalf("%d lines of %d", len(lines), h)
		}
		for _, line := range lines {
			if ansi.StringWidth(line) != w {
				t.Fatalf("%d columns of %d: %q", ansi.StringWidth(line), w, line)
			}
			for _, r := range line {
				if r < 0x20 || r >= 0x7f && r < 0xa0 {
					t.Fatalf("control character %q in %q", r, line)
				}
			}
		}
	})
}

func TestTextIsCleaned(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"tab\tand\nline":         "tab and line",
		"\x1b[31mred\x1b[0m":     "red",
		"\x1b]0;title\x07name":   "name",
		"left\u202eright":        "leftright",
		"zero\u200bwidth\u2028x": "zerowidthx",
		"broken\xff":             "broken?",
		"👩‍💻":                    "👩‍💻",
		"cafe\u0301":             "cafe\u0301",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWrapAndFit(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{
		{20, 3, "one two three four|five six"},
		{9, 2, "one two|three fo…"},
		{3, 2, "one|tw…"},
		{0, 2, ""},
		{20, 0, ""},
	} {
		if got := strings.Join(wrap("one two three four five six", c.w, c.h), "|"); got != c.want {
			t.Errorf("wrapped into %d×%d: %q, want %q", c.w, c.h, got, c.want)
		}
	}
	if got := fit("日本語の名前", 7); got != "日本語…" || width(got) > 7 {
		t.Errorf("fit = %q", got)
	}
	if got := pick(5, "too long for it", "short", "x"); got != "short" {
		t.Errorf("pick = %q", got)
	}
}
