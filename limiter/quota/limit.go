package quota

import (
	"fmt"
	"math"
	"time"

	"fairgate/limiter"
)

// A Limit says how much each key may have.
type Limit struct {
	Algorithm limiter.Algorithm // token-bucket or fixed-window; "": token-bucket
	Rate      limiter.Rate      // tokens, and the period in which they come
	Capacity  int64             // the most that a key can save up; 0: the rate's tokens

	// MaxReserved is how far a reservation may take a key below zero; nil: as far as it likes; 0: not at all, so
	// that reserving is like taking.
	MaxReserved *int64

	Shards int // 0: 1

	// Start is the moment, on the clock, at which a fixed window begins; nil: each key's windows begin at a moment
	// of its own, so that not all come back at the same time.
	Start *time.Duration
}

const maxShards = 1 << 16

// A terms is a checked Limit with the plan of its buckets, which count in shards-ths of a token.
type terms struct {
	Limit
	plan   *limiter.BucketPlan
	spread bool // each key has windows of its own
}

func (l Limit) terms() (*terms, error) {
	t := &terms{Limit: l}
	if t.Shards == 0 {
		t.Shards = 1
	}
	if t.Shards < 1 || t.Shards > maxShards {
		return nil, fmt.Errorf("shards %d must be from 1 to %d", t.Shards, maxShards)
	}
	if t.MaxReserved != nil && *t.MaxReserved < 0 {
		return nil, fmt.Errorf("max reserved %d must be at least 0, where nothing may be reserved", *t.MaxReserved)
	}
	if t.Capacity == 0 {
		t.Capacity = t.Rate.Tokens
		for range t.Rate.Decimals { // 1.39/s is kept as 139 every 100 s
			t.Capacity /= 10
		}
		t.Capacity = max(1, t.Capacity)
	}
	if t.Capacity > math.MaxInt64/int64(t.Shards) {
		return nil, fmt.Errorf("capacity %d is too much for %d shards: at most %d", t.Capacity, t.Shards, math.MaxInt64/int64(t.Shards))
	}
	cfg := limiter.BucketConfig{Rate: t.Rate, Burst: t.Capacity}
	switch t.Algorithm {
	case "", limiter.AlgorithmTokenBucket:
		t.Algorithm = limiter.AlgorithmTokenBucket
		if t.Start != nil {
			return nil, fmt.Errorf("start %s is for %s only: a %s has no windows", *t.Start, limiter.AlgorithmFixedWindow, t.Algorithm)
		}
	case limiter.AlgorithmFixedWindow:
		cfg.Refill = limiter.Interval
		if t.spread = t.Start == nil; !t.spread {
			cfg.Start = *t.Start
		}
	default:
		return nil, fmt.Errorf("algorithm %q cannot be used here: write %s or %s",
			t.Algorithm, limiter.AlgorithmTokenBucket, limiter.AlgorithmFixedWindow)
	}
	var err error
	if t.plan, err = cfg.Plan(); err != nil {
		return nil, err
	}
	return t, nil
}
