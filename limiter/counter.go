package limiter

import "time"

// A Counter counts one limit. Whoever decides about several limits asks Wait of every one first, and takes from all
// only when all said zero: so a refused attempt charges nothing anywhere.
//
// Time is an offset that never goes back: a counter that is given an earlier moment than before
// acts as if no time had passed.
type Counter interface {
	// Wait is how long an attempt of that cost must wait if nobody else comes: 0 when it may pass now, Never when no
	// waiting helps. It is exact: at now+Wait the attempt passes, a nanosecond earlier it does not. Nothing is taken.
	Wait(now time.Duration, cost int64) time.Duration
	// Take takes cost tokens. Where the algorithm knows debt the level may fall below zero.
	Take(now time.Duration, cost int64)
	// Remaining is how many whole tokens could be taken now, at least 0.
	Remaining(now time.Duration) int64
	// Reset is the time until the counter is as fresh as a new one again.
	Reset(now time.Duration) time.Duration
	// Fresh reports whether the state equals a new one's, so that it may be dropped and made anew later.
	Fresh(now time.Duration) bool
}
