package fairness

import (
	"cmp"
	"math"
	"slices"
)

// MaxMin shares a capacity out by weighted max-min: nobody gets more than it claims, and nobody
// gets less than it claims while another with more per weight could give something up. It is what
// water does in vessels as wide as the weights and as high as claim / weight.
//
// Claims below zero, and those that are no number, count as zero; a claim may be infinite. A nil weights means one
// for each; a weight that is not positive gets nothing. The sum of the result is the smaller of the capacity and of all claims.
func MaxMin(capacity float64, claims, weights []float64) []float64 {
	shares := make([]float64, len(claims))
	var f filling
	f.fill(capacity, claims, weights, shares)
	return shares
}

// filling is water-filling with memory of its own, so that a tally can do it often without allocating.
type filling struct {
	order []vessel
}

type vessel struct {
	height float64 // claim over weight
	index  int32
}

// fill writes the shares, which must be as long as the claims.
func (f *filling) fill(capacity float64, claims, weights, shares []float64) {
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	f.order = f.order[:0]
	sum, wide := 0.0, 0.0
	for i, c := range claims {
		shares[i] = 0
		w := weight(i)
		if !(c > 0) || !(w > 0) {
			continue
		}
		f.order = append(f.order, vessel{c / w, int32(i)})
		sum += c
		wide += w
	}
	if !(capacity > 0) {
		return
	}
	if sum <= capacity {
		for _, v := range f.order {
			shares[v.index] = claims[v.index]
		}
		return
	}
	slices.SortFunc(f.order, func(a, b vessel) int { return cmp.Or(cmp.Compare(a.height, b.height), cmp.Compare(a.index, b.index)) })

	// From the lowest vessel up: who claims less than the level that what is left would reach is
	// filled to the brim; from the first that does not, all stand at that level.
	left := capacity
	for k, v := range f.order {
		i := int(v.index)
		level := left / wide
		if v.height > level {
			for _, v := range f.order[k:] {
				shares[v.index] = math.Min(level*weight(int(v.index)), claims[v.index])
			}
			return
		}
		shares[i] = claims[i]
		left = math.Max(0, left-claims[i])
		wide -= weight(i)
	}
}
