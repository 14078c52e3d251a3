package fairness

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// histogram counts durations in log-linear buckets: exact below 128 ns, above that 64 buckets in each doubling,
// so that a bucket's middle is within 0.8% of everything in it. It holds only the run of buckets between the
// smallest and the largest that it met: a client whose latency hardly varies costs some dozens of
// bytes, one that meets everything from a microsecond to an hour about 8 KB, and no more however long the run.
//
// The zero value is empty and ready.
type histogram struct {
	n        int64
	min, max int64
	base     int      // bucket number of counts[0]
	counts   []uint32 // saturating
}

const (
	subBits = 6      // 64 buckets in each doubling
	grain   = 1 << 4 // buckets are added in steps of so many
	sub     = 1 << subBits
)

// bucketOf is the number of the bucket that holds v ≥ 0.
func bucketOf(v int64) int {
	shift := bits.Len64(uint64(v)) - (subBits + 1)
	if shift <= 0 {
		return int(v)
	}
	return shift<<subBits + int(v>>shift)
}

// bucketRange is the smallest value of a bucket and how many values it spans.
func bucketRange(i int) (from, width int64) {
	if i < 2*sub {
		return int64(i), 1
	}
	shift := i>>subBits - 1
	return int64(i-shift<<subBits) << shift, 1 << shift
}

// add counts a duration; one below zero counts as zero.
func (h *histogram) add(d time.Duration) {
	v := max(int64(d), 0)
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.n++
	i := bucketOf(v) - h.base
	if uint(i) >= uint(len(h.counts)) {
		i = h.reach(i + h.base)
	}
	if h.counts[i] != math.MaxUint32 {
		h.counts[i]++
	}
}

// reach makes room for a bucket and returns its place in counts.
func (h *histogram) reach(bucket int) int {
	low, high := bucket&^(grain-1), bucket|(grain-1)
	if len(h.counts) > 0 {
		low, high = min(low, h.base), max(high, h.base+len(h.counts)-1)
	}
	grown := make([]uint32, high-low+1)
	if len(h.counts) > 0 {
		copy(grown[h.base-low:], h.counts)
	}
	h.base, h.counts = low, grown
	return bucket - low
}

// merge adds what another has counted.
func (h *histogram) merge(o *histogram) {
	if o == nil || o.n == 0 {
		return
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.n += o.n
	if first, last := o.base, o.base+len(o.counts)-1; len(h.counts) == 0 || first < h.base || last >= h.base+len(h.counts) {
		h.reach(first)
		h.reach(last)
	}
	counts := h.counts[o.base-h.base:]
	for i, c := range o.counts {
		if c > 0 {
			counts[i] = uint32(min(uint64(counts[i])+uint64(c), math.MaxUint32))
		}
	}
}

// subtract takes away what another has counted, which must be among what this one has. Smallest and largest stay as they were.
func (h *histogram) subtract(o *histogram) {
	if o == nil || o.n == 0 {
		return
	}
	h.n -= o.n
	for i, c := range o.counts {
		if c > 0 {
			h.counts[i+o.base-h.base] -= c
		}
	}
}

// reset empties it and keeps its memory.
func (h *histogram) reset() {
	h.n, h.min, h.max = 0, 0, 0
	clear(h.counts)
}

// quantile is the smallest duration that the part q of all does not exceed, to within 1%. Of nothing it is zero.
func (h *histogram) quantile(q float64) time.Duration {
	if h == nil || h.n == 0 {
		return 0
	}
	rank := max(int64(math.Ceil(q*float64(h.n))), 1)
	for i, c := range h.counts {
		if rank -= int64(c); rank <= 0 {
			from, width := bucketRange(i + h.base)
			return time.Duration(min(max(from+width/2, h.min), h.max))
		}
	}
	return time.Duration(h.max)
}

// quantiles are the four that a report holds; none when nothing was counted.
func (h *histogram) quantiles() Quantiles {
	if h == nil || h.n == 0 {
		return Quantiles{None, None, None, None}
	}
	return Quantiles{
		P50: milliseconds(h.quantile(0.50)), P90: milliseconds(h.quantile(0.90)),
		P99: milliseconds(h.quantile(0.99)), Max: milliseconds(time.Duration(h.max)),
	}
}

// coarse are the bins that a screen has room for: 1 ms, 2 ms, 5 ms, 10 ms and so on, with everything shorter than a millisecond in the first.
// A bucket that lies across an edge is counted where its middle is. Empty bins at both ends are left out.
func (h *histogram) coarse() []Bin {
	if h == nil || h.n == 0 {
		return []Bin{}
	}
	bins := []Bin{{To: time.Millisecond}}
	for i, c := range h.counts {
		if c == 0 {
			continue
		}
		from, width := bucketRange(i + h.base)
		middle := time.Duration(from + width/2)
		for middle >= bins[len(bins)-1].To {
			last := bins[len(bins)-1].To
			bins = append(bins, Bin{From: last, To: after(last)})
		}
		bins[len(bins)-1].Count += int64(c)
	}
	first := slices.IndexFunc(bins, func(b Bin) bool { return b.Count > 0 })
	return bins[max(first, 0):]
}

// after is the next edge of the series 1, 2, 5, 10, 20, 50 …
func after(edge time.Duration) time.Duration {
	power := time.Duration(1)
	for power*10 <= edge {
		power *= 10
	}
	switch edge / power {
	case 1:
		return 2 * power
	case 2:
		return 5 * power
	}
	if power > time.Duration(math.MaxInt64)/10 {
		return time.Duration(math.MaxInt64)
	}
	return 10 * power
}

func milliseconds(d time.Duration) Number { return Number(float64(d) / 1e6) }
func seconds(d time.Duration) Number      { return Number(d.Seconds()) }

// record adds to a histogram that exists only from its first entry on.
func record(h **histogram, d time.Duration) {
	if *h == nil {
		*h = new(histogram)
	}
	(*h).add(d)
}
