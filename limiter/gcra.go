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
	tat  uint64 // ns; it may lie beyond what a time.Duration can say
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

func (p *gcraPlan) fresh(time.Duration) GCRA { return GCRA{plan: p} }

// ahead is how far the theoretical arrival time lies ahead of now, 0 when it is past.
func (g *GCRA) ahead(now time.Duration) (ns, part uint64) {
	if at := uint64(max(0, now)); g.tat >= at {
		return g.tat - at, g.part
	}
	return 0, 0
}

// after is how far it lies ahead once cost is taken.
func (g *GCRA) after(now time.Duration, cost int64) (ns, part uint64) {
	ns, part = g.ahead(now)
	step, stepPart := g.plan.time(cost)
	part += stepPart
	if part >= g.plan.tokens {
		part -= g.plan.tokens
		ns = addCapped(ns, 1)
	}
	return addCapped(ns, uint64(step)), part
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
	ns, part := g.after(now, cost)
	if part > g.plan.limitPart {
		ns = addCapped(ns, 1)
	}
	return clampWait(ns - min(ns, uint64(g.plan.limit)))
}

// Take moves the theoretical arrival time on, however far ahead it then lies.
func (g *GCRA) Take(now time.Duration, cost int64) {
	if cost > 0 {
		ns, part := g.after(now, cost)
		g.tat, g.part = addCapped(uint64(max(0, now)), ns), part
	}
}

// Remaining is the burst less what of it lies ahead, in whole tokens.
func (g *GCRA) Remaining(now time.Duration) int64 {
	ns, part := g.ahead(now)
	hi, lo := bits.Mul64(ns, g.plan.tokens)
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
	ns, part := g.ahead(now)
	if part > 0 {
		ns = addCapped(ns, 1)
	}
	return clampWait(ns)
}

// Fresh reports whether nothing lies ahead.
func (g *GCRA) Fresh(now time.Duration) bool { return g.Reset(now) == 0 }
