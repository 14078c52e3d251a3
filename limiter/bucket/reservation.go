package bucket

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Reservation is tokens that are taken already and may be used when its time has come.
type Reservation struct {
	bucket *Bucket
	tokens int64
	ready  time.Duration // on the bucket's clock
	wait   time.Duration
	config *configuration
	ended  atomic.Bool
}

// Reserve takes so many tokens now, into debt if need be, if they may be used within the longest wait;
// otherwise it takes nothing and reports false. It may reserve more than a burst. limiter.Never as the
// longest wait sets no bound.
func (b *Bucket) Reserve(tokens int64, longest time.Duration) (*Reservation, bool) {
	r, _, ok := b.reserve(tokens, max(0, longest), false)
	return r, ok
}

func (b *Bucket) reserve(tokens int64, longest time.Duration, verbose bool) (*Reservation, outcome, bool) {
	positive(tokens)
	r := b.take(op{kind: takeOver, tokens: tokens, longest: longest, detail: verbose, verbose: verbose})
	if r.taken == 0 {
		return nil, r, false
	}
	return &Reservation{bucket: b, tokens: tokens, ready: r.at + r.wait, wait: r.wait, config: r.config}, r, true
}

// Wait is how long it was, when it was made, until the reservation may be used: 0 for at once.
func (r *Reservation) Wait() time.Duration { return r.wait }

// Left is how long it is from now until the reservation may be used.
func (r *Reservation) Left() time.Duration { return max(0, r.ready-r.bucket.core.now()) }

// Cancel gives the tokens back and leaves no debt, as long as the reservation's time has not gone by: it then
// reports true. Later, and a second time, it does nothing. When the bucket's configuration was replaced meanwhile, it
// gives back what became of the debt, rounded down; nothing when it was reset.
//
// Those who came later keep the times that they were told.
func (r *Reservation) Cancel() bool {
	return r.bucket.core.now() <= r.ready && r.giveBack()
}

// giveBack undoes the reservation, whatever the time is.
func (r *Reservation) giveBack() bool {
	if !r.ended.CompareAndSwap(false, true) {
		return false
	}
	for {
		refund, config := r.config.refund(r.tokens)
		if r.bucket.core.do(op{kind: giveBack, refund: refund, config: config}).config == config {
			return true
		}
		runtime.Gosched() // a change of configuration is about to come into force
	}
}
