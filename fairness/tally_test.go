package fairness

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// conserved checks the two sums that hold in every stretch, for each client and for all.
func conserved(t interface{ Errorf(string, ...any) }, what string, m Measures) {
	var attempts, requests, admitted int64
	for _, c := range m.Clients {
		if c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight {
			t.Errorf("%s: %s made %d attempts, of which %d admitted, %d rejected, %d failed, %d in flight", what, c.Name, c.Attempts, c.Admitted, c.Rejected, c.Errors, c.InFlight)
		}
		if c.InFlight < 0 || c.Unfinished < 0 {
			t.Errorf("%s: %s has %d in flight and %d unfinished", what, c.Name, c.InFlight, c.Unfinished)
		}
		var by int64
		for _, n := range c.RejectedBy {
			by += n
		}
		if by != c.Rejected {
			t.Errorf("%s: %s was rejected %d times, and %d times by some limit", what, c.Name, c.Rejected, by)
		}
		attempts, requests, admitted = attempts+c.Attempts, requests+c.Requests, admitted+c.Admitted
	}
	a := m.Aggregate
	if a.Attempts != attempts || a.Requests != requests || a.AdmittedCount != admitted || a.Attempts != a.AdmittedCount+a.RejectedCount+a.ErrorCount+a.InFlight {
		t.Errorf("%s: the sums %+v are not those of the clients (%d attempts, %d requests, %d admitted)", what, a, attempts, requests, admitted)
	}
}

var reasons = []string{"global", "client"}

func near(t *testing.T, what string, got Number, want, within float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > within || !got.Exists() {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, within)
	}
}

// The lottery of a shared bucket: of 5300/s at a limit of 1000/s each attempt has the same chance.
func TestSharedBucketStarvesTheSmall(t *testing.T) {
	const length = 40 * time.Second
	tally := NewTally(clientsOf(starvation), global(1000, 100), Options{Reasons: reasons})
	drive(tally, starvation, lottery(starvation, 1000, 100), length, 1, nil)
	r := tally.Report(length)
	conserved(t, "run", r.Measures)
	near(t, "batch admitted", r.Clients[0].AdmittedRate, 943.4, 5)
	near(t, "batch entitled", r.Clients[0].Entitled, 700, 5)
	near(t, "web admitted", r.Clients[1].AdmittedRate, 18.87, 1.5)
	near(t, "web entitled", r.Clients[1].Entitled, 100, 4)
	near(t, "Jain", r.Fairness.Jain, 0.4761, 0.01)
	near(t, "admitted", r.Aggregate.Admitted, 1002.5, 0.1) // the burst once, over 40 s
	if f := r.Fairness; f.Verdict != Starved || len(f.Starved) != 3 || r.Clients[0].Starved || !r.Clients[1].Starved {
		t.Errorf("judged %+v, want the three small clients starved", f)
	}
	if got := tally.overshoot.tokens(); got != 0 {
		t.Errorf("the bucket went %v tokens beyond its limit, it says", got)
	}
}

// With a retry at once for each refusal the hog doubles its tickets, but not its entitlement.
func TestRetriesAreNoDemand(t *testing.T) {
	tenants := append([]tenant(nil), starvation...)
	tenants[0].retries = 1
	tally := NewTally(clientsOf(tenants), global(1000, 100), Options{Reasons: reasons})
	drive(tally, tenants, lottery(tenants, 1000, 100), 25*time.Second, 1, nil)
	r := tally.Report(25 * time.Second)
	conserved(t, "run", r.Measures)
	near(t, "web admitted", r.Clients[1].AdmittedRate, 10.2, 1.2)
	near(t, "batch demand", r.Clients[0].Demand, 5000, 30)
	near(t, "batch entitled", r.Clients[0].Entitled, 700, 5)
	near(t, "batch amplification", r.Clients[0].Amplification, 1.9, 0.05)
}

