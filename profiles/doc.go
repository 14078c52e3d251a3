// Package profiles reads experiments: a limiter, the service behind it, and the
// clients that attack it, written in YAML by a person.
//
//	           prescan, parseTree        object.read              check
//	file ──► text ──────────► nodes with places ──► Profile ──────────► Profile
//	                              │                   │ ▲
//	                              └── places, by key ─┘ └── defaults of the kind
//
// Reading is strict, since a profile is an argument: a misspelt key that were
// passed over would make the demonstration show something else than its author
// meant. So whatever is not understood is an *Error, one at a time, that says
// where it stands, what it is and what would be right.
//
// Keys are declared once, in tables (keys.go, limiterkeys.go and clients.go): a table
// both reads a mapping and writes it, and knows which keys to suggest for a misspelt
// one. Three rules decide what a value is when several places could give it:
//
//   - What is read goes over what is there, key by key, and clients by their
//     name. So a file goes over the defaults or over the profile that it extends,
//     and the change of a lesson's step over the profile, by the same code.
//   - A kind brings the defaults of its client, a process and a back-off those of
//     their settings; they are looked at first, wherever in the mapping they stand.
//   - What follows another value stays unsaid until it is used. A burst that is
//     left out is one second's worth of the rate, also after the rate was changed.
//
// The defaults of the kinds, so that a client is one line:
//
//	batch        evenly, 500/s, jitter 0.1; 3 retries at once
//	interactive  at random (Poisson), 50/s; no retry. Who says no kind is interactive
//	retrying     at random, 50/s; 5 retries, waiting as long as told and a little longer,
//	             or 100 ms … 5 s, doubled each time, with full jitter
//
// A limiter that says nothing is a token bucket of 100/s for all. A run lasts 30 s with
// seed 1; a request takes 2 ms of service and 1 ms of way. Explain prints a profile in
// full, with where every value came from.
//
// A lesson walks through a profile: each step says something, changes something (set),
// asks what will come of it, and reveals it in numbers that Fill takes from the run.
//
// The invariant: what Parse returns passes Check, and so does the profile after each
// step of its lesson; YAML writes it so that it reads back as the same profile. The
// numbers that the built-in profiles promise are tests (numbers_test.go).
package profiles
