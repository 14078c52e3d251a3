package bucket

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"fairgate/limiter"
)

// A change takes a state to its successor. The same change of the same state always has the same result, so
// that whoever meets it half done may finish it.
type change struct {
	at      time.Duration
	to      *configuration  // nil: as before
	inherit limiter.Inherit // with to
	filled  bool            // with to: every bandwidth is full
	roomy   bool            // the successor must be able to hold more than a cell can
}

// Replace changes the bucket's bandwidths while it lives. A new bandwidth that has the id of an old one takes over what
// that one holds, as inherit says (see limiter.TokenBucket.ReplacePlan); "no id" pairs with "no id" if it is the only
// one on either side. One that finds no pair begins anew. An error changes nothing.
//
// Those who wait go on waiting as they were told.
func (b *Bucket) Replace(bandwidths []Bandwidth, inherit limiter.Inherit) error {
	_, err := b.replace(bandwidths, inherit, false)
	return err
}

func (b *Bucket) replace(bandwidths []Bandwidth, inherit limiter.Inherit, verbose bool) (outcome, error) {
	switch inherit {
	case "", limiter.Proportional, limiter.AsIs, limiter.Additive, limiter.Reset:
	default:
		return outcome{}, fmt.Errorf("inherit %q is unknown: write %s, %s, %s or %s",
			inherit, limiter.Proportional, limiter.AsIs, limiter.Additive, limiter.Reset)
	}
	c := b.core
	c.changing.Lock()
	defer c.changing.Unlock()
	now, before := c.now(), c.current.Load().config
	to, err := configure(bandwidths, c.wallClock(), now, before)
	if err != nil {
		return outcome{}, err
	}
	before.next.Store(&transition{to: to, inherit: inherit})
	after := c.change(change{at: now, to: to, inherit: inherit})
	return c.snapshot(now, after, verbose), nil
}

// Reset fills the bucket: it forgets debts, and what it holds above its burst.
func (b *Bucket) Reset() { b.refill(false) }

func (b *Bucket) refill(verbose bool) outcome {
	c := b.core
	c.changing.Lock()
	defer c.changing.Unlock()
	now, before := c.now(), c.current.Load().config
	to := before.renewed()
	before.next.Store(&transition{to: to, inherit: limiter.Reset})
	after := c.change(change{at: now, to: to, filled: true})
	return c.snapshot(now, after, verbose)
}

// successor is the state after ch.
func (s *state) successor(ch change) *state {
	next := s
	if ch.to != nil {
		next = stateOf(ch.to)
		for i, plan := range ch.to.plans {
			old := s.config.pair(ch.to, i)
			if ch.filled {
				old = i
			}
			if old < 0 {
				next.buckets()[i] = plan.New(ch.at)
				continue
			}
			next.buckets()[i] = s.buckets()[old]
			if ch.filled {
				next.buckets()[i].Refill(ch.at)
			} else if err := next.buckets()[i].ReplacePlan(ch.at, plan, ch.inherit); err != nil {
				panic(err) // the strategy was checked before
			}
		}
	}
	return next
}

// A transition tells what became of a configuration, for the sake of reservations that were made under it.
type transition struct {
	to      *configuration
	inherit limiter.Inherit
}

// refund is what tokens that were taken from each bandwidth of c are worth under the configuration now in force,
// and that configuration. A debt that a change has wiped out is worth nothing.
func (c *configuration) refund(tokens int64) ([]int64, *configuration) {
	worth := make([]int64, len(c.plans))
	for i := range worth {
		worth[i] = tokens
	}
	for {
		t := c.next.Load()
		if t == nil {
			return worth, c
		}
		then := make([]int64, len(t.to.plans))
		for i, plan := range t.to.plans {
			old := c.pair(t.to, i)
			switch {
			case old < 0 || t.inherit == limiter.Reset:
			case t.inherit == limiter.AsIs || t.inherit == limiter.Additive:
				then[i] = worth[old]
			default:
				then[i] = part(worth[old], plan.Burst(), c.plans[old].Burst())
			}
		}
		worth, c = then, t.to
	}
}

// part is tokens × burst / was, rounded down, and no more than can be counted.
func part(tokens, burst, was int64) int64 {
	hi, lo := bits.Mul64(uint64(tokens), uint64(burst))
	if hi >= uint64(was) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(hi, lo, uint64(was))
	return int64(min(quotient, math.MaxInt64))
}

// renewed is the same configuration, as a new one.
func (c *configuration) renewed() *configuration {
	return &configuration{bandwidths: c.bandwidths, plans: c.plans, ids: c.ids}
}
