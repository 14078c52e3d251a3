package fairness

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// report runs tenants on a decider and reports.
func report(t *testing.T, tenants []tenant, l Limit, d decider, length time.Duration) *Report {
	t.Helper()
	tally := NewTally(clientsOf(tenants), l, Options{Reasons: reasons})
	drive(tally, tenants, d, length, 1, nil)
	return tally.Report(length)
}

func TestDiagnosisNamesTheHogAndTheCure(t *testing.T) {
	hogs := []tenant{{name: "batch", rate: 5000, retries: 3, poisson: true}, {name: "web", rate: 100, poisson: true}, {name: "mobile", rate: 50, poisson: true}}
	withPolicy := func(policy string, own Number) Limit {
		l := global(1000, 100)
		l.Policy, l.ClientRatePerS = policy, own
		if own.Exists() {
			l.ClientCaps = []Number{own, own, own}
		}
		return l
	}
	for _, c := range []struct {
		name    string
		tenants []tenant
		limit   Limit
		decider decider
		cause   Cause
		culprit string
		victims string
		cure    string
		says    []string
	}{
		{
			"arrival order", hogs, withPolicy("global", None), lottery(hogs, 1000, 100), ArrivalOrder, "batch", "web mobile", "fair-queue",
			[]string{"monitoring is green", "while entitled to 85", "attempts for each request", "arrival order", `by the limit "global"`, "a bucket of 333/s per client (3 × 333/s = 1000/s), or a fair queue, would give"},
		}, {
			"concurrency", hogs, withPolicy("concurrency", None), lottery(hogs, 1000, 100), InFlight, "batch", "web mobile", "fair-queue",
			[]string{"bounds no rate"},
		}, {
			"buckets above the cap", hogs, withPolicy("per-client", 900), lottery(hogs, 1000, 100), Oversubscribed, "batch", "web mobile", "fair-queue",
			[]string{"3 buckets of 900/s add up to 2700/s, and the cap is 1000/s"},
		}, {
			"shards", hogs, withPolicy("sharded", None), lottery(hogs, 1000, 100), Shards, "batch", "web mobile", "fair-queue", []string{"shard"},
		}, {
			"dear attempts", []tenant{{name: "cheap", rate: 20, poisson: true}, {name: "dear", rate: 0.2, cost: 10, poisson: true}}, global(5, 10),
			lottery([]tenant{{}, {cost: 10}}, 5, 10), CostOrder, "cheap", "dear", "fair-queue", []string{"costs 10 tokens"},
		}, {
			"its own bursts", []tenant{{name: "cron", rate: 40, clump: 200}}, global(100, 10), lottery([]tenant{{}}, 100, 10), Bursts, "", "cron", "", []string{"in bursts"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			length := 8 * time.Second
			if c.cause == CostOrder {
				length = 200 * time.Second // dear attempts are rare
			}
			r := report(t, c.tenants, c.limit, c.decider, length)
			d := r.Diagnosis
			if d.Cause != c.cause || d.Culprit != c.culprit || d.Cure.Policy != c.cure || d.Verdict != r.Fairness.Verdict || !d.Certain {
				t.Errorf("diagnosed %+v", d)
			}
			got := map[string]bool{}
			for _, v := range d.Victims {
				got[v] = true
			}
			for _, v := range strings.Fields(c.victims) {
				if !got[v] || len(got) != len(strings.Fields(c.victims)) {
					t.Errorf("victims %v, want %s", d.Victims, c.victims)
				}
			}
			text := strings.Join(d.Text, "\n")
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("does not say %q:\n%s", s, text)
				}
			}
		})
	}
}

