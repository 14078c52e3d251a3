package fairness

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// asked is a client of a verdict table: requests and admissions in the stretch.
type asked struct {
	name     string
	requests float64
	admitted float64
	bursty   float64 // the part of its entitlement that was attainable; 0: all
	inFlight float64
}

func standing(clients []asked, capacity float64) []Standing {
	var claims []float64
	total := 0.0
	for _, c := range clients {
		claims = append(claims, c.requests)
		total += c.admitted
	}
	entitled := MaxMin(capacity, claims, nil)
	var out []Standing
	for i, c := range clients {
		s := Standing{
			Name: c.name, Active: c.requests > 0, Satisfaction: None, Demand: Number(c.requests), Entitled: Number(entitled[i]), Share: ratio(c.admitted, total),
			Admitted: c.admitted, Unseen: c.inFlight, Expected: entitled[i], Attainable: entitled[i], Answered: true,
		}
		if s.Active {
			s.Satisfaction = ratio(c.admitted, entitled[i])
		}
		if c.bursty > 0 {
			s.Attainable *= c.bursty
		}
		out = append(out, s)
	}
	return out
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name     string
		capacity float64
		clients  []asked
		want     Verdict
		starved  string
		why      string // part of it
	}{
		{"nobody asks", 1000, []asked{{name: "a"}, {name: "b"}}, Idle, "", "nobody asked"},
		{"the hog starves three", 10000, []asked{{name: "batch", requests: 50000, admitted: 9600}, {name: "web", requests: 1000, admitted: 100}, {name: "mobile", requests: 500, admitted: 45}, {name: "sync", requests: 500, admitted: 210}},
			Starved, "web mobile sync", "3 of 4 clients are starved: mobile gets 0.09 of what it is entitled to while batch holds 96% of the admissions"},
		{"each gets its part", 10000, []asked{{name: "batch", requests: 50000, admitted: 8500}, {name: "web", requests: 1000, admitted: 1000}, {name: "mobile", requests: 500, admitted: 500}}, Fair, "", "each of 3 clients"},
		{"all short alike", 1000, []asked{{name: "a", requests: 1000, admitted: 400}, {name: "b", requests: 1000, admitted: 400}}, Contended, "", "2 of 2 clients are short"},
		{"one a little short", 1000, []asked{{name: "a", requests: 1000, admitted: 580}, {name: "b", requests: 1000, admitted: 400}}, Contended, "", "b gets 0.80"},
		{"below half, but the best is not twice as high", 1000, []asked{{name: "a", requests: 1000, admitted: 300}, {name: "b", requests: 1000, admitted: 200}}, Contended, "", "2 of 2"},
		{"just at 0.9", 1000, []asked{{name: "a", requests: 500, admitted: 450}, {name: "b", requests: 200, admitted: 200}}, Fair, "", ""},
		{"an agent of which five were to be expected", 100, []asked{{name: "inventory", requests: 600, admitted: 99}, {name: "agent", requests: 5, admitted: 1}}, Unknown, "", "agent could expect only 5 admissions and got 1"},
		{"an agent of which thirty were to be expected", 600, []asked{{name: "inventory", requests: 3600, admitted: 595}, {name: "agent", requests: 30, admitted: 5}}, Starved, "agent", "1 of 2 clients is starved"},
		{"a tiny one that is whole", 1000, []asked{{name: "batch", requests: 5000, admitted: 997}, {name: "tiny", requests: 3, admitted: 3}}, Fair, "", ""},
		{"a tiny one that misses one by rounding", 1000, []asked{{name: "batch", requests: 5000, admitted: 996.2}, {name: "tiny", requests: 3.8, admitted: 3}}, Fair, "", ""},
		{"a tiny one that got nothing", 1000, []asked{{name: "batch", requests: 5000, admitted: 1000}, {name: "tiny", requests: 3}}, Unknown, "", "tiny"},
		{"one whose only request was refused", 1000, []asked{{name: "batch", requests: 5000, admitted: 1000}, {name: "tiny", requests: 0.9}}, Unknown, "", "tiny"},
		{"too early for all", 20, []asked{{name: "a", requests: 3, admitted: 3}, {name: "b", requests: 2, admitted: 2}}, Unknown, "", "too few"},
		{"one short by chance", 1000, []asked{{name: "batch", requests: 5000, admitted: 988}, {name: "web", requests: 12, admitted: 10}}, Fair, "", "chance"},
		{"one client gets the limit", 1000, []asked{{name: "a", requests: 5000, admitted: 1000}}, Fair, "", "alone"},
		{"one client is refused below the limit", 1000, []asked{{name: "a", requests: 500, admitted: 300}}, Contended, "", "nobody else asked"},
		{"nothing admitted at all", 1000, []asked{{name: "a", requests: 500}, {name: "b", requests: 500}}, Contended, "", "2 of 2"},
		{"a burst that nobody could admit", 1000, []asked{{name: "a", requests: 500, admitted: 500}, {name: "cron", requests: 400, admitted: 60, bursty: 0.2}}, Contended, "", "bursts"},
		{"a burst that was starved all the same", 1000, []asked{{name: "a", requests: 5000, admitted: 990}, {name: "cron", requests: 400, admitted: 10, bursty: 0.2}}, Starved, "cron", ""},
		{"answers on their way", 1000, []asked{{name: "a", requests: 500, admitted: 500}, {name: "slow", requests: 100, admitted: 40, inFlight: 58}}, Fair, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := Judge(Number(c.capacity), standing(c.clients, c.capacity))
			if j.Verdict != c.want || strings.Join(j.Starved, " ") != c.starved || !strings.Contains(j.Why, c.why) {
				t.Errorf("judged %s, starved %v: %s; want %s, %q: …%s…", j.Verdict, j.Starved, j.Why, c.want, c.starved, c.why)
			}
			if j.Starved == nil || strings.Contains(j.Why, "NaN") {
				t.Errorf("judged %+v", j)
			}
		})
	}
}

