package limiter

import (
	"math/bits"
	"time"
)

// A SlidingWindow keeps the counts of two fixed windows, and takes what the former admitted as spread evenly over it: of its count
// only the part counts that a window's length ending now still covers.
//
//	previous · (length − elapsed) / length + current + cost ≤ limit
//
// Two numbers instead of a log. Its bound: in each of the two windows at most the limit, so over any time of one window's length less than
// twice the limit, over T at most limit × (⌊T / window⌋ + 2); for even traffic it is close to the limit.
type SlidingWindow struct {
	plan              *windowPlan
	begin             time.Duration // of the current window
	previous, current int64
}

func (p *windowPlan) sliding(now time.Duration) SlidingWindow {
	return SlidingWindow{plan: p, begin: p.begin(now)}
}

// at is the state at now.
func (w *SlidingWindow) at(now time.Duration) SlidingWindow {
	s := *w
	if now < s.begin || now-s.begin < s.plan.length {
		return s
	}
	begin := s.plan.begin(now)
	if begin-s.begin == s.plan.length {
		s.previous = s.current
	} else {
		s.previous = 0
	}
	s.begin, s.current = begin, 0
	return s
}

// Wait is the time until enough of what was counted has slid out of the window.
func (w *SlidingWindow) Wait(now time.Duration, cost int64) time.Duration {
	if cost <= 0 {
		return 0
	}
	if cost > w.plan.limit {
		return Never
	}
	s := w.at(now)
	elapsed := now - s.begin
	if room := s.plan.limit - s.current - cost; room >= 0 {
		return max(0, s.plan.slidOut(s.previous, room)-elapsed)
	}
	// Only in the next window, where what is counted now is the previous count.
	return timeUp(s.plan.length-elapsed, s.plan.slidOut(s.current, s.plan.limit-cost))
}

// slidOut is how much of a window must have passed until of a previous count no more than room counts.
func (p *windowPlan) slidOut(previous, room int64) time.Duration {
	if previous <= room {
		return 0
	}
	hi, lo := bits.Mul64(uint64(room), uint64(p.length))
	return p.length - time.Duration(div128(hi, lo, uint64(previous)))
}

// Take counts in the current window.
func (w *SlidingWindow) Take(now time.Duration, cost int64) {
	*w = w.at(now)
	w.current = saturated(w.current, max(0, cost))
}

// Remaining is the limit less what counts now, in whole tokens.
func (w *SlidingWindow) Remaining(now time.Duration) int64 {
	s := w.at(now)
	covered := s.plan.length - max(0, now-s.begin)
	hi, lo := bits.Mul64(uint64(s.previous), uint64(covered))
	lo, carry := bits.Add64(lo, uint64(s.plan.length)-1, 0)
	counts := int64(div128(hi+carry, lo, uint64(s.plan.length)))
	return max(0, s.plan.limit-saturated(s.current, counts))
}

// Reset is the time until nothing that was counted counts any more.
func (w *SlidingWindow) Reset(now time.Duration) time.Duration {
	s := w.at(now)
	left := s.plan.length - (now - s.begin)
	switch {
	case s.current > 0:
		return timeUp(left, s.plan.length)
	case s.previous > 0:
		return left
	}
	return 0
}

// Fresh reports whether nothing counts.
func (w *SlidingWindow) Fresh(now time.Duration) bool { return w.Reset(now) == 0 }

// relimit goes on counting under another limit.
func (w *SlidingWindow) relimit(_ time.Duration, to Counter) bool {
	n, ok := to.(*SlidingWindow)
	if ok = ok && n.plan.sameWindows(w.plan); ok {
		n.begin, n.previous, n.current = w.begin, w.previous, w.current
	}
	return ok
}
