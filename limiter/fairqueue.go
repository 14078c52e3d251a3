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
// A refusal's needed wait is when the attempt would pass at once: when all that waits now has been served or has run out of time, and its own
// tokens are there; see rehearsal for how that is found. With slots it is an estimate, for nobody knows when an attempt will end.
//
// Settle may come late. Tokens are then taken when it comes, since that is when the attempt passes, but whoever could have passed in time is
// not refused for having waited too long.
type fairQueue struct {
	*gate
	lanes
	discipline
	order    Discipline
	roster   *roster
	perLane  int32
	maxWait  time.Duration
	slots    int32 // in flight of each client; 0: any number
	largest  int64 // cost that the limit ever lets pass
	spilling int   // attempts that wait and cost as much
	releases []cadence

	changed   time.Duration // when anything last changed that decides who is next and when
	passes    time.Duration // when the next in line may pass, as seen then
	known     bool          // that passes is up to date
	rehearsed rehearsal
}

func newFairQueue(now time.Duration, c Config, r *roster) (rule, error) {
	g, err := newGate(now, c, false)
	if err != nil {
		return nil, err
	}
	q := &fairQueue{gate: g, largest: g.capacity(), lanes: newLanes(), order: c.Order, roster: r, perLane: int32(c.Queue.PerClient), maxWait: c.Queue.MaxWait, changed: now}
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

func (q *fairQueue) join(now time.Duration, client int, added bool) {
	q.touch(now)
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
			q.touch(now)
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
func (q *fairQueue) enqueue(now time.Duration, w waiting) {
	q.push(w)
	if w.Cost >= q.largest {
		q.spilling++
	}
	if q.lane[w.Client].count == 1 {
		q.lineUp(w.Client)
	}
	if q.count == 1 {
		q.touch(now)
	}
	q.known, q.rehearsed.valid = false, false // it may be its turn, but what could have passed before still could
}

// touch says that something changed, so that what was foreseen is no more.
func (q *fairQueue) touch(now time.Duration) {
	q.changed, q.known = max(q.changed, now), false
	q.rehearsed.valid = false
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

// turn is whose turn it is and when that attempt can pass; at once when it never can, to be refused.
func (q *fairQueue) turn() (client int, at time.Duration, ok bool) {
	if client, ok = q.next(); !ok {
		return 0, 0, false
	}
	if !q.known {
		wait, _ := q.wait(q.changed, client, q.head(client).Cost)
		if q.passes = q.changed; wait < Never {
			q.passes = timeUp(q.changed, wait)
		}
		q.known = true
	}
	return client, q.passes, true
}

// patience is when the attempt that has waited longest runs out of it.
func (q *fairQueue) patience() time.Duration { return timeUp(q.since(q.oldest), q.maxWait) }

func (q *fairQueue) due(now time.Duration) (time.Duration, bool) {
	if q.count == 0 {
		return 0, false
	}
	at := q.patience()
	if _, passes, ok := q.turn(); ok {
		at = min(at, passes)
	}
	return max(now, at), true
}

func (q *fairQueue) settle(now time.Duration) (Attempt, Decision, bool) {
	w, d, ok := q.step(now)
	if ok && d.By == ByWait {
		d.Wait = q.needed(now, w.Attempt)
	}
	return w.Attempt, d, ok
}

// step hands out what comes first at or before now: the attempt whose turn it is, or the one that has waited too long. Who has waited exactly the
// longest wait may still be admitted. Of a refusal for waiting the needed wait is left out.
func (q *fairQueue) step(now time.Duration) (waiting, Decision, bool) {
	if q.count == 0 {
		return waiting{}, Decision{}, false
	}
	patience := q.patience()
	client, at, ok := q.turn()
	if !ok || at > now || at > patience {
		if patience > now {
			return waiting{}, Decision{}, false
		}
		return q.drop(now, q.oldest), Decision{Verdict: Rejected, By: ByWait}, true
	}
	first := q.lane[client].first
	cost := q.places[first].Cost
	if wait, by := q.wait(now, client, cost); wait > 0 { // the burst was lowered while it waited
		return q.drop(now, first), Decision{Verdict: Rejected, By: by, Wait: wait}, true
	}
	foreseen := q.rehearsed.valid && at == now
	q.take(now, client, cost)
	q.serve(client, cost, q.roster.members[client].weight)
	w, _ := q.remove(first)
	if w.Cost >= q.largest {
		q.spilling--
	}
	// The engine counts it as in flight only after this.
	if q.slots > 0 && q.roster.members[client].inFlight+1 >= q.slots && q.lane[client].count > 0 {
		q.rest(client, false)
	} else {
		q.lineUp(client)
	}
	q.touch(now)
	q.rehearsed.valid = foreseen
	return w, Decision{}, true
}

// drop takes a waiting attempt out unserved.
func (q *fairQueue) drop(now time.Duration, i int32) waiting {
	foreseen := q.rehearsed.valid && now == timeUp(q.since(i), q.maxWait)
	w, wasHead := q.remove(i)
	if w.Cost >= q.largest {
		q.spilling--
	}
	if wasHead {
		q.lineUp(w.Client)
	}
	q.touch(now)
	q.rehearsed.valid = foreseen
	return w
}

func (q *fairQueue) cancel(now time.Duration, a Attempt) bool {
	i, ok := q.find(a)
	if ok {
		q.drop(now, i)
		q.rehearsed.valid = false
	}
	return ok
}

func (q *fairQueue) leave(time.Duration, int) {}

func (q *fairQueue) evict(now time.Duration) (waiting, bool) {
	if q.count == 0 {
		return waiting{}, false
	}
	return q.drop(now, q.oldest), true
}

func (q *fairQueue) release(now time.Duration, client int) {
	if q.slots > 0 {
		q.releases[client].observe(now)
		q.lineUp(client)
		q.touch(now)
	}
}

func (q *fairQueue) forget(now time.Duration, client int) {
	if client == everybody {
		q.renewGlobal(now)
		q.touch(now)
	}
}

func (q *fairQueue) fresh(now time.Duration, client int) bool {
	if st, ok := q.discipline.(*startTime); ok && q.count == 0 {
		if q.global[0].Remaining(now) == q.forms[0].capacity {
			st.idle()
		}
	}
	return q.lane[client].count == 0 && q.discipline.fresh(client) && (q.slots == 0 || q.releases[client].forgotten(now))
}

func (q *fairQueue) inherit(now time.Duration, old rule, how Inherit) {
	q.gate.inherit(now, old, how)
	q.touch(now)
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