func TestVerdictWithoutALimitIsUnknown(t *testing.T) {
	j := Judge(None, []Standing{{Name: "a", Active: true, Satisfaction: None, Answered: true, Admitted: 50}})
	if j.Verdict != Unknown || !strings.Contains(j.Why, "limit is not known") {
		t.Errorf("judged %+v", j)
	}
}

func TestVerdictBeforeTheFirstAnswerIsUnknown(t *testing.T) {
	tally := NewTally(clientsOf(starvation), global(1000, 100), Options{Live: true})
	for i := range 500 {
		tally.Sent(time.Duration(i)*time.Millisecond, 0, i&3, true)
	}
	if f := tally.Snapshot(500 * time.Millisecond).Fairness; f.Verdict != Unknown || f.Jain.Exists() {
		t.Errorf("judged %+v", f)
	}
}

// measuresOf are the measures over a second that such standings come from.
func measuresOf(standings []Standing, capacity float64) Measures {
	m := Measures{Fairness: Judge(Number(capacity), standings), Aggregate: Aggregate{Limit: Number(capacity), Utilization: 1}}
	for _, s := range standings {
		m.Clients = append(m.Clients, ClientMeasures{
			Name: s.Name, Active: s.Active, Satisfaction: s.Satisfaction, Demand: s.Demand, Entitled: s.Entitled, Share: s.Share, Cost: 1,
			Admitted: int64(s.Admitted), AdmittedRate: Number(s.Admitted), Attempts: int64(s.Demand), Rejected: int64(float64(s.Demand) - s.Admitted),
			Expected: Number(s.Expected), Attainable: Number(s.Attainable), Starved: slices.Contains(m.Fairness.Starved, s.Name),
			RejectedBy: map[string]int64{}, QueueWait: Quantiles{None, None, None, None},
		})
	}
	return m
}