func TestBucketOfOnesOwnIsFair(t *testing.T) {
	l := global(1000, 100)
	l.Policy, l.ClientRatePerS, l.ClientCaps = "per-client", 250, []Number{250, 250, 250, 250}
	tally := NewTally(clientsOf(starvation), l, Options{Reasons: reasons, Live: true})
	var s *Snapshot
	drive(tally, starvation, each(starvation, []float64{250, 250, 250, 250}, 25), 20*time.Second, 1, func(now time.Duration) { s = tally.Snapshot(now) })
	r := tally.Report(20 * time.Second)
	for what, m := range map[string]Measures{"run": r.Measures, "window": s.Measures} {
		conserved(t, what, m)
		near(t, what+": batch entitled", m.Clients[0].Entitled, 250, 0.001)
		near(t, what+": utilization", m.Aggregate.Utilization, 0.55, 0.02)
		if m.Fairness.Verdict != Fair || m.Fairness.Advice != "" {
			t.Errorf("%s: judged %+v, want fair", what, m.Fairness)
		}
	}
}

// What the window shows at ten seconds is what a report of ten seconds says.
func TestWindowOfTheFirstTenSecondsIsTheRun(t *testing.T) {
	tenants := []tenant{{name: "a", rate: 300, poisson: true, retries: 2}, {name: "b", rate: 30, poisson: true, weight: 2}, {name: "dear", rate: 5, cost: 4}}
	l := global(100, 20)
	tally := NewTally(clientsOf(tenants), l, Options{Reasons: reasons, Live: true})
	drive(tally, tenants, lottery(tenants, 100, 20), 10*time.Second, 3, nil)
	s, r := tally.Snapshot(10*time.Second), tally.Report(10*time.Second)
	if s.Window != 10*time.Second {
		t.Fatalf("the window is %v", s.Window)
	}
	for i, w := range s.Clients {
		c := r.Clients[i]
		if d := float64(w.LongestGap - c.LongestGap); d < -0.2 || d > 0.001 {
			t.Errorf("%s: longest gap %v in slots, %v exactly", c.Name, w.LongestGap, c.LongestGap)
		}
		w.LongestGap, c.LongestGap, w.FirstAdmitted, c.FirstAdmitted, c.Dark = 0, 0, 0, 0, 0 // to the slot in the window, or not there at all
		if got, want := fmt.Sprintf("%+v", w), fmt.Sprintf("%+v", c); got != want {
			t.Errorf("window\n%s\nrun\n%s", got, want)
		}
	}
	if s.Aggregate != r.Aggregate {
		t.Errorf("window %+v, run %+v", s.Aggregate, r.Aggregate)
	}
}

func TestSumsHoldInEveryWindowAndAfterWarmUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "clients")
		var tenants []tenant
		for i := range n {
			tenants = append(tenants, tenant{
				name: fmt.Sprint("c", i), rate: rapid.Float64Range(1, 60).Draw(t, "rate"), poisson: true,
				retries: rapid.IntRange(0, 3).Draw(t, "retries"), cost: rapid.Int64Range(1, 3).Draw(t, "cost"),
			})
		}
		rate := rapid.Float64Range(1, 80).Draw(t, "limit")
		length := time.Duration(rapid.IntRange(100, 14000).Draw(t, "ms")) * time.Millisecond
		o := Options{Reasons: reasons, Live: true, WarmUp: time.Duration(rapid.IntRange(0, 3000).Draw(t, "warm-up")) * time.Millisecond, End: length}
		l := global(rate, 5)
		clients := clientsOf(tenants)
		tally := NewTally(clients, l, o)
		change := time.Duration(rapid.IntRange(0, 14000).Draw(t, "change")) * time.Millisecond
		changed := false
		drive(tally, tenants, lottery(tenants, rate, 5), length, rapid.Uint64().Draw(t, "seed"), func(now time.Duration) {
			if !changed && now > change {
				changed = true
				l.Policy = "fair-queue"
				tally.Change(now, "policy global → fair-queue", l, clients)
			}
			s := tally.Snapshot(now)
			conserved(t, fmt.Sprint("window at ", now), s.Measures)
			if s.Window > 10*time.Second || len(s.Recent) > 120 {
				t.Errorf("a window of %v, %d samples", s.Window, len(s.Recent))
			}
		})
		conserved(t, "run", tally.Report(length).Measures)
		if over := tally.overshoot.tokens(); over != 0 {
			t.Errorf("the bucket overshot by %v", over)
		}
	})
}

