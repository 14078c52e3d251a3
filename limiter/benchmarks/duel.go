package main

import (
	"slices"
	"testing"
)

// A duel measures two ways to the same decision.
type duel struct {
	name, peer   string
	ours, theirs func(b *testing.B)
	target       float64 // ours / theirs at most
}

const runs = 5

type result struct {
	ns     float64
	allocs int64
}

// run lets both run alternately, so that what the machine does besides meets both alike, and returns the medians, and
// the median of the ratios of each run to the one that followed it.
func (d duel) run() (ours, theirs result, ratio float64) {
	var a, b []result
	var ratios []float64
	for range runs {
		mine, peer := measure(d.ours), measure(d.theirs)
		a, b = append(a, mine), append(b, peer)
		ratios = append(ratios, mine.ns/peer.ns)
	}
	slices.Sort(ratios)
	return median(a), median(b), ratios[runs/2]
}

func measure(f func(b *testing.B)) result {
	r := testing.Benchmark(f)
	return result{float64(r.T.Nanoseconds()) / float64(r.N), r.AllocsPerOp()}
}

// median is the middle one by time, with the most allocations of all.
func median(rs []result) result {
	slices.SortFunc(rs, func(a, b result) int {
		switch {
		case a.ns < b.ns:
			return -1
		case a.ns > b.ns:
			return 1
		}
		return 0
	})
	m := rs[len(rs)/2]
	for _, r := range rs {
		m.allocs = max(m.allocs, r.allocs)
	}
	return m
}
