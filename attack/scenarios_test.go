package attack

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"fairgate/fairness"
	"fairgate/profiles"
)

// What people who run limits have measured or worked out must come out of a profile that says the same.

// told reads a profile as somebody would write it.
func told(t *testing.T, yaml string) *profiles.Profile {
	t.Helper()
	p, err := profiles.Parse("test.yaml", []byte(strings.TrimSpace(yaml)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// over simulates a profile with so many seeds.
func over(t *testing.T, p *profiles.Profile, seeds int) *Repetition {
	t.Helper()
	r, err := Repeat(context.Background(), p, seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range r.Reports {
		accounts(t, report)
	}
	return r
}

// mean is the mean of a measure of the whole run.
func (r *Repetition) mean(of func(*fairness.Report) float64) float64 {
	sum := 0.0
	for _, report := range r.Reports {
		sum += of(report)
	}
	return sum / float64(len(r.Reports))
}

// millions marks a test that simulates millions of attempts, in one goroutine each, to come near a mean. The race detector has nothing to find in it that smaller tests
// would not show, and makes it fifty times as slow.
func millions(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("millions of attempts are not simulated under the race detector")
	}
}

// near reports whether got is within a part of want, and says so when it is not.
func near(t *testing.T, what string, got fairness.Number, want, part float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= part*want) {
		t.Errorf("%s is %s, not %g to within %.0f%%", what, got.Format(4), want, 100*part)
	}
}

// between is near with two bounds.
func between(t *testing.T, what string, got fairness.Number, low, high float64) {
	t.Helper()
	if !(float64(got) >= low && float64(got) <= high) {
		t.Errorf("%s is %s, not %g to %g", what, got.Format(4), low, high)
	}
}

// client is the figures of a client by its name.
func (r *Repetition) client(t *testing.T, name string) RepeatedMeasures {
	t.Helper()
	for _, c := range r.Clients {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no client %s", name)
	return RepeatedMeasures{}
}

func TestStarvationComesOut(t *testing.T) {
	millions(t)
	p := starvation()
	for _, tc := range []struct {
		policy, rate       string
		seeds              int        // the phase at which batch meets the tokens differs from seed to seed, which matters where it takes all
		share              [2]float64 // of batch
		web, mobile, sync  [2]float64 // satisfaction
		verdict            fairness.Verdict
		utilizationAtLeast float64
	}{
		{"global", "1000/s", 20, [2]float64{0.95, 0.975}, [2]float64{0.08, 0.13}, [2]float64{0.08, 0.13}, [2]float64{0.3, 0.45}, fairness.Starved, 0.999},
		{"global", "500/s", 12, [2]float64{0.96, 0.99}, [2]float64{0.015, 0.05}, [2]float64{0.015, 0.05}, [2]float64{0.05, 0.25}, fairness.Starved, 0.999},
		{"per-client", "1000/s", 2, [2]float64{0.52, 0.6}, [2]float64{0.99, 1.01}, [2]float64{0.99, 1.01}, [2]float64{0.97, 1.01}, fairness.Fair, 0.4},
		{"fair-queue", "1000/s", 2, [2]float64{0.75, 0.85}, [2]float64{0.99, 1.01}, [2]float64{0.99, 1.01}, [2]float64{0.97, 1.01}, fairness.Fair, 0.95},
		{"concurrency", "1000/s", 4, [2]float64{0.9, 0.95}, [2]float64{0.15, 0.35}, [2]float64{0.15, 0.35}, [2]float64{0.5, 0.8}, fairness.Starved, 0.98},
	} {
		t.Run(tc.policy+" "+tc.rate, func(t *testing.T) {
			q, err := vary(p, "policy", tc.policy)
			if err == nil {
				q, err = vary(q, "rate", tc.rate)
			}
			if err != nil {
				t.Fatal(err)
			}
			q.Duration = 15 * s
			r := over(t, q, tc.seeds)
			between(t, "batch's share", r.client(t, "batch").Share.Mean, tc.share[0], tc.share[1])
			between(t, "web's satisfaction", r.client(t, "web").Satisfaction.Mean, tc.web[0], tc.web[1])
			between(t, "mobile's satisfaction", r.client(t, "mobile").Satisfaction.Mean, tc.mobile[0], tc.mobile[1])
			between(t, "sync's satisfaction", r.client(t, "sync").Satisfaction.Mean, tc.sync[0], tc.sync[1])
			if n := r.Verdicts[string(tc.verdict)]; n != tc.seeds {
				t.Errorf("%d of %d runs are %s: %v", n, tc.seeds, tc.verdict, r.Verdicts)
			}
			if u := float64(r.Utilization.Mean); u < tc.utilizationAtLeast {
				t.Errorf("utilization is %.3f", u)
			}
		})
	}
}

// The burst is admitted once, and from then on the rate: in no run more.
func TestNeverMoreThanTheLimitAndTheBurst(t *testing.T) {
	millions(t)
	p := starvation()
	p.Duration = 5 * s
	r := over(t, p, 10)
	for _, report := range r.Reports {
		if n := report.Aggregate.AdmittedCount; n > 5000+p.Limiter.Burst {
			t.Errorf("seed %d: %d admitted in 5 s", report.Seed, n)
		}
	}
}

func TestEqualRejectionUnequalHarm(t *testing.T) {
	millions(t)
	p, err := profiles.Load("agent")
	if err != nil {
		t.Fatal(err)
	}
	r := over(t, p, 100)
	for _, name := range []string{"inventory", "agent"} {
		admitted := 1 - float64(r.client(t, name).RejectRatio.Mean)
		near(t, name+"'s part that is admitted", fairness.Number(admitted), 0.168, 0.12)
	}
	p.Limiter.Policy = "fair-queue"
	fair := over(t, p, 20)
	near(t, "the agent's satisfaction in a fair queue", fair.client(t, "agent").Satisfaction.Mean, 1, 0.02)
	// Two calls at once may have to wait longer than anybody may.
	between(t, "the part of the agent's calls that a fair queue refuses", fair.client(t, "agent").RejectRatio.Mean, 0, 0.015)
}

func TestPoliteClientIsPassedBy(t *testing.T) {
	millions(t)
	p, err := profiles.Load("polite")
	if err != nil {
		t.Fatal(err)
	}
	r := over(t, p, 40)
	between(t, "the polite client's rate", r.client(t, "polite").AdmittedRate.Mean, 0.024, 0.04)
}

func TestRetriesMultiplyLoad(t *testing.T) {
	millions(t)
	const storm = `
name: storm
duration: 200s
limiter: {rate: 20/s, burst: 5}
service: {time: 0s, round_trip: 1ms}
clients:
  - name: web
    arrivals: {process: poisson, rate: 40/s}
    retry: {attempts: %d, backoff: none%s}
`
	for _, tc := range []struct {
		attempts  int
		budget    string
		perSecond float64
		part      float64
	}{{0, "", 40, 0.03}, {2, "", 82, 0.03}, {4, "", 126, 0.03}} {
		r := over(t, told(t, fmt.Sprintf(storm, tc.attempts, tc.budget)), 10)
		offered := r.mean(func(r *fairness.Report) float64 { return float64(r.Aggregate.Offered) })
		near(t, fmt.Sprintf("with %d retries, attempts per second", tc.attempts), fairness.Number(offered), tc.perSecond, tc.part)
		failed := r.mean(func(r *fairness.Report) float64 {
			return float64(r.Clients[0].GaveUp) / float64(r.Clients[0].Requests)
		})
		near(t, fmt.Sprintf("with %d retries, the part of the requests that fails", tc.attempts), fairness.Number(failed), 0.5, 0.04)
	}
	r := over(t, told(t, fmt.Sprintf(storm, 4, ", budget: 0.1")), 10)
	for _, report := range r.Reports {
		c := report.Clients[0]
		if float64(c.Retries) > 0.1*float64(c.Requests) {
			t.Errorf("%d retries of %d requests with a budget of a tenth", c.Retries, c.Requests)
		}
	}
	between(t, "with a budget, attempts per second", fairness.Number(r.mean(func(r *fairness.Report) float64 {
		return float64(r.Aggregate.Offered)
	})), 42, 44.5)
}

func TestShardsRefuseTrafficBelowTheLimit(t *testing.T) {
	millions(t)
	for _, tc := range []struct {
		routing string
		refused map[int]float64 // by burst of a shard
	}{
		{"random", map[int]float64{1: 0.412, 2: 0.172, 5: 0.026, 10: 0.002}},
		{"two-choices", map[int]float64{1: 0.254, 2: 0.016, 5: 0, 10: 0}},
		{"two-choices-combine", map[int]float64{1: 0.161, 2: 0.003, 5: 0, 10: 0}},
	} {
		for burst, want := range tc.refused {
			p := told(t, fmt.Sprintf(`
name: shards
duration: 100s
limiter: {policy: sharded, shards: 10, rate: 100/s, burst: %d, routing: %s}
clients:
  - name: web
    arrivals: {process: constant, rate: 80/s}
    retry: {attempts: 0}
`, 10*burst, tc.routing))
			got := float64(over(t, p, 5).client(t, "web").RejectRatio.Mean)
			if math.Abs(got-want) > 0.01 {
				t.Errorf("routing %s with a burst of %d per shard refuses %.1f%%, not %.1f%%", tc.routing, burst, 100*got, 100*want)
			}
		}
	}
	whole := told(t, `
name: whole
duration: 200s
limiter: {rate: 100/s, burst: 1}
clients:
  - name: web
    arrivals: {process: constant, rate: 80/s}
    retry: {attempts: 0}
`)
	if got := simulated(t, whole).Aggregate.RejectedCount; got != 0 {
		t.Errorf("one limiter for all refuses %d", got)
	}
}

func TestShardsEnforceWhatTheyDivide(t *testing.T) {
	p := told(t, `
name: seven
duration: 100s
warm_up: 10s
limiter: {policy: sharded, shards: 7, rate: 100/s, burst: 70}
clients:
  - name: web
    arrivals: {process: constant, rate: 1000/s}
    retry: {attempts: 0}
`)
	r := simulated(t, p)
	if limit := float64(r.Aggregate.Limit); limit != 98 {
		t.Errorf("seven shards of 100/s are said to enforce %g/s", limit)
	}
	near(t, "admitted per second", r.Aggregate.Admitted, 98, 0.01)
}

func TestCheapCallsStarveDearOnes(t *testing.T) {
	p := told(t, `
name: dear-calls
duration: 200s
limiter: {rate: 5/s, burst: 10, queue: {per_client: 50, max_wait: 60s}}
clients:
  - name: cheap
    arrivals: {process: constant, rate: 20/s}
    retry: {attempts: 0}
  - name: dear
    cost: 10
    arrivals: {process: constant, rate: 0.2/s}
    retry: {attempts: 0}
`)
	r := simulated(t, p)
	if n := r.Clients[1].Admitted; n != 0 {
		t.Errorf("the dear client was admitted %d times", n)
	}
	if r.Clients[1].Entitled.Float(0) == 0 || len(r.Fairness.Starved) != 1 || r.Fairness.Starved[0] != "dear" {
		t.Errorf("entitled to %v; starved are %v", r.Clients[1].Entitled, r.Fairness.Starved)
	}
	p.Limiter.Policy = "fair-queue"
	r = simulated(t, p)
	if c := r.Clients[1]; c.Rejected != 0 || c.Admitted < 39 {
		t.Errorf("in a fair queue weighted by cost the dear client was admitted %d times and refused %d times", c.Admitted, c.Rejected)
	}
}

// A batch job that beats to the limit's own time takes every token in the nanosecond in which it is there.
func TestPhaseLock(t *testing.T) {
	millions(t)
	const locked = `
name: phase-lock
duration: 100s
limiter: {rate: 1000/s, burst: 1}
service: {time: 0s, round_trip: 1ms}
clients:
  - name: batch
    arrivals: {%s}
    retry: {attempts: 0}
  - name: web
    arrivals: {process: poisson, rate: 100/s}
    retry: {attempts: 0}
`
	for _, tc := range []struct {
		arrivals  string
		low, high float64
	}{
		{"process: constant, rate: 5000/s", 0, 0.001},
		{"process: constant, rate: 5000/s, jitter: 0.1", 0.08, 0.13},
		{"process: poisson, rate: 5000/s", 0.15, 0.19},
	} {
		r := over(t, told(t, fmt.Sprintf(locked, tc.arrivals)), 5)
		between(t, "web's part that is admitted when batch is "+tc.arrivals, fairness.Number(1-float64(r.client(t, "web").RejectRatio.Mean)), tc.low, tc.high)
	}
}