func TestAdviceIsSupportedByItsNumbers(t *testing.T) {
	clients := []asked{{name: "batch", requests: 50000, admitted: 900}, {name: "web", requests: 100, admitted: 10}, {name: "app", requests: 3000, admitted: 90}}
	for _, c := range []struct {
		policy string
		own    Number
		change func(*Measures)
		cause  Cause
		advice string
	}{
		{"global", None, nil, ArrivalOrder, "arrival order decides: a bucket per client or a fair queue would give web all it asks"},
		{"per-client", 500, nil, Oversubscribed, "3 buckets of 500/s need a cap of 1500/s, and it is 1000/s: raise it, or a fair queue would give web all it asks"},
		{"per-client", 300, nil, Oversubscribed, "a fair queue would hold what its own bucket refuses web"},
		{"concurrency", None, nil, InFlight, "a number in flight bounds no rate: a bucket per client or a fair queue would give web all it asks"},
		{"sharded", None, nil, Shards, "each shard decides apart: a fair queue before one limit would give web all it asks"},
		{"hierarchical", None, nil, Guarantees, "a guarantee of 100/s for web, or a fair queue, would give web all it asks"},
		{"fair-queue", None, func(m *Measures) { m.Clients[1].RejectedBy["queue-full"] = 90 }, ShortQueue, "web's queue is too short: raise queue.per_client or queue.max_wait"},
		{"fair-queue", None, nil, LimitItself, "a larger burst, or a queue, would let web's bursts pass"},
		{"global", None, func(m *Measures) { m.Clients[1].Cost = 10 }, CostOrder, "cheap attempts leave no tokens for dear ones: a fair queue, which counts cost, would give web all it asks"},
		{"global", None, func(m *Measures) { m.Clients[1].Rejected = 0 }, Backlog, "web waits and waits: less demand, more capacity, or a queue that says no in time"},
	} {
		l := global(1000, 1)
		l.Policy, l.ClientRatePerS = c.policy, c.own
		m := measuresOf(standing(clients, 1000), 1000)
		if c.change != nil {
			c.change(&m)
		}
		if got := advice(l, &m); got != c.advice {
			t.Errorf("%s: advice %q, want %q", c.policy, got, c.advice)
		}
		d := Diagnose(l, m, 0)
		if text := strings.Join(d.Text, "\n"); d.Cause != c.cause || len(d.Text) < 4 || strings.Contains(text, "NaN") || strings.Contains(text, "n/a") {
			t.Errorf("%s: diagnosed %s by\n%s", c.policy, d.Cause, text)
		}
	}
}

