package limiter

import (
	"math"
	"math/bits"
	"time"
)

// split shares a total out by weights in whole parts that add up to it, each at least 1: by the largest remainders,
// the earlier first where these are equal. The total must be at least one for each.
func split(total int64, weights []int64) []int64 {
	n := int64(len(weights))
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	parts, rems := make([]int64, n), make([]uint64, n)
	left, free := total-n, total-n // one for each beforehand
	for i, w := range weights {
		hi, lo := bits.Mul64(uint64(free), uint64(w))
		q, r := bits.Div64(hi, lo, uint64(sum))
		parts[i], rems[i] = 1+int64(q), r
		left -= int64(q)
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rems {
			if rems[i] > rems[best] {
				best = i
			}
		}
		parts[best]++
		rems[best] = 0
	}
	return parts
}

// windowRate is the rate as so many tokens in each window, for algorithms that count by windows.
func (c Config) windowRate() Rate {
	if !c.Algorithm.windowed() {
		return c.Rate
	}
	tokens, window, err := windowLimit(c.Rate, c.Window)
	if err != nil {
		return c.Rate
	}
	return Rate{Tokens: tokens, Per: window}
}

// fluid reports whether tokens flow in steadily, so that a rate may be cut as finely as one likes.
func (c Config) fluid() bool { return !c.Algorithm.windowed() && c.Refill == Greedy }

// shardConfigs are the limits of each instance. Kept whole, each has all of it. Divided, each has the n-th part, rounded down to
// whole tokens of the rate's period as divided limits are (of 100/s seven instances enforce 98), unless that would leave nothing and
// the tokens flow steadily. With an exchange the parts add up to the whole: shares, one of each instance, say how.
func (c Config) shardConfigs(shares []int64) ([]Config, error) {
	n := int64(c.Shards)
	each := make([]Config, n)
	c.Rate = c.windowRate()
	if c.Algorithm.windowed() {
		c.Window = c.Rate.Per
	}
	for i := range each {
		each[i] = c
		each[i].Policy = Global
	}
	if c.Keep {
		return each, nil
	}
	if c.Burst < n {
		return nil, wrong("burst", "%d cannot be divided among %d shards: each needs at least 1 token", c.Burst, n)
	}
	bursts := equal(c.Burst/n, n)
	rates, err := c.divideRate(c.Rate, n, shares)
	if err != nil {
		return nil, pathed("rate", err)
	}
	if shares != nil {
		bursts = split(c.Burst, shares)
	}
	for i := range each {
		each[i].Rate, each[i].Burst = rates[i], bursts[i]
		if c.Initial != nil {
			part := muldiv(*c.Initial, bursts[i], c.Burst)
			each[i].Initial = &part
		}
		each[i].Bandwidths = append([]Bandwidth(nil), c.Bandwidths...)
	}
	for b, band := range c.Bandwidths {
		if band.Burst < n {
			return nil, wrong("bandwidths", "a burst of %d cannot be divided among %d shards: each needs at least 1 token", band.Burst, n)
		}
		parts, err := c.divideRate(band.Rate, n, nil)
		if err != nil {
			return nil, pathed("bandwidths", err)
		}
		for i := range each {
			each[i].Bandwidths[b].Rate, each[i].Bandwidths[b].Burst = parts[i], band.Burst/n
		}
	}
	return each, nil
}

func equal(part, n int64) []int64 {
	parts := make([]int64, n)
	for i := range parts {
		parts[i] = part
	}
	return parts
}

// divideRate is a rate in n parts, by shares where they are given.
func (c Config) divideRate(r Rate, n int64, shares []int64) ([]Rate, error) {
	parts := make([]Rate, n)
	if shares == nil {
		part := r
		switch {
		case r.Tokens >= n:
			part.Tokens = r.Tokens / n
		case c.fluid() && r.Per <= longestFill/time.Duration(n):
			part.Per *= time.Duration(n)
		default:
			return nil, wrong("rate", "%s cannot be divided among %d shards: each needs at least 1 token in each period", r, n)
		}
		for i := range parts {
			parts[i] = part
		}
		return parts, nil
	}
	tokens := shares
	if c.fluid() {
		// Shares of a thousand and more, so that the rate is cut finely enough.
		fine := max(1000, 10*n)
		a, b := r.Reduced()
		r = Rate{Tokens: int64(a), Per: time.Duration(b)}
		if r.Tokens > math.MaxInt64/fine || r.Per > longestFill/time.Duration(fine) {
			return nil, wrong("exchange", "%s is too fine to be divided anew: write a rounder rate", r)
		}
		tokens, r.Per = split(fine, shares), r.Per*time.Duration(fine)
		for i := range parts {
			parts[i] = Rate{Tokens: r.Tokens * tokens[i], Per: r.Per}
		}
		return parts, nil
	}
	if r.Tokens < n {
		return nil, wrong("rate", "%s cannot be divided among %d shards: each needs at least 1 token in each period", r, n)
	}
	for i, t := range split(r.Tokens, shares) {
		parts[i] = Rate{Tokens: t, Per: r.Per, Decimals: r.Decimals}
	}
	return parts, nil
}

// Enforced is the rate that the limiter lets pass in sum: the global rate, or with shards what all instances together
// enforce, which may be less (divided and rounded down) or more (each keeps the whole).
func (c Config) Enforced() Rate {
	c = c.WithDefaults()
	if c.Policy != Sharded || c.Exchange > 0 && !c.Keep {
		return c.Rate
	}
	each, err := c.shardConfigs(nil)
	if err != nil || each[0].Rate.Tokens > math.MaxInt64/int64(c.Shards) {
		return c.Rate
	}
	r := each[0].Rate
	r.Tokens *= int64(c.Shards)
	return r
}
