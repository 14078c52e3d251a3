package limiter

import (
	"fmt"
	"time"
)

// A spec is all that the counters of one limit have in common. Two limits of equal spec count alike, so that a
// change of the configuration can leave alone what it does not touch.
type spec struct {
	algorithm Algorithm
	rate      Rate
	burst     int64
	refill    Refill
	initial   int64 // full: the burst
	window    time.Duration
	start     time.Duration
	shape     bool
	delay     int64
}

const full = -1 // spec.initial: what the burst says

// globalSpec is the configuration's own limit.
func (c Config) globalSpec() spec {
	s := spec{algorithm: c.Algorithm, rate: c.Rate, burst: c.Burst, refill: c.Refill, initial: full,
		window: c.Window, start: c.Start, shape: c.Shape, delay: c.Delay}
	if c.Initial != nil {
		s.initial = *c.Initial
	}
	return s
}

// clientSpec is the limit of one client. Its windows begin where the global ones do, and it starts full.
func (c Config) clientSpec() spec {
	return spec{algorithm: c.Algorithm, rate: c.Client.Rate, burst: c.Client.Burst, refill: c.Refill, initial: full,
		start: c.Start, shape: c.Shape, delay: c.Delay}
}

// bandwidthSpec is a further limit.
func (c Config) bandwidthSpec(b Bandwidth) spec {
	return spec{algorithm: c.Algorithm, rate: b.Rate, burst: b.Burst, refill: b.Refill, initial: full,
		start: c.Start, shape: c.Shape, delay: c.Delay}
}

// A form makes the counters of one spec.
type form struct {
	spec
	capacity int64 // the most that can be taken at once
	one      func(now time.Duration) Counter
	many     func() row
}

// A row holds one counter for each client, by value: the state of an idle client is all that it costs.
type row interface {
	// at is the counter of client i, good until the row grows.
	at(i int) Counter
	// renew makes the counter of client i as good as new; the row grows as needed.
	renew(i int, now time.Duration)
	len() int
}

// cells is the row of counters T.
type cells[T any, P interface {
	*T
	Counter
}] struct {
	fresh func(now time.Duration) T
	state []T
}

func (c *cells[T, P]) at(i int) Counter { return P(&c.state[i]) }

func (c *cells[T, P]) len() int { return len(c.state) }

func (c *cells[T, P]) renew(i int, now time.Duration) {
	for len(c.state) < i {
		c.state = append(c.state, c.fresh(now))
	}
	if len(c.state) == i {
		c.state = append(c.state, c.fresh(now))
		return
	}
	c.state[i] = c.fresh(now)
}

// formOf is the form of counters T, of which fresh makes a new one.
func formOf[T any, P interface {
	*T
	Counter
}](s spec, capacity int64, fresh func(now time.Duration) T) form {
	return form{
		spec:     s,
		capacity: capacity,
		one: func(now time.Duration) Counter {
			t := fresh(now)
			return P(&t)
		},
		many: func() row { return &cells[T, P]{fresh: fresh} },
	}
}

// form checks a spec and makes it ready.
func (s spec) form() (form, error) {
	switch s.algorithm {
	case AlgorithmTokenBucket:
		cfg := BucketConfig{Rate: s.rate, Burst: s.burst, Refill: s.refill, Start: s.start}
		if s.initial != full {
			cfg.Initial = &s.initial
		}
		plan, err := cfg.Plan()
		if err != nil {
			return form{}, err
		}
		return formOf[TokenBucket](s, s.burst, plan.New), nil
	case AlgorithmGCRA:
		return formOf[GCRA](s, s.burst, newGCRAPlan(s.rate, s.burst).fresh), nil
	case AlgorithmLeakyBucket:
		return formOf[LeakyBucket](s, s.burst, newLeakyPlan(s.rate, s.burst, s.delay).fresh), nil
	}
	limit, length, err := windowLimit(s.rate, s.window)
	if err != nil {
		return form{}, err
	}
	plan := &windowPlan{limit: limit, length: length, start: s.start}
	switch s.algorithm {
	case AlgorithmFixedWindow:
		return formOf[FixedWindow](s, limit, plan.fixed), nil
	case AlgorithmSlidingWindow:
		return formOf[SlidingWindow](s, limit, plan.sliding), nil
	case AlgorithmSlidingLog:
		return formOf[SlidingLog](s, limit, plan.log), nil
	}
	return form{}, fmt.Errorf("algorithm %q is unknown", s.algorithm)
}
