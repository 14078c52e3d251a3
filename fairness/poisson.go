package fairness

import "math"

// poissonExcess is P(X > limit) and E[(X − limit)+] for X Poisson with that mean.
//
// It adds up the terms on the side of the limit that the mean does not lie on, where they fall off from the first on, and so
// neither overflows nor cancels: above the limit directly, below it by E[(X−l)+] = mean − l + E[(l−X)+]. The first
// term comes from its logarithm; each other from its neighbour. Good to about nine digits up to a mean of a million.
func poissonExcess(mean float64, limit int64) (tail, excess float64) {
	if !(mean > 0) {
		return 0, 0
	}
	if limit < 0 {
		return 1, mean - float64(limit)
	}
	if float64(limit) >= mean {
		k := limit + 1
		for p := poissonTerm(mean, k); p > 0; k++ {
			tail += p
			excess += p * float64(k-limit)
			p *= mean / float64(k+1)
			if p*float64(k+1-limit) < 1e-18*excess {
				break
			}
		}
		return tail, excess
	}
	under, missing := 0.0, 0.0
	k := limit
	for p := poissonTerm(mean, k); p > 0 && k >= 0; k-- {
		under += p
		missing += p * float64(limit-k)
		p *= float64(k) / mean
		if p*float64(limit-k+1) < 1e-18*under {
			break
		}
	}
	return 1 - under, mean - float64(limit) + missing
}

// poissonTerm is P(X = k).
func poissonTerm(mean float64, k int64) float64 {
	lg, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(float64(k)*math.Log(mean) - mean - lg)
}
