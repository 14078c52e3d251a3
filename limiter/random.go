package limiter

import "math/bits"

// A generator is splitmix64 (Steele, Lea and Flood, 2014): small, even enough for routing, and the same on every
// machine for the same seed.
type generator struct{ state uint64 }

func (g *generator) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 to n-1; its bias is below n/2^64.
func (g *generator) below(n int) int {
	hi, _ := bits.Mul64(g.next(), uint64(n))
	return int(hi)
}
