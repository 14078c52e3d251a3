package limiter

import "time"

// departures are the attempts that a shaping limit has admitted and delays: a heap by the moment at which each
// leaves, in order of arrival where moments are equal.
type departures struct {
	heap []departure
	next uint64
}

type departure struct {
	at    time.Duration
	order uint64
	Attempt
}

func (d *departure) before(o *departure) bool {
	return d.at < o.at || d.at == o.at && d.order < o.order
}

func (d *departures) add(at time.Duration, a Attempt) {
	d.heap = append(d.heap, departure{at, d.next, a})
	d.next++
	d.up(len(d.heap) - 1)
}

func (d *departures) due() (time.Duration, bool) {
	if len(d.heap) == 0 {
		return 0, false
	}
	return d.heap[0].at, true
}

// take takes out the first that leaves at or before now.
func (d *departures) take(now time.Duration) (Attempt, bool) {
	if len(d.heap) == 0 || d.heap[0].at > now {
		return Attempt{}, false
	}
	a := d.heap[0].Attempt
	d.remove(0)
	return a, true
}

// cancel takes out an attempt before it left; it looks through all. Its place stays counted: those behind it were
// given their moments already.
func (d *departures) cancel(a Attempt) bool {
	for i := range d.heap {
		if d.heap[i].ID == a.ID && d.heap[i].Client == a.Client {
			d.remove(i)
			return true
		}
	}
	return false
}

func (d *departures) remove(i int) {
	last := len(d.heap) - 1
	d.heap[i] = d.heap[last]
	d.heap = d.heap[:last]
	if i < last {
		d.up(i)
		d.down(i)
	}
}

func (d *departures) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !d.heap[i].before(&d.heap[parent]) {
			return
		}
		d.heap[i], d.heap[parent] = d.heap[parent], d.heap[i]
		i = parent
	}
}

func (d *departures) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(d.heap) {
			return
		}
		if child+1 < len(d.heap) && d.heap[child+1].before(&d.heap[child]) {
			child++
		}
		if !d.heap[child].before(&d.heap[i]) {
			return
		}
		d.heap[i], d.heap[child] = d.heap[child], d.heap[i]
		i = child
	}
}
