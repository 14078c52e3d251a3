package attack

import (
	"time"

	"fairgate/limiter"
)

// workers are those of a closed loop: each sends a request, waits for its end, thinks, and sends again.
type workers struct {
	ready   []time.Duration // when each worker that thinks will be done, in a heap
	busy    int             // workers that wait for the end of their request
	surplus int             // busy workers that are to go when their request has ended
}

// resize makes them n. New ones are ready first() after now; those that think go before those that are busy.
func (w *workers) resize(now time.Duration, n int, first func() time.Duration) {
	have := len(w.ready) + w.busy - w.surplus
	for ; have < n; have++ {
		if w.surplus > 0 {
			w.surplus--
			continue
		}
		w.push(later(now, first()))
	}
	for ; have > n; have-- {
		if len(w.ready) == 0 {
			w.surplus++
			continue
		}
		w.ready = w.ready[:len(w.ready)-1] // a leaf of the heap: its order stays
	}
}

// next is when the first worker is ready; limiter.Never while all are busy.
func (w *workers) next() time.Duration {
	if len(w.ready) == 0 {
		return limiter.Never
	}
	return w.ready[0]
}

// take sends off the worker that is ready first.
func (w *workers) take() {
	h := w.ready
	last := h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1] < h[down] {
			down++
		}
		if h[down] >= last {
			break
		}
		h[i] = h[down]
		i = down
	}
	if len(h) > 0 {
		h[i] = last
	}
	w.ready = h
	w.busy++
}

// free tells that a request has ended: its worker thinks, or goes.
func (w *workers) free(now, think time.Duration) {
	w.busy--
	if w.surplus > 0 {
		w.surplus--
		return
	}
	w.push(later(now, think))
}

func (w *workers) push(at time.Duration) {
	w.ready = append(w.ready, at)
	h := w.ready
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up] <= at {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = at
}
