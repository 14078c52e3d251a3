package fairness

import "time"

const (
	slot        = 100 * time.Millisecond
	windowSlots = 100 // what a snapshot covers: 10 s
	ringSlots   = 128 // what is kept: a little more, for answers that come late
	ringSeconds = 12  // the same for distributions, which are kept by the second
	pastSeconds = 10  // of these, how many whole ones a snapshot covers beside the one under way
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
	loads    [ringSlots]load

	second   int64         // number of the second that is under way
	secondAt time.Duration // when it began
	spreads  []spread      // ring of seconds × clients
	past     []spread      // of each client: the sum of the last whole seconds
	scratch  spread
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
		past:     make([]spread, clients),
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
		w.loads[k] = load{}
		clear(w.cells[k*w.clients : (k+1)*w.clients])
		clear(w.attained[k*w.clients : (k+1)*w.clients])
		clear(w.refused[k*w.clients*w.reasons : (k+1)*w.clients*w.reasons])
	}
	w.newest = now
	w.from, w.edge = time.Duration(now)*slot, time.Duration(now+1)*slot

	if second := int64(at / time.Second); second > w.second {
		w.turnSecond(second)
	}
}

// turnSecond makes a second the newest. Each one that is over joins the past, and the one that is too old leaves it.
func (w *window) turnSecond(second int64) {
	if second-w.second > ringSeconds { // all are too old
		for i := range w.spreads {
			w.spreads[i].reset()
		}
		for i := range w.past {
			w.past[i].reset()
		}
		w.second = second
	}
	for w.second < second {
		for c := range w.clients {
			over := w.spreadAt(w.second, c)
			w.past[c].merge(over)
			if old := w.second - pastSeconds; old >= 0 {
				w.past[c].subtract(w.spreadAt(old, c))
			}
			w.spreadAt(w.second+1, c).reset()
		}
		w.second++
	}
	w.secondAt = time.Duration(second) * time.Second
}

func (w *window) spreadAt(second int64, client int) *spread {
	return &w.spreads[int(second%ringSeconds)*w.clients+client]
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

// send counts an attempt of the generator's.
func (w *window) send(at, late time.Duration) {
	if w == nil {
		return
	}
	if k := w.place(at); k >= 0 {
		w.loads[k].send(late)
	}
}

// miss counts one that was planned and never sent.
func (w *window) miss(at time.Duration) {
	if w == nil {
		return
	}
	if k := w.place(at); k >= 0 {
		w.loads[k].missed++
	}
}

// load is what the generator did in the slots from first to last.
func (w *window) load(first, last int64) Load {
	var all, behind load
	for s := first; s <= last; s++ {
		all.add(&w.loads[s&(ringSlots-1)])
		if s > last-int64(time.Second/slot) {
			behind.add(&w.loads[s&(ringSlots-1)])
		}
	}
	l := all.report()
	l.Behind = behind.late
	return l
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
	second := w.second
	if o.Decided < w.secondAt {
		if second = int64(o.Decided / time.Second); w.second-second > pastSeconds {
			return
		}
		w.past[o.Client].observe(o)
	}
	w.spreadAt(second, o.Client).observe(o)
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

// spread are the distributions of one client in the last ten seconds, and the part of one that is under way. They
// are valid until the next call.
func (w *window) spread(client int) *spread {
	s := &w.scratch
	s.reset()
	s.merge(&w.past[client])
	s.merge(w.spreadAt(w.second, client))
	// Smallest and largest of the past are those of all time; these are of the seconds that are left.
	for i, h := range s.histograms() {
		if *h == nil || (*h).n == 0 {
			continue
		}
		first := true
		for k := max(w.second-pastSeconds, 0); k <= w.second; k++ {
			if one := *w.spreadAt(k, client).histograms()[i]; one != nil && one.n > 0 {
				if first || one.min < (*h).min {
					(*h).min = one.min
				}
				if first || one.max > (*h).max {
					(*h).max = one.max
				}
				first = false
			}
		}
	}
	return s
}
