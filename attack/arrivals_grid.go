package attack

import (
	"math"
	"time"

	"fairgate/limiter"
)

// grid walks over the places floor(k·period/rate), k = 0, 1, 2, …, from wherever at was set, in whole numbers: after
// any number of steps it stands where the formula says, to the nanosecond.
type grid struct {
	at      time.Duration
	stride  time.Duration // whole nanoseconds of an interval
	excess  uint64        // and what is beyond, as a numerator
	over    uint64        // its denominator
	pending uint64        // numerator of the part of a nanosecond that at leaves out
}

func newGrid(r limiter.Rate) grid {
	tokens, per := r.Reduced()
	if tokens == 0 {
		return grid{at: limiter.Never, over: 1}
	}
	return grid{stride: time.Duration(per / tokens), excess: per % tokens, over: tokens}
}

// step goes to the next place.
func (g *grid) step() {
	g.at += g.stride
	g.pending += g.excess
	if g.pending >= g.over {
		g.pending -= g.over
		g.at++
	}
}

// interval is the distance of two places, in nanoseconds.
func (g *grid) interval() float64 {
	return float64(g.stride) + float64(g.excess)/float64(g.over)
}

// part is so many intervals as whole nanoseconds, rounded down.
func (g *grid) part(intervals float64) time.Duration {
	if intervals == 0 {
		return 0
	}
	return time.Duration(math.Floor(intervals * g.interval()))
}
