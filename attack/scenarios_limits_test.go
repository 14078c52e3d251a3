package attack

import (
	"fmt"
	"math"
	"testing"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
)

func TestEverybodyToldTheSameMomentComesBackAtIt(t *testing.T) {
	for policy, attempts := range map[string]int64{"exact": 550, "slot": 190} {
		p := told(t, fmt.Sprintf(`
name: herd
duration: 200s
limiter: {algorithm: fixed-window, rate: 10/10s, retry_after: %s}
service: {time: 0s, round_trip: 0s}
clients:
  - name: job
    copies: 100
    arrivals: {process: once, count: 1, at: 0s}
    retry: {attempts: unlimited, backoff: none, jitter: none, honor_retry_after: true}
`, policy))
		sim, err := NewSimulation(p, false)
		if err != nil {
			t.Fatal(err)
		}
		// The largest number of attempts at one instant, the first apart.
		largest, last, at := int64(0), int64(0), time.Duration(0)
		for sim.step(p.Duration) {
			if sim.Now() > at {
				if at > 0 {
					largest = max(largest, sim.Attempts()-last)
				}
				last, at = sim.Attempts(), sim.Now()
			}
		}
		r := sim.Report()
		if r.Aggregate.Attempts != attempts || r.Aggregate.AdmittedCount != 100 {
			t.Errorf("%s: %d attempts until %d of 100 were admitted, not %d", policy, r.Aggregate.Attempts, r.Aggregate.AdmittedCount, attempts)
		}
		if want := map[string]int64{"exact": 90, "slot": 10}[policy]; largest > want || policy == "exact" && largest != want {
			t.Errorf("%s: %d come back at one instant, not %d", policy, largest, want)
		}
	}
}

func TestAtTheEdgeOfAWindow(t *testing.T) {
	for _, tc := range []struct {
		algorithm string
		low, high int64
	}{{"fixed-window", 240, 240}, {"sliding-log", 120, 120}, {"sliding-window", 120, 126}, {"gcra, burst: 10", 13, 14}, {"token-bucket, burst: 10", 13, 14}} {
		p := told(t, fmt.Sprintf(`
name: window-edge
duration: 61s
limiter: {rate: 120/m, algorithm: %s}
clients:
  - name: web
    start: 59s
    arrivals: {process: constant, rate: 120/s}
    retry: {attempts: 0}
`, tc.algorithm))
		r := simulated(t, p)
		if n := r.Aggregate.AdmittedCount; n < tc.low || n > tc.high {
			t.Errorf("%s admits %d in the two seconds round the edge, not %d to %d", tc.algorithm, n, tc.low, tc.high)
		}
	}
}

func TestALongWindowIsALongDarkness(t *testing.T) {
	const blackout = `
name: blackout
duration: 72s
limiter: {%s}
clients:
  - name: batch
    arrivals: {process: poisson, rate: 2.8/s}
    retry: {attempts: 0}
  - name: bot
    arrivals: {process: constant, rate: 0.2/s}
    retry: {attempts: 0}
`
	window := over(t, told(t, fmt.Sprintf(blackout, "algorithm: fixed-window, rate: 100/72s")), 40)
	bucket := over(t, told(t, fmt.Sprintf(blackout, "rate: 1.39/s, burst: 5")), 40)
	between(t, "batch's longest gap under a window", window.client(t, "batch").LongestGap.Mean, 36, 42)
	between(t, "the bot's longest gap under a window", window.client(t, "bot").LongestGap.Mean, 38, 45)
	between(t, "batch's longest gap under a bucket", bucket.client(t, "batch").LongestGap.Mean, 2, 6)
	between(t, "the bot's longest gap under a bucket", bucket.client(t, "bot").LongestGap.Mean, 10, 25)
	near(t, "the bot's satisfaction under a window", window.client(t, "bot").Satisfaction.Mean, float64(bucket.client(t, "bot").Satisfaction.Mean), 0.15)
}

