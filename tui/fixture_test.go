package tui

import (
	"fmt"
	"math"
	"time"

	"fairgate/fairness"
)

// A tenant is a client of a made-up snapshot, in requests per second.
type tenant struct {
	name, kind              string
	asks, gets, entitled    float64
	attemptsPerRequest, gap float64
	refusedBy               string
	told                    int64 // seconds; 0: nothing was told
}

// starvedTenants are the demo's clients under a global limit, as the simulation gives them.
var starvedTenants = []tenant{
	{"batch", "batch", 5000, 964.2, 800, 3.88, 0.02, "global", 1},
	{"web", "interactive", 100.4, 10.1, 100.4, 1, 0.71, "global", 1},
	{"mobile", "interactive", 49.7, 4.6, 49.7, 1, 1.32, "global", 1},
	{"sync", "retrying", 50.2, 21.1, 50.2, 2.61, 0.44, "global", 1},
}

// curedTenants are the same a few seconds after each got a bucket of its own.
var curedTenants = []tenant{
	{"batch", "batch", 5000, 250.0, 250, 3.95, 0.004, "client", 1},
	{"web", "interactive", 99.8, 99.8, 99.8, 1, 0.05, "", 0},
	{"mobile", "interactive", 50.3, 50.3, 50.3, 1, 0.11, "", 0},
	{"sync", "retrying", 49.6, 49.4, 49.6, 1.01, 0.1, "", 0},
}

// picture makes a snapshot of tenants; the figures that follow from theirs are worked out here, plainly.
func picture(now time.Duration, limit float64, policy string, tenants []tenant) *fairness.Snapshot {
	s := &fairness.Snapshot{
		Profile: "starvation", Title: "A global bucket lets one client starve the rest", Mode: "live", Seed: 1,
		Now: now, Duration: 30 * time.Second, Speed: 1, Window: min(now, 10*time.Second),
		Limiter: fairness.Limit{Policy: policy, Algorithm: "token-bucket", RatePerS: fairness.Number(limit), Burst: 100, Shards: 1,
			RetryAfter: "exact", RateText: fmt.Sprintf("%g/s", limit), Capacity: limit},
	}
	if policy == "per-client" {
		s.Limiter.ClientText, s.Limiter.ClientRatePerS = "250/s", 250
	}
	var sum, satSum, satSquares float64
	for _, t := range tenants {
		sum += t.gets
	}
	j := &s.Fairness
	j.MinSatisfaction, j.Jain, j.Starved = fairness.None, fairness.None, []string{}
	window := s.Window.Seconds()
	best := 0.0
	for _, t := range tenants {
		if t.entitled > 0 {
			best = max(best, t.gets/t.entitled)
		}
	}
	for _, t := range tenants {
		c := fairness.ClientMeasures{Name: t.name, Kind: t.kind, Weight: 1, Cost: 1, Active: t.asks > 0,
			Demand: fairness.Number(t.asks), AdmittedRate: fairness.Number(t.gets), Entitled: fairness.Number(t.entitled),
			Satisfaction: fairness.None, Share: fairness.None, RejectRatio: fairness.None, Amplification: fairness.None, LongestGap: fairness.Number(t.gap)}
		sent := t.asks * t.attemptsPerRequest
		c.OfferedRate, c.RejectedRate = fairness.Number(sent), fairness.Number(max(0, sent-t.gets))
		c.Requests, c.Attempts = int64(t.asks*window), int64(sent*window)
		c.Admitted, c.Rejected = int64(t.gets*window), int64(max(0, sent-t.gets)*window)
		if sum > 0 {
			c.Share = fairness.Number(t.gets / sum)
		}
		if sent > 0 {
			c.RejectRatio, c.Amplification = fairness.Number(max(0, sent-t.gets)/sent), fairness.Number(t.attemptsPerRequest)
		}
		c.RejectedBy = map[string]int64{"global": 0, "client": 0}
		n := fairness.None
		c.RetryAfter.Needed = fairness.Quantiles{P50: n, P90: n, P99: n, Max: n}
		if t.refusedBy != "" {
			c.RejectedBy[t.refusedBy] = c.Rejected
			c.RetryAfter.Needed = fairness.Quantiles{P50: 0.42, P90: 0.87, P99: 1.9, Max: 3.2}
			c.RetryAfter.NeededBins = []fairness.Bin{
				{From: 0, To: time.Millisecond, Count: c.Rejected * 93 / 100},
				{From: time.Millisecond, To: 2 * time.Millisecond, Count: c.Rejected * 6 / 100},
				{From: 2 * time.Millisecond, To: 5 * time.Millisecond, Count: c.Rejected / 100}}
		}
		c.Latency.Admitted = fairness.Quantiles{P50: 3.1, P90: 3.4, P99: 5.2, Max: 18}
		c.Latency.Rejected = fairness.Quantiles{P50: 1, P90: 1.1, P99: 1.6, Max: 9}
		c.QueueWait = fairness.Quantiles{P50: n, P90: n, P99: n, Max: n}
		if t.told > 0 {
			c.RetryAfter.Told = []fairness.Told{{Seconds: t.told, Count: c.Rejected}}
		}
		c.Expected, c.Attainable = fairness.Number(t.entitled*window), fairness.Number(t.entitled*window)
		if t.entitled > 0 {
			sat := t.gets / t.entitled
			c.Satisfaction = fairness.Number(sat)
			c.Starved = sat < 0.5 && best >= 2*sat
			if c.Starved {
				j.Starved = append(j.Starved, t.name)
			}
			if !j.MinSatisfaction.Exists() || c.Satisfaction < j.MinSatisfaction {
				j.MinSatisfaction, j.Worst = c.Satisfaction, t.name
			}
			satSum, satSquares = satSum+sat, satSquares+sat*sat
			j.Active++
		}
		s.Aggregate.Demand += c.Demand
		s.Aggregate.Offered += c.OfferedRate
		s.Aggregate.Admitted += c.AdmittedRate
		s.Aggregate.Rejected += c.RejectedRate
		s.Clients = append(s.Clients, c)
	}
	s.Aggregate.Limit, s.Aggregate.Utilization = fairness.Number(limit), fairness.Number(sum/limit)
	if j.Active > 1 && satSquares > 0 {
		j.Jain = fairness.Number(satSum * satSum / (float64(j.Active) * satSquares))
	}
	switch {
	case j.Active == 0:
		j.Verdict, j.Why = fairness.Idle, "nobody asked for anything"
	case len(j.Starved) > 0:
		j.Verdict = fairness.Starved
		j.Why = fmt.Sprintf("%d of %d clients are starved: %s gets %s of what it is entitled to while %s holds %.0f%% of the admissions",
			len(j.Starved), j.Active, j.Worst, j.MinSatisfaction.Format(2), tenants[0].name, 100*float64(s.Clients[0].Share))
		j.Advice = "arrival order decides: a bucket per client or a fair queue would give " + j.Worst + " all it asks"
	case j.MinSatisfaction < 0.9:
		j.Verdict, j.Why = fairness.Contended, "1 of 4 clients is short: "+j.Worst+" gets 0.80 of what it is entitled to"
		j.Advice = "a fair queue would give " + j.Worst + " all it asks"
	default:
		j.Verdict, j.Why = fairness.Fair, fmt.Sprintf("each of %d clients gets what it is entitled to; the least, %s, %s of it", j.Active, j.Worst, j.MinSatisfaction.Format(2))
	}
	s.Generator.Achieved, s.Generator.Lateness = 0.9997, fairness.LatenessQuantiles{P50: 0.1, P99: 1.1, Max: 3}
	s.Recent = history(now, limit, tenants, j.Jain)
	return s
}

