package limiter

import (
	"math/bits"
	"time"
)

// rain is the rate of a hierarchical limit, falling on its clients. Every client has two buckets:
//
//	                    rate (say 1000/s)
//	      ┌───────────────────┴──────────────────┐
//	guaranteed, each its own         all the rest: the spare
//	 ▼ 100/s   ▼ 100/s                ▼ ×1       ▼ ×1     by weight
//	|web g|   |batch g|              |web s|    |batch s|
//
// Rain falls only on buckets that are not full: the guarantee of one that is full joins the spare, and the spare is divided among those
// that can take it. So nothing is lost while anybody lacks anything, and in the long run a client that asks for more than it is
// guaranteed gets its guarantee and, by weight, its max-min share of the rest.
//
// Water is counted in drops, so fine that the rate is a whole number of drops each nanosecond. Two clocks make a step cost the
// logarithm of the clients, however many are under the rain:
//
//	v      drops that have fallen from the spare on each unit of weight: a bucket is full when v has come to a known value
//	theta  time during which guarantees have fallen, slower than time where they add up to more than the rate
type rain struct {
	sky
	rate    uint64 // drops per ns
	token   uint64 // drops
	byV     lineup // the spare buckets that are not full, by the v at which they will be
	byTheta lineup // the guarantee buckets, by theta
	buckets []buckets
	weight  []uint32    // by client
	dearest []uint32    // tokens that each of the two must be able to hold
	ahead   [2]frontier // of fill, to be used again: byV's and byTheta's
}

// sky is what changes as time passes, apart so that one can look ahead with a copy.
type sky struct {
	last       time.Duration
	poolHi     uint64 // drops of the spare that have come and are not enough for another v
	poolLo     uint64
	v          uint64
	theta      uint64
	thetaPart  uint64 // of 2^32: what theta lacks to the next ns
	scale      uint64 // of 2^32: how much of a guarantee is granted
	weights    uint64 // of the spare buckets that are not full
	guaranteed uint64 // drops per ns of the guarantee buckets that are not full, unscaled
}

const whole = 1 << 32 // sky.scale: guarantees are granted whole

// buckets are a client's two, by what they lacked when v was atV and theta was atTheta.
type buckets struct {
	spare, atV   uint64
	own, atTheta uint64
	guarantee    uint64 // drops per ns
}

// newRain fits the size of a drop to a rate and the burst: as fine as 64 bits allow. ok is false when they do not allow it at all.
func newRain(now time.Duration, r Rate, burst int64) (rain, bool) {
	n, d := r.Reduced()
	shift := min(43-bits.Len64(n), 62-bits.Len64(d)-bits.Len64(uint64(burst)))
	if shift < 0 {
		return rain{}, false
	}
	return rain{rate: n << shift, token: d << shift, sky: sky{last: now, scale: whole}}, true
}

// drops is a rate in drops per ns, rounded down, at most the whole rain.
func (r *rain) drops(rate Rate) uint64 {
	if rate.IsZero() {
		return 0
	}
	n, d := rate.Reduced()
	hi, lo := bits.Mul64(n, r.token)
	if hi >= d {
		return r.rate
	}
	return min(r.rate, div128(hi, lo, d))
}

func (r *rain) open(client int) {
	r.byV.open(client)
	r.byTheta.open(client)
	for len(r.buckets) <= client {
		r.buckets = append(r.buckets, buckets{})
		r.weight = append(r.weight, 1)
		r.dearest = append(r.dearest, 1)
	}
}

// terms sets what falls on a client from now on. A guarantee that ends leaves what its bucket lacked to the spare one.
func (r *rain) terms(client int, weight uint32, guarantee uint64) {
	b := &r.buckets[client]
	spare, own := r.lacks(client)
	r.dry(client)
	r.weight[client], b.guarantee = weight, guarantee
	if guarantee == 0 {
		spare, own = spare+own, 0
	}
	r.lack(client, spare, own)
}

// lacks is what the client's two buckets lack, in drops.
func (r *rain) lacks(client int) (spare, own uint64) {
	b := &r.buckets[client]
	if r.byV.at[client] != nobody {
		spare = less(b.spare, r.v-b.atV, uint64(r.weight[client]))
	}
	if r.byTheta.at[client] != nobody {
		own = less(b.own, r.theta-b.atTheta, b.guarantee)
	}
	return spare, own
}

// less is a − b·c, at least 0.
func less(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(b, c)
	if hi > 0 || lo >= a {
		return 0
	}
	return a - lo
}

// dry takes a client's buckets out of the rain, as if they were full.
func (r *rain) dry(client int) {
	b := &r.buckets[client]
	if r.byV.at[client] != nobody {
		r.byV.drop(client)
		r.weights -= uint64(r.weight[client])
	}
	if r.byTheta.at[client] != nobody {
		r.byTheta.drop(client)
		r.guaranteed -= b.guarantee
	}
}

