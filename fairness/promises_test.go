package fairness

import (
	"strings"
	"testing"
	"time"
)

const second = time.Second

// refused tells an attempt to come again; retried sends it then, or by off earlier or later.
func refused(t *Tally, client int, at, told, needed time.Duration) {
	t.Sent(at, 0, client, true)
	t.Observe(Outcome{Client: client, Kind: Rejected, Sent: at, Decided: at, Seen: at, Told: told, Needed: needed})
}

func retried(t *Tally, client int, at, promised time.Duration, k Kind) {
	t.Sent(at, 0, client, false)
	t.Observe(Outcome{Client: client, Kind: k, Sent: at, Decided: at, Seen: at, Retry: true, Promised: promised})
	end := Served
	if k != Admitted {
		end = GaveUp
	}
	t.Ended(at, client, end)
}

func TestPromisesAreHeldAgainstWhatCameOfThem(t *testing.T) {
	tally := NewTally([]Client{{Name: "web", RetryAfter: Honors}, {Name: "silent"}}, global(10, 1), Options{Reasons: reasons})
	refused(tally, 0, 0, second, 300*time.Millisecond)         // told 700 ms too much
	refused(tally, 0, 0, second, 1500*time.Millisecond)        // told 500 ms too little
	refused(tally, 0, 0, second, Never)                        // no wait would do
	refused(tally, 0, 0, 0, Never)                             // told nothing
	retried(tally, 0, 500*time.Millisecond, second, Rejected)  // too early
	retried(tally, 0, second, second, Admitted)                // kept
	retried(tally, 0, 1200*time.Millisecond, second, Rejected) // broken
	retried(tally, 0, 1300*time.Millisecond, 0, Admitted)      // nothing had been promised
	r := tally.Report(2 * second)
	conserved(t, "run", r.Measures)
	if len(r.Honesty) != 1 {
		t.Fatalf("honesty %+v", r.Honesty)
	}
	p := r.Honesty[0]
	if p.Name != "web" || p.Kept != 1 || p.Broken != 1 || p.Early != 1 || p.KeptRatio != 0.5 {
		t.Errorf("promises %+v", p)
	}
	near(t, "excess", p.Excess.Max, 700, 0)
	near(t, "shortfall", p.Shortfall.Max, 500, 0)
	if len(p.Bins) != 2 || p.Bins[0] != (Promised{-1000, -500, 1}) || p.Bins[1] != (Promised{500, 1000, 1}) {
		t.Errorf("bins %+v", p.Bins)
	}
	if never := r.Clients[0].RetryAfter.Never; never != 2 {
		t.Errorf("%d refusals were beyond waiting, want 2", never)
	}
	g := r.Goodput
	near(t, "by first attempts", g.First, 0, 0)
	near(t, "by retries", g.Retry, 1, 0)
	near(t, "served", g.Served, 1, 0)
	if c := g.Clients[0]; c.RetryAdmitted != 2 || c.RetryRatio != 0.5 || c.FirstRatio != 0 || c.ServedRatio != 0.5 || g.Clients[1].ServedRatio.Exists() {
		t.Errorf("goodput %+v", g.Clients)
	}
}

func TestTimeToTheFirstAdmission(t *testing.T) {
	tally := NewTally([]Client{{Name: "late"}, {Name: "never"}}, global(10, 1), Options{})
	refused(tally, 0, 3*second, second, second)
	refused(tally, 1, 3*second, second, second)
	retried(tally, 0, 5*second, 4*second, Admitted)
	r := tally.Report(10 * second)
	near(t, "first admission", r.Clients[0].FirstAdmitted, 2, 0)
	if r.Clients[1].FirstAdmitted.Exists() {
		t.Errorf("never admitted, first after %v", r.Clients[1].FirstAdmitted)
	}
}

// A hundred clients of one request each, ten in a window of ten seconds: told the window's end they all come back at it.
func TestHerdComesBackAtTheToldMoment(t *testing.T) {
	herdOf := func(told func(client, left int, now time.Duration) time.Duration) (*Report, int64) {
		clients := make([]Client, 100)
		tally := NewTally(clients, global(1, 10), Options{})
		attempts := int64(0)
		come := map[time.Duration][]int{}
		for i := range clients {
			come[0] = append(come[0], i)
		}
		for at := time.Duration(0); at < 120*second; at += second {
			room := 10
			if at%(10*second) != 0 {
				room = 0
				if told(0, 0, 0) != 0 { // places of their own: the window's room is spread over it
					room = 1
				}
			}
			for _, c := range come[at] {
				attempts++
				tally.Sent(at, 0, c, at == 0)
				o := Outcome{Client: c, Sent: at, Decided: at, Seen: at, Retry: at > 0}
				if o.Retry {
					o.Promised = at
				}
				if room > 0 {
					room--
					tally.Observe(o)
					tally.Ended(at, c, Served)
					continue
				}
				o.Kind, o.Told = Rejected, told(c, 0, at)
				if o.Told == 0 {
					o.Told = 10*second - at%(10*second)
				}
				tally.Observe(o)
				come[at+o.Told] = append(come[at+o.Told], c)
			}
			delete(come, at)
		}
		return tally.Report(120 * second), attempts
	}
	same, attempts := herdOf(func(int, int, time.Duration) time.Duration { return 0 })
	if h := same.Herd; !h.Detected || h.Largest != 90 || h.Clients != 90 || h.At != 10 || h.Told != 90 || h.Returns != 450 || attempts != 550 {
		t.Errorf("%d attempts, herd %+v; want 550, and 90 in one instant", attempts, h)
	}
	place := 0
	slots, attempts := herdOf(func(_, _ int, now time.Duration) time.Duration { place++; return time.Duration(place) * second })
	if h := slots.Herd; h.Detected || h.Largest > 2 || !strings.Contains(h.Why, "at most") {
		t.Errorf("%d attempts, herd %+v; want none", attempts, h)
	}
}

// A hog whose many workers honour the wait all the time is a crowd, and no herd.
func TestSteadyCrowdIsNoHerd(t *testing.T) {
	tally := NewTally([]Client{{Name: "hog"}}, global(10, 1), Options{})
	for i := range 1000 {
		at := time.Duration(i) * 10 * time.Millisecond
		if i >= 100 {
			retried(tally, 0, at, at, Rejected)
		}
		refused(tally, 0, at, second, second)
	}
	if h := tally.Report(10 * second).Herd; h.Detected || h.Returns != 900 || h.Largest < 10 || h.Largest > 11 {
		t.Errorf("herd %+v", h)
	}
	if h := NewTally(nil, global(10, 1), Options{}).Report(second).Herd; h.Detected || h.At.Exists() || !strings.Contains(h.Why, "nobody") {
		t.Errorf("herd of nobody %+v", h)
	}
}