func TestWarmUpIsNotInTheReport(t *testing.T) {
	tally := NewTally([]Client{{Name: "a"}, {Name: "b"}}, global(10, 5), Options{WarmUp: time.Second, Reasons: reasons})
	ms := time.Millisecond
	answer := func(client int, kind Kind, sent, seen time.Duration) {
		tally.Observe(Outcome{Client: client, Kind: kind, Sent: sent, Decided: seen, Seen: seen})
	}
	tally.Sent(100*ms, 0, 0, true)
	answer(0, Admitted, 100*ms, 110*ms)
	tally.Ended(110*ms, 0, Served)
	tally.Sent(900*ms, 0, 0, true) // under way when the warm-up ends
	tally.Missed(950*ms, 0)
	answer(0, Admitted, 900*ms, 1100*ms)
	tally.Ended(1100*ms, 0, Served)
	tally.Sent(1500*ms, 5*ms, 0, true)
	tally.Missed(1600*ms, 0)
	r := tally.Report(2 * time.Second)
	conserved(t, "run", r.Measures)
	a := r.Clients[0]
	if a.Requests != 2 || a.Attempts != 2 || a.Admitted != 1 || a.InFlight != 1 || a.Unfinished != 1 {
		t.Errorf("counted %+v", a)
	}
	near(t, "demand", a.Demand, 2, 0)
	near(t, "offered", a.OfferedRate, 1, 0)
	near(t, "longest gap", a.LongestGap, 0.9, 1e-12)
	near(t, "achieved", r.Generator.Achieved, 0.5, 0)
	near(t, "late", r.Generator.Lateness.Max, 5, 0)
	if r.Generator.Missed != 1 || r.Duration != 2 || r.Clients[1].Active || r.Clients[1].Satisfaction.Exists() || r.Clients[1].LongestGap.Exists() {
		t.Errorf("generator %+v, duration %v, b %+v", r.Generator, r.Duration, r.Clients[1])
	}
}

func TestWhatComesAtTheEndDoesNotCount(t *testing.T) {
	tally := NewTally([]Client{{Name: "a"}}, global(10, 5), Options{End: time.Second})
	tally.Sent(999*time.Millisecond, 0, 0, true)
	tally.Observe(Outcome{Sent: 999 * time.Millisecond, Decided: 999 * time.Millisecond, Seen: time.Second})
	tally.Ended(time.Second, 0, Served)
	tally.Sent(time.Second, 0, 0, true)
	tally.Missed(time.Second, 0)
	r := tally.Report(2 * time.Second)
	if c := r.Clients[0]; c.Attempts != 1 || c.InFlight != 1 || c.Unfinished != 1 || r.Duration != 1 || r.Generator.Missed != 0 {
		t.Errorf("counted %+v in %v s", c, r.Duration)
	}
}

// When the limit was 1000/s for a fifth of the time and 500/s for the rest, 600/s were shared out.
func TestLimitsAreAveragedByTime(t *testing.T) {
	clients := []Client{{Name: "a"}, {Name: "b", Weight: 2}, {Name: "loop", ClosedDemand: 4000}}
	tally := NewTally(clients, global(1000, 10), Options{Live: true})
	for i := range 1000 {
		at := time.Duration(i) * 10 * time.Millisecond
		if i == 200 {
			tally.Change(at, "limit 1000/s → 500/s", global(500, 10), clients)
		}
		for c := range clients {
			for range 10 {
				tally.Sent(at, 0, c, true)
				tally.Observe(Outcome{Client: c, Kind: Rejected, Sent: at, Decided: at, Seen: at})
				tally.Ended(at, c, GaveUp)
			}
		}
	}
	r, s := tally.Report(10*time.Second), tally.Snapshot(10*time.Second)
	for what, m := range map[string]Measures{"run": r.Measures, "window": s.Measures} {
		limit := Number(600)
		if what == "window" {
			limit = 500 // it begins at the change, and mixes nothing
		}
		near(t, what+": limit", m.Aggregate.Limit, float64(limit), 1e-9)
		near(t, what+": a", m.Clients[0].Entitled, float64(limit)/4, 1e-9)
		near(t, what+": b", m.Clients[1].Entitled, float64(limit)/2, 1e-9)
		near(t, what+": the loop's demand", m.Clients[2].Demand, float64(limit), 1e-9)
	}
	if s.Limiter.Capacity != 500 || len(r.Changes) != 1 || r.Changes[0].T != 2 {
		t.Errorf("limiter %+v, changes %+v", s.Limiter, r.Changes)
	}
}

func TestOvershootIsTheWorstInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.5, 50).Draw(t, "rate")
		burst := rapid.Int64Range(1, 10).Draw(t, "burst")
		steps := rapid.SliceOfN(rapid.IntRange(0, 400), 1, 40).Draw(t, "ms between")
		o := newOvershoot(0, global(rate, burst))
		var times []time.Duration
		at := time.Duration(0)
		for _, ms := range steps {
			at += time.Duration(ms) * time.Millisecond
			times = append(times, at)
			o.admit(at, 1)
		}
		worst := 0.0
		for i := range times {
			for k := i; k < len(times); k++ {
				worst = math.Max(worst, float64(k-i+1)-(rate*(times[k]-times[i]).Seconds()+float64(burst)))
			}
		}
		if math.Abs(o.tokens()-worst) > 1e-6*10 {
			t.Fatalf("overshot by %v, brute force says %v", o.tokens(), worst)
		}
	})
}

func TestOvershootAfreshAfterChange(t *testing.T) {
	o := newOvershoot(0, global(10, 5))
	for range 5 {
		o.admit(time.Second, 1)
	}
	o.change(2*time.Second, global(10, 5), global(1, 5))
	for range 5 {
		o.admit(2*time.Second, 1)
	}
	o.admit(1900*time.Millisecond, 1) // decided before the change, heard of after it
	if o.tokens() != 0 {
		t.Errorf("overshot by %v, want never", o.tokens())
	}
	o.admit(2*time.Second, 1)
	if o.tokens() != 1 {
		t.Errorf("overshot by %v, want 1", o.tokens())
	}
}

func TestTimelineStaysBounded(t *testing.T) {
	tally := NewTally([]Client{{Name: "a"}, {Name: "b"}}, global(10, 5), Options{})
	total := 0
	for at := time.Duration(0); at < 3*time.Hour; at += 700 * time.Millisecond {
		tally.Sent(at, 0, 0, true)
		tally.Observe(Outcome{Sent: at, Decided: at, Seen: at})
		tally.Ended(at, 0, Served)
		total++
	}
	r := tally.Report(3 * time.Hour)
	if n := len(r.Timeline); n > 600 || n < 300 {
		t.Fatalf("%d points", n)
	}
	sum, last := 0.0, 0.0
	for _, p := range r.Timeline {
		sum += float64(p.Admitted) * (float64(p.T) - last)
		if p.T <= Number(last) {
			t.Fatalf("%v comes after %v", p.T, last)
		}
		last = float64(p.T)
		if p.Clients[0].Admitted != p.Admitted || p.Clients[1].Admitted != 0 || p.Jain.Exists() {
			t.Fatalf("point %+v", p)
		}
	}
	if math.Round(sum) != float64(total) || last != (3*time.Hour).Seconds() {
		t.Errorf("the timeline holds %v admissions until %v s, want %d until %v", sum, last, total, (3 * time.Hour).Seconds())
	}
}

