package fairness

import "time"

// punctual is how late the generator may send a retry that is still to tell something. What stood still longer than half a slot of
// the herd's says more about this machine than about the client.
const punctual = 50 * time.Millisecond

// manners are, of each client of which it is not known whether it honours Retry-After, how many retries it made that had been told a moment, and
// how many of them came before it.
type manners []struct{ came, early int32 }

func newManners(clients int) manners { return make(manners, clients) }

// honoured reports whether an attempt is a retry that came at the told moment, or later, because it had been told. Of a client of which that is
// not known it is believed as long as three quarters of its retries at least waited for their moment.
func (t *Tally) honoured(o *Outcome) bool {
	if !o.Retry || o.Promised <= 0 || o.Late > punctual {
		return false
	}
	waited := o.Sent >= o.Promised
	switch t.spells[len(t.spells)-1].clients[o.Client].RetryAfter {
	case Honors:
		return waited
	case Ignores:
		return false
	}
	m := &t.manners[o.Client]
	if m.came++; !waited {
		m.early++
	}
	if m.came == 1<<30 { // what is long ago counts less and less
		m.came, m.early = m.came/2, m.early/2
	}
	return waited && 4*int64(m.early) <= int64(m.came)
}
