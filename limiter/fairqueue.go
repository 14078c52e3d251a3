package limiter

import (
	"time"
)

// fairQueue lets attempts wait that the limit has no tokens for, each client's in a lane of its own, and admits them as tokens
// come, in the order that its discipline says.
//
//	batch ▪▪▪▪▪▪▪▪ ┐
//	web   ▪        ├─► whose turn? ─► tokens of the global limit ─► admitted
//	sync  ▪▪       ┘
//
// An attempt that finds tokens and nobody in line does not wait. A lane holds so many; an attempt that comes when it is full is refused, and one
// that waited the longest wait is refused then. With slots a client has at most so many in flight, and its lane stands
// aside while all are taken: that is the policy concurrency when it waits for a slot.
//
// The next in line is never passed over because a cheaper attempt behind it would fit: it would starve.
//
// A refusal's needed wait is when the attempt would pass at once: when all that waits now has been served and its own tokens are there. It is exact
// where tokens flow steadily and nothing that waits gives up or runs out of time before, which can only make it shorter; with windows, refills
// by periods, or slots it is an estimate, and where something that waits costs the whole burst it may be a nanosecond short: a full bucket spills what the
// last nanosecond brought too much.
type fairQueue struct {
	*gate
	lanes
	discipline
	order    Discipline
	roster   *roster
	perLane  int32
	maxWait  time.Duration
	slots    int32 // in flight of each client; 0: any number
	releases []cadence
}

func newFairQueue(now time.Duration, c Config, r *roster) (rule, error) {
	g, err := newGate(now, c, false)
	if err != nil {
		return nil, err
	}
	q := &fairQueue{gate: g, lanes: newLanes(), order: c.Order, roster: r, perLane: int32(c.Queue.PerClient), maxWait: c.Queue.MaxWait}
	switch c.Order {
	case DeficitRound:
		q.discipline = &deficitRound{turn: nobody, quantum: c.Quantum, roster: r}
	case FIFO:
		q.discipline = &inLine{}
	default:
		q.discipline = newStartTime(g.capacity())
	}
	if c.Policy == Concurrency {
		q.slots = int32(c.Client.MaxInFlight)
	}
	for i := range r.members {
		q.join(now, i, true)
	}
	return q, nil
}

func (q *fairQueue) join(_ time.Duration, client int, added bool) {
	q.lanes.open(client)
	q.discipline.open(client, added)
	if q.slots > 0 {
		for len(q.releases) <= client {
			q.releases = append(q.releases, cadence{})
		}
		if added {
			q.releases[client] = cadence{}
		}
	}
}

func (q *fairQueue) arrive(now time.Duration, a Attempt) Decision {
	wait, by := q.wait(now, a.Client, a.Cost)
	if wait == Never {
		return Decision{Verdict: Rejected, By: by, Wait: Never}
	}
	slot := q.mayFly(a.Client)
	lane := &q.lane[a.Client]
	if wait == 0 && slot && lane.count == 0 {
		if _, others := q.next(); !others {
			q.take(now, a.Client, a.Cost)
			q.serve(a.Client, a.Cost, q.roster.members[a.Client].weight)
			return Decision{}
		}
	}
	if lane.count >= q.perLane {
		return Decision{Verdict: Rejected, By: ByQueueFull, Wait: q.needed(now, a)}
	}
	q.enqueue(now, waiting{a, now})
	return Decision{Verdict: Queued}
}

func (q *fairQueue) mayFly(client int) bool {
	return q.slots == 0 || q.roster.members[client].inFlight < q.slots
}

// enqueue puts an attempt at the end of its lane, however many there are.
func (q *fairQueue) enqueue(_ time.Duration, w waiting) {
	q.push(w)
	if q.lane[w.Client].count == 1 {
		q.lineUp(w.Client)
	}
}

// lineUp tells the discipline how it stands with a client after its lane or its slots changed.
func (q *fairQueue) lineUp(client int) {
	switch {
	case q.lane[client].count == 0:
		q.rest(client, true)
	case !q.mayFly(client):
		q.rest(client, false)
	default:
		head := q.head(client)
		q.ready(client, head.Cost, head.order)
	}
}

func (q *fairQueue) due(now time.Duration) (time.Duration, bool) {
	if q.count == 0 {
		return 0, false
	}
	at := timeUp(q.since(q.oldest), q.maxWait)
	if client, ok := q.next(); ok {
		wait, _ := q.wait(now, client, q.head(client).Cost)
		if wait == Never {
			wait = 0 // to be refused
		}
		at = min(at, timeUp(now, wait))
	}
	return at, true
}

