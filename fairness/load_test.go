package fairness

import (
	"strings"
	"testing"
	"time"
)

// steady sends of each client so many requests a second, and admits each that got says.
func steady(tally *Tally, rates []int, length time.Duration, late func(at time.Duration) time.Duration, got func(client, n int) bool) {
	for tick := range int(length / (10 * time.Millisecond)) {
		at := time.Duration(tick) * 10 * time.Millisecond
		for c, rate := range rates {
			for n := tick * rate / 100; n < (tick+1)*rate/100; n++ {
				tally.Sent(at, late(at), c, true)
				o, end := Outcome{Client: c, Kind: Rejected, Sent: at, Decided: at, Seen: at, Late: late(at)}, GaveUp
				if got(c, n) {
					o.Kind, end = Admitted, Served
				}
				tally.Observe(o)
				tally.Ended(at, c, end)
			}
		}
	}
}

func never(time.Duration) time.Duration { return 0 }

func TestLoadThatWasNeverSentProvesNothing(t *testing.T) {
	clients := []Client{{Name: "hog"}, {Name: "web"}}
	for _, c := range []struct {
		name    string
		missed  int
		got     func(client, n int) bool
		verdict Verdict
		certain bool
	}{
		{"all is sent", 0, func(int, int) bool { return true }, Fair, true},
		{"a few are missed", 100, func(int, int) bool { return true }, Fair, true},
		{"most are missed", 30_000, func(int, int) bool { return true }, Unknown, false},
		{"starved beyond doubt", 600, func(c, n int) bool { return c == 0 || n%10 == 0 }, Starved, false},
		{"starved, if nothing else was to come", 6000, func(c, n int) bool { return c == 0 || n%10 == 0 }, Unknown, false},
	} {
		tally := NewTally(clients, global(300, 300), Options{Live: true})
		steady(tally, []int{200, 100}, 10*second, never, c.got)
		for i := range c.missed {
			tally.Missed(time.Duration(i)*10*second/time.Duration(c.missed), 0)
		}
		r, s := tally.Report(10*second), tally.Snapshot(10*second)
		if r.Fairness.Verdict != c.verdict || s.Fairness.Verdict != c.verdict || r.Diagnosis.Certain != c.certain {
			t.Errorf("%s: %+v, on the screen %s; diagnosed %+v", c.name, r.Fairness, s.Fairness.Verdict, r.Diagnosis)
		}
		if text := strings.Join(r.Diagnosis.Text, "\n"); c.certain == strings.Contains(text, "the generator sent only") {
			t.Errorf("%s: says %s", c.name, text)
		}
		if c.verdict == Unknown && len(r.Fairness.Starved) != 0 {
			t.Errorf("%s: nobody is known to starve, and yet %v", c.name, r.Fairness.Starved)
		}
	}
}

func TestStallIsNoShortfall(t *testing.T) {
	tally := NewTally([]Client{{Name: "web"}, {Name: "app"}}, global(300, 30), Options{})
	late := func(at time.Duration) time.Duration {
		if at > 5*second && at < 5200*time.Millisecond {
			return 3 * second
		}
		return 0
	}
	steady(tally, []int{100, 100}, 10*second, late, func(_, n int) bool { return n%4 != 0 })
	r := tally.Report(10 * second)
	if r.Fairness.Verdict != Unknown || r.Diagnosis.Certain || !strings.Contains(r.Fairness.Why, "up to 3 s late") {
		t.Errorf("%+v, diagnosed %+v", r.Fairness, r.Diagnosis)
	}
}
