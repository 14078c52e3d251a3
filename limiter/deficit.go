package limiter

import "math"

// deficitRound is deficit round robin (Shreedhar and Varghese, 1995). Clients that have something waiting stand in a ring. Each,
// when its turn comes, is given quantum × weight tokens of credit and sends while its credit covers its next attempt; what is left it
// keeps for the next round, unless nothing of its waits any more: idleness earns nothing.
//
// Of two clients that always have something waiting, service over weight differs by at most one quantum, which is the largest cost of any client
// unless it is set, and one largest cost over weight of each: that is coarser than start-time fair queueing when a third client's attempts are dear.
//
// Whoever joins the ring stands at its end, and so is served within one round. A quantum as large as the largest cost means
// that every turn serves at least one attempt; a much smaller one is raised, so that finding the
// next client never takes more than mostRounds rounds.
type deficitRound struct {
	ring    []seat // by client
	turn    int32  // whose turn it is; nobody: the ring is empty
	given   bool   // it has had its credit for this turn
	quantum int64  // 0: the largest cost
	roster  *roster
}

type seat struct {
	prev, next int32 // nobody: not in the ring
	cost       int64 // of its next attempt
	deficit    int64
}

const mostRounds = 64

func (d *deficitRound) open(client int, fresh bool) {
	for len(d.ring) <= client {
		d.ring = append(d.ring, seat{prev: nobody, next: nobody})
	}
	if fresh {
		d.ring[client].deficit = 0
	}
}

func (d *deficitRound) ready(client int, cost int64, _ uint64) {
	c, i := &d.ring[client], int32(client)
	c.cost = cost
	if c.next != nobody {
		return
	}
	if d.turn == nobody {
		d.turn, d.given = i, false
		c.prev, c.next = i, i
		return
	}
	// The end of the ring is before whoever's turn it is.
	last := d.ring[d.turn].prev
	c.prev, c.next = last, d.turn
	d.ring[last].next, d.ring[d.turn].prev = i, i
}

func (d *deficitRound) rest(client int, empty bool) {
	c, i := &d.ring[client], int32(client)
	if empty {
		c.deficit = 0
	}
	if c.next == nobody {
		return
	}
	if c.next == i {
		d.turn = nobody
	} else {
		d.ring[c.prev].next, d.ring[c.next].prev = c.next, c.prev
		if d.turn == i {
			d.turn, d.given = c.next, false
		}
	}
	c.prev, c.next = nobody, nobody
}

func (d *deficitRound) next() (int, bool) {
	if d.turn == nobody {
		return 0, false
	}
	for {
		c := &d.ring[d.turn]
		if !d.given {
			c.deficit = saturated(c.deficit, d.credit(d.turn))
			d.given = true
		}
		if c.deficit >= c.cost {
			return int(d.turn), true
		}
		d.turn, d.given = c.next, false
	}
}

func (d *deficitRound) credit(client int32) int64 {
	q := d.quantum
	if q == 0 {
		q = d.roster.largest
	}
	// The largest cost that was announced may be smaller than one that came.
	q = max(q, d.ring[client].cost/mostRounds)
	if w := d.roster.members[client].weight; q > math.MaxInt64/w {
		return math.MaxInt64
	} else {
		return q * w
	}
}

func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// serve takes the cost from the client's credit. One that did not wait has none, and needs none.
func (d *deficitRound) serve(client int, cost, _ int64) {
	c := &d.ring[client]
	c.deficit -= min(c.deficit, cost)
}

func (d *deficitRound) fresh(client int) bool { return d.ring[client].deficit == 0 }