// A limit that the mean stays below refuses a little, all the time: what the Poisson distribution says, and with shards much more.
func TestPoissonRefusals(t *testing.T) {
	millions(t)
	const poisson = `
name: poisson
duration: %ds
limiter: {algorithm: fixed-window, rate: 150/s%s}
service: {time: 0s, round_trip: 0s}
clients:
  - name: web
    arrivals: {process: poisson, rate: %s}
    retry: {%s}
`
	sixShards := ", policy: sharded, shards: 6"
	later := "attempts: 1, backoff: fixed, base: 1s, jitter: none"
	for _, tc := range []struct {
		limit, rate, retry string
		rejected           float64 // per second
		seconds            int
	}{
		{"", "136.28/s", "attempts: 0", 0.7261, 5000},
		{"", "132.645/s", "attempts: 0", 0.3633, 5000},
		{sixShards, "136.28/s", "attempts: 0", 5.9674, 1000},
		{sixShards, "132.645/s", "attempts: 0", 4.8064, 1000},
		{sixShards, "132.645/s", later, 7.10, 1000},
		{"", "132.645/s", later, 0.393, 5000},
	} {
		text := fmt.Sprintf(poisson, tc.seconds, tc.limit, tc.rate, tc.retry)
		r := over(t, told(t, text), 4)
		rejected := r.mean(func(r *fairness.Report) float64 { return float64(r.Aggregate.Rejected) })
		near(t, fmt.Sprintf("at %s%s with %s, refused per second", tc.rate, tc.limit, tc.retry), fairness.Number(rejected), tc.rejected, 0.1)
	}
}

func TestRefusalsAreNeverCounted(t *testing.T) {
	for _, algorithm := range []string{"fixed-window", "sliding-log"} {
		p := told(t, fmt.Sprintf(`
name: ten
duration: 600s
limiter: {rate: 10/10m, algorithm: %s}
clients:
  - name: web
    arrivals: {process: constant, rate: 2/m}
    retry: {attempts: 0}
`, algorithm))
		if n := simulated(t, p).Aggregate.AdmittedCount; n != 10 {
			t.Errorf("%s: 10 per 10 minutes admits %d of 20", algorithm, n)
		}
	}
}

func TestWhatABurstIs(t *testing.T) {
	p := told(t, `
name: burst
duration: 31s
limiter: {rate: 17/30s, burst: 17}
service: {time: 0s, round_trip: 0s}
clients:
  - name: web
    arrivals: {process: trace, at: [0s]}
    retry: {attempts: 0}
`)
	var times []time.Duration
	for at := time.Duration(0); at < 30*s; at += 500 * ms {
		times = append(times, at)
	}
	p.Clients[0].Arrivals.Trace = times
	if n := simulated(t, p).Aggregate.AdmittedCount; n != 33 {
		t.Errorf("%d of 60 admitted", n)
	}
}

func TestForgottenTooEarly(t *testing.T) {
	for forget, want := range map[string]int64{"": 65, ", forget_after: 300s": 200} {
		p := told(t, fmt.Sprintf(`
name: forgetful
duration: 3000s
limiter: {rate: 1/60s, burst: 20%s}
service: {time: 0s, round_trip: 0s}
clients:
  - name: web
    arrivals: {process: trace, at: [0s]}
    retry: {attempts: 0}
`, forget))
		var times []time.Duration
		for round := range 10 {
			for range 20 {
				times = append(times, time.Duration(round)*301*s)
			}
		}
		p.Clients[0].Arrivals.Trace = times
		if n := simulated(t, p).Aggregate.AdmittedCount; n != want {
			t.Errorf("with%s %d admitted in ten rounds, not %d", forget, n, want)
		}
	}
}

func TestALeakyBucketTurnsRefusalsIntoLatency(t *testing.T) {
	const shaper = `
name: shaper
duration: 60s
limiter: {algorithm: leaky-bucket, rate: 1/s, burst: 21, shape: true}
service: {time: 0s, round_trip: 0s}
clients:
  - name: web
    arrivals: {process: once, count: %d, at: 0s}
    retry: {attempts: 0}
`
	six := simulated(t, told(t, fmt.Sprintf(shaper, 6))).Clients[0]
	if six.Admitted != 6 || math.Abs(float64(six.QueueWait.Max)-5000) > 50 {
		t.Errorf("of six at once %d are admitted, the last after %v ms", six.Admitted, six.QueueWait.Max)
	}
	many := simulated(t, told(t, fmt.Sprintf(shaper, 22))).Clients[0]
	if many.Admitted != 21 || many.Rejected != 1 || math.Abs(float64(many.QueueWait.Max)-20_000) > 200 {
		t.Errorf("of 22 at once %d are admitted, the last after %v ms, and %d refused", many.Admitted, many.QueueWait.Max, many.Rejected)
	}
}

