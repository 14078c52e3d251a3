package fairness_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

func simulate(t *testing.T, p *profiles.Profile) *fairness.Report {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := attack.Simulate(context.Background(), p, attack.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The model's rejections are those of a simulated limit: long enough that the bound is three standard deviations of the mean.
func TestSimulationsAgreeWithPredictions(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("simulates some hours")
	}
	for _, c := range []struct {
		arrivals float64
		shards   int
		retries  int
		within   float64
		seconds  int
		seeds    int
	}{
		{136.28, 1, 0, 0.10, 4500, 3},
		{136.28, 3, 0, 0.10, 700, 3},
		{132.645, 6, 0, 0.10, 400, 3},
		{132.645, 15, 0, 0.10, 200, 3},
		{136.28, 6, 0, 0.10, 400, 3},
		{132.645, 3, 0, 0.10, 900, 3},
		{136.28, 15, 0, 0.10, 200, 3},
		{132.645, 1, 1, 0.20, 2500, 3},
		{132.645, 6, 1, 0.20, 300, 3},
	} {
		t.Run(fmt.Sprint(c.arrivals, " a second on ", c.shards, " shards, ", c.retries, " retries"), func(t *testing.T) {
			want, err := fairness.Predict(fairness.Forecast{Rate: 150, Arrivals: c.arrivals, Shards: c.shards, Retries: c.retries})
			if err != nil {
				t.Fatal(err)
			}
			policy := "policy: global"
			if c.shards > 1 {
				policy = fmt.Sprintf("policy: sharded\n  shards: %d\n  routing: random", c.shards)
			}
			sum := 0.0
			for seed := range c.seeds {
				p, err := profiles.Parse("predicted.yaml", fmt.Appendf(nil, `
name: predicted
duration: %ds
seed: %d
limiter:
  %s
  algorithm: fixed-window
  rate: 150/s
service: {time: 1ms, round_trip: 1ms}
clients:
  - name: app
    kind: interactive
    arrivals: {process: poisson, rate: %v/s}
    retry: {attempts: %d, backoff: none, jitter: full, honor_retry_after: true}
`, c.seconds, seed+1, policy, c.arrivals, c.retries))
				if err != nil {
					t.Fatal(err)
				}
				sum += float64(simulate(t, p).Aggregate.Rejected)
			}
			got, expected := sum/float64(c.seeds), float64(want.WithRetries)
			t.Logf("simulated %.4f/s, predicted %.4f/s", got, expected)
			if math.Abs(got-expected) > c.within*expected {
				t.Errorf("simulated %v rejections a second, predicted %v", got, expected)
			}
		})
	}
}

// For each built-in profile in which others make somebody starve, the diagnosis names who it is and a cure, and the cure cures.
func TestDiagnosesOfBuiltinsCure(t *testing.T) {
	hogs := map[string]string{
		"starvation": "batch", "agent": "inventory", "polite": "hammer", "dear-calls": "cheap", "phase-lock": "batch", "oversubscribed": "first",
	}
	causes := map[string]fairness.Cause{
		"dear-calls": fairness.CostOrder, "oversubscribed": fairness.Oversubscribed, "newcomers": fairness.Oversubscribed,
		"starvation": fairness.ArrivalOrder, "agent": fairness.ArrivalOrder, "polite": fairness.ArrivalOrder, "phase-lock": fairness.ArrivalOrder,
	}
	found := map[string]bool{}
	for _, info := range profiles.Builtins() {
		p, err := profiles.Load(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		p.Duration = max(p.Duration, 30*time.Second)
		r := simulate(t, p)
		d := r.Diagnosis
		if d.Verdict != r.Fairness.Verdict {
			t.Errorf("%s is judged %s and diagnosed %s", info.Name, r.Fairness.Verdict, d.Verdict)
		}
		if d.Verdict == fairness.Fair && (d.Cause != fairness.NoCause || len(d.Victims) > 0) {
			t.Errorf("%s is fair, and yet %+v", info.Name, d)
		}
		if d.Culprit == "" {
			continue
		}
		found[info.Name] = true
		if hog, ok := hogs[info.Name]; ok && d.Culprit != hog {
			t.Errorf("%s: blames %s, want %s: %+v", info.Name, d.Culprit, hog, d)
		}
		if cause, ok := causes[info.Name]; ok && d.Cause != cause {
			t.Errorf("%s: says %s, want %s: %+v", info.Name, d.Cause, cause, d)
		}
		// At the limit's cap a queue may be too short for a slow limit; then the next diagnosis says so.
		for step := 0; d.Verdict != fairness.Fair; step++ {
			if step == 2 {
				t.Errorf("%s: not cured: %+v", info.Name, d)
				break
			}
			switch {
			case d.Cure.Policy != "":
				p.Limiter.Policy = limiter.Policy(d.Cure.Policy)
			case d.Cause == fairness.ShortQueue:
				p.Limiter.Queue.MaxWait, p.Limiter.Queue.PerClient = 10*time.Second, 100
			default:
				t.Fatalf("%s: no cure in %+v", info.Name, d)
			}
			d = simulate(t, p).Diagnosis
		}
	}
	for name := range causes {
		if !found[name] {
			t.Errorf("%s is not diagnosed as somebody's doing", name)
		}
	}
}