// history is a last minute in which everything was always so, with a little noise.
func history(now time.Duration, limit float64, tenants []tenant, jain fairness.Number) []fairness.Sample {
	var all []fairness.Sample
	for t := max(fairness.SampleStep, now-60*time.Second); t <= now; t += fairness.SampleStep {
		m := fairness.Sample{T: t, Limit: limit, Jain: jain}
		for i, c := range tenants {
			got := c.gets * (1 + 0.06*math.Sin(float64(t)/7e8+float64(i)))
			m.Clients = append(m.Clients, float32(got))
			m.Admitted += c.gets
			m.Offered += c.asks * c.attemptsPerRequest
		}
		if len(tenants) > 50 {
			m.Clients = nil
		}
		all = append(all, m)
	}
	return all
}

func starvedPicture() *fairness.Snapshot {
	return picture(12*time.Second, 1000, "global", starvedTenants)
}

// curedPicture is the demo at 22 s, when p was pressed at 12 s.
func curedPicture() *fairness.Snapshot {
	s := picture(22*time.Second, 1000, "per-client", curedTenants)
	before := starvedPicture()
	for i := range s.Recent {
		if s.Recent[i].T <= 12*time.Second {
			s.Recent[i] = before.Recent[i]
		}
	}
	s.Changes = []fairness.Change{{T: 12, What: "policy global → per-client"}}
	return s
}

func onePicture() *fairness.Snapshot {
	s := picture(8*time.Second, 10, "global", []tenant{{"only", "batch", 20, 10, 10, 1, 0.4, "global", 1}})
	s.Profile, s.Duration = "one", 0
	return s
}

