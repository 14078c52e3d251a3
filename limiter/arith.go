package limiter

import (
	"math"
	"math/bits"
	"time"
)

// muldiv is a·b/c rounded down, for a, b at least 0 and c above; what exceeds an int64 is cut to the largest.
func muldiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	return int64(min(div128(hi, lo, uint64(c)), math.MaxInt64))
}

// timeUp is a + b, or Never when that is beyond it.
func timeUp(a, b time.Duration) time.Duration {
	if b > 0 && a > Never-b {
		return Never
	}
	return a + b
}

// timeFor is how long a rate takes for so many tokens, rounded up; Never when that is beyond a time.Duration.
func timeFor(r Rate, tokens int64) time.Duration {
	hi, lo := bits.Mul64(uint64(tokens), uint64(r.Per))
	lo, carry := bits.Add64(lo, uint64(r.Tokens)-1, 0)
	hi += carry
	if hi >= uint64(r.Tokens) {
		return Never
	}
	return clampWait(div128(hi, lo, uint64(r.Tokens)))
}
