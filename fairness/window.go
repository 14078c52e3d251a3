package fairness

import "time"

const (
	slot        = 100 * time.Millisecond
	windowSlots = 100 // what a snapshot covers: 10 s
	ringSlots   = 128 // what is kept: a little more, for answers that come late
	ringSeconds = 12  // the same for distributions, which are kept by the second
)

// window keeps the last seconds of every client, slot by slot, in rings that never grow.
// A nil window keeps nothing: its methods do nothing.
type window struct {
	clients, reasons int

	newest   int64         // number of the slot that is under way
	from     time.Duration // its bounds
	edge     time.Duration
	cells    []cell    // ring of slots × clients
	refused  []uint32  // ring of slots × clients × reasons
	attained []float32 // ring of slots × clients

	second   int64         // number of the second that is under way
	secondAt time.Duration // when it began
	spreads  []spread      // ring of seconds × clients
}

// cell is one client in one slot.
type cell struct {
	begun, sent, admitted, rejected, failed, served, gaveUp uint32
}

func newWindow(clients, reasons int) *window {
	return &window{
		clients: clients, reasons: reasons, edge: slot,
		cells:    make([]cell, ringSlots*clients),
		refused:  make([]uint32, ringSlots*clients*reasons),
		attained: make([]float32, ringSlots*clients),
		spreads:  make([]spread, ringSeconds*clients),
	}
}

// turn makes the slot of a moment the newest.
func (w *window) turn(at time.Duration) {
	if at < w.edge {
		return
	}
	now := int64(at / slot)
	for s := max(w.newest+1, now-ringSlots+1); s <= now; s++ {
		k := int(s % ringSlots)
		clear(w.cells[k*w.clients : (k+1)*w.clients])
		clear(w.attained[k*w.clients : (k+1)*w.clients])
		clear(w.refused[k*w.clients*w.reasons : (k+1)*w.clients*w.reasons])
	}
	w.newest = now
	w.from, w.edge = time.Duration(now)*slot, time.Duration(now+1)*slot

	second := int64(at / time.Second)
	for s := max(w.second+1, second-ringSeconds+1); s <= second; s++ {
		k := int(s % ringSeconds)
		for c := range w.clients {
			w.spreads[k*w.clients+c].reset()
		}
	}
	w.second, w.secondAt = second, time.Duration(second)*time.Second
}

// place is where the ring holds the slot of a moment, or −1 when it is forgotten.
func (w *window) place(at time.Duration) int {
	s := w.newest
	if at < w.from {
		if s = int64(at / slot); w.newest-s >= ringSlots {
			return -1
		}
	}
	return int(s & (ringSlots - 1))
}

func (w *window) cell(at time.Duration, client int) *cell {
	if w == nil {
		return nil
	}
	if k := w.place(at); k >= 0 {
		return &w.cells[k*w.clients+client]
	}
	return nil
}

// by counts a rejection by the limit that refused.
func (w *window) by(at time.Duration, client, reason int) {
	if w == nil {
		return
	}
	if k := w.place(at); k >= 0 {
		w.refused[(k*w.clients+client)*w.reasons+reason]++
	}
}

// attain counts what was attainable in a pulse that began at this moment.
func (w *window) attain(at time.Duration, client int, share float64) {
	if w == nil {
		return
	}
	if k := w.place(at); k >= 0 {
		w.attained[k*w.clients+client] += float32(share)
	}
}

// observe counts the distributions of an outcome.
func (w *window) observe(o *Outcome) {
	if w == nil {
		return
	}
	s := w.second
	if o.Decided < w.secondAt {
		if s = int64(o.Decided / time.Second); w.second-s >= ringSeconds {
			return
		}
	}
	w.spreads[int(s%ringSeconds)*w.clients+o.Client].observe(o)
}

// sum adds up one client in the slots from first to last, which must still be in the ring. The longest gap is
// the longest run of slots without an admission.
func (w *window) sum(client int, first, last int64) (total cell, attained float64, emptySlots int64) {
	run := int64(0)
	for s := first; s <= last; s++ {
		i := int(s&(ringSlots-1))*w.clients + client
		c := &w.cells[i]
		total.begun += c.begun
		total.sent += c.sent
		total.admitted += c.admitted
		total.rejected += c.rejected
		total.failed += c.failed
		total.served += c.served
		total.gaveUp += c.gaveUp
		attained += float64(w.attained[i])
		if run++; c.admitted > 0 {
			run = 0
		}
		emptySlots = max(emptySlots, run)
	}
	return total, attained, emptySlots
}

// refusals adds up the rejections of one client by reason.
func (w *window) refusals(client int, first, last int64) []int64 {
	by := make([]int64, w.reasons)
	for s := first; s <= last; s++ {
		at := (int(s&(ringSlots-1))*w.clients + client) * w.reasons
		for r := range by {
			by[r] += int64(w.refused[at+r])
		}
	}
	return by
}

// spread merges the distributions of one client since a moment, to the second.
func (w *window) spread(client int, since time.Duration) *spread {
	var s spread
	for k := max(int64(since/time.Second), w.second-ringSeconds+1, 0); k <= w.second; k++ {
		s.merge(&w.spreads[int(k%ringSeconds)*w.clients+client])
	}
	return &s
}
