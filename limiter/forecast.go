package limiter

import (
	"math"
	"math/bits"
	"time"
)

// mostAhead is how many buckets that become full fill looks ahead past.
const mostAhead = 12

// fill is how long it takes until as many drops as gain have fallen on the client's two buckets, if nobody takes any. It is exact, unless
// more than mostAhead other buckets become full before: from then on it counts as if no further one did, which
// makes it longer and never shorter.
func (r *rain) fill(client int, gain uint64) time.Duration {
	s := r.sky
	ahead := lookahead{v: frontier{line: &r.byV}, theta: frontier{line: &r.byTheta}}
	ahead.v.start()
	ahead.theta.start()
	b, weight := r.buckets[client], uint64(r.weight[client])
	spareWet, ownWet := r.byV.at[client] != nobody, r.byTheta.at[client] != nobody
	spareLack, ownLack := r.lacks(client) // a bucket takes no more than it lacks, though its last nanosecond may bring more
	start := s.last
	for step := 0; ; step++ {
		span := Never
		vi, ti := ahead.v.least(), ahead.theta.least()
		if step < mostAhead || vi >= 0 && int(r.byV.heap[ahead.v.open[vi]].client) == client ||
			ti >= 0 && int(r.byTheta.heap[ahead.theta.open[ti]].client) == client {
			if vi >= 0 {
				span = r.untilV(&s, r.byV.heap[ahead.v.open[vi]].key)
			}
			if ti >= 0 {
				span = min(span, r.untilTheta(&s, r.byTheta.heap[ahead.theta.open[ti]].key))
			}
		}
		fall := func(d time.Duration) (spare, own uint64) {
			at := s
			r.pass(&at, d)
			if spareWet {
				spare = min(spareLack, product(at.v-s.v, weight))
			}
			if ownWet {
				own = min(ownLack, product(at.theta-s.theta, b.guarantee))
			}
			return spare, own
		}
		fallen := func(d time.Duration) uint64 {
			spare, own := fall(d)
			return addCapped(spare, own)
		}
		if span == Never || fallen(span) >= gain {
			d := r.search(&s, b, weight, spareWet, ownWet, gain, span, fallen)
			return timeUp(s.last-start, d)
		}
		spare, own := fall(span)
		gain, spareLack, ownLack = gain-spare-own, spareLack-spare, ownLack-own
		r.pass(&s, span)
		if vi >= 0 && r.byV.heap[ahead.v.open[vi]].key <= s.v {
			c := ahead.v.pop(vi)
			s.weights -= uint64(r.weight[c])
			spareWet = spareWet && c != client
		}
		if ti >= 0 && r.byTheta.heap[ahead.theta.open[ti]].key <= s.theta {
			c := ahead.theta.pop(ti)
			s.guaranteed -= r.buckets[c].guarantee
			ownWet = ownWet && c != client
		}
		if !spareWet && !ownWet {
			return timeUp(s.last-start, 0)
		}
	}
}

// search finds the shortest time, at most span, in which gain drops fall. A float64 only says where to begin.
func (r *rain) search(s *sky, b buckets, weight uint64, spareWet, ownWet bool, gain uint64, span time.Duration, fallen func(time.Duration) uint64) time.Duration {
	slope := 0.0
	if spareWet {
		slope += float64(r.spare(s)) / float64(s.weights) * float64(weight)
	}
	if ownWet {
		slope += float64(b.guarantee) * float64(s.scale) / whole
	}
	if fallen(0) >= gain { // what was left over when a bucket became full
		return 0
	}
	low, high := time.Duration(0), min(span, longestFill) // low: not enough; high: enough
	if guess := float64(gain) / slope; guess < float64(high) {
		at := time.Duration(guess)
		for width := time.Duration(1); ; width *= 2 {
			if lower := at - width; lower > low && fallen(lower) < gain {
				low = lower
				break
			} else if lower <= low {
				break
			}
		}
		for width := time.Duration(1); ; width *= 2 {
			if upper := at + width; upper < high && fallen(upper) >= gain {
				high = upper
				break
			} else if upper >= high {
				break
			}
		}
	} else if span == Never && fallen(high) < gain {
		return Never
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; fallen(mid) >= gain {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

func product(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi > 0 {
		return math.MaxUint64
	}
	return lo
}

func addCapped(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// lookahead walks through the buckets that become full next, without taking them out.
type lookahead struct{ v, theta frontier }

// A frontier is the places of a heap whose parents have been passed: the next in order is among them.
type frontier struct {
	line *lineup
	open [mostAhead + 3]int32
	n    int
}

func (f *frontier) start() {
	if len(f.line.heap) > 0 {
		f.open[0], f.n = 0, 1
	}
}

// least is where in open the next in order stands; -1: nowhere.
func (f *frontier) least() int {
	best := -1
	for i := range f.n {
		if best < 0 || f.line.heap[f.open[i]].before(f.line.heap[f.open[best]]) {
			best = i
		}
	}
	return best
}

// pop passes one and returns its client.
func (f *frontier) pop(i int) int {
	at := f.open[i]
	f.n--
	f.open[i] = f.open[f.n]
	for child := 2*at + 1; child <= 2*at+2 && int(child) < len(f.line.heap) && f.n < len(f.open); child++ {
		f.open[f.n] = child
		f.n++
	}
	return int(f.line.heap[at].client)
}
