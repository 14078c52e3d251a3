package limiter

import (
	"math"
	"math/bits"
	"time"
)

// lanes hold the attempts that wait: one lane for each client, first in first out, and through all of them one thread in
// order of arrival, since those that wait longest run out of patience first.
//
//	web    ┌ 2 ── 5
//	batch  ├ 1 ── 3 ── 4      thread: 1 2 3 4 5
//
// Places are kept in one slice and used again, so that waiting allocates nothing once the queues have been
// as long as they get.
type lanes struct {
	places         []place
	free           int32 // a chain of unused places, by next
	oldest, newest int32
	lane           []lane
	count          int
	costHi, costLo uint64 // of all that wait
	arrivals       uint64
}

type lane struct {
	first, last int32
	count       int32
}

type place struct {
	waiting
	order          uint64 // of arrival among all
	prev, next     int32  // in the lane
	older, younger int32  // in the thread
}

const nobody = int32(-1)

func newLanes() lanes { return lanes{free: nobody, oldest: nobody, newest: nobody} }

func (l *lanes) open(client int) {
	for len(l.lane) <= client {
		l.lane = append(l.lane, lane{first: nobody, last: nobody})
	}
}

// head is the client's attempt that is next.
func (l *lanes) head(client int) *place { return &l.places[l.lane[client].first] }

// push puts an attempt at the end of its client's lane.
func (l *lanes) push(w waiting) {
	i := l.free
	if i == nobody {
		i = int32(len(l.places))
		l.places = append(l.places, place{})
	} else {
		l.free = l.places[i].next
	}
	lane := &l.lane[w.Client]
	l.places[i] = place{waiting: w, order: l.arrivals, prev: lane.last, next: nobody, older: l.newest, younger: nobody}
	if lane.last == nobody {
		lane.first = i
	} else {
		l.places[lane.last].next = i
	}
	lane.last = i
	lane.count++
	if l.newest == nobody {
		l.oldest = i
	} else {
		l.places[l.newest].younger = i
	}
	l.newest = i
	l.count++
	var carry uint64
	l.costLo, carry = bits.Add64(l.costLo, uint64(w.Cost), 0)
	l.costHi += carry
	l.arrivals++
}

// find is where a waiting attempt is. Clients give up on the oldest first, and that is where it looks.
func (l *lanes) find(a Attempt) (int32, bool) {
	if a.Client < 0 || a.Client >= len(l.lane) {
		return nobody, false
	}
	for i := l.lane[a.Client].first; i != nobody; i = l.places[i].next {
		if l.places[i].ID == a.ID {
			return i, true
		}
	}
	return nobody, false
}

// remove takes an attempt out of wherever it stands; wasHead tells whether it was next in its lane.
func (l *lanes) remove(i int32) (w waiting, wasHead bool) {
	p := l.places[i]
	lane := &l.lane[p.Client]
	wasHead = p.prev == nobody
	if wasHead {
		lane.first = p.next
	} else {
		l.places[p.prev].next = p.next
	}
	if p.next == nobody {
		lane.last = p.prev
	} else {
		l.places[p.next].prev = p.prev
	}
	if p.older == nobody {
		l.oldest = p.younger
	} else {
		l.places[p.older].younger = p.younger
	}
	if p.younger == nobody {
		l.newest = p.older
	} else {
		l.places[p.younger].older = p.older
	}
	lane.count--
	l.count--
	var borrow uint64
	l.costLo, borrow = bits.Sub64(l.costLo, uint64(p.Cost), 0)
	l.costHi -= borrow
	l.places[i] = place{next: l.free}
	l.free = i
	return p.waiting, wasHead
}

// since is when the attempt that has waited longest, or shortest, came; nothing may be empty.
func (l *lanes) since(i int32) time.Duration { return l.places[i].since }

// cost is what all that wait cost together, at most the largest number.
func (l *lanes) cost() int64 {
	if l.costHi > 0 || l.costLo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(l.costLo)
}
