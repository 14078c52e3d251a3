package fairness

import (
	"fmt"
	"time"
)

// What was pending before a change counts as demand after it, and as the more per second the less time has passed. So nobody is called short before
// the change is settled; that all are well can be said sooner.
const (
	fairAfter    = time.Second
	settledAfter = 3 * time.Second
)

// early takes back a verdict that comes too soon after a change.
func (m *Measures) early(since time.Duration, why string) {
	if since >= settledAfter || since >= fairAfter && (m.Fairness.Verdict == Fair || m.Fairness.Verdict == Idle) {
		return
	}
	m.unsay(why)
}

// cut reports whether the last change lies within the window of a moment.
func (t *Tally) cut(now time.Duration) bool {
	change := t.spells[len(t.spells)-1].from
	first := max(int64((now-1)/slot)-windowSlots+1, 0)
	return len(t.spells) > 1 && change > time.Duration(first)*slot
}

// sinceChangeOnly is the picture of the time since the last change: the present stretch, which is counted to the nanosecond. So what is shown
// is of one limit, and a cure is seen at once.
func (t *Tally) sinceChangeOnly(now time.Duration) *Snapshot {
	s := t.current
	from := s.from
	now = max(now, from)
	reasons := len(t.options.Reasons)
	all := make([]sums, len(t.pending))
	for i := range all {
		a := &s.accounts[i]
		all[i] = sums{
			carriedRequests: t.pending[i] - a.begun + a.served + a.gaveUp,
			carriedAttempts: t.inflight[i] - a.sent + a.admitted + a.rejected + a.failed,
			begun:           a.begun, sent: a.sent, admitted: a.admitted, rejected: a.rejected, failed: a.failed,
			served: a.served, gaveUp: a.gaveUp, tokens: a.tokens,
			attainable: a.attainable, gap: a.longestGap(from, now), first: None, returning: t.sinceChange(i),
			by: s.by[i*reasons : (i+1)*reasons : (i+1)*reasons], spread: &a.spread,
		}
	}
	l := s.load.report()
	last := max(int64((now-1)/slot), 0)
	l.Behind = t.window.load(max(last-int64(time.Second/slot)+1, 0), last).Late
	m := t.measure(from, now, all, l, spreads(all))
	m.early(now-from, fmt.Sprintf("changed %s s ago: too early to tell", seconds(now-from).Format(1)))
	return t.picture(from, now, m)
}
