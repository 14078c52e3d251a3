package limiter

import (
	"math/bits"
	"time"
)

// GCRA is the generic cell rate algorithm (ITU-T I.371): it keeps one moment, the theoretical arrival time, at which all that
// was admitted would have arrived had it come evenly. Each token moves it on by the time that the rate takes for one; an attempt passes
// when it would not then lie further ahead than the time that the rate takes for the burst.
//
//	      now        tat                      now + burst/rate
//	───────┼──────────┼────────────────────────────┼──────►
//	        used burst        what is left
//
// It admits what a token bucket of the same rate and burst admits: over any window of length T at most burst + rate × T. Nothing
// is rounded: tat is a whole number of nanoseconds and a part of one, counted in as many parts as the reduced rate has tokens.
type GCRA struct {
	plan *gcraPlan
	tat  time.Duration
	part uint64 // of a ns, in plan.tokens parts
}

type gcraPlan struct {
	tokens, per uint64
	burst       int64
	limit       time.Duration // the time of the burst, and a part
	limitPart   uint64
}

func newGCRAPlan(r Rate, burst int64) *gcraPlan {
	p := &gcraPlan{burst: burst}
	p.tokens, p.per = r.Reduced()
	p.limit, p.limitPart = p.time(burst)
	return p
}

// time is how long the rate takes for so many tokens. Config.Check made sure that it fits for a burst.
func (p *gcraPlan) time(tokens int64) (ns time.Duration, part uint64) {
	hi, lo := bits.Mul64(uint64(tokens), p.per)
	if hi >= p.tokens {
		return Never, 0
	}
	q, r := bits.Div64(hi, lo, p.tokens)
	if q > uint64(Never) {
		return Never, 0
	}
	return time.Duration(q), r
}

func (p *gcraPlan) fresh(time.Duration) GCRA { return GCRA{plan: p, tat: -longestFill} }

// base is the theoretical arrival time, or now when that is past.
func (g *GCRA) base(now time.Duration) (time.Duration, uint64) {
	if g.tat < now {
		return now, 0
	}
	return g.tat, g.part
}

// after is the theoretical arrival time once cost is taken.
func (g *GCRA) after(now time.Duration, cost int64) (time.Duration, uint64) {
	tat, part := g.base(now)
	step, stepPart := g.plan.time(cost)
	part += stepPart
	if part >= g.plan.tokens {
		part -= g.plan.tokens
		step = timeUp(step, 1)
	}
	return timeUp(tat, step), part
}

// Wait is the time until the attempt lies no further ahead than the burst.
func (g *GCRA) Wait(now time.Duration, cost int64) time.Duration {
	if cost <= 0 {
		return 0
	}
	if cost > g.plan.burst {
		return Never
	}
	return g.flow(now, cost)
}

// flow is Wait for attempts that take cost together, one after the other, so that it may be more than the burst.
func (g *GCRA) flow(now time.Duration, cost int64) time.Duration {
	tat, part := g.after(now, cost)
	if part > g.plan.limitPart {
		tat = timeUp(tat, 1)
	}
	if tat == Never { // the end of all time that can be counted
		return Never
	}
	return max(0, tat-g.plan.limit-now)
}

// Take moves the theoretical arrival time on, however far ahead it then lies.
func (g *GCRA) Take(now time.Duration, cost int64) {
	if cost > 0 {
		g.tat, g.part = g.after(now, cost)
	}
}

// Remaining is the burst less what of it lies ahead, in whole tokens.
func (g *GCRA) Remaining(now time.Duration) int64 {
	tat, part := g.base(now)
	hi, lo := bits.Mul64(uint64(tat-now), g.plan.tokens)
	lo, carry := bits.Add64(lo, part, 0)
	hi += carry
	lo, carry = bits.Add64(lo, g.plan.per-1, 0)
	hi += carry
	if hi >= g.plan.per {
		return 0
	}
	if used := div128(hi, lo, g.plan.per); used < uint64(g.plan.burst) {
		return g.plan.burst - int64(used)
	}
	return 0
}

// Reset is how far ahead the theoretical arrival time lies, rounded up.
func (g *GCRA) Reset(now time.Duration) time.Duration {
	tat, part := g.base(now)
	if part > 0 {
		tat = timeUp(tat, 1)
	}
	return tat - now
}

// Fresh reports whether nothing lies ahead.
func (g *GCRA) Fresh(now time.Duration) bool { return g.Reset(now) == 0 }
