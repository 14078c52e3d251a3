package bucket

import (
	"math/bits"
	"sync/atomic"
	"time"

	"fairgate/limiter"
)

// A cell is the whole state of a bucket with one greedy bandwidth in one atomic word.
//
// Measure time in units of which each nanosecond brings as many as tokens, so that a whole token is per units (100/s:
// tokens = 1, per = 10,000,000). Between takings the level of a bucket that is not full rises by
// one unit a unit. So it is told by the moment at which the line meets zero:
//
//	level
//	full ┤            ╭──────     level(t) = min(full, t − zero)
//	     │          ╱             a taking moves zero to the right by its cost,
//	     │        ╱               and first up to t − full, where the line was cut
//	   0 ┼──────╱─────────── t
//	            zero
//
// The bucket in debt is the same line below 0. What a line cannot say (a level above the burst, a debt beyond
// 2⁶⁰ units, a time beyond the horizon) makes the cell freeze: the lowest bit of the word is set, no taking can
// change it any more, and all who come by help to put its successor in its place.
//
// The cell keeps no last time. It needs none, for its clock is steady: a goroutine that was held up between
// reading the time and deciding is answered as of then, with no more than there was.
type cell struct {
	word atomic.Int64 // zero << 1 | frozen
	next atomic.Pointer[change]

	config      *configuration
	base        time.Duration // where the cell's time begins
	horizon     time.Duration // from base; times stay below it
	tokens, per int64
	burst, full int64 // in tokens, in units
}

const (
	widest  = 1 << 60 // units of a full bucket, and of the deepest debt
	longest = 1 << 61 // units of time
	nearest = int64(time.Minute)
)

// newCell holds s in a word, and is nil when s does not fit.
func newCell(s *state, now time.Duration) *cell {
	if len(s.buckets()) != 1 || s.config.bandwidths[0].grid() {
		return nil
	}
	b := &s.buckets()[0]
	tokens, per := b.Plan().Reduced()
	hi, full := bits.Mul64(uint64(b.Plan().Burst()), per)
	if hi > 0 || full > widest || tokens > longest/uint64(nearest) {
		return nil
	}
	c := &cell{
		config: s.config, base: now, horizon: time.Duration(longest / tokens),
		tokens: int64(tokens), per: int64(per), burst: b.Plan().Burst(), full: int64(full),
	}
	zero, ok := c.zero(s, now)
	if !ok {
		return nil
	}
	c.word.Store(zero << 1)
	return c
}

// tryTake is the quick way for the most frequent question. done is false when the cell cannot answer (any more).
func (c *cell) tryTake(now time.Duration, tokens int64) (ok, done bool) {
	now -= c.base
	if now >= c.horizon {
		return false, false
	}
	t := int64(now) * c.tokens
	for {
		word := c.word.Load()
		if word&1 != 0 {
			return false, false
		}
		if tokens > c.burst {
			return false, true
		}
		zero := max(word>>1, t-c.full) + tokens*c.per
		if zero > t {
			return false, true
		}
		if c.word.CompareAndSwap(word, zero<<1) {
			return true, true
		}
	}
}

// do is every other operation. When it is not done, a change is under way or necessary, and proposed.
func (c *cell) do(now time.Duration, o *op) (r outcome, done bool) {
	if now-c.base >= c.horizon {
		c.propose(change{at: now})
		return r, false
	}
	for {
		word := c.word.Load()
		if word&1 != 0 {
			return r, false
		}
		var s state
		c.fill(&s, word>>1, now)
		r, changes := s.decide(now, o)
		if changes {
			s.commit(now, o, r.taken)
			zero, ok := c.zero(&s, now)
			if !ok {
				c.propose(change{at: now, roomy: true})
				return r, false
			}
			if !c.word.CompareAndSwap(word, zero<<1) {
				continue
			}
		}
		s.describe(now, o, &r)
		return r, true
	}
}

// fill writes the state at now into s. now is below the horizon.
func (c *cell) fill(s *state, zero int64, now time.Duration) {
	units := min(c.full, int64(now-c.base)*c.tokens-zero)
	whole := units / c.per
	part := units - whole*c.per
	if part < 0 {
		whole, part = whole-1, part+c.per
	}
	s.config = c.config
	s.one[0] = c.config.plans[0].Restore(now, whole, uint64(part))
}

// zero is the word for s at now; not ok when a word cannot say it.
func (c *cell) zero(s *state, now time.Duration) (zero int64, ok bool) {
	whole, part, _ := s.buckets()[0].Exact(now)
	if whole > c.burst || whole < -(widest/c.per) {
		return 0, false
	}
	return int64(now-c.base)*c.tokens - (whole*c.per + int64(part)), true
}

// propose puts up a change, unless one is up already.
func (c *cell) propose(ch change) bool { return c.next.CompareAndSwap(nil, &ch) }

// freeze stops the cell and returns the state in it at the change's time.
func (c *cell) freeze(ch *change) *state {
	word := c.word.Load()
	for word&1 == 0 {
		if c.word.CompareAndSwap(word, word|1) {
			word |= 1
			break
		}
		word = c.word.Load()
	}
	s := new(state)
	c.fill(s, word>>1, min(ch.at, c.base+c.horizon-1)) // from there the bucket itself goes on, to any time
	return s
}

func (b Bandwidth) grid() bool { return b.Refill != "" && b.Refill != limiter.Greedy }
