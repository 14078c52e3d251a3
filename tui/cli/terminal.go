package cli

import (
	"errors"
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

// closed is a reason to hurry from the start.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

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

// restore may be called at any time and more than once. Once hurry is closed it does not wait long for a terminal that takes no output; what could
// not be given back then, the next call tries again.
func (t *terminal) restore(hurry <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != nil {
		term.Restore(int(t.in.Fd()), t.state)
	}
	if t.drawn {
		if _, err := writePatiently(t.out, []byte(leaveScreen), hurry); !errors.Is(err, errStuck) {
			t.drawn = false
		}
	}
}
