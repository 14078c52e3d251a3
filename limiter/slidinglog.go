package limiter

import (
	"sort"
	"time"
)

// A SlidingLog remembers when it admitted what, and forgets it at the age of one window. Its bound is exact: over any time of one
// window's length never more than the limit. It costs memory in proportion to the limit. Refusals are not recorded: a
// client that keeps asking is not kept out by its asking.
type SlidingLog struct {
	plan *windowPlan
	// A ring of n entries from head on. Each has the sum of all that was ever admitted up to it, so that the sum of any stretch
	// is a subtraction, and the entry that frees enough is found by halving.
	ring    []logEntry
	head, n int
	gone    uint64 // the sum before head
	total   uint64 // the sum of all; sums may wrap round, differences do not
}

type logEntry struct {
	at  time.Duration
	sum uint64
}

func (p *windowPlan) log(time.Duration) SlidingLog { return SlidingLog{plan: p} }

func (l *SlidingLog) entry(i int) *logEntry { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

// expired is how many entries have reached the window's age at now.
func (l *SlidingLog) expired(now time.Duration) int {
	if l.n == 0 || now-l.entry(0).at < l.plan.length {
		return 0
	}
	return sort.Search(l.n, func(i int) bool { return now-l.entry(i).at < l.plan.length })
}

// used is what the window that ends at now holds.
func (l *SlidingLog) used(now time.Duration) int64 {
	gone := l.gone
	if n := l.expired(now); n > 0 {
		gone = l.entry(n - 1).sum
	}
	return int64(l.total - gone)
}

// Wait is the time until the entry leaves that makes room enough.
func (l *SlidingLog) Wait(now time.Duration, cost int64) time.Duration {
	if cost <= 0 {
		return 0
	}
	if cost > l.plan.limit {
		return Never
	}
	used := l.used(now)
	if cost <= l.plan.limit-used {
		return 0
	}
	free := l.total - uint64(l.plan.limit-cost) // the sum that must have left
	i := sort.Search(l.n-1, func(i int) bool { return int64(l.entry(i).sum-free) >= 0 })
	return l.plan.length - (now - l.entry(i).at)
}

// Take records an admission.
func (l *SlidingLog) Take(now time.Duration, cost int64) {
	for n := l.expired(now); n > 0; n-- {
		l.gone = l.entry(0).sum
		l.head = (l.head + 1) & (len(l.ring) - 1)
		l.n--
	}
	if cost <= 0 {
		return
	}
	l.total += uint64(cost)
	if l.n > 0 {
		if last := l.entry(l.n - 1); last.at >= now {
			last.sum = l.total
			return
		}
	}
	if l.n == len(l.ring) {
		l.grow()
	}
	l.n++
	*l.entry(l.n - 1) = logEntry{now, l.total}
}

// grow doubles the ring; its length is a power of two.
func (l *SlidingLog) grow() {
	ring := make([]logEntry, max(4, 2*len(l.ring)))
	for i := range l.n {
		ring[i] = *l.entry(i)
	}
	l.ring, l.head = ring, 0
}

// Remaining is the limit less what the window holds.
func (l *SlidingLog) Remaining(now time.Duration) int64 { return max(0, l.plan.limit-l.used(now)) }

// Reset is the time until the last entry has left.
func (l *SlidingLog) Reset(now time.Duration) time.Duration {
	if l.n == 0 {
		return 0
	}
	return max(0, l.plan.length-(now-l.entry(l.n-1).at))
}

// Fresh reports whether the window is empty.
func (l *SlidingLog) Fresh(now time.Duration) bool { return l.Reset(now) == 0 }

// relimit goes on with the same log under another limit.
func (l *SlidingLog) relimit(_ time.Duration, to Counter) bool {
	n, ok := to.(*SlidingLog)
	if ok = ok && n.plan.length == l.plan.length; ok {
		plan := n.plan
		*n = *l
		n.plan = plan
	}
	return ok
}
