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
	err = s.Run(ctx, o.Progress)
	return s.Report(), err
}

// Run goes on to the end, or until ctx ends, whose error it then returns.
func (s *Simulation) Run(ctx context.Context, progress func(done time.Duration)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if progress != nil {
			progress(s.now)
		}
		for range patience {
			if !s.step(s.end) {
				s.now = s.end
				if progress != nil {
					progress(s.now)
				}
				return nil
			}
		}
	}
}