// lack says what the buckets of a client that is out of the rain lack, and puts them into it.
func (r *rain) lack(client int, spare, own uint64) {
	b := &r.buckets[client]
	if spare > 0 {
		b.spare, b.atV = spare, r.v
		weight := uint64(r.weight[client])
		r.byV.set(client, r.v+(spare-1)/weight+1, 0)
		r.weights += weight
	}
	if own > 0 {
		b.own, b.atTheta = own, r.theta
		r.byTheta.set(client, r.theta+(own-1)/b.guarantee+1, 0)
		r.guaranteed += b.guarantee
	}
}

// spare is the drops per ns that fall on the spare buckets.
func (r *rain) spare(s *sky) uint64 {
	hi, lo := bits.Mul64(s.guaranteed, s.scale)
	lo, carry := bits.Add64(lo, whole-1, 0)
	granted := (hi+carry)<<32 | lo>>32
	return r.rate - min(granted, r.rate)
}

// untilV is the time until v has come to a value.
func (r *rain) untilV(s *sky, v uint64) time.Duration {
	if v <= s.v {
		return 0
	}
	hi, lo := bits.Mul64(v-s.v, s.weights)
	lo, borrow := bits.Sub64(lo, s.poolLo, 0)
	hi, borrow = bits.Sub64(hi, s.poolHi, borrow)
	if borrow > 0 {
		return 0
	}
	return divUp(hi, lo, r.spare(s))
}

func (r *rain) untilTheta(s *sky, theta uint64) time.Duration {
	if theta <= s.theta {
		return 0
	}
	d := theta - s.theta
	if s.scale == whole {
		return clampWait(d)
	}
	hi, lo := d>>32, d<<32
	lo, borrow := bits.Sub64(lo, s.thetaPart, 0)
	return divUp(hi-borrow, lo, s.scale)
}

// divUp is a time, rounded up, Never when it is longer than one can say.
func divUp(hi, lo, by uint64) time.Duration {
	lo, carry := bits.Add64(lo, max(by, 1)-1, 0)
	hi += carry
	if hi >= by {
		return Never
	}
	return clampWait(div128(hi, lo, by))
}

// pass lets it rain for a time in which no bucket becomes full before the end.
func (r *rain) pass(s *sky, d time.Duration) {
	s.last = timeUp(s.last, d)
	if s.scale == whole {
		s.theta += uint64(d)
	} else {
		hi, lo := bits.Mul64(uint64(d), s.scale)
		lo, carry := bits.Add64(lo, s.thetaPart, 0)
		hi += carry
		s.theta += hi<<32 | lo>>32
		s.thetaPart = lo & (whole - 1)
	}
	if s.weights == 0 {
		s.poolHi, s.poolLo = 0, 0 // all are full: what falls is lost
		return
	}
	hi, lo := bits.Mul64(uint64(d), r.spare(s))
	lo, carry := bits.Add64(lo, s.poolLo, 0)
	hi += s.poolHi + carry
	if hi < s.weights {
		q, rem := bits.Div64(hi, lo, s.weights)
		s.v += q
		s.poolHi, s.poolLo = 0, rem
	}
}

// until is the time until the next bucket is full, or limit when that comes first.
func (r *rain) until(limit time.Duration) time.Duration {
	if len(r.byV.heap) > 0 {
		limit = min(limit, r.untilV(&r.sky, r.byV.heap[0].key))
	}
	if len(r.byTheta.heap) > 0 {
		limit = min(limit, r.untilTheta(&r.sky, r.byTheta.heap[0].key))
	}
	return limit
}

// advance lets it rain until now.
func (r *rain) advance(now time.Duration) {
	for now > r.last {
		left := now - r.last
		r.pass(&r.sky, r.until(left))
		r.takeFull()
	}
	if r.v > 1<<62 {
		r.rebase()
	}
}

// takeFull takes the buckets that have become full out of the rain.
func (r *rain) takeFull() {
	for len(r.byV.heap) > 0 && r.byV.heap[0].key <= r.v {
		i := int(r.byV.heap[0].client)
		r.byV.drop(i)
		r.weights -= uint64(r.weight[i])
	}
	for len(r.byTheta.heap) > 0 && r.byTheta.heap[0].key <= r.theta {
		i := int(r.byTheta.heap[0].client)
		r.byTheta.drop(i)
		r.guaranteed -= r.buckets[i].guarantee
	}
}

// rebase begins v anew before it could overflow.
func (r *rain) rebase() {
	for i := range r.byV.heap {
		s := &r.byV.heap[i]
		b := &r.buckets[s.client]
		b.spare, _ = r.lacks(int(s.client))
		b.atV = 0
		s.key -= r.v
	}
	r.v = 0
}
