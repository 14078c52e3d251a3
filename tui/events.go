package tui

import (
	"fmt"
	"math"
	"slices"
	"time"

	"fairgate/fairness"
)

// An event is something that happened, as the events view lists it.
type event struct {
	at   time.Duration
	text string
	ink  ink
}

// mostEvents bounds what the dashboard remembers.
const mostEvents = 200

// A watch notices what changes from one snapshot to the next and is not in the snapshot's own list.
type watch struct {
	verdict fairness.Verdict
	over    bool
	behind  bool
	weighed int // so many of the run's changes have their before and after
	seen    []event
}

// see compares a snapshot with the one before.
func (w watch) see(s *fairness.Snapshot) watch {
	add := func(text string, k ink) {
		w.seen = append(w.seen[max(0, len(w.seen)-mostEvents+1):len(w.seen):len(w.seen)], event{s.Now, text, k})
	}
	if v := s.Fairness.Verdict; v != w.verdict {
		text := "verdict " + string(v)
		if why := clean(s.Fairness.Why); why != "" {
			text += ": " + why
		}
		add(text, verdicts[v].ink)
		w.verdict = v
	}
	if over := s.Overshoot >= 1; over && !w.over {
		add("more was admitted than the limit allows", inkRefusedB)
		w.over = over
	}
	if late := behind(s.Generator); (late != "") != w.behind {
		if w.behind = late != ""; w.behind {
			add(late, inkRefusedB)
		} else {
			add("the load generator has caught up", inkPlain)
		}
	}
	for w.weighed < len(s.Changes) && s.Now >= changedAt(s.Changes[w.weighed])+aroundChange {
		if text := beforeAfter(s, changedAt(s.Changes[w.weighed])); text != "" {
			add(text, inkPlain)
		}
		w.weighed++
	}
	return w
}

// aroundChange is how much time on each side of a change is compared.
const aroundChange = 10 * time.Second

func changedAt(c fairness.Change) time.Duration { return time.Duration(c.T.Float(0) * 1e9) }

// beforeAfter compares the seconds before a change with those after it.
func beforeAfter(s *fairness.Snapshot, at time.Duration) string {
	before, after := meanAround(s, at, admittedThen)
	if !before.Exists() || !after.Exists() {
		return ""
	}
	jainBefore, jainAfter := meanAround(s, at, jainThen)
	jain := ""
	if jainBefore.Exists() || jainAfter.Exists() {
		jain = "Jain " + jainBefore.Format(2) + " → " + jainAfter.Format(2) + ", "
	}
	return "10 s before and after the change at " + clock(at) + ": " + jain + "admitted " + perSecond(float64(before)) + " → " + perSecond(float64(after))
}

func admittedThen(m *fairness.Sample) fairness.Number { return fairness.Number(m.Admitted) }
func jainThen(m *fairness.Sample) fairness.Number     { return m.Jain }

// meanAround is the mean of a figure over the seconds before and after a moment, as far as they are known.
func meanAround(s *fairness.Snapshot, at time.Duration, of func(*fairness.Sample) fairness.Number) (before, after fairness.Number) {
	var sum [2]float64
	var n [2]int
	for i := range s.Recent {
		m := &s.Recent[i]
		v := of(m)
		if !v.Exists() || m.T <= at-aroundChange || m.T > at+aroundChange {
			continue
		}
		side := 0
		if m.T > at {
			side = 1
		}
		sum[side], n[side] = sum[side]+float64(v), n[side]+1
	}
	means := [2]fairness.Number{fairness.None, fairness.None}
	for side := range means {
		if n[side] > 0 {
			means[side] = fairness.Number(sum[side] / float64(n[side]))
		}
	}
	return means[0], means[1]
}

// changeNote says what the last change has brought so far, for some time after it; "" when there is nothing to say.
func changeNote(s *fairness.Snapshot) string {
	if len(s.Changes) == 0 {
		return ""
	}
	last := s.Changes[len(s.Changes)-1]
	at := changedAt(last)
	since := s.Now - at
	if !last.T.Exists() || since < 0 || since > 2*aroundChange {
		return ""
	}
	note := fmt.Sprintf("%d s after %s", since/time.Second, shortChange(last.What))
	before, after := meanAround(s, at, jainThen)
	if before.Exists() && after.Exists() {
		note += " · Jain " + before.Format(2) + " → " + after.Format(2)
	}
	if before, after = meanAround(s, at, admittedThen); before.Exists() && after.Exists() {
		note += " · admitted " + perSecond(math.Round(float64(before))) + " → " + perSecond(math.Round(float64(after)))
	}
	return note
}

// allEvents are what the dashboard noticed and what the run reports as changed, the latest first.
func allEvents(w watch, s *fairness.Snapshot) []event {
	all := slices.Clone(w.seen)
	for _, c := range s.Changes {
		all = append(all, event{changedAt(c), "changed " + clean(c.What), inkBold})
	}
	slices.SortStableFunc(all, func(a, b event) int { return int(min(1, max(-1, b.at-a.at))) })
	return all
}

// drawEvents lists them from number top on.
func drawEvents(p pane, all []event, top int) {
	if len(all) == 0 {
		p.text(1, 0, inkDim, "nothing has happened yet")
	}
	y := 0
	for _, e := range all[min(top, len(all)):] {
		for i, line := range wrap(e.text, p.w-9, 3) {
			if i == 0 {
				p.text(1, y, inkDim, clock(e.at))
			}
			p.text(8, y, e.ink, line)
			y++
		}
		if y >= p.h {
			return
		}
	}
}
