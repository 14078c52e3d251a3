package fairness

import (
	"fmt"
	"time"
)

// Herd says whether refused attempts came back together because they had been told the same moment. It is found
// in the arrivals, not in the promises alone: clients that spread themselves make no herd of equal promises.
type Herd struct {
	Detected   bool   `json:"detected"`
	Returns    int64  `json:"returns"`    // retries of clients that honour Retry-After, sent within 100 ms of the told moment
	Largest    int64  `json:"largest"`    // the most of them within 100 ms
	Clients    int64  `json:"clients"`    // of so many different clients
	At         Number `json:"at_s"`       // and when
	Mean       Number `json:"mean"`       // returns per 100 ms on average, from the first to the last
	Told       int64  `json:"told"`       // the most refusals that were told the same 100 ms
	Admissible Number `json:"admissible"` // attempts that the limit admits in 100 ms, its burst included
	Why        string `json:"why"`
}

const (
	herdSlots = 64   // of arrivals: answers may come late; as many as herd.seen has bits
	toldSlots = 1024 // of promises: they reach into the future
)

// herd counts promises and returns in slots of 100 ms. A place in a ring remembers which slot it
// holds, and is begun anew by a later one.
type herd struct {
	came  []returning // ring
	told  []promised  // ring
	seen  []uint64    // of each client: in which places of the ring it has been counted, a bit for each
	first int64       // slot of the first return
	final int64
	total int64

	largest, clients, at int64
	mostTold             int64
}

// returning are the returns in a slot; who are the clients among them, each once.
type returning struct {
	slot, count int64
	who         []int32
}

type promised struct{ slot, count int64 }

func newHerd(clients int) herd {
	return herd{came: make([]returning, herdSlots), told: make([]promised, toldSlots), seen: make([]uint64, clients)}
}

// observe counts what was told by an outcome, and the return that it is of, if its client honoured what it had been told.
func (h *herd) observe(o *Outcome, honoured bool) {
	if o.Told > 0 && o.Kind == Rejected {
		s := int64((o.Seen + o.Told) / slot)
		p := &h.told[s&(toldSlots-1)]
		if p.slot < s {
			*p = promised{slot: s}
		}
		if p.slot == s {
			p.count++
			h.mostTold = max(h.mostTold, p.count)
		}
	}
	if !honoured || o.Sent >= o.Promised+slot {
		return
	}
	s := int64(o.Sent / slot)
	place := s & (herdSlots - 1)
	r := &h.came[place]
	if r.slot < s {
		for _, client := range r.who {
			h.seen[client] &^= 1 << place
		}
		*r = returning{slot: s, who: r.who[:0]}
	}
	if r.slot > s {
		return
	}
	if h.total == 0 {
		h.first = s
	}
	h.total++
	h.final = max(h.final, s)
	r.count++
	if h.seen[o.Client]&(1<<place) == 0 {
		h.seen[o.Client] |= 1 << place
		r.who = append(r.who, int32(o.Client))
	}
	if r.count > h.largest || s == h.at {
		h.largest, h.clients, h.at = r.count, int64(len(r.who)), s
	}
}

// report judges: a herd is a hundred milliseconds that brought back ten at least, more than twice what the limit can
// admit in that time with its whole burst, and three times the average, since a steady crowd is no herd.
func (h *herd) report(s *spell) Herd {
	r := Herd{Returns: h.total, Largest: h.largest, Clients: h.clients, At: None, Mean: None, Told: h.mostTold, Admissible: None}
	if h.total == 0 {
		r.Why = "nobody came back at the moment that it was told"
		return r
	}
	r.At = seconds(time.Duration(h.at) * slot)
	r.Mean = ratio(float64(h.total), float64(h.final-h.first+1))
	cost := 0.0
	for i := range s.clients {
		cost += float64(max(s.clients[i].Cost, 1))
	}
	cost /= float64(max(len(s.clients), 1))
	if s.limit.Capacity > 0 {
		r.Admissible = Number((s.limit.Capacity*slot.Seconds() + float64(s.limit.Burst)) / max(cost, 1))
	}
	r.Detected = h.largest >= 10 && r.Admissible.Exists() && float64(h.largest) > 2*float64(r.Admissible) && float64(h.largest) > 3*float64(r.Mean)
	if r.Detected {
		r.Why = fmt.Sprintf("%d refused attempts of %d clients came back within 100 ms at %s s, as they had been told; the limit admits %s in that time",
			h.largest, h.clients, figure(r.At), figure(r.Admissible))
	} else {
		r.Why = fmt.Sprintf("at most %d came back within the same 100 ms, against %s on average", h.largest, figure(r.Mean))
	}
	return r
}
