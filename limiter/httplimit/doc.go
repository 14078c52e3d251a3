// Package httplimit puts a limiter in front of a service as an [http.Handler].
//
//	request ─► who is it? ─► Arrive ─┬─ admitted ─► service ─► 200 … ─► Release
//	                                 ├─ rejected ─► 429, Retry-After, problem+json
//	                                 └─ queued ──► parked ─► Settle says which of the two
//
// A [limiter.Limiter] knows neither clocks nor locks; the [Handler] owns both. Every call to the limiter is made
// under the handler's one lock, at a time that is read while the lock is held, so the limiter
// never sees time go back.
//
// # Invariant
//
// Every attempt that the limiter admitted is released exactly once, however its request ends: an answer, a client that hangs
// up, a shutdown, a panic in the service. Every attempt that the limiter queued is either handed out by Settle
// or taken back with Cancel, never both and never neither.
//
// # Waiting
//
// The handler has no goroutine. All parked requests wait on one timer beside their own channel; whoever
// receives its tick hands out, under the lock, whatever is due, to all of them. So a fault in the limiter shows in a request's goroutine,
// where the server's own recovery meets it, and nothing has to be shut down when the last request has gone.
//
// # A remote limit
//
// With Options.Remote somebody else decides, such as a store that several processes share. It takes its time, so it is asked outside of the lock, by many
// requests at once; the limiter then only keeps the book of who is who. A decision that was made without the store, because that cannot be
// reached, is to be obeyed like any other, and its answer carries the mark X-RateLimit-Store: unreachable.
//
// # What a client is told
//
// Each answer carries the state of the tightest limit as X-RateLimit-Limit, -Remaining and -Reset (seconds from now), and of all limits
// that count for the client, the tightest first, as RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers). A refusal
// carries Retry-After in whole seconds, rounded up and at least 1, unless no waiting would help, and a problem+json body (RFC 9457) that
// names the limit that refused.
//
// Those figures are rounded for the wire. A caller in the same process that needs the decision as it was made passes a ResponseWriter that is
// a [Witness].
package httplimit
