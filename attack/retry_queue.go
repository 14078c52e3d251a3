package attack

import (
	"time"

	"fairgate/limiter"
)

// retry is a retry that waits for its time.
type retry struct {
	at       time.Duration
	request  uint64
	deadline time.Duration
	promised time.Duration
	waited   time.Duration
	try      int32
	loop     uint32
}

func (r *retry) before(o *retry) bool {
	return r.at < o.at || r.at == o.at && r.request < o.request
}

// retries are a client's waiting retries, in the order of their times and then of their requests.
//
// Most clients wait equally long each time, so that retries are due in the order in which they were made:
// those stand in a ring, where nothing is ever moved. Only what is due before the ring's last goes to a heap beside it.
type retries struct {
	ring       []retry // its length is a power of two
	head, size int
	heap       []retry
}

// next is when the first is due; limiter.Never when none waits.
func (q *retries) next() time.Duration {
	at := time.Duration(limiter.Never)
	if q.size > 0 {
		at = q.ring[q.head].at
	}
	if len(q.heap) > 0 && q.heap[0].at < at {
		at = q.heap[0].at
	}
	return at
}

func (q *retries) push(r retry) {
	if q.size > 0 && r.before(&q.ring[(q.head+q.size-1)&(len(q.ring)-1)]) {
		q.sift(r)
		return
	}
	if q.size == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = r
	q.size++
}

// pop takes the first; the caller knows that there is one.
func (q *retries) pop() retry {
	if len(q.heap) > 0 && (q.size == 0 || q.heap[0].before(&q.ring[q.head])) {
		return q.popHeap()
	}
	r := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return r
}

// dropFrom takes out all that are due at t or later and hands each over.
func (q *retries) dropFrom(t time.Duration, dropped func(retry)) {
	var kept []retry
	for q.size+len(q.heap) > 0 {
		r := q.pop()
		if r.at >= t {
			dropped(r)
			continue
		}
		kept = append(kept, r)
	}
	for _, r := range kept {
		q.push(r)
	}
}

func (q *retries) grow() {
	ring := make([]retry, max(8, 2*len(q.ring)))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

// sift puts r into the heap.
func (q *retries) sift(r retry) {
	q.heap = append(q.heap, r)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !r.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = r
}

func (q *retries) popHeap() retry {
	h := q.heap
	first := h[0]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].before(&h[down]) {
			down++
		}
		if !h[down].before(&last) {
			break
		}
		h[i] = h[down]
		i = down
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
