package bucket

import (
	"fmt"
	"time"

	"fairgate/limiter"
)

// AfterFunc arranges for f to be called after wait, and returns how to prevent it; stop
// reports whether it did. time.AfterFunc is meant; an own one can use a scheduler of one's own.
type AfterFunc func(wait time.Duration, f func()) (stop func() bool)

// Scheduled is the view of a bucket that holds up no goroutine: it reserves at once, and tells when the wait is over.
type Scheduled struct {
	bucket *Bucket
	after  AfterFunc
}

// Scheduled is the view of b that tells later.
func (b *Bucket) Scheduled() Scheduled {
	return Scheduled{bucket: b, after: func(wait time.Duration, f func()) func() bool {
		return time.AfterFunc(wait, f).Stop
	}}
}

// After is the same view with a scheduler of one's own.
func (s Scheduled) After(a AfterFunc) Scheduled {
	s.after = a
	return s
}

// Take returns a channel that is closed when so many tokens may be used, already closed if that is now. The error is
// ErrNever.
func (s Scheduled) Take(tokens int64) (<-chan struct{}, error) {
	done := make(chan struct{})
	_, err := s.Call(tokens, func() { close(done) })
	if err != nil {
		return nil, err
	}
	return done, nil
}

// TryTake returns a channel with one answer: true when the wait is over, or false, at once and with nothing taken, when it
// would be longer than the longest wait.
func (s Scheduled) TryTake(tokens int64, longest time.Duration) <-chan bool {
	answer := make(chan bool, 1)
	s.TryCall(tokens, longest, func(taken bool) { answer <- taken })
	return answer
}

// Call calls f when so many tokens may be used: before it returns if that is at once, else from a goroutine of the scheduler.
// cancel prevents the call and gives the tokens back; it reports false when it came too late. The error is ErrNever.
func (s Scheduled) Call(tokens int64, f func()) (cancel func() bool, err error) {
	cancel, _, ok := s.call(tokens, limiter.Never, false, func(outcome) { f() })
	if !ok {
		return nil, fmt.Errorf("%d tokens: %w", tokens, ErrNever)
	}
	return cancel, nil
}

// TryCall is Call with a longest wait: f is called with false, before TryCall returns, when it would take longer.
func (s Scheduled) TryCall(tokens int64, longest time.Duration, f func(taken bool)) (cancel func() bool) {
	cancel, _, ok := s.call(tokens, max(0, longest), false, func(outcome) { f(true) })
	if !ok {
		f(false)
	}
	return cancel
}

func (s Scheduled) call(tokens int64, longest time.Duration, verbose bool, f func(outcome)) (cancel func() bool, r outcome, ok bool) {
	tooLate := func() bool { return false }
	reservation, r, ok := s.bucket.reserve(tokens, longest, verbose)
	if !ok {
		return tooLate, r, false
	}
	if r.wait == 0 {
		f(r)
		return tooLate, r, true
	}
	if l := s.bucket.listener; l != nil {
		l.Delayed(r.wait)
	}
	stop := s.after(r.wait, func() { f(r) })
	return func() bool { return stop() && reservation.Cancel() }, r, true
}
