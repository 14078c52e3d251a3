package keyed

import (
	"fmt"
	"sync/atomic"
	"time"

	"fairgate/limiter"
)

// Buckets limits each key by a token bucket of its own. All have the same configuration. Time is an
// argument, as an offset from any start.
type Buckets struct {
	plan  atomic.Pointer[limiter.BucketPlan]
	store *Store[limiter.TokenBucket]
}

// NewBuckets is a set of buckets that are as cfg says when their key is first met.
func NewBuckets(cfg limiter.BucketConfig) (*Buckets, error) {
	plan, err := cfg.Plan()
	if err != nil {
		return nil, err
	}
	b := new(Buckets)
	b.plan.Store(plan)
	b.store = NewStore(
		func(now time.Duration, _ string) limiter.TokenBucket { return b.plan.Load().New(now) },
		func(now time.Duration, _ string, state *limiter.TokenBucket) bool { return state.Fresh(now) },
	)
	return b, nil
}

// TryTake takes so many of the key's tokens if they are there. None are always there; fewer than none is a programmer's
// error, and panics.
func (b *Buckets) TryTake(now time.Duration, key string, tokens int64) bool {
	notNegative(tokens)
	bucket, lock := b.store.Lock(now, key)
	ok := bucket.TryTake(now, tokens)
	lock.Unlock()
	return ok
}

// An Answer is what a taking came to.
type Answer struct {
	Taken     bool
	Remaining int64         // whole tokens left, at least 0
	Wait      time.Duration // of a refusal: until so many are there; limiter.Never when that is above the burst
	Reset     time.Duration // until the key's bucket is full
}

// Take is TryTake with all that a client might want to be told.
func (b *Buckets) Take(now time.Duration, key string, tokens int64) (a Answer) {
	notNegative(tokens)
	bucket, lock := b.store.Lock(now, key)
	defer lock.Unlock()
	if a.Wait = bucket.Wait(now, tokens); a.Wait == 0 {
		bucket.Take(now, tokens)
		a.Taken = true
	}
	a.Remaining, a.Reset = bucket.Remaining(now), bucket.Reset(now)
	return a
}

// Add gives tokens back to the key, up to the burst.
func (b *Buckets) Add(now time.Duration, key string, tokens int64) {
	notNegative(tokens)
	bucket, lock := b.store.Lock(now, key)
	defer lock.Unlock()
	bucket.Add(now, tokens)
}

// notNegative panics before anything is locked or kept.
func notNegative(tokens int64) {
	if tokens < 0 {
		panic(fmt.Sprintf("keyed: %d tokens: must not be negative", tokens))
	}
}

// Replace changes the configuration of every key's bucket, each of which inherits as inherit says, except that a key
// whose bucket is as good as new begins anew, whether or not it was forgotten before. It takes a
// microsecond or so for each; others wait for a part of the keys at a time. An error changes nothing.
func (b *Buckets) Replace(now time.Duration, cfg limiter.BucketConfig, inherit limiter.Inherit) error {
	plan, err := cfg.Plan()
	if err != nil {
		return err
	}
	trial := plan.New(now)
	if err := trial.ReplacePlan(now, plan, inherit); err != nil {
		return err
	}
	b.plan.Store(plan) // first, so that no key is still met with the old one after its stripe has been changed
	b.store.Each(func(_ string, bucket *limiter.TokenBucket) bool {
		if bucket.Plan() != plan {
			if bucket.Fresh(now) {
				return false
			}
			err = bucket.ReplacePlan(now, plan, inherit)
		}
		return true
	})
	return err
}

// Forget gives the key a new bucket.
func (b *Buckets) Forget(key string) { b.store.Forget(key) }

// Sweep drops the buckets that are as good as new, and returns how many.
func (b *Buckets) Sweep(now time.Duration) int { return b.store.Sweep(now) }

// Len is the number of keys whose buckets are kept.
func (b *Buckets) Len() int { return b.store.Len() }
