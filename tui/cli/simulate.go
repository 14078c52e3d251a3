package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairgate/attack"
)

var simulateCommand = &command{
	name:  "simulate",
	args:  "[PROFILE]",
	short: "the same in virtual time, exact and at once",
	long: "The same clients, limiter and measures as in a live run, driven by a list of events in place of a clock. The same profile and seed give " +
		"the same report, byte for byte. Ctrl-C prints the report so far.",
	examples: []string{
		"fairgate simulate",
		"fairgate simulate starvation --policy fair-queue --duration 10m",
		"fairgate simulate mine.yaml --seed 7 --format json | jq .fairness",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		s := &simulate{}
		s.settings.flags(g)
		s.report.flags(g)
		s.look.flags(g, false)
		return s.do
	},
}

// A simulate is the simulate command as its flags ask for it.
type simulate struct {
	settings settings
	report   reporting
	look     look
}

func (s *simulate) do(sh *shell, args []string) error {
	p, altered, err := loadProfile(sh, args, "simulate", &s.settings)
	if err != nil {
		return err
	}
	if err := s.report.prepare(p, altered); err != nil {
		return err
	}
	defer s.report.out.discard()
	stop := newStopper(context.Background(), s.report.out.discard)
	defer stop.release()
	bar := newProgress(sh, p.Duration)
	rep, err := attack.Simulate(stop.ctx, p, attack.SimulateOptions{Progress: bar.at})
	bar.clear()
	early := errors.Is(err, context.Canceled)
	if err != nil && !early {
		return err
	}
	outcome := s.report.finish(sh, rep, early, s.look)
	if sig := stop.signal(); sig != nil {
		return exitError(codeOfSignal(sig))
	}
	return outcome
}

// progress is a bar on standard error, there when that is a terminal and the wait is long enough to wonder.
type progress struct {
	sh    *shell
	whole time.Duration
	begun time.Time
	drawn time.Time
}

func newProgress(sh *shell, whole time.Duration) *progress {
	return &progress{sh: sh, whole: whole, begun: time.Now()}
}

// at draws that so much is done, ten times a second at most.
func (p *progress) at(done time.Duration) {
	now := time.Now()
	if !p.sh.isTerminal(p.sh.err) || now.Sub(p.begun) < 300*time.Millisecond || now.Sub(p.drawn) < 100*time.Millisecond || p.whole <= 0 {
		return
	}
	p.drawn = now
	const width = 40
	full := int(min(done, p.whole) * width / p.whole)
	fmt.Fprintf(p.sh.err, "\rsimulating [%s%s] %3d%%  %s of %s ", strings.Repeat("#", full), strings.Repeat(".", width-full),
		int64(done)*100/int64(p.whole), done.Truncate(time.Second), p.whole)
}

// clear takes the bar away.
func (p *progress) clear() {
	if !p.drawn.IsZero() {
		fmt.Fprintf(p.sh.err, "\r%s\r", strings.Repeat(" ", 79))
	}
}
