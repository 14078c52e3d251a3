package tui

import (
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
	mean := func(from, to time.Duration, of func(*fairness.Sample) fairness.Number) fairness.Number {
		sum, n := 0.0, 0
		for i := range s.Recent {
			if m := &s.Recent[i]; m.T > from && m.T <= to {
				if v := of(m); v.Exists() {
					sum, n = sum+float64(v), n+1
				}
			}
		}
		if n == 0 {
			return fairness.None
		}
		return fairness.Number(sum / float64(n))
	}
	admitted := func(m *fairness.Sample) fairness.Number { return fairness.Number(m.Admitted) }
	jain := func(m *fairness.Sample) fairness.Number { return m.Jain }
	before, after := mean(at-aroundChange, at, admitted), mean(at, at+aroundChange, admitted)
	if !before.Exists() || !after.Exists() {
		return ""
	}
	return "10 s before and after the change at " + clock(at) + ": Jain " + mean(at-aroundChange, at, jain).Format(2) + " → " +
		mean(at, at+aroundChange, jain).Format(2) + ", admitted " + perSecond(float64(before)) + " → " + perSecond(float64(after))
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
	for y, e := range all[min(top, len(all)):] {
		if y >= p.h {
			return
		}
		p.text(1, y, inkDim, clock(e.at))
		p.text(8, y, e.ink, fit(e.text, p.w-9))
	}
}