// A heartbeat that has to stand in line behind a burst comes too late; in a lane of its own it does not wait at all.
func TestHeartbeatsNeedTheirLane(t *testing.T) {
	const heartbeat = `
name: heartbeat
duration: 20s
limiter: {policy: fair-queue, order: %s, rate: 5/s, burst: 10, queue: {per_client: 100, max_wait: 60s}}
service: {time: 0s, round_trip: 0s}
clients:
  - name: burst
    arrivals: {process: once, count: %d, at: 0s}
    retry: {attempts: 0}
  - name: lease
    start: 1ms
    deadline: 10s
    arrivals: {process: once, count: 1, at: 0s}
    retry: {attempts: 0}
`
	// Behind 60 that wait at 5 per second: (60 + 1) / 5 s = 12.2 s.
	line := simulated(t, told(t, fmt.Sprintf(heartbeat, "fifo", 70))).Clients[1]
	if line.Errors != 1 || line.GaveUp != 1 || line.Admitted != 0 {
		t.Errorf("behind the burst: %d admitted, %d errors, %d gave up", line.Admitted, line.Errors, line.GaveUp)
	}
	patient := told(t, fmt.Sprintf(heartbeat, "fifo", 70))
	patient.Clients[1].Deadline = 0
	if c := simulated(t, patient).Clients[1]; c.Admitted != 1 || math.Abs(float64(c.QueueWait.Max)-12_200) > 120 {
		t.Errorf("with patience it waits %v ms", c.QueueWait.Max)
	}
	lane := simulated(t, told(t, fmt.Sprintf(heartbeat, "start-time", 70))).Clients[1]
	if lane.Admitted != 1 || float64(lane.QueueWait.Max) > 401 {
		t.Errorf("in its own lane %d are admitted after %v ms", lane.Admitted, lane.QueueWait.Max)
	}
}

func TestLimitsPerInstanceGrowWithTheFleet(t *testing.T) {
	for routing, want := range map[string]float64{"round-robin": 180, "pinned": 60} {
		p := told(t, fmt.Sprintf(`
name: fleet
duration: 600s
warm_up: 120s
limiter: {policy: sharded, shards: 3, divide: false, rate: 60/m, burst: 10, routing: %s}
clients:
  - name: web
    arrivals: {process: constant, rate: 5/s}
    retry: {attempts: 0}
`, routing))
		near(t, routing+", admitted per minute", 60*simulated(t, p).Aggregate.Admitted, want, 0.02)
	}
}

func TestQuotasThatAddUpToMoreThanThereIs(t *testing.T) {
	const oversubscribed = `
name: oversubscribed
duration: 60s
limiter: {policy: per-client, algorithm: fixed-window, rate: 20/m, client: {rate: 10/m}}
service: {time: 0s, round_trip: 0s}
clients:
  - name: first
    arrivals: {process: once, count: 10, at: 1s}
  - name: second
    arrivals: {process: once, count: 10, at: 2s}
  - name: third
    arrivals: {process: once, count: 10, at: 3s}
`
	r := simulated(t, told(t, oversubscribed))
	for i, want := range []int64{10, 10, 0} {
		c := r.Clients[i]
		if c.Admitted != want {
			t.Errorf("%s: %d admitted, not %d", c.Name, c.Admitted, want)
		}
		near(t, c.Name+"'s entitlement per minute", 60*c.Entitled, 20.0/3, 0.01)
	}
}

// No attempt is refused while six slots serve less than what comes; the wait only grows, until it is as long as anybody may wait.
func TestNoErrorsIsNotHealthy(t *testing.T) {
	p := told(t, `
name: slots
duration: 119s
limiter: {policy: concurrency, rate: 1000/s, client: {max_in_flight: 6}, queue: {per_client: 128, max_wait: 60s, for_slot: true}}
service: {time: 5s, round_trip: 0s}
clients:
  - name: web
    arrivals: {process: constant, rate: 1.8/s}
    retry: {attempts: 0}
`)
	c := simulated(t, p).Clients[0]
	if c.Rejected != 0 || c.Errors != 0 {
		t.Errorf("%d refused, %d errors", c.Rejected, c.Errors)
	}
	near(t, "the backlog at 119 s", fairness.Number(c.InFlight-6), 0.6*119, 0.1)
	near(t, "the longest wait so far, in ms", c.QueueWait.Max, 119_000*0.6/1.8, 0.1)
	p.Duration = 240 * s
	if c := simulated(t, p).Clients[0]; c.RejectedBy["wait"] == 0 {
		t.Errorf("nobody was refused for having waited too long: %v", c.RejectedBy)
	}
}

func TestManyClientsUnderEachPolicy(t *testing.T) {
	for _, policy := range limiter.Policies {
		p := many(2000, policy)
		p.Duration = 2 * s
		r := simulated(t, p)
		accounts(t, r)
		if n := len(r.Clients); n != 2000 || r.Aggregate.AdmittedCount == 0 {
			t.Errorf("%s: %d clients, %d admitted", policy, n, r.Aggregate.AdmittedCount)
		}
		if points := r.Timeline; len(points) > 600 || len(points) == 0 || len(points[0].Clients) > 51 {
			t.Errorf("%s: a timeline of %d points", policy, len(points))
		}
	}
}
