package attack

import (
	"context"
	"time"

	"fairgate/fairness"
	"fairgate/profiles"
)

// SimulateOptions of Simulate. The zero value is good.
type SimulateOptions struct {
	// Progress, when it is not nil, is told now and then how far the simulation has come.
	Progress func(done time.Duration)
}

// patience is how many events pass between two looks at the context: some milliseconds' worth.
const patience = 1 << 14

// Simulate runs a whole profile in virtual time. When ctx ends before, it returns the report so far and the context's error.
func Simulate(ctx context.Context, p *profiles.Profile, o SimulateOptions) (*fairness.Report, error) {
	s, err := NewSimulation(p, false)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx, func() {
		if o.Progress != nil {
			o.Progress(s.now)
		}
	})
	return s.Report(), err
}

// run goes on to the end, or until ctx ends, whose error it then returns. look is called now and then, and at the end.
func (s *Simulation) run(ctx context.Context, look func()) error {
	for {
		look()
		if err := ctx.Err(); err != nil {
			return err
		}
		for range patience {
			if !s.step(s.end) {
				s.now = s.end
				look()
				return nil
			}
		}
	}
}
