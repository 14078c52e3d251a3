package fairness

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHistogramQuantilesAreWithinOnePercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Exponents are drawn first, so that all magnitudes from a nanosecond to an hour are met.
		values := rapid.SliceOfN(rapid.Map(rapid.Float64Range(0, 12.5), func(e float64) int64 { return int64(math.Pow(10, e)) }), 1, 300).Draw(t, "values")
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		var h, rest histogram
		for _, v := range values[:cut] {
			h.add(time.Duration(v))
		}
		for _, v := range values[cut:] {
			rest.add(time.Duration(v))
		}
		h.merge(&rest)
		sorted := slices.Sorted(slices.Values(values))
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			rank := max(int(math.Ceil(q*float64(len(sorted)))), 1)
			want, got := float64(sorted[rank-1]), float64(h.quantile(q))
			if math.Abs(got-want) > 0.01*want {
				t.Fatalf("quantile %v is %v, want %v", q, got, want)
			}
		}
		if int64(h.max) != sorted[len(sorted)-1] || h.n != int64(len(sorted)) {
			t.Fatalf("holds %d up to %d, want %d up to %d", h.n, h.max, len(sorted), sorted[len(sorted)-1])
		}
	})
}

func TestHistogramStaysSmall(t *testing.T) {
	var h histogram
	for range 1000 {
		h.add(time.Millisecond)
	}
	if len(h.counts) > 16 {
		t.Errorf("one value takes %d buckets", len(h.counts))
	}
	h.add(0)
	h.add(math.MaxInt64)
	if most := 4096; len(h.counts) > most {
		t.Errorf("all values take %d buckets, more than %d", len(h.counts), most)
	}
	h.reset()
	if q := h.quantiles(); q.P50.Exists() || q.Max.Exists() {
		t.Errorf("an empty one has quantiles %+v", q)
	}
}

func TestHistogramOfOneValueIsExact(t *testing.T) {
	var h histogram
	h.add(12345678)
	if q := h.quantiles(); q.P50 != 12.345678 || q.Max != 12.345678 {
		t.Errorf("%+v, want 12.345678", q)
	}
}

func TestCoarseBinsCountEverything(t *testing.T) {
	var h histogram
	for _, d := range []time.Duration{0, 500 * time.Microsecond, 3 * time.Millisecond, 3 * time.Millisecond, 40 * time.Millisecond, 3 * time.Second} {
		h.add(d)
	}
	var total int64
	bins := h.coarse()
	for i, b := range bins {
		total += b.Count
		if i > 0 && b.From != bins[i-1].To {
			t.Errorf("bin %d begins at %v, the one before ended at %v", i, b.From, bins[i-1].To)
		}
	}
	if total != 6 || bins[0].Count != 2 || bins[0].To != time.Millisecond || bins[len(bins)-1].To != 5*time.Second {
		t.Errorf("bins %v", bins)
	}
}

func TestToldSecondsAreCountedInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 40), 0, 200).Draw(t, "seconds")
		var a, b tolds
		want := map[int64]int64{}
		for i, v := range values {
			want[v]++
			if i%2 == 0 {
				a.add(time.Duration(v) * time.Second)
			} else {
				b.add(time.Duration(v) * time.Second)
			}
		}
		a.merge(&b)
		if len(a.list) != len(want) {
			t.Fatalf("%d different values, want %d", len(a.list), len(want))
		}
		for i, e := range a.list {
			if want[e.Seconds] != e.Count || i > 0 && a.list[i-1].Seconds >= e.Seconds {
				t.Fatalf("counted %v, want %v", a.list, want)
			}
		}
	})
}

func TestToldSecondsAreBounded(t *testing.T) {
	var a tolds
	for s := range int64(5000) {
		a.addSeconds(s+1, 1)
	}
	var total int64
	for _, e := range a.list {
		total += e.Count
	}
	if len(a.list) > mostTold || total != 5000 {
		t.Errorf("%d values hold %d counts", len(a.list), total)
	}
}
