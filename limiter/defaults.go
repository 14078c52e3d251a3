package limiter

import (
	"math/bits"
	"time"
)

// WithDefaults is c with everything filled in that may be left out. It checks nothing.
func (c Config) WithDefaults() Config {
	orElse(&c.Policy, Global)
	orElse(&c.Algorithm, AlgorithmTokenBucket)
	orElse(&c.Refill, Greedy)
	orElse(&c.Order, StartTime)
	orElse(&c.Routing, Random)
	orElse(&c.Inherit, Proportional)
	orElse(&c.RetryAfter, RetryExact)
	orElse(&c.Shards, 1)
	orElse(&c.Queue.PerClient, 50)
	orElse(&c.Queue.MaxWait, 250*time.Millisecond)
	if c.Burst == 0 {
		c.Burst = oneSecond(c.Rate)
		if c.Policy == Sharded && !c.Keep {
			c.Burst = max(c.Burst, int64(c.Shards)) // a shard without a burst would admit nothing, ever
		}
	}
	if c.Client.Burst == 0 && !c.Client.Rate.IsZero() {
		c.Client.Burst = oneSecond(c.Client.Rate)
	}
	if len(c.Bandwidths) > 0 {
		filled := make([]Bandwidth, len(c.Bandwidths)) // the caller's stay as they are
		for i, b := range c.Bandwidths {
			orElse(&b.Burst, oneSecond(b.Rate))
			orElse(&b.Refill, Greedy)
			filled[i] = b
		}
		c.Bandwidths = filled
	}
	return c
}

func orElse[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// oneSecond is the whole tokens of one second at a rate, at least 1.
func oneSecond(r Rate) int64 {
	if r.Tokens <= 0 || r.Per <= 0 {
		return 1
	}
	hi, lo := bits.Mul64(uint64(r.Tokens), uint64(time.Second))
	if hi >= uint64(r.Per) {
		return 1 // beyond what Rate.Check lets pass
	}
	return max(1, int64(div128(hi, lo, uint64(r.Per))))
}
