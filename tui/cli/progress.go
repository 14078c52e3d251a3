package cli

import (
	"fmt"
	"strings"
	"time"
)

// progress is a bar on standard error, there when that is a terminal and the wait is long enough to wonder.
type progress struct {
	sh    *shell
	shown bool // standard error is a terminal
	begun time.Time
	drawn time.Time
}

func newProgress(sh *shell) *progress {
	return &progress{sh: sh, shown: sh.isTerminal(sh.err), begun: time.Now()}
}

// part draws that so much, of 1, is done; ten times a second at most.
func (p *progress) part(done float64) {
	now := time.Now()
	if !p.shown || now.Sub(p.begun) < 300*time.Millisecond || now.Sub(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = now
	const width = 40
	done = min(max(done, 0), 1)
	full := int(done * width)
	fmt.Fprintf(p.sh.err, "\rsimulating [%s%s] %3.0f%% ", strings.Repeat("#", full), strings.Repeat(".", width-full), 100*done)
}

// clear takes the bar away.
func (p *progress) clear() {
	if !p.drawn.IsZero() {
		fmt.Fprintf(p.sh.err, "\r%s\r", strings.Repeat(" ", 60))
	}
}
