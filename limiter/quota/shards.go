package quota

import (
	"math"
	"math/bits"
	"time"

	"fairgate/limiter"
)

// An account is the state of one key: a bucket for each shard.
type account struct {
	one  [1]limiter.TokenBucket // the only one,
	more []limiter.TokenBucket  // or several
}

func newAccount(t *terms, now time.Duration) account {
	if t.Shards == 1 {
		return account{one: [1]limiter.TokenBucket{t.plan.New(now)}}
	}
	a := account{more: make([]limiter.TokenBucket, t.Shards)}
	for i := range a.more {
		a.more[i] = t.plan.New(now)
	}
	return a
}

func (a *account) shards() []limiter.TokenBucket {
	if a.more != nil {
		return a.more
	}
	return a.one[:]
}

func (a *account) fresh(now time.Duration) bool {
	for i := range a.shards() {
		if !a.shards()[i].Fresh(now) {
			return false
		}
	}
	return true
}

// level is the sum over all shards, in tokens, rounded down.
func (a *account) level(now time.Duration) int64 {
	sum, parts, shards := int64(0), uint64(0), a.shards()
	n := int64(len(shards))
	for i := range shards {
		whole, part, of := shards[i].Exact(now)
		sum += max(whole, math.MinInt64/n) // so that debts beyond counting do not wrap
		if parts += part; parts >= of {
			parts -= of
			sum++
		}
	}
	return (sum - ((sum%n)+n)%n) / n
}

// pick is which two of n shards to look at; the same one twice when there is but one.
func (l *Limits) pick(n int) (two [2]int) {
	switch n {
	case 1:
	case 2:
		two[1] = 1
	default:
		draw := mix(l.draws.Add(0x9e3779b97f4a7c15))
		first, _ := bits.Mul64(draw, uint64(n))
		second, _ := bits.Mul64(mix(draw), uint64(n-1))
		if second >= first {
			second++
		}
		two = [2]int{int(first), int(second)}
	}
	return two
}

// mix makes of a counter a number in which every bit depends on every bit: the output function of SplitMix64
// (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// decide answers a request by the two shards, and charges them when it is to.
func (a *account) decide(t *terms, now time.Duration, r Request, two [2]int, charge bool) Verdict {
	if r.Count > math.MaxInt64/int64(t.Shards) {
		return Verdict{RetryAfter: limiter.Never}
	}
	cost := r.Count * int64(t.Shards)
	fuller, other := &a.shards()[two[0]], &a.shards()[two[1]]
	if other.Level(now) > fuller.Level(now) {
		fuller, other = other, fuller
	}
	if r.Reserve {
		if wait, ok := t.reserve(*fuller, now, cost); ok {
			if charge {
				fuller.Take(now, cost)
			}
			return Verdict{OK: true, RetryAfter: wait}
		}
	}
	if fuller == other {
		wait := fuller.Wait(now, cost)
		if wait == 0 && charge {
			fuller.Take(now, cost)
		}
		return Verdict{OK: wait == 0, RetryAfter: wait}
	}
	if !charge {
		wait := limiter.WaitTogether(now, fuller, other, cost)
		return Verdict{OK: wait == 0, RetryAfter: wait}
	}
	if limiter.TakeTogether(now, fuller, other, cost) {
		return Verdict{OK: true}
	}
	return Verdict{RetryAfter: limiter.WaitTogether(now, fuller, other, cost)}
}

// reserve is how long a reservation would wait, and whether it leaves the debt within bounds.
func (t *terms) reserve(b limiter.TokenBucket, now time.Duration, cost int64) (wait time.Duration, ok bool) {
	level := b.Level(now)
	if debt := uint64(cost) - uint64(level); level < cost && t.MaxReserved != nil && debt > uint64(*t.MaxReserved) {
		return 0, false
	}
	b.Take(now, cost)
	wait = b.Repaid(now)
	return wait, wait != limiter.Never
}