func TestTimelineOfManyClientsNamesTheLargest(t *testing.T) {
	var clients []Client
	for i := range 200 {
		clients = append(clients, Client{Name: fmt.Sprint("c", i), Expected: float64(i)})
	}
	tally := NewTally(clients, global(1000, 5), Options{})
	for i := range clients {
		tally.Sent(0, 0, i, true)
		tally.Observe(Outcome{Client: i, Sent: 0, Decided: 0, Seen: 0})
		tally.Ended(0, i, Served)
	}
	p := tally.Report(time.Second).Timeline[0]
	if len(p.Clients) != 51 || p.Clients[0].Name != "c199" || p.Clients[49].Name != "c150" || p.Clients[50].Name != "(other)" {
		t.Fatalf("clients %+v", p.Clients)
	}
	if got := p.Clients[50].Admitted; got != 1500 {
		t.Errorf("the other 150 were admitted %v/s in 100 ms, want 1500/s", got)
	}
	near(t, "Jain of the 50", p.Jain, 1, 1e-12)
}

func TestSamplesOfTheLastMinute(t *testing.T) {
	clients := []Client{{Name: "a"}, {Name: "b"}}
	tally := NewTally(clients, global(20, 5), Options{Live: true})
	for i := range 9000 { // 90 s, each client 20/s, only the first admitted
		at := time.Duration(i) * 10 * time.Millisecond
		if i == 6000 {
			tally.Change(at, "limit 20/s → 40/s", global(40, 5), clients)
		}
		if i%5 != 0 {
			continue
		}
		for c := range clients {
			tally.Sent(at, 0, c, true)
			tally.Observe(Outcome{Client: c, Kind: Kind(c), Sent: at, Decided: at, Seen: at})
			tally.Ended(at, c, End(c))
		}
	}
	s := tally.Snapshot(90 * time.Second)
	if len(s.Recent) != 120 {
		t.Fatalf("%d samples", len(s.Recent))
	}
	for i, p := range s.Recent {
		if want := 30*time.Second + time.Duration(i+1)*SampleStep; p.T != want {
			t.Fatalf("sample %d is of %v, want %v", i, p.T, want)
		}
		limit := 20.0
		if p.T > 60*time.Second {
			limit = 40
		}
		if p.Offered != 40 || p.Admitted != 20 || p.Clients[0] != 20 || p.Clients[1] != 0 || p.Limit != limit || p.Jain != 0.5 {
			t.Fatalf("sample %+v, want half of 40/s admitted, limit %v", p, limit)
		}
	}
}

func TestMemoryOfManyClientsStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	const n = 20_000
	clients := make([]Client, n)
	for i := range clients {
		clients[i].Name = fmt.Sprint("c", i)
	}
	perClient := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			tally := NewTally(clients, global(1000, 5), Options{Reasons: reasons})
			for i := range clients {
				at := time.Duration(i) * 10 * time.Microsecond
				tally.Sent(at, 0, i, true)
				tally.Observe(Outcome{Client: i, Kind: Kind(i & 1), Sent: at, Decided: at, Seen: at + time.Millisecond, Needed: time.Millisecond, Told: time.Second})
				tally.Ended(at+time.Millisecond, i, Served)
			}
		}
	}).AllocedBytesPerOp() / n
	if perClient > 1000 {
		t.Errorf("a client costs %d bytes", perClient)
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	tally := NewTally(clientsOf(starvation), global(1000, 100), Options{Reasons: reasons, Live: true})
	i := 0
	each := func() {
		at := time.Duration(i) * 50 * time.Microsecond
		o := Outcome{Client: i & 3, Kind: Kind(i & 1), Sent: at, Decided: at + time.Millisecond, Seen: at + time.Millisecond, Told: time.Second, Needed: time.Millisecond}
		tally.Sent(at, 0, i&3, true)
		tally.Observe(o)
		tally.Ended(at, i&3, Served)
		i++
	}
	for range 400_000 {
		each()
	}
	if n := testing.AllocsPerRun(100_000, each); n > 0.01 {
		t.Errorf("%v allocations an attempt", n)
	}
}

