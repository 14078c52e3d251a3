package limiter

import (
	"sort"
	"time"
)

// TakeTogether takes cost from two different buckets of one plan: all of it from the fuller one if it has enough, and
// otherwise from both if they have enough between them. Then each keeps half of what is left: were one of them left
// with more, it would sooner be full and lose what it regains. It reports whether it took; otherwise
// nothing changes. A cost of zero or less is always there.
func TakeTogether(now time.Duration, a, b *TokenBucket, cost int64) bool {
	fuller, other := byLevel(now, *a, *b)
	if fuller.TryTake(now, cost) {
		if b.more(now, a) {
			*b = fuller
		} else {
			*a = fuller
		}
		return true
	}
	left, part, ok := together(now, fuller, other, cost)
	if !ok {
		return false
	}
	a.advance(now)
	b.advance(now)
	per := a.plan.per
	a.level, b.level = left/2, left/2
	a.rem, b.rem = 0, 0
	switch odd := left % 2; {
	case a.plan.grid:
		a.level += odd
	default:
		part += uint64(odd) * per // below 2 per
		a.rem, b.rem = part-part/2, part/2
		if a.rem == per {
			a.level, a.rem = a.level+1, 0
		}
	}
	return true
}

// WaitTogether is the exact time until TakeTogether takes, if nobody else does; Never when cost is above what the two can
// hold, or when the wait is longer than a time.Duration can say.
func WaitTogether(now time.Duration, a, b *TokenBucket, cost int64) time.Duration {
	fuller, other := byLevel(now, *a, *b)
	enough := func(at time.Duration) bool {
		_, _, ok := together(at, fuller, other, cost)
		return ok || fuller.Wait(at, cost) == 0 || other.Wait(at, cost) == 0
	}
	most := min(fuller.Wait(now, cost), other.Wait(now, cost))
	if most == Never {
		most = max(fuller.Reset(now), other.Reset(now))
	}
	if most >= Never-max(0, now) || !enough(now+most) {
		return Never
	}
	return time.Duration(sort.Search(int(most), func(wait int) bool { return enough(now + time.Duration(wait)) }))
}

// together is what two buckets would have left, in whole tokens and a part, if they paid cost together, and whether they
// can. Neither holds the cost alone.
func together(now time.Duration, a, b TokenBucket, cost int64) (left int64, part uint64, ok bool) {
	a.advance(now)
	b.advance(now)
	part = a.rem + b.rem // each below per, which is below 2⁶³
	if part >= a.plan.per {
		part -= a.plan.per
		left = 1
	}
	if a.level < 0 || b.level < 0 || a.level >= cost || b.level >= cost {
		return 0, 0, false
	}
	left += b.level - (cost - a.level)
	return left, part, left >= 0
}

func byLevel(now time.Duration, a, b TokenBucket) (fuller, other TokenBucket) {
	if b.more(now, &a) {
		return b, a
	}
	return a, b
}

// more reports whether b holds more than a, to the last part.
func (b *TokenBucket) more(now time.Duration, a *TokenBucket) bool {
	x, y := *b, *a
	x.advance(now)
	y.advance(now)
	return x.level > y.level || x.level == y.level && x.rem > y.rem
}
