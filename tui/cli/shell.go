package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"fairgate/tui/report"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"golang.org/x/term"
)

// A shell is what surrounds a command: three streams and the environment.
type shell struct {
	in, out, err *os.File
	getenv       func(string) string
	terminal     *terminal
	hurry        <-chan struct{} // closed when nothing may wait for the terminal any more; nil: all that is written may wait
}

// print writes the result to standard output. A terminal that still shows the screen is given back first; one that
// takes no output is waited for, until a signal says otherwise.
func (sh *shell) print(b []byte) error {
	if !term.IsTerminal(int(sh.out.Fd())) {
		return printed(sh.out.Write(b))
	}
	sh.terminal.restore(sh.hurry)
	return printed(writePatiently(sh.out, b, sh.hurry))
}

// note tells the user something on standard error. It never fails: a lost note must not end a run.
func (sh *shell) note(format string, args ...any) {
	hurry := sh.hurry
	if hurry != nil && !term.IsTerminal(int(sh.err.Fd())) {
		hurry = nil
	}
	writePatiently(sh.err, fmt.Appendf(nil, format+"\n", args...), hurry)
}

// isTerminal reports whether f is one, and one that can do more than print lines.
func (sh *shell) isTerminal(f *os.File) bool {
	return f != nil && term.IsTerminal(int(f.Fd())) && sh.getenv("TERM") != "dumb" && sh.getenv("TERM") != ""
}

// screenPossible reports whether a live screen can be drawn, and if not, why.
func (sh *shell) screenPossible() (bool, string) {
	switch {
	case !term.IsTerminal(int(sh.out.Fd())):
		return false, "standard output is no terminal"
	case !term.IsTerminal(int(sh.in.Fd())):
		return false, "standard input is no terminal"
	case !sh.isTerminal(sh.out):
		return false, fmt.Sprintf("TERM is %q", sh.getenv("TERM"))
	}
	return true, ""
}

// width of the terminal on standard output, 0 where there is none.
func (sh *shell) width(f *os.File) int {
	if !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// When to colour.
const (
	colourAuto   = "auto"
	colourAlways = "always"
	colourNever  = "never"
)

// renderer decides, once and for all that is written to w, how much colour is used. auto obeys NO_COLOR, CLICOLOR_FORCE, TERM and whether
// w is a terminal.
func (sh *shell) renderer(w io.Writer, colour string, dark bool) *lipgloss.Renderer {
	out := termenv.NewOutput(w, termenv.WithEnvironment(environ{sh.getenv}))
	profile := out.EnvColorProfile()
	switch colour {
	case colourNever:
		profile = termenv.Ascii
	case colourAlways:
		profile = termenv.NewOutput(w, termenv.WithEnvironment(environ{sh.getenv}), termenv.WithTTY(true)).ColorProfile()
		if profile == termenv.Ascii {
			profile = termenv.ANSI256
		}
	}
	r := lipgloss.NewRenderer(w)
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(dark)
	return r
}

// environ lets termenv read the shell's environment.
type environ struct{ getenv func(string) string }

func (e environ) Getenv(key string) string { return e.getenv(key) }
func (e environ) Environ() []string        { return os.Environ() }

// darkBackground reports whether the terminal's background is taken for dark: as the theme says, otherwise as COLORFGBG says, otherwise yes.
// The terminal itself is not asked: one that answers late would have its answer read as keys.
func (sh *shell) darkBackground(theme string) bool {
	switch theme {
	case "dark":
		return true
	case "light":
		return false
	}
	_, background, ok := cutLast(sh.getenv("COLORFGBG"), ";")
	return !ok || background != "7" && background != "15"
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// textOptions are how a report for people is written to f.
func (sh *shell) textOptions(f *os.File, l look) report.Options {
	o := report.Options{ASCII: l.ascii, Width: min(sh.width(f), 120)}
	if r := sh.renderer(f, l.colour, sh.darkBackground(l.theme)); r.ColorProfile() != termenv.Ascii {
		o.Renderer = r
	}
	return o
}

// look is how what people see is drawn.
type look struct {
	theme  string
	ascii  bool
	colour string
}