// Random mixes of clients meet a server that knows the oracle's shares: it admits all of those who ask for less than their share, and
// the others at the rate of theirs; one client may be robbed of 70% of what is its own.
func TestFairMixesAreFairAndRobbedOnesAreNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		n := rapid.IntRange(2, 8).Draw(t, "clients")
		capacity := rapid.Float64Range(20, 1000).Draw(t, "limit")
		robbed := rapid.IntRange(-1, n-1).Draw(t, "robbed") // −1: nobody
		var clients []Client
		rates, weights := make([]float64, n), make([]float64, n)
		for i := range n {
			clients = append(clients, Client{Name: fmt.Sprint("c", i), Weight: rapid.Int64Range(1, 3).Draw(t, "weight"), Cost: 1})
			weights[i] = float64(clients[i].Weight)
			rates[i] = math.Exp(rapid.Float64Range(math.Log(0.2), math.Log(2*capacity)).Draw(t, "log rate"))
		}
		shares := waterLevel(capacity, rates, weights)
		tally := NewTally(clients, global(capacity, 10), Options{Live: true})
		level := make([]float64, n)
		const length = 12 * time.Second
		var verdicts []Judgement
		for at := time.Duration(0); at < length; at += 100 * time.Millisecond {
			for i := range n {
				level[i] = math.Min(level[i]+shares[i]/10, shares[i]/10+1)
				for k := range poissonDraw(r, rates[i]/10) {
					ok := shares[i] > rates[i]*0.999
					if !ok && level[i] >= 1 {
						level[i]--
						ok = true
					}
					if i == robbed && r.Float64() < 0.7 {
						ok = false
					}
					o := Outcome{Client: i, Kind: Rejected, Sent: at + time.Duration(k), Decided: at + time.Millisecond, Seen: at + 2*time.Millisecond}
					end := GaveUp
					if ok {
						o.Kind, end = Admitted, Served
					}
					tally.Sent(o.Sent, 0, i, true)
					tally.Observe(o)
					tally.Ended(o.Seen, i, end)
				}
			}
			if at >= 10*time.Second {
				verdicts = append(verdicts, tally.Snapshot(at+100*time.Millisecond).Fairness)
			}
		}
		report := tally.Report(length)
		for _, j := range append(verdicts, report.Fairness) {
			if robbed < 0 && j.Verdict == Starved {
				t.Fatalf("a fair mix is called starved: %+v", j)
			}
			if robbed >= 0 && j.Verdict == Fair && report.Clients[robbed].Expected >= enough && report.Clients[robbed].Satisfaction < 0.5 {
				t.Fatalf("%s gets 0.3 and the mix is called fair: %+v", clients[robbed].Name, j)
			}
		}
		// Where enough was to be expected, the verdict must not hide behind doubt.
		others := false
		for i := range clients {
			others = others || i != robbed && report.Clients[i].Expected >= enough
		}
		if robbed >= 0 && others && report.Clients[robbed].Attainable >= 200 && report.Fairness.Verdict != Starved {
			t.Fatalf("%s gets 0.3, and the mix is judged %+v", clients[robbed].Name, report.Fairness)
		}
	})
}

func poissonDraw(r *rand.Rand, mean float64) int {
	n := 0
	for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
		n++
	}
	return n
}

// Bursts that a bucket of the whole limit cannot pass at once are refused by anybody; nobody starves by it.
func TestBurstsShorterThanTheWindowRaiseNoFalseStarvation(t *testing.T) {
	tenants := []tenant{
		{name: "steady", rate: 20, poisson: true},
		{name: "cron", rate: 40, clump: 200}, // all of five seconds in one moment
	}
	for seed := range uint64(10) {
		tally := NewTally(clientsOf(tenants), global(100, 20), Options{Reasons: reasons, Live: true})
		drive(tally, tenants, each(tenants, []float64{50, 50}, 10), 30*time.Second, seed, func(now time.Duration) {
			if f := tally.Snapshot(now).Fairness; f.Verdict == Starved {
				t.Errorf("seed %d at %v: %s", seed, now, f.Why)
			}
		})
		if f := tally.Report(30 * time.Second).Fairness; f.Verdict != Contended || f.Worst != "cron" {
			t.Errorf("seed %d: judged %+v, want contended for cron", seed, f)
		}
	}
}

func TestLatecomersAndSlowAnswersAreNotStarved(t *testing.T) {
	// A service of a second: what was admitted in the last second is not back yet.
	clients := []Client{{Name: "a"}, {Name: "b"}}
	tally := NewTally(clients, global(1000, 100), Options{Live: true})
	type back struct{ sent time.Duration }
	var way []back
	for i := range 4000 {
		at := time.Duration(i) * time.Millisecond
		for len(way) > 0 && way[0].sent+time.Second <= at {
			for c := range clients {
				tally.Observe(Outcome{Client: c, Sent: way[0].sent, Decided: way[0].sent, Seen: way[0].sent + time.Second})
				tally.Ended(way[0].sent+time.Second, c, Served)
			}
			way = way[1:]
		}
		if i%10 == 0 {
			tally.Sent(at, 0, 0, true)
			tally.Sent(at, 0, 1, true)
			way = append(way, back{at})
		}
		if i > 1200 && i%100 == 0 {
			if f := tally.Snapshot(at).Fairness; f.Verdict != Fair {
				t.Fatalf("at %v: %s: %s", at, f.Verdict, f.Why)
			}
		}
	}
}
