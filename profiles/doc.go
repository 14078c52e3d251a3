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
// Keys are declared once, in tables (keys.go and clients.go): a table both reads a
// mapping and writes it, and knows which keys to suggest for a misspelt one. Three
// rules decide what a value is when several places could give it:
//
//   - What is read goes over what is there, key by key, and clients by their
//     name. So a file goes over the defaults, and the change of a lesson's step
//     over the profile, by the same code.
//   - A kind brings the defaults of its client, a process and a back-off those of
//     their settings; they are looked at first, wherever in the mapping they stand.
//   - What follows another value stays unsaid until it is used. A burst that is
//     left out is one second's worth of the rate, also after the rate was changed.
//
// The invariant: what Parse returns passes Check, and YAML writes it so that it
// reads back as the same profile.
package profiles
