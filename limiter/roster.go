package limiter

import "time"

// A member is what is kept of a client whatever the policy: few bytes, for there may be a million of them.
type member struct {
	name     string
	weight   int64
	maxCost  int64
	lastUse  time.Duration
	slot     time.Duration // the moment that it was promised; 0: none
	inFlight int32
	terms    int32 // 1 + index into roster.terms; 0: none of its own
}

// terms are what hierarchical gives to a client of its own; most have none.
type terms struct{ guarantee, ceiling Rate }

// heaviest bounds weights, so that virtual time never overflows.
const heaviest = 1 << 31

// The roster knows all clients by name and by handle.
type roster struct {
	handles map[string]int
	members []member
	terms   []terms
	free    []int   // handles of clients that left
	unused  []int32 // members' terms that are free
	largest int64   // largest cost of any
	late    []int32 // by client, as far as anybody was: attempts that a shaping limit admitted and that have still to leave
}

// delayed is how many of the client have still to leave.
func (r *roster) delayed(client int) int32 {
	if client >= len(r.late) {
		return 0
	}
	return r.late[client]
}

// delay counts one more that is delayed, or with −1 one less.
func (r *roster) delay(client int, n int32) {
	for len(r.late) <= client {
		r.late = append(r.late, 0)
	}
	r.late[client] += n
}

// join adds a client, or takes on new settings of a known one; added tells which.
func (r *roster) join(now time.Duration, c Client) (handle int, added bool) {
	handle, known := r.handles[c.Name]
	if !known {
		if n := len(r.free); n > 0 {
			handle, r.free = r.free[n-1], r.free[:n-1]
		} else {
			handle = len(r.members)
			r.members = append(r.members, member{})
		}
		r.handles[c.Name] = handle
		r.members[handle] = member{name: c.Name, lastUse: now}
	}
	m := &r.members[handle]
	m.weight, m.maxCost = min(max(1, c.Weight), heaviest), max(1, c.MaxCost)
	r.largest = max(r.largest, m.maxCost)
	if m.terms > 0 {
		r.terms[m.terms-1] = terms{c.Guarantee, c.Ceiling}
	} else if !c.Guarantee.IsZero() || !c.Ceiling.IsZero() {
		if n := len(r.unused); n > 0 {
			m.terms, r.unused = r.unused[n-1], r.unused[:n-1]
		} else {
			r.terms = append(r.terms, terms{})
			m.terms = int32(len(r.terms))
		}
		r.terms[m.terms-1] = terms{c.Guarantee, c.Ceiling}
	}
	return handle, !known
}

// leave gives a handle back.
func (r *roster) leave(handle int) {
	delete(r.handles, r.members[handle].name)
	if t := r.members[handle].terms; t > 0 {
		r.unused = append(r.unused, t)
	}
	r.members[handle] = member{}
	r.free = append(r.free, handle)
}

// gone reports whether the handle belongs to nobody any more.
func (r *roster) gone(handle int) bool { return r.members[handle].weight == 0 }

// termsOf is what hierarchical gives the client: its own terms, else those of the configuration.
func (r *roster) termsOf(handle int, c Config) (guarantee, ceiling Rate) {
	guarantee, ceiling = c.Guarantee, c.Ceiling
	if t := r.members[handle].terms; t > 0 {
		own := r.terms[t-1]
		if !own.guarantee.IsZero() {
			guarantee = own.guarantee
		}
		if !own.ceiling.IsZero() {
			ceiling = own.ceiling
		}
	}
	return guarantee, ceiling
}
