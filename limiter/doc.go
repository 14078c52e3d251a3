// Package limiter decides which attempts may pass.
//
// # Two questions
//
// A limiter answers two questions that are easily confused. The algorithm is how one limit is counted: what "1000 per second"
// means to the nanosecond. The policy is who may have that capacity when several clients want it. A limit that is counted
// perfectly is still unfair when whoever presses hardest takes all of it.
//
//	             ┌──────────── policy: who? ────────────┐
//	attempt ────►│  client's own limit · queue · slots  │────► admitted, or refused
//	             │        ┌─ algorithm: how much? ─┐    │      with the limit that refused
//	             │        │  rate, burst, window   │    │      and the exact wait
//	             └────────┴────────────────────────┴────┘
//
// New builds a Limiter from a Config; Arrive, Release, Due, Settle and Cancel are the life of an attempt, and Reconfigure changes
// everything while it runs. The package uses no clock, no lock and no goroutine: time is an argument, an offset from the
// start of the run, and the caller keeps calls apart. That is why a live server and a simulation of it can
// share every line, and why a test states times instead of waiting for them.
//
// # What always holds
//
//   - Numbers are exact. Tokens are integers, parts of a token are counted in parts that the rate itself defines, and where a product
//     might not fit into 64 bits it is taken in 128. What could not be counted is refused by Config.Check.
//   - A refused attempt charges nothing anywhere: all limits are asked, and only if all agree are all charged.
//   - The needed wait is the longest that any limit needs: at that time the attempt passes if nobody else comes, and a nanosecond earlier it
//     does not. What can never pass is told so: Never. Documented estimates are the waits under random routing, under limits on what is in
//     flight, and beyond the next exchange of shards, since nobody knows which shard it will be, when an attempt will end, or what others will ask;
//     in a fair queue with more than 4096 attempts waiting or 8192 clients, unless the sums alone say it; and under hierarchical when more than 128
//     buckets become full before, which makes it too long rather than too short.
//   - Time that goes back is no time passed.
//   - A client's state is dropped only when it equals a fresh one's (see Leaver), unless ForgetAfter says otherwise.
//   - A change of the configuration never grants more than its strategy says, also not after a walk through other policies. Only a
//     client that lacks nothing is always as full as a new one.
//   - Once queues and logs have grown to their size, a decision allocates nothing, and costs at most the logarithm of
//     the number of clients. Not so: the first refusal after a queue changed may play it to its end, taking back an attempt looks through
//     what waits, and an exchange of shards allocates.
//
// # Algorithms
//
// Each comes with its bound: the most that passes within any time of length T. L is what a window of length W holds.
//
//	token-bucket     burst + rate × T          tokens come evenly, up to a burst, and are taken; with refill by
//	                                           periods at most one period's tokens more
//	leaky-bucket     burst + rate × T          the same seen from the other side: what is admitted leaks out; shaping, it
//	                 shaping: see below        really keeps attempts back, and turns refusals into waiting
//	gcra             burst + rate × T          the same with one moment as its whole state
//	fixed-window     L × (⌊T/W⌋ + 2)           a count that starts anew: twice the limit in a moment at an edge
//	sliding-window   L × (⌊T/W⌋ + 2)           two counts, the older fading out: close to the limit for even traffic
//	sliding-log      L × (⌊T/W⌋ + 1)           every admission remembered: exactly the limit in any window
//
// What leaves a shaping leaky bucket within T is at most rate × T, one largest cost, and the delay threshold; of n shards n times the last two; and where
// each client's own limit delays too, also what the global rate lets pass in the longest delay of those.
//
// The first three admit the same attempts, unless they shape. Windows know no burst; what they hold is rate × window and must be a whole number. An
// attempt may cost more than one token under every algorithm.
//
// # Policies
//
// Global is one limit for all. First come, first served: a client that sends ten times as often gets ten times as
// much, and one that retries at once gets more still. Invariant: the limit. No fairness at all.
//
// Per-client gives each client a limit of its own under the global one. Fair as long as the limits of the clients that are
// there add up to no more than the cap; beyond that it is a lottery at the cap again. Invariant: each client's own bound, and the global one.
//
// Fair-queue lets attempts wait that find no tokens, each client's in a lane of its own, and serves the lanes in turn as tokens
// come. Start-time fair queueing turns by cost over weight: of two clients that always have something waiting, service over weight differs
// by at most one largest cost over weight of each, at every moment. Deficit round robin approaches the same in rounds, and one line for all
// shows what waiting is without fairness. Idleness earns no credit. In the long run shares are weighted max-min. What it costs is waiting,
// bounded by the lane's length and by the longest wait.
//
// Concurrency bounds what a client has in flight. It limits rate only through the service time: n in flight at s seconds each are
// n/s per second, which protects a shared rate only if that is at most the client's share. With Queue.ForSlot attempts
// wait for a slot instead of being refused.
//
// Hierarchical guarantees each client a rate and lends by weight whatever is left, at once, without queues; see rain for the picture.
// In the long run a client has min(demand, guarantee + λ × weight), one λ for all, at most its ceiling. Guarantees
// that add up to more than the rate are scaled down alike. Invariant: the global bound, and each client's guarantee while the bursts fit.
//
// Sharded is several instances that count apart. Divided, they refuse traffic below the limit, the more so the smaller each burst is,
// because attempts do not spread evenly; kept whole, they admit the limit as often as there are instances. Better routing (the fuller of
// two at random) or dividing anew by demand every so often heals most of it. Invariant: all shards together stay
// within the global bound, unless each keeps the whole.
//
// # What a refused client is told
//
// Exact tells the needed wait in whole seconds: everybody who waits for the same moment comes back at it. Adaptive doubles the wait while
// many are refused. Slot gives each client a place of its own in the future, so that a herd disperses.
//
// # Where to read
//
//	config.go, check.go, defaults.go   what can be asked for, and what is refused
//	engine.go                          the clock, the clients, the life of an attempt
//	counter.go, form.go, gate.go       what every algorithm answers; limits that are asked together
//	tokenbucket*.go, gcra.go, …        one algorithm each
//	capped.go, fairqueue.go, …         one policy each
//	told.go, reconfigure.go, inspect.go
//
// The sub-package httplimit is its HTTP side, redislimit counts the same in Redis for several processes, bucket is a token bucket for programs of
// their own with a clock, locks and waiting, and quota named limits with keys.
package limiter
