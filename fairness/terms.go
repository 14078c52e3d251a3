package fairness

import (
	"math"
	"time"
)

// spell is a time during which limit and clients stayed as they were; it lasts until the next.
type spell struct {
	from    time.Duration
	limit   Limit
	clients []Client
}

// spellBefore is the spell in force just before a moment.
func (t *Tally) spellBefore(at time.Duration) *spell {
	for k := len(t.spells) - 1; k > 0; k-- {
		if t.spells[k].from < at {
			return &t.spells[k]
		}
	}
	return &t.spells[0]
}

// terms are the settings that entitlements follow from, averaged over a stretch by time.
type terms struct {
	capacity float64 // tokens per second
	measured bool    // the capacity is not known, and is what was admitted
	cost     []float64
	weight   []float64
	closed   []float64 // demand of closed loops; 0: measured
	ceiling  []float64 // tokens per second that the policy allows the client; the capacity when there is no such limit

	whole int // 1 + the number of the only spell that these are of; 0: none or several
}

// over averages the spells between two moments. With no time between them the last spell counts. The terms may be used again and again, but only
// for a list of spells whose first ones stay as they are.
func (t *terms) over(spells []spell, from, to time.Duration) {
	n := len(spells[0].clients)
	if len(t.cost) != n {
		t.whole = 0
		t.cost, t.weight, t.closed, t.ceiling = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
	first, last := 0, len(spells)-1
	for last > 0 && spells[last].from >= to && spells[last].from > from {
		last--
	}
	for k := last; k > 0; k-- {
		if spells[k].from <= from {
			first = k
			break
		}
	}
	if first == last && t.whole == 1+first {
		return // as for the stretch before: with many clients and steps this is worth its line
	}
	t.whole = 0
	if first == last {
		t.whole = 1 + first
	}
	t.capacity, t.measured = 0, false
	clear(t.cost)
	clear(t.weight)
	clear(t.closed)
	clear(t.ceiling)
	for k := first; k <= last; k++ {
		part := 1.0
		if first != last {
			begin, end := max(spells[k].from, from), to
			if k < last {
				end = spells[k+1].from
			}
			part = float64(end-begin) / float64(to-from)
		}
		t.add(&spells[k], part)
	}
}

func (t *terms) add(s *spell, part float64) {
	t.measured = t.measured || s.limit.Measured
	t.capacity += part * s.limit.Capacity
	for i := range s.clients {
		c := &s.clients[i]
		t.cost[i] += part * float64(max(c.Cost, 1))
		t.weight[i] += part * float64(max(c.Weight, 1))
		t.closed[i] += part * c.ClosedDemand
		t.ceiling[i] += part * s.limit.ceiling(i)
	}
}

// ceiling is what the policy allows a client at most, in tokens per second: the whole
// capacity when it sets no limit of the client's own.
func (l *Limit) ceiling(client int) float64 {
	if client < len(l.ClientCaps) && l.ClientCaps[client].Exists() {
		return math.Min(float64(l.ClientCaps[client]), l.Capacity)
	}
	return l.Capacity
}
