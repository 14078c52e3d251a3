package fairness

import (
	"math"
	"time"
)

// Recovery is how long it took, after something that should have helped, until every client got what it was
// entitled to for a whole second. Requests that still wait to be tried again count as demand, so a backlog delays it.
type Recovery struct {
	After   string `json:"after"` // "batch stopped", or the text of the change
	T       Number `json:"t_s"`
	Seconds Number `json:"recovery_s"` // none: it did not recover before the end, or before the next change
}

// mostRecoveries bounds the list.
const mostRecoveries = 20

// recoveries looks at the timeline around changes, and at the moment at which the client with the most
// admissions fell silent for good. Only where something was wrong just before is there anything to recover from.
// It is as exact as the timeline's steps are short.
func (t *Tally) recoveries(now time.Duration) []Recovery {
	list := []Recovery{}
	c := newCourse(t, now)
	if c.steps < 2 {
		return list
	}
	for k, change := range t.changes {
		at := time.Duration(math.Round(float64(change.T) * 1e9))
		until := now
		if k+1 < len(t.changes) {
			until = time.Duration(math.Round(float64(t.changes[k+1].T) * 1e9))
		}
		if at > 0 && len(list) < mostRecoveries {
			list = c.recover(list, change.What, at, until, -1)
		}
	}
	if hog, stopped := c.stop(); hog >= 0 && len(list) < mostRecoveries {
		name := t.spells[len(t.spells)-1].clients[c.own[hog]].Name
		list = c.recover(list, name+" stopped", stopped, now, hog)
	}
	return list
}

// course is the timeline with running sums, so that any second of it can be judged.
type course struct {
	t       *Tally
	now     time.Duration
	own     []int
	steps   int
	second  int      // steps of a second
	sums    [][]tick // for each client: what was counted before each step
	terms   terms
	columns int
}

func newCourse(t *Tally, now time.Duration) *course {
	line := &t.timeline
	c := &course{t: t, now: now, own: line.named, columns: line.columns, second: int(max(1, time.Second/line.every))}
	if c.own == nil {
		for i := range line.columns {
			c.own = append(c.own, i)
		}
	}
	if c.columns == 0 {
		return c
	}
	c.steps = int(now / line.every)
	for k := range c.own {
		sums := make([]tick, c.steps+1)
		for s := range c.steps {
			sums[s+1] = sums[s]
			if i := s*c.columns + k; i < len(line.ticks) {
				sums[s+1].add(line.ticks[i])
			}
		}
		c.sums = append(c.sums, sums)
	}
	return c
}

func (k *tick) add(o tick) {
	k.begun += o.begun
	k.sent += o.sent
	k.admitted += o.admitted
	k.rejected += o.rejected
	k.ended += o.ended
}

// well reports whether in the second from a step on no client got less than nine tenths of its entitlement, chance aside.
func (c *course) well(step, but int) bool {
	end := min(step+c.second, c.steps)
	every := c.t.timeline.every
	from, to := time.Duration(step)*every, time.Duration(end)*every
	length := (to - from).Seconds()
	wants := make([]want, len(c.own))
	for k, sums := range c.sums {
		a, b := sums[step], sums[end]
		pending := int64(a.begun) - int64(a.ended)
		wants[k] = want{client: c.own[k], requests: pending + int64(b.begun-a.begun), admitted: int64(b.admitted - a.admitted), active: b.sent > a.sent || pending > 0}
	}
	c.terms.over(c.t.spells, from, to)
	_, entitled := c.terms.entitle(wants, length)
	for k, w := range wants {
		expected := entitled[k] * length
		if k != but && w.active && expected-float64(w.admitted) >= 1 && below(float64(w.admitted), expected, 0.9) {
			return false
		}
	}
	return true
}

// recover appends the recovery after a moment, if there was something to recover from.
func (c *course) recover(list []Recovery, what string, at, until time.Duration, but int) []Recovery {
	every := c.t.timeline.every
	step := int(at / every)
	before := max(step-c.second, 0)
	if step == 0 || step >= c.steps || c.well(before, but) {
		return list
	}
	r := Recovery{After: what, T: seconds(at), Seconds: None}
	if at%every != 0 {
		step++ // the step in which it happened is half of the past
	}
	for last := int(until/every) - c.second; step <= last; step++ {
		if c.well(step, -1) {
			r.Seconds = seconds(max(time.Duration(step)*every-at, 0))
			break
		}
	}
	return append(list, r)
}

// stop finds the client with the most admissions, if it fell silent two seconds or more before the end while another went on, and the end of the step in which it
// sent last.
func (c *course) stop() (hog int, at time.Duration) {
	hog = -1
	most := uint32(0)
	for k, sums := range c.sums {
		if got := sums[c.steps].admitted; got > most {
			hog, most = k, got
		}
	}
	if hog < 0 {
		return -1, 0
	}
	sums := c.sums[hog]
	step := c.steps
	for step > 0 && sums[step-1].sent == sums[c.steps].sent {
		step--
	}
	at = time.Duration(step) * c.t.timeline.every
	if c.now-at < 2*time.Second {
		return -1, 0
	}
	for k, other := range c.sums {
		if k != hog && other[c.steps].sent > other[step].sent {
			return hog, at
		}
	}
	return -1, 0
}
