package limiter

import "time"

// A FixedWindow counts what it admits in windows that follow each other, and starts anew with each.
//
//	├── window ──┼── window ──┼── window ──┤
//	           ▮▮▮▮▮▮                           twice the limit, in a moment
//
// Its bound: over any time of one window's length at most twice the limit; over T at most limit × (⌊T / window⌋ + 2).
// Whoever is refused is told the same moment, the window's end, and all come back at once.
type FixedWindow struct {
	plan  *windowPlan
	begin time.Duration // of the window that used belongs to
	used  int64
}

// A windowPlan is so many tokens in each window; windows begin at start and every length before and after.
type windowPlan struct {
	limit  int64
	length time.Duration
	start  time.Duration
}

// begin is the start of the window that now is in.
func (p *windowPlan) begin(now time.Duration) time.Duration {
	into := (now - p.start) % p.length
	if into < 0 {
		into += p.length
	}
	return now - into
}

func (p *windowPlan) fixed(now time.Duration) FixedWindow {
	return FixedWindow{plan: p, begin: p.begin(now)}
}

// at is the window's state at now.
func (w *FixedWindow) at(now time.Duration) (begin time.Duration, used int64) {
	if now < w.begin || now-w.begin < w.plan.length {
		return w.begin, w.used
	}
	return w.plan.begin(now), 0
}

// Wait is the time until the next window when this one has too little left.
func (w *FixedWindow) Wait(now time.Duration, cost int64) time.Duration {
	begin, used := w.at(now)
	switch {
	case cost <= 0 || cost <= w.plan.limit-used:
		return 0
	case cost > w.plan.limit:
		return Never
	}
	return w.plan.length - (now - begin)
}

// Take counts in the present window.
func (w *FixedWindow) Take(now time.Duration, cost int64) {
	w.begin, w.used = w.at(now)
	w.used = saturated(w.used, max(0, cost))
}

// Remaining is what the present window has left.
func (w *FixedWindow) Remaining(now time.Duration) int64 {
	_, used := w.at(now)
	return max(0, w.plan.limit-used)
}

// Reset is the time until the next window, 0 while nothing was counted in this one.
func (w *FixedWindow) Reset(now time.Duration) time.Duration {
	begin, used := w.at(now)
	if used == 0 {
		return 0
	}
	return w.plan.length - (now - begin)
}

// Fresh reports whether nothing was counted in the present window.
func (w *FixedWindow) Fresh(now time.Duration) bool { return w.Reset(now) == 0 }

// relimit goes on counting under another limit.
func (w *FixedWindow) relimit(_ time.Duration, to Counter) bool {
	n, ok := to.(*FixedWindow)
	if ok = ok && n.plan.sameWindows(w.plan); ok {
		n.begin, n.used = w.begin, w.used
	}
	return ok
}

func (p *windowPlan) sameWindows(o *windowPlan) bool {
	return p.length == o.length && p.start == o.start
}