func TestDiagnosisOfWhatIsWell(t *testing.T) {
	calm := []tenant{{name: "web", rate: 100, poisson: true}, {name: "mobile", rate: 50, poisson: true}}
	fair := report(t, calm, global(1000, 100), lottery(calm, 1000, 100), 20*time.Second)
	if d := fair.Diagnosis; d.Verdict != Fair || d.Cause != NoCause || !d.Certain || len(d.Victims) != 0 || d.Culprit != "" || d.Cure != (Cure{}) {
		t.Errorf("diagnosed %+v", d)
	}
	idle := NewTally(clientsOf(calm), global(1000, 100), Options{}).Report(time.Second)
	if d := idle.Diagnosis; d.Verdict != Idle || d.Cause != NoCause || len(d.Text) != 1 {
		t.Errorf("diagnosed %+v", d)
	}
	few := report(t, calm, global(1000, 100), lottery(calm, 1000, 100), 50*time.Millisecond)
	if d := few.Diagnosis; d.Verdict != Unknown || d.Cause != NotKnown || d.Certain || !strings.Contains(strings.Join(d.Text, " "), "too few") {
		t.Errorf("diagnosed %+v", d)
	}
}

func TestDiagnosisOwnsUpToClosedLoops(t *testing.T) {
	clients := []Client{{Name: "loop", ClosedDemand: 50}, {Name: "web"}}
	tally := NewTally(clients, global(100, 10), Options{})
	for i := range 500 {
		at := time.Duration(i) * 20 * time.Millisecond
		for c := range clients {
			tally.Sent(at, 0, c, true)
			tally.Observe(Outcome{Client: c, Sent: at, Decided: at, Seen: at})
			tally.Ended(at, c, Served)
		}
	}
	d := tally.Report(10 * time.Second).Diagnosis
	if d.Certain || !strings.Contains(strings.Join(d.Text, "\n"), "loop is a closed loop") {
		t.Errorf("diagnosed %+v", d)
	}
}

// A window of a minute lets a client in for half of it and keeps it out for the other half: nobody is short, and yet it is dark.
func TestDiagnosisSeesDarkness(t *testing.T) {
	tally := NewTally([]Client{{Name: "bot"}}, global(1, 30), Options{})
	for i := range 240 {
		at := time.Duration(i) * time.Second
		o := Outcome{Sent: at, Decided: at, Seen: at}
		if i%60 >= 30 {
			o.Kind = Rejected
		} else {
			for range 2 {
				tally.Sent(at, 0, 0, true)
				tally.Observe(o)
				tally.Ended(at, 0, Served)
			}
			continue
		}
		tally.Sent(at, 0, 0, true)
		tally.Observe(o)
		tally.Ended(at, 0, GaveUp)
	}
	r := tally.Report(4 * time.Minute)
	if text := strings.Join(r.Diagnosis.Text, "\n"); r.Fairness.Verdict != Fair || !strings.Contains(text, "bot once asked in vain for 29 s") {
		t.Errorf("diagnosed %+v", r.Diagnosis)
	}
}

