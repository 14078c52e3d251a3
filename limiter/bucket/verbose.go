package bucket

import (
	"context"
	"fmt"
	"math"
	"time"

	"fairgate/limiter"
)

// Told is a result with the state of the bucket right after it, from the same indivisible step.
type Told[T any] struct {
	Value      T
	Bandwidths []Bandwidth   // in force
	Available  int64         // what the poorest bandwidth holds, negative in debt
	Each       []int64       // what each of them holds, in order
	Reset      time.Duration // until all of them are full
}

func told[T any](r outcome, value T) Told[T] {
	t := Told[T]{
		Value: value, Available: r.available, Reset: r.full,
		Bandwidths: append([]Bandwidth(nil), r.config.bandwidths...),
	}
	for i := range r.after.buckets() {
		t.Each = append(t.Each, r.after.buckets()[i].Level(r.at))
	}
	return t
}

// Verbose is the view of a bucket that tells its state with every result.
type Verbose struct{ bucket *Bucket }

// Verbose is the view of b that tells more.
func (b *Bucket) Verbose() Verbose { return Verbose{b} }

// TryTake is Bucket.TryTake.
func (v Verbose) TryTake(tokens int64) Told[bool] {
	positive(tokens)
	r := v.bucket.take(op{kind: tryTake, tokens: tokens, detail: true, verbose: true})
	return told(r, r.taken > 0)
}

// Probe is Bucket.Probe.
func (v Verbose) Probe(tokens int64) Told[Probe] {
	positive(tokens)
	r := v.bucket.take(op{kind: tryTake, tokens: tokens, detail: true, verbose: true})
	return told(r, probe(r))
}

// Estimate is Bucket.Estimate.
func (v Verbose) Estimate(tokens int64) Told[Probe] {
	positive(tokens)
	r := v.bucket.core.do(op{kind: look, tokens: tokens, detail: true, verbose: true})
	return told(r, estimate(r))
}

// TakeUpTo is Bucket.TakeUpTo.
func (v Verbose) TakeUpTo(limit int64) Told[int64] {
	positive(limit)
	r := v.bucket.take(op{kind: takeUpTo, tokens: limit, detail: true, verbose: true})
	return told(r, r.taken)
}

// TakeAll is Bucket.TakeAll.
func (v Verbose) TakeAll() Told[int64] { return v.TakeUpTo(math.MaxInt64) }

// TakeAnyway is Bucket.TakeAnyway.
func (v Verbose) TakeAnyway(tokens int64) Told[time.Duration] {
	positive(tokens)
	r := v.bucket.take(op{kind: takeOver, tokens: tokens, longest: limiter.Never, detail: true, verbose: true})
	return told(r, r.wait)
}

// Available is Bucket.Available.
func (v Verbose) Available() Told[int64] {
	r := v.bucket.core.do(op{kind: look, detail: true, verbose: true})
	return told(r, r.available)
}

// Add is Bucket.Add; the value is what is available afterwards.
func (v Verbose) Add(tokens int64) Told[int64] { return v.give(add, tokens) }

// ForceAdd is Bucket.ForceAdd; the value is what is available afterwards.
func (v Verbose) ForceAdd(tokens int64) Told[int64] { return v.give(forceAdd, tokens) }

func (v Verbose) give(k kind, tokens int64) Told[int64] {
	positive(tokens)
	r := v.bucket.core.do(op{kind: k, tokens: tokens, detail: true, verbose: true})
	return told(r, r.available)
}

// Reset is Bucket.Reset; the value is what is available afterwards.
func (v Verbose) Reset() Told[int64] {
	r := v.bucket.refill(true)
	return told(r, r.available)
}

// Replace is Bucket.Replace; the value is what is available afterwards.
func (v Verbose) Replace(bandwidths []Bandwidth, inherit limiter.Inherit) (Told[int64], error) {
	r, err := v.bucket.replace(bandwidths, inherit, true)
	if err != nil {
		return Told[int64]{}, err
	}
	return told(r, r.available), nil
}

// VerboseBlocking is the view of a bucket that waits, and tells the state right after it reserved.
type VerboseBlocking struct{ blocking Blocking }

// Verbose is the same view telling more.
func (b Blocking) Verbose() VerboseBlocking { return VerboseBlocking{b} }

// Take is Blocking.Take; the value is the wait.
func (v VerboseBlocking) Take(ctx context.Context, tokens int64) (Told[time.Duration], error) {
	ok, r, err := v.blocking.take(ctx, tokens, limiter.Never, true)
	if !ok && err == nil {
		err = fmt.Errorf("%d tokens: %w", tokens, ErrNever)
	}
	return told(r, r.wait), err
}

// TryTake is Blocking.TryTake.
func (v VerboseBlocking) TryTake(ctx context.Context, tokens int64, longest time.Duration) (Told[bool], error) {
	ok, r, err := v.blocking.take(ctx, tokens, max(0, longest), true)
	return told(r, ok), err
}

// VerboseScheduled is the view of a bucket that tells later, and then the state right after it reserved.
type VerboseScheduled struct{ scheduled Scheduled }

// Verbose is the same view telling more.
func (s Scheduled) Verbose() VerboseScheduled { return VerboseScheduled{s} }

// Take is Scheduled.Take with one answer in the channel: the wait.
func (v VerboseScheduled) Take(tokens int64) (<-chan Told[time.Duration], error) {
	answer := make(chan Told[time.Duration], 1)
	_, _, ok := v.scheduled.call(tokens, limiter.Never, true, func(r outcome) { answer <- told(r, r.wait) })
	if !ok {
		return nil, fmt.Errorf("%d tokens: %w", tokens, ErrNever)
	}
	return answer, nil
}

// TryTake is Scheduled.TryTake.
func (v VerboseScheduled) TryTake(tokens int64, longest time.Duration) <-chan Told[bool] {
	answer := make(chan Told[bool], 1)
	_, r, ok := v.scheduled.call(tokens, max(0, longest), true, func(r outcome) { answer <- told(r, true) })
	if !ok {
		answer <- told(r, false)
	}
	return answer
}
