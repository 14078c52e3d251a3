// Package redislimit keeps the counters of a limit in Redis, so that several processes share one limit.
//
//	serve ──┐                       ┌─ rate-limit:*:{all}     the limit that all share
//	serve ──┼── one script ──► Redis┤
//	serve ──┘   a decision          └─ rate-limit:web:{all}   the client's own (per-client)
//
// # A decision
//
// Each decision is one Lua script, decide.lua, which the server runs while nothing else runs: it reads all limits that count for the
// attempt, asks all, and charges all only if all agree. There is no moment between reading and writing in which another process could
// decide by the same tokens. A refusal writes nothing, so that a flood of refused attempts, under however many names, neither grows the store nor
// loads its replicas.
//
// Time is the server's, read inside the script; processes whose clocks differ share one limit all the same. It never goes back behind the latest
// moment that an admission has seen: when the server's clock is set back, no tokens come until it has caught up. The
// finest moment is a microsecond, and windows begin at whole multiples of their length since 1970.
//
// # What is exact
//
// The arithmetic is the engine's: tokens are counted in integers, in parts that the rate defines. Scripts count in doubles, which are
// exact for integers up to 2⁵³; a configuration that needs more is refused by New, with the field to change. So a Store admits and refuses
// what the engine in memory does at the same microseconds, and its needed wait is the engine's, rounded up to the next microsecond.
//
// Token bucket, GCRA, leaky bucket (as a meter), fixed and sliding window; the policies global and per-client; further bandwidths. What
// waits, lends, holds slots or remembers each admission belongs to one process, and is refused by Check.
//
// # What is in the store
//
// One hash for each limit, rate-limit:CLIENT:{ENDPOINT}, with * as the client of the limit that all share. What stands in braces is Redis
// Cluster's hash tag: all keys of one decision lie in one slot, and endpoints spread over the cluster. The fields are the algorithm's:
//
//	token-bucket     tokens, tokens_part of tokens_of
//	leaky-bucket     queue_size (whole slots), last_leak_time (unix ms), leak_part of leak_of
//	gcra             tat (µs since 1970), tat_part of tat_of, tat_token
//	fixed-window     window_start, window_used
//	sliding-window   slide_start, slide_current, slide_previous
//	all              last: the latest admission, µs since 1970
//
// last_leak_time moves on by the time of the slots that have leaked, never to now; the part of a millisecond that this leaves is kept beside it.
//
// A key lives for a while after its last admission, and never shorter than the limit needs to be as good as new: expiring never frees anybody.
// So there are never more keys than clients that were admitted something within that time. What does free everybody is a store that loses its data, by FLUSHALL or
// by a restart without persistence: each limit then begins full again.
//
// # When Redis is gone
//
// A decision waits for the store no longer than Options.Timeout. When it has no answer, Options.OnError answers in its place: open admits,
// closed rejects, and Decide returns an error that says so beside the decision. Health counts these answers and describes the store's
// state. After three round trips in a row that failed, only one decision at a time goes on trying, with pauses; the rest are answered at once, so
// that a dead store does not cost every request its whole time-out. The first success ends that: no restart is needed.
//
// A decision that timed out may still have been charged by the server. That errs to the side of refusing, and is never repeated.
package redislimit
