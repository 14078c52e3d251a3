package attack

import (
	"math/bits"
	"math/rand/v2"
	"time"
)

// newSource is the generator that a client's arrivals are drawn from.
func newSource(seed uint64, name string) *rand.PCG {
	key := keyOf(seed, name)
	return rand.NewPCG(key, mix(key^0x6a09e667f3bcc908))
}

// keyOf folds a run's seed and a client's name into one number (FNV-1a over the name, then mixed with the seed).
func keyOf(seed uint64, name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(mix(seed) ^ h)
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input moves about half the bits of the result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keyed is the one draw that belongs to a retry: whatever else was drawn before, request and try decide it.
func keyed(key, request uint64, try int) uint64 {
	return mix(mix(key^request) ^ uint64(try)*0xd1342543de82ef95)
}

// below maps a draw evenly to [0, n); 0 where n is not above 0.
func below(draw uint64, n time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	hi, _ := bits.Mul64(draw, uint64(n))
	return time.Duration(hi)
}

// unit maps a draw evenly to [0, 1), in steps of 2^-53.
func unit(draw uint64) float64 { return float64(draw>>11) * 0x1p-53 }
