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
	more *split                 // or several
}

// A split is the state of a key whose limit has several shards.
type split struct {
	shards []limiter.TokenBucket
	asked  uint64 // how often the key was asked about: by this the shards are drawn that the next request looks at
}

func newAccount(t *terms, now time.Duration) account {
	if t.Shards == 1 {
		return account{one: [1]limiter.TokenBucket{t.plan.New(now)}}
	}
	a := account{more: &split{shards: make([]limiter.TokenBucket, t.Shards)}}
	for i := range a.more.shards {
		a.more.shards[i] = t.plan.New(now)
	}
	return a
}

func (a *account) shards() []limiter.TokenBucket {
	if a.more != nil {
		return a.more.shards
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

// pick is which two shards the key's next request looks at; the same one twice when there is but one. It draws
// by how often the key was asked about, so that looking ahead and asking see the same two, whatever other keys do
// meanwhile.
func (l *Limits) pick(a *account, key string) (two [2]int) {
	switch n := len(a.shards()); n {
	case 1:
	case 2:
		two[1] = 1
	default:
		draw := mix(hash(key) + l.seed + a.more.asked*0x9e3779b97f4a7c15)
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
	if charge && a.more != nil {
		a.more.asked++
	}
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
	wait := t.take(now, fuller, other, cost, charge)
	if wait > 0 && r.Reserve { // refused: what comes first, room for the debt of either or enough without one
		wait = min(wait, t.reservable(*fuller, now, cost), t.reservable(*other, now, cost))
	}
	return Verdict{OK: wait == 0, RetryAfter: wait}
}

// take takes from the fuller, or from both together, when it is to charge. It returns the wait, 0 when they have enough.
func (t *terms) take(now time.Duration, fuller, other *limiter.TokenBucket, cost int64, charge bool) (wait time.Duration) {
	if fuller == other {
		if wait = fuller.Wait(now, cost); wait == 0 && charge {
			fuller.Take(now, cost)
		}
		return wait
	}
	if charge && limiter.TakeTogether(now, fuller, other, cost) {
		return 0
	}
	return limiter.WaitTogether(now, fuller, other, cost)
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

// reservable is how long until reserve is ok, when it is not yet: until the bucket holds what the debt may not.
func (t *terms) reservable(b limiter.TokenBucket, now time.Duration, cost int64) (wait time.Duration) {
	if t.MaxReserved == nil {
		return limiter.Never // refused for a debt that no time.Duration outlasts
	}
	if level := cost - *t.MaxReserved; level > 0 {
		wait = b.Wait(now, level)
	} else { // the level is below this one, which is not above 0: lift both by as much, and it is in debt until then
		lifted := b
		lifted.ForceAdd(now, -level)
		wait = lifted.Repaid(now)
	}
	if wait >= limiter.Never-max(0, now) {
		return limiter.Never
	}
	if _, ok := t.reserve(b, now+wait, cost); !ok {
		return limiter.Never // within bounds then, but again such a debt
	}
	return wait
}