// settle first refuses what waited too long, then admits whose turn it is. Who has waited exactly the longest wait may still be
// admitted.
func (q *fairQueue) settle(now time.Duration) (Attempt, Decision, bool) {
	if q.count == 0 {
		return Attempt{}, Decision{}, false
	}
	if now-q.since(q.oldest) > q.maxWait {
		return q.expire(now)
	}
	if client, ok := q.next(); ok {
		cost := q.head(client).Cost
		switch wait, by := q.wait(now, client, cost); wait {
		case Never: // the burst was lowered while it waited
			w := q.drop(q.lane[client].first)
			return w.Attempt, Decision{Verdict: Rejected, By: by, Wait: Never}, true
		case 0:
			q.take(now, client, cost)
			q.serve(client, cost, q.roster.members[client].weight)
			w, _ := q.remove(q.lane[client].first)
			// The engine counts it as in flight only after this.
			if q.slots > 0 && q.roster.members[client].inFlight+1 >= q.slots && q.lane[client].count > 0 {
				q.rest(client, false)
			} else {
				q.lineUp(client)
			}
			return w.Attempt, Decision{}, true
		}
	}
	if now-q.since(q.oldest) == q.maxWait {
		return q.expire(now)
	}
	return Attempt{}, Decision{}, false
}

func (q *fairQueue) expire(now time.Duration) (Attempt, Decision, bool) {
	w := q.drop(q.oldest)
	return w.Attempt, Decision{Verdict: Rejected, By: ByWait, Wait: q.needed(now, w.Attempt)}, true
}

// drop takes a waiting attempt out unserved.
func (q *fairQueue) drop(i int32) waiting {
	w, wasHead := q.remove(i)
	if wasHead {
		q.lineUp(w.Client)
	}
	return w
}

func (q *fairQueue) cancel(_ time.Duration, a Attempt) bool {
	i, ok := q.find(a)
	if ok {
		q.drop(i)
	}
	return ok
}

func (q *fairQueue) leave(time.Duration, int) {}

func (q *fairQueue) evict(time.Duration) (waiting, bool) {
	if q.count == 0 {
		return waiting{}, false
	}
	return q.drop(q.oldest), true
}

func (q *fairQueue) release(now time.Duration, client int) {
	if q.slots > 0 {
		q.releases[client].observe(now)
		q.lineUp(client)
	}
}

// needed is when the attempt would pass at once if nobody else came, at least a nanosecond.
func (q *fairQueue) needed(now time.Duration, a Attempt) time.Duration {
	wait := q.backlog(now, saturated(q.cost(), a.Cost))
	if q.count > 0 {
		// By then whatever still waits has run out of time.
		own, _ := q.wait(now, a.Client, a.Cost)
		wait = min(wait, timeUp(timeUp(q.since(q.newest), q.maxWait)-now, own))
	}
	if q.slots > 0 && !q.mayFly(a.Client) {
		wait = max(wait, q.releases[a.Client].next(now))
	}
	return max(1, wait)
}

func (q *fairQueue) forget(now time.Duration, client int) {
	if client == everybody {
		q.renewGlobal(now)
	}
}

func (q *fairQueue) fresh(now time.Duration, client int) bool {
	if st, ok := q.discipline.(*startTime); ok && q.count == 0 {
		if held, capacity := q.holds(now); held == capacity {
			st.idle()
		}
	}
	return q.lane[client].count == 0 && q.discipline.fresh(client)
}

func (q *fairQueue) inherit(now time.Duration, old rule, how Inherit) {
	q.gate.inherit(now, old, how)
	o, ok := old.(*fairQueue)
	if !ok {
		return
	}
	if q.slots > 0 && o.slots > 0 {
		q.releases = o.releases
	}
	was, ok1 := o.discipline.(*startTime)
	is, ok2 := q.discipline.(*startTime)
	if ok1 && ok2 && was.shift == is.shift {
		is.v, is.last = was.v, was.last
		copy(is.tags, was.tags)
	}
}

func (q *fairQueue) inspect(now time.Duration, s *State) {
	q.gate.inspect(now, s)
	s.Waiting += q.count
	st, tagged := q.discipline.(*startTime)
	if tagged {
		s.VirtualTime = st.virtual(st.v)
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		c.Queued += int(q.lane[i].count)
		if tagged && c.Name != "" {
			c.Start = st.virtual(max(st.v, st.tags[i].finish))
		}
	}
}
