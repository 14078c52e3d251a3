package bucket

import (
	"fmt"
	"math"
	"time"

	"fairgate/limiter"
)

// Config is what a Bucket is made from. Only Bandwidths must be set.
type Config struct {
	Bandwidths []Bandwidth
	Clock      Clock    // nil: a steady clock that starts at New; not a wall clock
	Sync       Sync     // zero: LockFree
	Listener   Listener // nil: nobody listens
}

// A Bucket limits by one or more bandwidths. Most callers want TryTake, or Blocking().Take. Methods may
// be called by any number of goroutines, unless the strategy is None.
//
// Numbers of tokens must be at least 1: fewer is a mistake of the program, and panics.
type Bucket struct {
	core     *core
	listener Listener
}

// New makes a bucket. It is an error when there is no bandwidth, when one makes no sense, when two have the same id, and
// when refill is aligned on a clock that is not a wall clock.
func New(cfg Config) (*Bucket, error) {
	if cfg.Sync > None {
		return nil, fmt.Errorf("synchronisation strategy %d is unknown: use LockFree, Mutex or None", cfg.Sync)
	}
	c := &core{clock: cfg.Clock, steady: steadyClock{start: time.Now()}, sync: cfg.Sync}
	now := c.now()
	config, err := configure(cfg.Bandwidths, c.wallClock(), now, nil)
	if err != nil {
		return nil, err
	}
	c.current.Store(c.settle(newState(config, now), change{at: now}))
	return &Bucket{core: c, listener: cfg.Listener}, nil
}

// TryTake takes so many tokens if they are there. A refusal takes nothing.
func (b *Bucket) TryTake(tokens int64) bool {
	positive(tokens)
	ok := b.core.tryTake(tokens)
	if b.listener != nil {
		if ok {
			b.listener.Consumed(tokens)
		} else {
			b.listener.Rejected(tokens)
		}
	}
	return ok
}

// A Probe is the full answer to a taking.
type Probe struct {
	Taken     bool
	Remaining int64         // left afterwards; negative in debt
	Wait      time.Duration // of a refusal: until so many are there, limiter.Never if that is above a burst
	Reset     time.Duration // until the bucket is full
}

// Probe is TryTake with all that a caller might want to be told.
func (b *Bucket) Probe(tokens int64) Probe {
	positive(tokens)
	return probe(b.take(op{kind: tryTake, tokens: tokens, detail: true}))
}

func probe(r outcome) Probe {
	return Probe{Taken: r.taken > 0, Remaining: r.available, Wait: r.wait, Reset: r.full}
}

// Estimate is what Probe would answer, but takes nothing and tells no listener: Taken says whether they could be
// taken, and Remaining is what there is.
func (b *Bucket) Estimate(tokens int64) Probe {
	positive(tokens)
	return estimate(b.core.do(op{kind: look, tokens: tokens, detail: true}))
}

func estimate(r outcome) Probe {
	return Probe{Taken: r.wait == 0, Remaining: r.available, Wait: r.wait, Reset: r.full}
}

// TakeUpTo takes what is there, at most limit, and returns how many it took.
func (b *Bucket) TakeUpTo(limit int64) int64 {
	positive(limit)
	return b.take(op{kind: takeUpTo, tokens: limit}).taken
}

// TakeAll takes all that is there and returns how many it took.
func (b *Bucket) TakeAll() int64 { return b.TakeUpTo(math.MaxInt64) }

// TakeAnyway takes so many whether they are there or not, and returns the violation: the time until the debt is paid, 0 when
// there is none. When it could never be paid, it takes nothing and returns limiter.Never.
func (b *Bucket) TakeAnyway(tokens int64) time.Duration {
	positive(tokens)
	return b.take(op{kind: takeOver, tokens: tokens, longest: limiter.Never}).wait
}

// Add gives tokens back, as for work that failed; above the burst they are lost.
func (b *Bucket) Add(tokens int64) {
	positive(tokens)
	b.core.do(op{kind: add, tokens: tokens})
}

// ForceAdd gives tokens that may stand above the burst until they are taken.
func (b *Bucket) ForceAdd(tokens int64) {
	positive(tokens)
	b.core.do(op{kind: forceAdd, tokens: tokens})
}

// Available is what the poorest bandwidth holds, negative in debt. It may have changed by the time it is read: to decide, use
// TryTake.
func (b *Bucket) Available() int64 {
	return b.core.do(op{kind: look, detail: true}).available
}

// Bandwidths are the limits in force.
func (b *Bucket) Bandwidths() []Bandwidth {
	return append([]Bandwidth(nil), b.core.current.Load().config.bandwidths...)
}

// take does an operation that takes, and tells the listener.
func (b *Bucket) take(o op) outcome {
	r := b.core.do(o)
	if b.listener == nil {
		return r
	}
	switch {
	case r.taken > 0:
		b.listener.Consumed(r.taken)
	case o.kind != takeUpTo: // to get nothing of "as much as there is" is no refusal
		b.listener.Rejected(o.tokens)
	}
	return r
}

func positive(tokens int64) {
	if tokens < 1 {
		panic(fmt.Sprintf("bucket: %d tokens: must be at least 1", tokens))
	}
}
