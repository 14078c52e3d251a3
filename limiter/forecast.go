package limiter

import (
	"math"
	"math/bits"
	"time"
)

// mostAhead is how many buckets that become full fill looks ahead past: that many it takes to make a wait of one client inexact.
// A refusal costs the more the further it looks.
const mostAhead = 128

// fill is how long it takes until as many drops as gain have fallen on the client's two buckets, if nobody takes any. It follows the buckets
// of all in the order in which they become full, for with each of them more falls on those that are left. It is exact, unless
// more than mostAhead of them become full before: from then on it counts as if no further one did, which
// makes it longer and never shorter.
func (r *rain) fill(client int, gain uint64) time.Duration {
	s := r.sky
	v, theta := &r.ahead[0], &r.ahead[1]
	v.start(&r.byV)
	theta.start(&r.byTheta)
	b, weight := r.buckets[client], uint64(r.weight[client])
	spareWet, ownWet := r.byV.at[client] != nobody, r.byTheta.at[client] != nobody
	spareLack, ownLack := r.lacks(client) // a bucket takes no more than it lacks, though its last nanosecond may bring more
	start := s.last
	for step := 0; ; step++ {
		span := Never
		nextV, moreV := v.least()
		nextTheta, moreTheta := theta.least()
		if step < mostAhead || moreV && int(nextV.client) == client || moreTheta && int(nextTheta.client) == client {
			if moreV {
				span = r.untilV(&s, nextV.key)
			}
			if moreTheta {
				span = min(span, r.untilTheta(&s, nextTheta.key))
			}
		}
		// fall is what falls on the client's two until at.
		fall := func(at *sky) (spare, own uint64) {
			if spareWet {
				spare = min(spareLack, product(at.v-s.v, weight))
			}
			if ownWet {
				own = min(ownLack, product(at.theta-s.theta, b.guarantee))
			}
			return spare, own
		}
		then := s
		if span < Never {
			r.pass(&then, span)
		}
		spare, own := fall(&then)
		if span == Never || addCapped(spare, own) >= gain {
			d := r.search(&s, b, weight, spareWet, ownWet, gain, span, func(d time.Duration) uint64 {
				at := s
				r.pass(&at, d)
				return addCapped(fall(&at))
			})
			return timeUp(s.last-start, d)
		}
		gain, spareLack, ownLack = gain-spare-own, spareLack-spare, ownLack-own
		s = then
		if moreV && nextV.key <= s.v {
			c := v.pop()
			s.weights -= uint64(r.weight[c])
			spareWet = spareWet && c != client
		}
		if moreTheta && nextTheta.key <= s.theta {
			c := theta.pop()
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

// A frontier walks through the buckets of a lineup in the order in which they become full, without taking them out: it is those places of
// the lineup's heap whose parents have been passed, a heap again by the same order.
type frontier struct {
	line *lineup
	open []int32
}

func (f *frontier) start(line *lineup) {
	f.line, f.open = line, f.open[:0]
	if len(line.heap) > 0 {
		f.open = append(f.open, 0)
	}
}

// least is the next that becomes full; false when none is left.
func (f *frontier) least() (standing, bool) {
	if len(f.open) == 0 {
		return standing{}, false
	}
	return f.line.heap[f.open[0]], true
}

func (f *frontier) before(i, j int) bool {
	return f.line.heap[f.open[i]].before(f.line.heap[f.open[j]])
}

// pop passes the next and returns its client.
func (f *frontier) pop() int {
	at := f.open[0]
	last := len(f.open) - 1
	f.open[0] = f.open[last]
	f.open = f.open[:last]
	f.down()
	for child := 2*at + 1; child <= 2*at+2 && int(child) < len(f.line.heap); child++ {
		f.open = append(f.open, child)
		f.up()
	}
	return int(f.line.heap[at].client)
}

func (f *frontier) up() {
	for i := len(f.open) - 1; i > 0; {
		parent := (i - 1) / 2
		if !f.before(i, parent) {
			return
		}
		f.open[i], f.open[parent] = f.open[parent], f.open[i]
		i = parent
	}
}

func (f *frontier) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(f.open) {
			return
		}
		if child+1 < len(f.open) && f.before(child+1, child) {
			child++
		}
		if !f.before(child, i) {
			return
		}
		f.open[i], f.open[child] = f.open[child], f.open[i]
		i = child
	}
}
