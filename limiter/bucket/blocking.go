package bucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairgate/limiter"
)

// ErrNever is the error of a taking whose debt could never be paid, however long it waited.
var ErrNever = errors.New("so many tokens would never be there")

// Waiting is a strategy to wait for so long. It returns early with an error when ctx is done.
type Waiting func(ctx context.Context, wait time.Duration) error

// Sleep waits by a timer. It is the strategy of a Blocking that was given none.
func Sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Blocking is the view of a bucket whose takings wait. They reserve first, then wait: while one waits, the bucket
// shows the debt, and those who come later stand behind it.
type Blocking struct {
	bucket  *Bucket
	waiting Waiting
	deaf    bool
}

// Blocking is the view of b that waits.
func (b *Bucket) Blocking() Blocking { return Blocking{bucket: b, waiting: Sleep} }

// Waiting is the same view with a strategy of one's own.
func (b Blocking) Waiting(w Waiting) Blocking {
	b.waiting = w
	return b
}

// Uncancelled is the same view, but deaf to the cancellation of its contexts: a wait that has begun ends in time. The context
// stays cancelled for whoever asks it afterwards.
func (b Blocking) Uncancelled() Blocking {
	b.deaf = true
	return b
}

// Take takes so many tokens, waiting as long as it must, for more than a burst too. When ctx is done
// first, it gives them back and returns the cause; when ctx has a deadline that is too near, it does not begin to wait.
func (b Blocking) Take(ctx context.Context, tokens int64) error {
	ok, _, err := b.take(ctx, tokens, limiter.Never, false)
	if !ok && err == nil {
		return fmt.Errorf("%d tokens: %w", tokens, ErrNever)
	}
	return err
}

// TryTake takes so many tokens if that takes no longer than the longest wait; otherwise it returns false at once and
// takes nothing. The error is that of a context that is done, as with Take.
func (b Blocking) TryTake(ctx context.Context, tokens int64, longest time.Duration) (bool, error) {
	ok, _, err := b.take(ctx, tokens, max(0, longest), false)
	return ok, err
}

func (b Blocking) take(ctx context.Context, tokens int64, longest time.Duration, verbose bool) (bool, outcome, error) {
	positive(tokens)
	refused := error(nil) // why the wait is not begun, when it is the context's doing
	if b.deaf {
		ctx = context.WithoutCancel(ctx)
	} else if err := context.Cause(ctx); err != nil {
		longest, refused = -1, err
	} else if deadline, ok := ctx.Deadline(); ok && b.bucket.core.realTime() {
		if left := time.Until(deadline); left < longest {
			longest, refused = left, fmt.Errorf("waiting for %d tokens would outlast the deadline: %w", tokens, context.DeadlineExceeded)
		}
	}
	reservation, r, ok := b.bucket.reserve(tokens, longest, verbose)
	if !ok {
		return false, r, refused
	}
	if r.wait == 0 {
		return true, r, nil
	}
	l := b.bucket.listener
	if l == nil {
		l = Silence{}
	}
	l.BeforeParking(r.wait)
	if err := b.waiting(ctx, r.wait); err != nil {
		reservation.giveBack()
		l.Interrupted(err)
		return false, r, err
	}
	l.Parked(r.wait)
	return true, r, nil
}

// realTime reports whether the bucket's clock goes with the deadlines of contexts.
func (c *core) realTime() bool { return c.clock == nil || c.clock == WallClock }
