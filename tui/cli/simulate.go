package cli

import (
	"context"
	"errors"
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
		"fairgate simulate polite --runs 20",
		"fairgate simulate mine.yaml --seed 7 --format json | jq .fairness",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		s := &simulate{}
		fs := g.group("The simulation")
		fs.Var(countFlag{&s.runs}, "runs", "so many runs with seeds that follow one another: mean and standard deviation in place of a report")
		s.settings.flags(g)
		s.report.flags(g)
		s.look.flags(g, false)
		return s.do
	},
}

// A simulate is the simulate command as its flags ask for it.
type simulate struct {
	runs     int64
	settings settings
	report   reporting
	look     look
}

func (s *simulate) do(sh *shell, args []string) error {
	p, altered, err := loadProfile(sh, args, "simulate", &s.settings)
	if err != nil {
		return err
	}
	if s.runs > 0 {
		return s.repeat(sh, p, altered)
	}
	if err := s.report.prepare(p, altered); err != nil {
		return err
	}
	defer s.report.out.discard()
	stop := newStopper(context.Background(), s.report.out.discard)
	defer stop.release()
	bar := newProgress(sh)
	rep, err := attack.Simulate(stop.ctx, p, attack.SimulateOptions{Progress: func(done time.Duration) { bar.part(float64(done) / float64(p.Duration)) }})
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
