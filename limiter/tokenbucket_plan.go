package limiter

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// BucketConfig says how a token bucket fills.
type BucketConfig struct {
	Rate   Rate
	Burst  int64  // the most that it holds, at least 1
	Refill Refill // "": greedy

	// Initial is what a new bucket holds, 0 … Burst; nil: the burst.
	Initial *int64

	// Start is a point on the grid of periods of the refills interval and aligned, an offset from
	// the start of the run. With interval the grid goes on in both directions; with aligned
	// nothing is refilled before Start. Greedy refill has no grid.
	Start time.Duration

	// Adaptive makes up for the part of the first period that is gone when an aligned bucket
	// is built: it begins with what a full bucket would have left had that part of a
	// period's tokens been spent evenly. Only with aligned refill, and not with Initial.
	Adaptive bool
}

// A BucketPlan is a checked BucketConfig in the form in which buckets compute with it. It never changes,
// so that any number of buckets may share one and hold no more than their own state.
type BucketPlan struct {
	tokens, per uint64 // tokens every per ns: greedy in smallest terms, else as configured, for a period must stay whole
	burst       int64
	initial     int64 // -1: adaptive
	start       time.Duration
	grid        bool // refills at a period's end
	aligned     bool // and never before start
	config      BucketConfig
}

// Plan checks a configuration. What is refused: a rate that Rate.Check refuses, a burst below 1, initial tokens that
// are negative or above the burst, an unknown refill, and adaptive initial tokens without aligned refill.
func (c BucketConfig) Plan() (*BucketPlan, error) {
	if err := c.Rate.Check(); err != nil {
		return nil, err
	}
	if c.Burst < 1 {
		return nil, fmt.Errorf("burst %d of %s must be at least 1 token", c.Burst, c.Rate)
	}
	if c.Start < -Never/2 || c.Start > Never/2 {
		return nil, fmt.Errorf("start %s is too far from the start of the run: at most 146 years", c.Start)
	}
	p := &BucketPlan{burst: c.Burst, initial: c.Burst, start: c.Start, config: c}
	switch c.Refill {
	case "", Greedy:
		p.config.Refill = Greedy
		p.tokens, p.per = c.Rate.Reduced()
	case Interval, Aligned:
		p.tokens, p.per = uint64(c.Rate.Tokens), uint64(c.Rate.Per)
		p.grid, p.aligned = true, c.Refill == Aligned
	default:
		return nil, fmt.Errorf("refill %q is unknown: write %s, %s or %s", c.Refill, Greedy, Interval, Aligned)
	}
	if p.grid && c.Start < 0 && c.Rate.Per > Never/2 {
		return nil, fmt.Errorf("start %s with a period of %s cannot be counted: start at 0 or later", c.Start, c.Rate.Per)
	}
	if c.Initial != nil {
		p.initial = *c.Initial
		if p.initial < 0 || p.initial > c.Burst {
			return nil, fmt.Errorf("initial tokens %d must be from 0 to the burst of %d", p.initial, c.Burst)
		}
	}
	if c.Adaptive {
		if !p.aligned {
			return nil, fmt.Errorf("adaptive initial tokens need aligned refill: %s refill has no first period to be late in", p.config.Refill)
		}
		if c.Initial != nil {
			return nil, fmt.Errorf("initial tokens %d and adaptive initial tokens exclude each other: leave one out", p.initial)
		}
		p.initial = -1
	}
	return p, nil
}

// Config is the configuration that the plan was made from, with the refill filled in.
func (p *BucketPlan) Config() BucketConfig { return p.config }

// Burst is the most that a bucket of this plan regains.
func (p *BucketPlan) Burst() int64 { return p.burst }

// Reduced is the rate that a bucket of this plan counts by: so many tokens every per nanoseconds,
// in smallest terms with greedy refill, else as configured.
func (p *BucketPlan) Reduced() (tokens, per uint64) { return p.tokens, p.per }

// New is a bucket as it begins its life at now.
func (p *BucketPlan) New(now time.Duration) TokenBucket {
	return TokenBucket{plan: p, level: p.initialAt(now), last: p.begin(now)}
}

// Restore is a bucket that holds whole + part/per tokens at now (per as Reduced gives it): for state that was
// kept elsewhere. What is above the burst is cut; part counts only with greedy refill.
func (p *BucketPlan) Restore(now time.Duration, whole int64, part uint64) TokenBucket {
	b := TokenBucket{plan: p, level: whole, rem: part, last: p.begin(now)}
	if whole >= p.burst {
		b.level, b.rem = p.burst, 0
	}
	if p.grid {
		b.rem = 0
	}
	return b
}

// begin is the time up to which a new bucket counts as refilled.
func (p *BucketPlan) begin(now time.Duration) time.Duration {
	if !p.grid {
		return now
	}
	if now >= p.start {
		return now - time.Duration((uint64(now)-uint64(p.start))%p.per)
	}
	if p.aligned {
		return p.start - time.Duration(p.per) // the first refill falls on start, and none before
	}
	ahead := (uint64(p.start) - uint64(now)) % p.per
	if ahead == 0 {
		return now
	}
	return now - time.Duration(p.per-ahead)
}

// initialAt is what a bucket built at now holds. When adaptive: the part of the burst that one period
// does not refill, and of a period's tokens as much as belongs to the rest of the running period.
func (p *BucketPlan) initialAt(now time.Duration) int64 {
	if p.initial >= 0 {
		return p.initial
	}
	next := p.begin(now) + time.Duration(p.per)
	base := int64(0)
	if p.tokens < uint64(p.burst) {
		base = p.burst - int64(p.tokens)
	}
	hi, lo := bits.Mul64(uint64(next)-uint64(now), p.tokens)
	if hi >= p.per {
		return p.burst
	}
	part, _ := bits.Div64(hi, lo, p.per)
	if part >= uint64(p.burst-base) {
		return p.burst
	}
	return base + int64(part)
}

// regain is the time in ns, rounded up, in which a bucket with level and rem comes to target, which is above level;
// the largest number stands for all that are larger.
func (p *BucketPlan) regain(target, level int64, rem uint64) uint64 {
	missing := uint64(target) - uint64(level) // below 2⁶⁴, whatever the signs
	if p.grid {
		periods := (missing-1)/p.tokens + 1
		hi, lo := bits.Mul64(periods, p.per)
		if hi > 0 {
			return math.MaxUint64
		}
		return lo
	}
	hi, lo := bits.Mul64(missing, p.per)
	lo, borrow := bits.Sub64(lo, rem, 0)
	hi -= borrow
	if hi == 0 {
		q := lo / p.tokens
		if q*p.tokens != lo {
			q++
		}
		return q
	}
	if hi >= p.tokens {
		return math.MaxUint64
	}
	q, r := bits.Div64(hi, lo, p.tokens)
	if r > 0 && q < math.MaxUint64 {
		q++
	}
	return q
}
