package fairness

import "math"

// Jain is the fairness index of Jain, Chiu and Hawe (1984): (Σx)² / (n·Σx²). It is 1 when all are equal and
// k/n when k of n have the same and the rest nothing. It changes neither with the unit nor with the order.
//
// It does not exist for fewer than two values, nor when all of them are zero: nothing given to anybody is not fairness.
func Jain(xs []float64) Number {
	if len(xs) < 2 {
		return None
	}
	// Scaled by the largest, so that no square overflows or vanishes.
	largest := 0.0
	for _, x := range xs {
		largest = math.Max(largest, math.Abs(x))
	}
	if !(largest > 0) || math.IsInf(largest, 0) {
		return None
	}
	sum, squares := 0.0, 0.0
	for _, x := range xs {
		x /= largest
		sum += x
		squares += x * x
	}
	return Number(sum * sum / (float64(len(xs)) * squares))
}
