package fairness

import "time"

// overshoot watches whether admissions ever went beyond the limit. The most that any interval admitted above
// limit × time + burst is found in one pass: keep a token bucket of that limit which may
// go below zero, and remember how far it went. An interval that starts when the bucket was last full is the worst one.
//
// A change of the limit starts it afresh with a full bucket: what a limiter carries over is its own affair, and an interval
// across a change has no limit to be held against.
type overshoot struct {
	from  time.Duration // of the present limit
	last  time.Duration
	rate  float64 // tokens per nanosecond
	burst float64
	level float64
	worst float64 // how far below zero
}

func newOvershoot(at time.Duration, l Limit) overshoot {
	return overshoot{from: at, last: at, rate: l.Capacity / 1e9, burst: float64(l.Burst), level: float64(l.Burst)}
}

// admit counts an admission of so many tokens. One that comes out of order counts at the time of the latest one. That is too hard on the
// limiter where the bucket was full in between, or was taken for full since admissions were not told yet: see Options.InOrder.
func (o *overshoot) admit(at time.Duration, tokens float64) {
	if at < o.from {
		return // decided under the limit before
	}
	if at > o.last {
		o.level = min(o.burst, o.level+float64(at-o.last)*o.rate)
		o.last = at
	}
	o.level -= tokens
	o.worst = max(o.worst, -o.level)
}

func (o *overshoot) change(at time.Duration, was, is Limit) {
	if was.Capacity == is.Capacity && was.Burst == is.Burst && was.Policy == is.Policy && was.Algorithm == is.Algorithm {
		return
	}
	worst := o.worst
	*o = newOvershoot(at, is)
	o.worst = worst
}

// tokens is the worst of the run; 0: never. A millionth of a token is the rounding of this bucket, not the limiter's fault.
func (o *overshoot) tokens() float64 {
	if o.worst < 1e-6*max(1, o.burst) {
		return 0
	}
	return o.worst
}