func TestStretchesBetweenChangesAreToldApart(t *testing.T) {
	clients := clientsOf(starvation)
	l := global(1000, 100)
	tally := NewTally(clients, l, Options{Reasons: reasons, WarmUp: time.Second})
	shared := lottery(starvation, 1000, 100)
	own := each(starvation, []float64{250, 250, 250, 250}, 25)
	changed := false
	drive(tally, starvation, func(at time.Duration, client int) (bool, uint8) {
		if changed {
			return own(at, client)
		}
		return shared(at, client)
	}, 21*time.Second, 1, func(now time.Duration) {
		if now >= 11*time.Second && !changed {
			changed = true
			l.Policy, l.ClientRatePerS, l.ClientCaps = "per-client", 250, []Number{250, 250, 250, 250}
			tally.Change(now, "policy global → per-client", l, clients)
		}
	})
	r := tally.Report(21 * time.Second)
	conserved(t, "run", r.Measures)
	if len(r.Stretches) != 2 {
		t.Fatalf("%d stretches", len(r.Stretches))
	}
	a, b := r.Stretches[0], r.Stretches[1]
	conserved(t, "first", a.Measures)
	conserved(t, "second", b.Measures)
	if a.From != 1 || a.To != 11 || b.From != 11 || b.To != 21 {
		t.Errorf("stretches from %v to %v and from %v to %v", a.From, a.To, b.From, b.To)
	}
	if a.Fairness.Verdict != Starved || a.Limiter.Policy != "global" || a.Diagnosis.Cause != ArrivalOrder {
		t.Errorf("the first is %+v under %s", a.Fairness, a.Limiter.Policy)
	}
	if b.Fairness.Verdict != Fair || b.Limiter.Policy != "per-client" {
		t.Errorf("the second is %+v under %s", b.Fairness, b.Limiter.Policy)
	}
	for i := range clients {
		whole, parts := r.Clients[i].Admitted, a.Clients[i].Admitted+b.Clients[i].Admitted
		if whole != parts {
			t.Errorf("%s was admitted %d times in the run and %d times in its stretches", clients[i].Name, whole, parts)
		}
	}
	if len(r.Recovery) != 1 || r.Recovery[0].After != "policy global → per-client" || !(r.Recovery[0].Seconds <= 0.2) {
		t.Errorf("recovery %+v", r.Recovery)
	}
	if r.Gate.Mode != PerClientBuckets || !r.Gate.Fair || r.Gate.RequiredCap != 1000 {
		t.Errorf("gate %+v", r.Gate)
	}
}

func TestManyChangesStayBounded(t *testing.T) {
	clients := []Client{{Name: "a"}}
	tally := NewTally(clients, global(1, 1), Options{})
	for i := range 1000 {
		at := time.Duration(i) * 50 * time.Millisecond
		tally.Sent(at, 0, 0, true)
		tally.Observe(Outcome{Sent: at, Decided: at, Seen: at})
		tally.Ended(at, 0, Served)
		tally.Change(at+time.Millisecond, fmt.Sprint("limit ", i), global(float64(1+i%7), 1), clients)
	}
	r := tally.Report(50 * time.Second)
	var admitted int64
	for _, s := range r.Stretches {
		admitted += s.Clients[0].Admitted
	}
	if len(r.Stretches) > 32 || admitted != 1000 || r.Clients[0].Admitted != 1000 {
		t.Errorf("%d stretches hold %d admissions, the run %d", len(r.Stretches), admitted, r.Clients[0].Admitted)
	}
}

func TestRecoveryAfterAHogStops(t *testing.T) {
	tenants := []tenant{{name: "hog", rate: 5000, poisson: true, until: 10 * time.Second}, {name: "web", rate: 100}, {name: "app", rate: 50, poisson: true}}
	r := report(t, tenants, global(1000, 100), lottery(tenants, 1000, 100), 20*time.Second)
	if len(r.Recovery) != 1 {
		t.Fatalf("recovery %+v", r.Recovery)
	}
	got := r.Recovery[0]
	near(t, "stopped", got.T, 10, 0.1)
	near(t, "recovered", got.Seconds, 0, 0.3)
	if got.After != "hog stopped" {
		t.Errorf("after %q", got.After)
	}

	// A limiter that stays shut for three seconds more.
	shared := lottery(tenants, 1000, 100)
	r = report(t, tenants, global(1000, 100), func(at time.Duration, client int) (bool, uint8) {
		if at > 10*time.Second && at < 13*time.Second {
			return false, 0
		}
		return shared(at, client)
	}, 20*time.Second)
	if len(r.Recovery) != 1 {
		t.Fatalf("recovery %+v", r.Recovery)
	}
	near(t, "recovered", r.Recovery[0].Seconds, 3, 0.3)

	fair := report(t, tenants, global(10_000, 1000), lottery(tenants, 10_000, 1000), 20*time.Second)
	if len(fair.Recovery) != 0 {
		t.Errorf("nothing was wrong, and yet it recovers: %+v", fair.Recovery)
	}
}