func idlePicture() *fairness.Snapshot {
	return picture(0, 1000, "global", []tenant{{name: "batch", kind: "batch"}, {name: "web", kind: "interactive"}})
}

func manyPicture(n int) *fairness.Snapshot {
	tenants := []tenant{{"crawler", "batch", 4000, 700, 500 / float64(n) * 10, 2, 0.1, "global", 1}}
	for i := 1; i < n; i++ {
		asks := 5 + float64(i*37%90)
		gets := asks * (0.1 + 0.9*float64(i*53%100)/100)
		tenants = append(tenants, tenant{fmt.Sprintf("tenant-%d", i), "interactive", asks, gets, asks, 1.2, 1, "global", 1})
	}
	s := picture(95*time.Second, 2000, "global", tenants)
	s.Profile, s.Duration = "crowd", 0
	return s
}

func widePicture() *fairness.Snapshot {
	tenants := append([]tenant{}, starvedTenants...)
	for i, name := range []string{"バッチ処理システム", "cafe\u0301 ☕", "evil\x1b[2J\x07\u202ename", "👩‍💻👩‍💻 a very long name that no column could ever hold"} {
		tenants[i].name = name
	}
	return picture(12*time.Second, 1000, "global", tenants)
}

// herdPicture is a crowd that was told the same moment.
func herdPicture() *fairness.Snapshot {
	s := manyPicture(30)
	s.Herd = fairness.Herd{Detected: true, Returns: 540, Largest: 90, Clients: 90, At: 10, Mean: 5.4, Told: 90, Admissible: 11,
		Why: "90 refused attempts of 90 clients came back within 100 ms at 10 s, as they had been told; the limit admits 11 in that time"}
	return s
}

// silentPicture is a service that refuses without a word about when to come back.
func silentPicture() *fairness.Snapshot {
	tenants := append([]tenant{}, starvedTenants...)
	for i := range tenants {
		tenants[i].told = 0
	}
	s := picture(12*time.Second, 1000, "global", tenants)
	for i := range s.Clients {
		s.Clients[i].RetryAfter.NeededBins = nil
		n := fairness.None
		s.Clients[i].RetryAfter.Needed = fairness.Quantiles{P50: n, P90: n, P99: n, Max: n}
	}
	return s
}

// insidePicture is the demo under a fair queue, seen from inside.
func insidePicture() *fairness.Snapshot {
	s := starvedPicture()
	s.Limiter.Policy = "fair-queue"
	s.Inside = &fairness.Inside{
		Levels:  []fairness.Level{{Name: "global", Rate: "1000/s", Capacity: 100, Remaining: 37, Reset: 63 * time.Millisecond}, {Name: "hour", Rate: "1000000/h", Capacity: 1000000, Remaining: 999000, Reset: time.Hour}},
		Waiting: 63, VirtualTime: 12034.25,
	}
	for i := range s.Clients {
		s.Inside.Clients = append(s.Inside.Clients, fairness.InsideClient{
			Own: fairness.Level{Name: "client", Rate: "250/s", Capacity: 25, Remaining: int64(8 * i)}, Queued: []int{50, 9, 4, 0}[i], InFlight: 2 * i, Start: fairness.Number(12034.25 + float64(i)/3)})
	}
	return s
}

// shardsPicture is a limit in twelve parts.
func shardsPicture() *fairness.Snapshot {
	s := starvedPicture()
	s.Limiter.Policy, s.Limiter.Shards = "sharded", 12
	s.Inside = &fairness.Inside{Levels: []fairness.Level{{Name: "global", Rate: "996/s", Capacity: 100, Remaining: 37, Reset: 63 * time.Millisecond}}, ShardCount: 12, VirtualTime: fairness.None}
	for i := range 12 {
		s.Inside.Shards = append(s.Inside.Shards, fairness.Level{Name: "shard", Rate: "83/s", Capacity: 8, Remaining: int64(i * 5 % 9), Demand: int64(i)})
	}
	for range s.Clients {
		s.Inside.Clients = append(s.Inside.Clients, fairness.InsideClient{InFlight: 1, Start: fairness.None})
	}
	return s
}

// comparedPicture is the demo with further policies beside it.
func comparedPicture() *fairness.Snapshot {
	s := starvedPicture()
	for _, policy := range []string{"per-client", "fair-queue", "concurrency", "hierarchical", "sharded"} {
		other := curedPicture()
		s.Beside = append(s.Beside, fairness.Alternative{Policy: policy, Limiter: other.Limiter, Window: other.Window, Measures: other.Measures})
	}
	return s
}
