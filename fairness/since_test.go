package fairness

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// cured drives the starvation mix under one limit for all, which then becomes one for each, and hands over each moment.
func cured(o Options, change, length time.Duration, at func(*Tally, time.Duration)) *Tally {
	clients := clientsOf(starvation)
	l := global(1000, 100)
	l.RateText = "1000/s"
	o.Reasons = reasons
	tally := NewTally(clients, l, o)
	shared, own := lottery(starvation, 1000, 100), each(starvation, []float64{250, 250, 250, 250}, 25)
	changed := false
	drive(tally, starvation, func(at time.Duration, client int) (bool, uint8) {
		if changed {
			return own(at, client)
		}
		return shared(at, client)
	}, length, 1, func(now time.Duration) {
		if now >= change && !changed {
			changed = true
			l.Policy, l.ClientRatePerS, l.ClientCaps = "per-client", 250, []Number{250, 250, 250, 250}
			tally.Change(now, "policy global → per-client", l, clients)
		}
		if at != nil {
			at(tally, now)
		}
	})
	return tally
}

func TestDiagnosisMixesNoPolicies(t *testing.T) {
	r := cured(Options{}, 6*second, 12*second, nil).Report(12 * second)
	d := r.Diagnosis
	if r.Fairness.Verdict == Fair {
		t.Errorf("over the whole run it is %s", r.Fairness.Verdict)
	}
	if d.Verdict != Fair || d.Cause != NoCause || len(d.Victims) != 0 || d.Cure != (Cure{}) || !d.Certain || r.Fairness.Advice != "" {
		t.Errorf("diagnosed %+v, advised %q", d, r.Fairness.Advice)
	}
	for _, s := range []string{"until 6.0 s global: starved (", "; since then per-client: fair"} {
		if !strings.Contains(d.Text[0], s) {
			t.Errorf("does not say %q: %s", s, d.Text[0])
		}
	}

	// A second after the change it is too early to call anybody short, and the diagnosis is not certain.
	r = cured(Options{}, 6*second, 6500*time.Millisecond, nil).Report(6500 * time.Millisecond)
	if d := r.Diagnosis; d.Verdict != Unknown || d.Certain || !strings.Contains(strings.Join(d.Text, "\n"), "0.5 s after a change: too early") {
		t.Errorf("diagnosed %+v", d)
	}
}

func TestWindowBeginsAtTheLastChange(t *testing.T) {
	seen := map[time.Duration]*Snapshot{}
	cured(Options{Live: true}, 6*second, 20*second, func(tally *Tally, now time.Duration) {
		if at := now.Truncate(500 * time.Millisecond); seen[at] == nil {
			seen[at] = tally.Snapshot(now)
			conserved(t, fmt.Sprint("window at ", now), seen[at].Measures)
		}
	})
	for at, s := range seen {
		since := s.Now - 6*second
		for i := range s.Clients {
			c := &s.Clients[i]
			if since > second && c.Name != "batch" && c.AdmittedRate < 0.75*c.Entitled {
				t.Errorf("at %v %s gets %v of %v/s", at, c.Name, c.AdmittedRate, c.Entitled)
			}
		}
		switch {
		case since < 0:
			if at > 2*second && s.Fairness.Verdict != Starved {
				t.Errorf("at %v: %+v", at, s.Fairness)
			}
		case since < second:
			if s.Fairness.Verdict != Unknown || !strings.Contains(s.Fairness.Why, "too early to tell") || s.Fairness.Advice != "" || len(s.Fairness.Starved) != 0 {
				t.Errorf("at %v: %+v", at, s.Fairness)
			}
		case s.Fairness.Verdict != Fair && (s.Fairness.Verdict != Unknown || since > settledAfter):
			t.Errorf("at %v: %+v", at, s.Fairness)
		}
		if since >= 0 && since < 9*second && s.Window > since+slot {
			t.Errorf("at %v the window is %v", at, s.Window)
		}
	}

	// The limit that is shown is the one in force.
	clients := []Client{{Name: "a"}}
	tally := NewTally(clients, global(1000, 10), Options{Live: true})
	tally.Change(5*second, "limit 1000/s → 910/s", global(910, 10), clients)
	for _, at := range []time.Duration{5 * second, 5*second + time.Millisecond, 7 * second, 14 * second, 30 * second} {
		if got := tally.Snapshot(at).Aggregate.Limit; got != 910 {
			t.Errorf("at %v the limit is %v/s", at, got)
		}
	}
}

func TestMergedStretchesSaySo(t *testing.T) {
	clients := []Client{{Name: "a"}}
	tally := NewTally(clients, global(1, 1), Options{})
	for i := range 100 {
		at := time.Duration(i) * 50 * time.Millisecond
		tally.Sent(at, 0, 0, true)
		tally.Observe(Outcome{Sent: at, Decided: at, Seen: at})
		tally.Ended(at, 0, Served)
		l := global(float64(1+i%7), 1)
		l.RateText = l.RatePerS.Format(0) + "/s"
		tally.Change(at+time.Millisecond, fmt.Sprint("limit ", i), l, clients)
	}
	r := tally.Report(10 * second)
	parts := 0
	for _, s := range r.Stretches {
		parts += s.Merged
		if s.Merged > 1 && (s.Limiter.RateText != Several || s.Limiter.RatePerS.Exists() || s.Limiter.Policy != "global" || s.Diagnosis.Certain || s.Diagnosis.Cause != NotKnown) {
			t.Errorf("of %d parts: limit %+v, diagnosis %+v", s.Merged, s.Limiter, s.Diagnosis)
		}
	}
	if parts != 101 || len(r.Stretches) > 32 || r.Stretches[len(r.Stretches)-1].Merged != 1 {
		t.Errorf("%d stretches of %d parts", len(r.Stretches), parts)
	}
}

func TestRestHasANameOfItsOwn(t *testing.T) {
	clients := []Client{{Name: "(other)", Expected: 5}, {Name: "other", Expected: 5}}
	for i := range 60 {
		clients = append(clients, Client{Name: fmt.Sprint("c", i)})
	}
	tally := NewTally(clients, global(10, 1), Options{})
	names := map[string]int{}
	for _, c := range tally.Report(second).Timeline[0].Clients {
		names[c.Name]++
	}
	if len(names) != 51 || names["((other))"] != 1 {
		t.Errorf("%v", names)
	}
}
