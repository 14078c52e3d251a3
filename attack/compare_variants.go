package attack

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"fairgate/fairness"
	"fairgate/profiles"
)

// A Variant is one of several simulations of a profile that differ in one respect.
type Variant struct {
	Name    string            // what is special about it: "fair-queue", "burst=50", "seed 7"
	Profile *profiles.Profile // nil: there is no such variant, and Err says why
	Report  *fairness.Report  // nil until it was simulated
	Err     error
}

// simulateAll simulates the variants, as many at a time as there are processors. progress, when it is not nil, is told from 0 to 1 how far all of them
// have come together. When ctx ends, those that were under way have the report so far, those that were not begun have none, and the
// context's error comes back.
func simulateAll(ctx context.Context, all []Variant, progress func(part float64)) error {
	var (
		running sync.WaitGroup
		next    atomic.Int64
		mu      sync.Mutex // guards what follows
		done    = make([]float64, len(all))
		sum     float64
	)
	tell := func(i int, part float64) {
		mu.Lock()
		defer mu.Unlock()
		sum += part - done[i]
		done[i] = part
		if progress != nil {
			progress(sum / float64(len(all)))
		}
	}
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		running.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				v := &all[i]
				if v.Profile != nil {
					s, err := NewSimulation(v.Profile, false)
					if v.Err = err; err == nil {
						// Its error is that of ctx, which is told once for all.
						_ = s.run(ctx, func() { tell(i, float64(s.now)/float64(s.end)) })
						v.Report = s.Report()
					}
				}
				tell(i, 1)
			}
		})
	}
	running.Wait()
	return ctx.Err()
}
