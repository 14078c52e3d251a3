// Package bucket is a token bucket for use inside a program: with a clock, safe for many
// goroutines, to be asked, waited on, watched and changed while it lives.
//
// A bucket has one or more bandwidths. Each is an exact limiter.TokenBucket; a taking must
// pass all of them and is then charged to all, and a refusal is charged to none:
//
//	                     ┌─ 10/s,   burst 10  ─┐
//	TryTake(3) ─► clock ─┤                     ├─ both hold 3? ─► take 3 from both
//	                     └─ 1000/h, burst 200 ─┘      else      ─► change nothing
//
// The ways of taking differ in what they do when there is too little:
//
//	TryTake, Probe      refuse; a Probe tells what is left and how long to wait
//	TakeUpTo, TakeAll   take what is there
//	TakeAnyway          take regardless, into debt, and tell how long the debt lasts
//	Reserve             take now, into debt, and tell when it may be used; it can be cancelled
//	Blocking()          reserve, then wait for that moment
//	Scheduled()         reserve, then be called at that moment
//	Estimate, Available only look
//
// Since a reservation takes at once, those who wait stand in line: the level is their debt, and whoever
// comes later waits for it to be paid too.
//
// # Invariant
//
// For each bandwidth, takings that were not forced add up to at most burst + rate × T over any window of length T (one period's
// tokens more when it refills by periods), whatever the number of goroutines, unless
// the strategy is None and the bucket is shared all the same.
//
// A reservation counts here when it is made, and no more once it is cancelled. Counted when it may be used, the bound is
// the same as long as none is cancelled, but that a reservation above the burst is used whole. Cancelling gives the tokens back at once, while those who
// reserved later keep the times that they were told, so that both can meet: by the moments of use the bound is that one + what
// was cancelled (or interrupted while it waited). With 1/s and a burst of 5, drained:
//
//	at 0 s    reserve 10 (for 10 s), reserve 5 (for 15 s), cancel the first
//	at 10 s   the bucket holds 5: full
//	at 15 s   the 5 reserved, and the 5 it holds: 10 at once
//
// Who cannot bear that must not cancel, or reserve anew after others cancelled.
//
// # How it is kept
//
// Every method is one operation on a state (state.go) that a synchronisation strategy makes atomic:
// LockFree exchanges immutable states, Mutex and None change the state in place. The usual bucket (lock-free, one
// bandwidth with greedy refill, the built-in steady clock) needs no state object at all. Its level
// is a straight line in time, so that the moment at which the line meets zero says all, and that moment is one atomic
// word (cell.go). TryTake is then a clock reading and one compare-and-swap, and a refusal writes nothing.
package bucket
