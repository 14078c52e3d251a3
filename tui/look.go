package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// An ink is what a cell means; the look says which colour that is. A colour never says anything that
// a character or a number beside it does not say too.
type ink uint8

const (
	inkPlain   ink = iota
	inkDim         // furniture: rules, axes, units, what may be overlooked
	inkBold        // what should be read first
	inkServed      // blue: admitted, and whatever is well
	inkServedB     // the same, in words
	inkRefused     // orange: refused, and whatever is wrong
	inkRefusedB
	inkMark // the entitlement
	inkHold // reversed: the picture is not live
	inks
)

// Themes are the values of Options.Theme. "auto" is "light" where Options.LightBackground is set, otherwise "dark"; "ansi" keeps to the
// sixteen colours that the terminal's owner has chosen.
var Themes = []string{"auto", "dark", "light", "ansi"}

// A look turns inks into escape sequences, and, for terminals that have nothing else, drawing characters into ASCII.
// The sequences are made once by lipgloss and then only copied: a frame has thousands of cells.
type look struct {
	open, close [inks]string
	ascii       bool
	picture     palette
}

// A palette is what a picture of the screen is painted with.
type palette struct {
	paper string
	ink   [inks]string
}

// Okabe and Ito's colours, which colour-blind people tell apart: blue and orange, in the variant that stands out on the background.
// Each with its nearest of 256 and of 16 colours, where yellow (on dark) and red (on light) stand in for orange.
var (
	skyBlue   = lipgloss.CompleteColor{TrueColor: "#56B4E9", ANSI256: "74", ANSI: "14"}
	orange    = lipgloss.CompleteColor{TrueColor: "#E69F00", ANSI256: "214", ANSI: "11"}
	blue      = lipgloss.CompleteColor{TrueColor: "#0072B2", ANSI256: "25", ANSI: "4"}
	vermilion = lipgloss.CompleteColor{TrueColor: "#C04A00", ANSI256: "130", ANSI: "1"}
	greyLight = lipgloss.CompleteColor{TrueColor: "#9A9A9A", ANSI256: "247"}
	greyDark  = lipgloss.CompleteColor{TrueColor: "#626262", ANSI256: "241"}
)

func newLook(o Options) *look {
	r := o.Renderer
	if r == nil {
		r = lipgloss.NewRenderer(io.Discard)
		r.SetColorProfile(termenv.Ascii)
	}
	var served, refused, dim lipgloss.TerminalColor = skyBlue, orange, greyLight
	sixteen := r.ColorProfile() == termenv.ANSI
	switch theme := o.Theme; {
	case theme == "ansi":
		sixteen = true
		served, refused = lipgloss.ANSIColor(12), lipgloss.ANSIColor(11)
		if o.LightBackground {
			served, refused = lipgloss.ANSIColor(4), lipgloss.ANSIColor(1)
		}
	case theme == "light", theme != "dark" && o.LightBackground:
		served, refused, dim = blue, vermilion, greyDark
	}
	faint := r.NewStyle().Foreground(dim)
	if sixteen { // bright black is invisible in more than one palette
		faint = r.NewStyle().Faint(true)
	}
	styles := [inks]lipgloss.Style{
		inkPlain:    r.NewStyle(),
		inkDim:      faint,
		inkBold:     r.NewStyle().Bold(true),
		inkServed:   r.NewStyle().Foreground(served),
		inkServedB:  r.NewStyle().Foreground(served).Bold(true),
		inkRefused:  r.NewStyle().Foreground(refused),
		inkRefusedB: r.NewStyle().Foreground(refused).Bold(true),
		inkMark:     r.NewStyle().Bold(true),
		inkHold:     r.NewStyle().Reverse(true).Bold(true),
	}
	l := &look{ascii: o.ASCII, picture: newPalette(o)}
	for i, s := range styles {
		l.open[i], l.close[i], _ = strings.Cut(s.Render("x"), "x")
	}
	return l
}

func newPalette(o Options) palette {
	p := palette{paper: "#141414"}
	plain, dim, served, refused := "#E4E4E4", greyLight, skyBlue, orange
	if o.Theme == "light" || o.Theme != "dark" && o.LightBackground {
		p.paper, plain, dim, served, refused = "#FFFFFF", "#141414", greyDark, blue, vermilion
	}
	p.ink = [inks]string{inkPlain: plain, inkDim: dim.TrueColor, inkBold: plain, inkServed: served.TrueColor, inkServedB: served.TrueColor,
		inkRefused: refused.TrueColor, inkRefusedB: refused.TrueColor, inkMark: plain, inkHold: plain}
	return p
}

// asciiGlyphs says what stands for a drawing character where only ASCII may be drawn.
var asciiGlyphs = map[string]string{
	"█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": ".", "▎": ".", "▏": ".", "░": ".", "│": "|",
	"▁": "_", "▂": "_", "▃": ".", "▄": "-", "▅": "=", "▆": "+", "▇": "#", "▔": "\"",
	"─": "-", "┤": "|", "┊": ":", "└": "+", "┬": "+",
	"✓": "+", "✗": "x", "▲": "^", "▸": ">", "▼": "v", "µ": "u", "⇧": "^", "↑": "^", "↓": "v", "·": "-", "–": "-", "…": "~", "→": ">", "×": "x", "≥": ">", "÷": "/", "≤": "<",
	"’": "'", "“": "\"", "”": "\"",
}

// glyph is the character to draw for one on the canvas. Letters of a name stay what they are.
func (l *look) glyph(text string) string {
	if l.ascii && len(text) > 1 {
		if a, ok := asciiGlyphs[text]; ok {
			return a
		}
	}
	return text
}