// Drivers on a real clock call nearly in order, and a replayed recording may hold anything. Whatever comes, the sums hold and nothing is
// printed that is no number.
func TestTallyBearsDisorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := []Client{{Name: "a"}, {Name: "b", Weight: 3, Cost: 2}, {Name: "c", ClosedDemand: 7}}
		l := global(rapid.Float64Range(0, 50).Draw(t, "limit"), 5)
		tally := NewTally(clients, l, Options{
			Live: true, Reasons: reasons,
			WarmUp: time.Duration(rapid.IntRange(0, 2).Draw(t, "warm-up")) * time.Second,
			End:    time.Duration(rapid.IntRange(0, 1).Draw(t, "end")) * 20 * time.Second,
		})
		now := time.Duration(0)
		var open []Outcome
		for range rapid.IntRange(0, 200).Draw(t, "events") {
			now += time.Duration(rapid.IntRange(-100, 400).Draw(t, "ms")) * time.Millisecond
			at := max(now, 0)
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			default:
				c := rapid.IntRange(0, 2).Draw(t, "client")
				tally.Sent(at, time.Duration(rapid.IntRange(-5, 5).Draw(t, "late")), c, rapid.Bool().Draw(t, "first"))
				if tally.options.End == 0 || at < tally.options.End {
					open = append(open, Outcome{Client: c, Sent: at})
				}
			case 4, 5, 6, 7:
				if len(open) == 0 {
					continue
				}
				o := open[0]
				open = open[1:]
				o.Kind = Kind(rapid.IntRange(0, 2).Draw(t, "kind"))
				o.Seen = max(at, o.Sent)
				o.Decided = o.Sent + time.Duration(rapid.IntRange(-2000, 6000).Draw(t, "decided"))*time.Millisecond
				o.Retry, o.Queued = rapid.Bool().Draw(t, "retry"), rapid.Bool().Draw(t, "queued")
				if o.Kind == Rejected {
					o.Told, o.Needed = time.Duration(rapid.IntRange(0, 9).Draw(t, "told"))*time.Second, rapid.SampledFrom([]time.Duration{0, 1, second, Never}).Draw(t, "needed")
				}
				if o.Retry {
					o.Promised = o.Sent - time.Duration(rapid.IntRange(-9, 9).Draw(t, "late by"))*time.Millisecond
				}
				tally.Observe(o)
			case 8:
				l = global(rapid.Float64Range(0, 50).Draw(t, "limit"), 5)
				tally.Change(at, "limit", l, clients)
			case 9:
				s := tally.Snapshot(at)
				if out, err := json.Marshal(s.Measures); err != nil || !json.Valid(out) {
					t.Fatalf("%v: %s", err, out)
				}
			}
		}
		r := tally.Report(max(now, 0))
		for _, c := range r.Clients {
			if c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight {
				t.Fatalf("%+v", c)
			}
		}
		if out, err := json.Marshal(r); err != nil || !json.Valid(out) {
			t.Fatalf("%v: %s", err, out)
		}
	})
}

func TestEntitlementsCountTokensWeightsAndCeilings(t *testing.T) {
	clients := []Client{{Name: "dear", Cost: 10}, {Name: "heavy", Weight: 3}, {Name: "capped", Weight: 9}, {Name: "small"}, {Name: "silent", Weight: 100}}
	l := global(100, 10)
	l.ClientCaps = []Number{None, None, 16, None, None}
	tally := NewTally(clients, l, Options{Live: true})
	for i := range 10 {
		at := time.Duration(i) * time.Second
		for c, n := range []int{20, 500, 500, 4, 0} { // requests a second
			for range n {
				tally.Sent(at, 0, c, true)
				tally.Observe(Outcome{Client: c, Kind: Rejected, Sent: at, Decided: at, Seen: at})
				tally.Ended(at, c, GaveUp)
			}
		}
	}
	// Of 100 tokens a second 4 go to small and 16 to capped; the other 80 are shared 1 : 3.
	r, s := tally.Report(10*time.Second), tally.Snapshot(10*time.Second)
	for i, want := range []float64{2, 60, 16, 4, 0} {
		near(t, r.Clients[i].Name+" in the run", r.Clients[i].Entitled, want, 1e-9)
		near(t, r.Clients[i].Name+" in the window", s.Clients[i].Entitled, want, 1e-9)
	}
	if r.Clients[4].Satisfaction.Exists() || r.Fairness.Active != 4 {
		t.Errorf("silent is satisfied by %v, %d are active", r.Clients[4].Satisfaction, r.Fairness.Active)
	}
}
