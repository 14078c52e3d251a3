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
// # How it is kept
//
// Every method is one operation on a state (state.go) that a synchronisation strategy makes atomic:
// LockFree exchanges immutable states, Mutex and None change the state in place. The usual bucket (lock-free, one
// bandwidth with greedy refill, the built-in steady clock) needs no state object at all. Its level
// is a straight line in time, so that the moment at which the line meets zero says all, and that moment is one atomic
// word (cell.go). TryTake is then a clock reading and one compare-and-swap, and a refusal writes nothing.
package bucket
