// Package keyed holds the state of very many clients, each under its key, and forgets those whose state says nothing.
//
//	             ┌ stripe 0  lock, map key → state
//	key ─ hash ─►│ stripe 1  lock, map key → state ─► locked state ─► decide ─► unlock
//	             └ …
//
// A Store keeps any kind of state; Buckets is the Store of token buckets that share one plan, and limits each key apart.
//
// Forgetting is the delicate part: who forgets a drained bucket hands its client a full one. So
//
//   - a state is dropped only when it equals the one that its key would be given anew, which makes dropping it
//     impossible to observe;
//   - there is no goroutine and no timer for it: each new key looks at a few of its neighbours and drops those that
//     have been fresh for a minute. A store of clients that come and go therefore stays within a small multiple of
//     those that are not. Sweep drops all that are fresh.
package keyed
