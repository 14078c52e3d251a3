package cli

import (
	"context"
	"errors"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"

	"github.com/spf13/pflag"
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
		"fairgate simulate starvation --lesson --output lesson.md",
		"fairgate simulate mine.yaml --replay attempts.gob --policy fair-queue",
		"fairgate simulate mine.yaml --seed 7 --format json | jq .fairness",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		s := &simulate{}
		fs := g.group("The simulation")
		fs.Var(countFlag{&s.runs}, "runs", "so many runs with seeds that follow one another: mean and standard deviation in place of a report")
		shadowFlag(fs, &s.shadow)
		replayFlag(fs, &s.settings)
		fs.BoolVar(&s.lesson, "lesson", false, "the profile's whole lesson as a handout: each step simulated, its question, and what came of it")
		s.settings.flags(g)
		s.report.flags(g)
		s.look.flags(g, false)
		return s.do
	},
}

// A simulate is the simulate command as its flags ask for it.
type simulate struct {
	runs     int64
	shadow   []string
	lesson   bool
	settings settings
	report   reporting
	look     look
}

func (s *simulate) do(sh *shell, args []string) error {
	p, altered, err := loadProfile(sh, args, "simulate", &s.settings)
	if err != nil {
		return err
	}
	if s.lesson {
		return s.handout(sh, p, altered)
	}
	if s.runs > 0 && len(s.shadow) > 0 {
		return wrong("--shadow scores one run, and --runs makes many: leave one of them out")
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
	rep, shadows, err := s.simulate(stop.ctx, p, func(done time.Duration) { bar.part(float64(done) / float64(p.Duration)) })
	bar.clear()
	early := errors.Is(err, context.Canceled)
	if err != nil && !early {
		return err
	}
	outcome := s.report.finish(sh, rep, early, s.look, shadows...)
	if sig := stop.signal(); sig != nil {
		return exitError(codeOfSignal(sig))
	}
	return outcome
}

// simulate runs the profile to its end, or until ctx ends, whose error it then returns beside the reports so far.
func (s *simulate) simulate(ctx context.Context, p *profiles.Profile, progress func(time.Duration)) (rep *fairness.Report, shadows []*fairness.Report, err error) {
	if len(s.shadow) == 0 {
		rep, err = attack.Simulate(ctx, p, attack.SimulateOptions{Progress: progress})
		return rep, nil, err
	}
	sim, err := attack.NewSimulation(p, false)
	if err == nil {
		err = sim.Shadow(policiesOf(s.shadow)...)
	}
	if err != nil {
		return nil, nil, wrong("--shadow: %v", err)
	}
	step := min(max(p.Duration/1000, time.Millisecond), time.Second) // so that it soon hears of an interrupt
	for to := step; !sim.Done() && err == nil; to += step {
		sim.Advance(to)
		progress(sim.Now())
		err = ctx.Err()
	}
	return sim.Report(), sim.Shadows(), err
}

// shadowFlag declares --shadow.
func shadowFlag(fs *pflag.FlagSet, to *[]string) {
	fs.Var(&listFlag{to, words(limiter.Policies)}, "shadow", "policies, as a,b, that decide on the same attempts, and nobody obeys: what they would have done")
}

func policiesOf(words []string) []limiter.Policy {
	var all []limiter.Policy
	for _, w := range words {
		all = append(all, limiter.Policy(w))
	}
	return all
}
