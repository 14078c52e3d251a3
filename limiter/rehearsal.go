package limiter

import "time"

// A rehearsal is what becomes of a fair queue if nobody else comes: a copy of it, played to the end. It is made when a refused attempt has
// to be told its needed wait and the sums do not say it, and it is good for all refusals until something happens that it did not foresee.
type rehearsal struct {
	valid   bool
	emptied time.Duration // when the last that waits now has passed or has run out of time
	queue   *fairQueue    // the copy, as it is then; kept to be used again
}

// Beyond these a rehearsal would cost too much, and the needed wait is an estimate.
const (
	mostRehearsed   = 4096 // attempts that wait
	widestRehearsed = 8192 // clients, and entries of a log
)

// needed is when the attempt would pass at once if nobody else came, at least a nanosecond.
//
// Where tokens flow steadily into one limit, the sum of what waits says it, as long as nothing of that runs out of time, or costs the whole
// burst: while that waits for the last part of its tokens, the bucket spills what the last nanosecond brought too much. Else it is rehearsed.
func (q *fairQueue) needed(now time.Duration, a Attempt) time.Duration {
	if q.count == 0 {
		return max(1, q.idle(now, a))
	}
	if q.slots > 0 {
		return q.estimated(now, a)
	}
	if !q.rehearsed.valid {
		if q.flows() && q.spilling == 0 {
			sum := q.backlog(now, saturated(q.cost(), a.Cost))
			if last := timeUp(now, sum); last <= q.patience() || timeUp(now, q.backlog(now, q.cost())) <= q.patience() {
				return max(1, sum)
			}
		}
		if !q.rehearse() {
			return q.estimated(now, a)
		}
	}
	r := &q.rehearsed
	at := max(now, r.emptied)
	wait, _ := r.queue.wait(at, a.Client, a.Cost)
	return max(1, timeUp(at, wait)-now)
}

// idle is the wait for an attempt before which nobody waits.
func (q *fairQueue) idle(now time.Duration, a Attempt) time.Duration {
	wait, _ := q.wait(now, a.Client, a.Cost)
	if q.slots > 0 && !q.mayFly(a.Client) {
		wait = max(wait, q.releases[a.Client].next(now))
	}
	return wait
}

// estimated takes what waits as one sum that flows in, or that has run out of time.
func (q *fairQueue) estimated(now time.Duration, a Attempt) time.Duration {
	own, _ := q.wait(now, a.Client, a.Cost)
	wait := q.backlog(now, saturated(q.cost(), a.Cost))
	wait = min(wait, timeUp(timeUp(q.since(q.newest), q.maxWait)-now, own))
	if q.slots > 0 && !q.mayFly(a.Client) {
		wait = max(wait, q.releases[a.Client].next(now))
	}
	return max(1, wait)
}

// flows reports whether there is one limit alone and tokens come into it steadily.
func (q *fairQueue) flows() bool {
	f := &q.forms[0]
	return len(q.forms) == 1 && !f.algorithm.windowed() && f.refill == Greedy
}

// rehearse plays a copy of the queue to the end; false when that would cost too much.
func (q *fairQueue) rehearse() bool {
	if q.count > mostRehearsed || len(q.lane) > widestRehearsed {
		return false
	}
	r := &q.rehearsed
	if r.queue == nil {
		r.queue = &fairQueue{gate: &gate{}}
	}
	c := r.queue
	if !c.gate.copy(q.gate) {
		return false
	}
	c.lanes.copy(&q.lanes)
	c.discipline = q.discipline.copy(c.discipline)
	c.roster, c.perLane, c.maxWait, c.largest = q.roster, q.perLane, q.maxWait, q.largest
	c.changed, c.passes, c.known = q.changed, q.passes, q.known
	for c.count > 0 {
		at, _ := c.due(c.changed)
		if _, _, ok := c.step(at); !ok {
			return false // cannot be: what is due is handed out
		}
		r.emptied = at
	}
	r.valid = true
	return true
}

// copy makes g the same global limits as o, in the memory that it has; false when these remember too much for that.
func (g *gate) copy(o *gate) bool {
	g.forms = o.forms
	if len(g.global) != len(o.global) {
		g.global = make([]Counter, len(o.global))
	}
	for i, from := range o.global {
		if log, ok := from.(*SlidingLog); ok && len(log.ring) > widestRehearsed {
			return false
		}
		if g.global[i] == nil {
			g.global[i] = o.forms[i].one(0)
		}
		copyCounter(g.global[i], from)
	}
	return true
}

// copyCounter makes a counter the same as another of its kind, which it leaves alone from then on.
func copyCounter(to, from Counter) {
	switch from := from.(type) {
	case *TokenBucket:
		*to.(*TokenBucket) = *from
	case *GCRA:
		*to.(*GCRA) = *from
	case *LeakyBucket:
		*to.(*LeakyBucket) = *from
	case *FixedWindow:
		*to.(*FixedWindow) = *from
	case *SlidingWindow:
		*to.(*SlidingWindow) = *from
	case *SlidingLog:
		log := to.(*SlidingLog)
		ring := append(log.ring[:0], from.ring...)
		*log = *from
		log.ring = ring
	}
}

func (l *lanes) copy(o *lanes) {
	places, lane := append(l.places[:0], o.places...), append(l.lane[:0], o.lane...)
	*l = *o
	l.places, l.lane = places, lane
}

func (l *lineup) copy(o *lineup) {
	l.heap, l.at = append(l.heap[:0], o.heap...), append(l.at[:0], o.at...)
}

func (s *startTime) copy(to discipline) discipline {
	c, ok := to.(*startTime)
	if !ok {
		c = &startTime{}
	}
	c.lineup.copy(&s.lineup)
	c.tags = append(c.tags[:0], s.tags...)
	c.v, c.last, c.shift = s.v, s.last, s.shift
	return c
}

func (d *deficitRound) copy(to discipline) discipline {
	c, ok := to.(*deficitRound)
	if !ok {
		c = &deficitRound{}
	}
	ring := append(c.ring[:0], d.ring...)
	*c = *d
	c.ring = ring
	return c
}

func (l *inLine) copy(to discipline) discipline {
	c, ok := to.(*inLine)
	if !ok {
		c = &inLine{}
	}
	c.lineup.copy(&l.lineup)
	return c
}
