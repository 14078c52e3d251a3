package cli

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// A terminal remembers how it was found and gives itself back so. It is the safety net below the screen, which restores the
// terminal itself when it is left in an orderly way.
type terminal struct {
	in, out *os.File
	mu      sync.Mutex
	state   *term.State // nil: standard input is no terminal
	drawn   bool        // the screen is up
}

func newTerminal(in, out *os.File) *terminal {
	t := &terminal{in: in, out: out}
	if state, err := term.GetState(int(in.Fd())); err == nil {
		t.state = state
	}
	return t
}

// draw tells whether the screen is up.
func (t *terminal) draw(up bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drawn = up
}

// leaveScreen ends, in this order: bracketed paste, mouse reports, colours, the hidden cursor and the alternate screen.
const leaveScreen = "\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?1003l\x1b[0m\x1b[?25h\x1b[?1049l"

// restore may be called at any time and more than once.
func (t *terminal) restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drawn {
		io.WriteString(t.out, leaveScreen)
		t.drawn = false
	}
	if t.state != nil {
		term.Restore(int(t.in.Fd()), t.state)
	}
}
