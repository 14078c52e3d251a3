package limiter

import (
	"math"
	"math/bits"
	"time"
)

// A LeakyBucket has so many slots; what is admitted takes slots and leaks out of them at the rate.
//
//	  ▼ attempts
//	|     |  slots: the burst
//	|█████|
//	|█████|
//	└──┬──┘
//	   ▼ the rate, evenly
//
// As a meter it answers at once, and admits exactly what a token bucket admits: over any window of length T at most burst + rate × T.
//
// As a shaper it delays what it admits until all that was before it has leaked out, so that what passes is even: at most
// rate × T + 1 over any window of length T. The capacity counts the attempt that leaves now: what nginx calls burst=20 are 21 slots.
// With a delay threshold so many slots may be taken ahead of an attempt before it is delayed, as nginx's delay= does.
//
// Whole slots leak, and the part of the next one that has leaked is kept: asking often does not keep it from draining.
type LeakyBucket struct {
	plan   *leakyPlan
	queued int64         // slots taken
	leaked uint64        // of the next slot, in plan.per parts
	last   time.Duration // leaked up to here
}

type leakyPlan struct {
	tokens, per uint64
	slots       int64
	delay       int64 // slots that may be taken ahead without delay
}

func newLeakyPlan(r Rate, slots, delay int64) *leakyPlan {
	p := &leakyPlan{slots: slots, delay: delay}
	p.tokens, p.per = r.Reduced()
	return p
}

func (p *leakyPlan) fresh(now time.Duration) LeakyBucket { return LeakyBucket{plan: p, last: now} }

// advance lets leak what has leaked since last.
func (b *LeakyBucket) advance(now time.Duration) {
	if now <= b.last {
		return
	}
	passed := uint64(now) - uint64(b.last)
	b.last = now
	if b.queued == 0 {
		return
	}
	hi, lo := bits.Mul64(passed, b.plan.tokens)
	lo, carry := bits.Add64(lo, b.leaked, 0)
	hi += carry
	slots := uint64(math.MaxUint64)
	if hi < b.plan.per {
		slots, b.leaked = bits.Div64(hi, lo, b.plan.per)
	}
	if slots >= uint64(b.queued) {
		b.queued, b.leaked = 0, 0
		return
	}
	b.queued -= int64(slots)
}

// drain is the time until so many slots have leaked out, which are taken now; b has been advanced to now or beyond.
func (b *LeakyBucket) drain(now time.Duration, slots int64) time.Duration {
	if slots <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(slots), b.plan.per)
	lo, borrow := bits.Sub64(lo, b.leaked, 0)
	return timeUp(divUp(hi-borrow, lo, b.plan.tokens), b.last-now)
}

// Wait is the time until enough slots are free.
func (b *LeakyBucket) Wait(now time.Duration, cost int64) time.Duration {
	if cost <= 0 || cost <= b.plan.slots-b.queued { // not leaked yet: at least so many are free
		return 0
	}
	if cost > b.plan.slots {
		return Never
	}
	return b.flow(now, cost)
}

// flow is Wait for attempts that take cost together, one after the other, so that it may be more than there are slots.
func (b *LeakyBucket) flow(now time.Duration, cost int64) time.Duration {
	at := *b
	at.advance(now)
	return at.drain(now, saturated(at.queued, cost)-b.plan.slots)
}

// Delay is how long an attempt that is admitted now stays in a shaper.
func (b *LeakyBucket) Delay(now time.Duration) time.Duration {
	at := *b
	at.advance(now)
	return at.drain(now, at.queued-b.plan.delay)
}

// Take takes slots, also more than there are.
func (b *LeakyBucket) Take(now time.Duration, cost int64) {
	b.advance(now)
	b.queued = saturated(b.queued, max(0, cost))
}

// Remaining is the slots that are free.
func (b *LeakyBucket) Remaining(now time.Duration) int64 {
	at := *b
	at.advance(now)
	return max(0, b.plan.slots-at.queued)
}

// Reset is the time until all slots are free.
func (b *LeakyBucket) Reset(now time.Duration) time.Duration {
	at := *b
	at.advance(now)
	return at.drain(now, at.queued)
}

// Fresh reports whether all slots are free.
func (b *LeakyBucket) Fresh(now time.Duration) bool { return b.Reset(now) == 0 }
