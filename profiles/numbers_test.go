package profiles_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/profiles"
)

// A shown is what a step of a lesson must show: a measure, averaged over the
// seeds, from low to high. Measures are named as in a reveal; what is measured
// in milliseconds is given in seconds.
type shown struct {
	step      int
	measure   string
	low, high float64
}

// about is ten percent round a value.
func about(step int, measure string, value float64) shown {
	return shown{step, measure, 0.9 * value, 1.1 * value}
}

// exactly is a count that no seed changes.
func exactly(step int, measure string, value float64) shown {
	return shown{step, measure, value, value}
}

// Every built-in profile shows what its lesson says. Lengths and numbers of seeds
// are such that ten percent is well beyond chance; where a bound is wider, what is measured varies so much from seed to seed.
func TestBuiltinsShowTheirNumbers(t *testing.T) {
	if underRace {
		t.Skip("a simulation is one goroutine: the race detector could only make it slow")
	}
	for _, c := range []struct {
		profile  string
		seeds    int
		duration time.Duration // 0: the profile's own
		shown    []shown
	}{
		{"starvation", 10, 8 * time.Second, []shown{
			// The token's moment in batch's beat is drawn once a run, so that the
			// small clients' luck differs much from seed to seed.
			{0, "batch.share", 0.95, 0.985}, {0, "web.satisfaction", 0.06, 0.15}, {0, "mobile.satisfaction", 0.06, 0.15},
			{0, "sync.satisfaction", 0.22, 0.44}, {0, "aggregate.admitted_rps", 998, 1002},
			{1, "batch.share", 0.97, 0.99}, {1, "web.satisfaction", 0.01, 0.04}, {1, "aggregate.admitted_rps", 498, 502},
			{2, "web.satisfaction", 0.99, 1}, {2, "mobile.satisfaction", 0.99, 1}, {2, "sync.satisfaction", 0.99, 1}, {2, "batch.admitted_rps", 249, 253},
			{3, "web.satisfaction", 0.11, 0.19}, {3, "mobile.satisfaction", 0.11, 0.19},
			{4, "web.satisfaction", 0.99, 1.001}, {4, "mobile.satisfaction", 0.99, 1.001}, {4, "sync.satisfaction", 0.99, 1.001}, {4, "aggregate.utilization", 0.99, 1.02},
			{5, "batch.share", 0.90, 0.95}, {5, "web.satisfaction", 0.15, 0.35},
			{6, "web.satisfaction", 0.95, 1}, {6, "batch.satisfaction", 0.94, 1},
			{7, "batch.admitted_rps", 190, 201}, {7, "aggregate.utilization", 0.3, 0.45},
		}},
		{"agent", 6, 1200 * time.Second, []shown{
			about(0, "agent.satisfaction", 0.165), {0, "inventory.reject_ratio", 0.82, 0.85}, {0, "agent.reject_ratio", 0.8, 0.87},
			{1, "agent.satisfaction", 0.995, 1.001},
		}},
		{"polite", 6, 1800 * time.Second, []shown{
			{0, "polite.admitted_rps", 0.024, 0.04}, exactly(0, "polite.entitled_rps", 0.5),
			about(1, "polite.admitted_rps", 0.5), about(1, "hammer.admitted_rps", 0.5),
		}},
		{"storm", 6, 120 * time.Second, []shown{
			about(0, "aggregate.offered_rps", 40), about(1, "aggregate.offered_rps", 82), about(2, "aggregate.offered_rps", 126),
			{3, "aggregate.offered_rps", 42, 44.9}, {2, "app.amplification", 2.9, 3.4},
			about(0, "aggregate.admitted_rps", 20), about(1, "aggregate.admitted_rps", 20), about(2, "aggregate.admitted_rps", 20),
		}},
		{"herd", 1, 0, []shown{
			exactly(0, "aggregate.attempts", 550), exactly(0, "aggregate.requests", 100), exactly(0, "aggregate.admitted", 100),
			exactly(1, "aggregate.attempts", 190), exactly(1, "aggregate.admitted", 100),
		}},
		{"window-edge", 3, 0, []shown{
			exactly(0, "edge.admitted", 240), exactly(1, "edge.admitted", 120), {2, "edge.admitted", 120, 124}, {3, "edge.admitted", 23, 24},
		}},
		{"shards", 6, 120 * time.Second, []shown{
			{0, "app.reject_ratio", 0.402, 0.422}, {1, "app.reject_ratio", 0.162, 0.182}, {2, "app.reject_ratio", 0.016, 0.036},
			{3, "app.reject_ratio", 0.244, 0.264}, {4, "app.reject_ratio", 0.151, 0.171}, exactly(5, "app.reject_ratio", 0),
		}},
		{"poisson", 10, 2400 * time.Second, []shown{about(0, "aggregate.rejected_rps", 0.393), about(3, "aggregate.rejected_rps", 0.7261)}},
		{"poisson", 2, 2400 * time.Second, []shown{about(1, "aggregate.rejected_rps", 7.10), about(2, "aggregate.rejected_rps", 5.9674)}},
		{"slots", 1, 0, []shown{
			exactly(0, "jobs.rejected", 0), exactly(0, "jobs.errors", 0), about(0, "jobs.unfinished", 78), // 6 in service, 72 = 0.6/s × 120 s in line
			{1, "jobs.rejected", 20, 60}, {1, "jobs.queue_wait_ms.max", 59, 60},
		}},
		{"shaper", 1, 0, []shown{
			exactly(0, "loads.admitted", 6), {0, "loads.latency_ms.admitted.max", 5, 5.01},
			exactly(1, "loads.admitted", 21), exactly(1, "loads.rejected", 1), {1, "loads.latency_ms.admitted.max", 20, 20.01},
		}},
		{"dear-calls", 3, 0, []shown{
			exactly(0, "dear.admitted", 0), exactly(0, "dear.requests", 60), exactly(1, "dear.admitted", 60),
		}},
		{"heartbeat", 3, 0, []shown{
			{0, "lease.gave_up", 3, 5}, {0, "calls.satisfaction", 0.99, 1},
			exactly(1, "lease.gave_up", 0), {1, "lease.queue_wait_ms.max", 0, 0.2},
		}},
		{"fleet", 3, 0, []shown{about(0, "app.admitted_rps", 3), about(1, "app.admitted_rps", 1), about(2, "app.admitted_rps", 1)}},
		{"oversubscribed", 3, 0, []shown{
			exactly(0, "first.admitted", 100), exactly(0, "second.admitted", 100), exactly(0, "third.admitted", 0),
			about(1, "first.admitted", 66.7), about(1, "second.admitted", 66.7), about(1, "third.admitted", 66.7),
		}},
		{"phase-lock", 12, 8 * time.Second, []shown{
			exactly(0, "web.admitted", 0), about(1, "web.satisfaction", 0.1), about(2, "web.satisfaction", 0.163),
		}},
		{"blackout", 6, 0, []shown{
			about(0, "batch.longest_gap_s", 40), {0, "bot.longest_gap_s", 38, 48}, {1, "bot.longest_gap_s", 5, 16},
			{0, "bot.satisfaction", 0.8, 0.95}, {1, "bot.satisfaction", 0.95, 1.01},
		}},
		{"newcomers", 6, 0, []shown{
			{0, "fairness.min_satisfaction", 0.99, 1}, {1, "fairness.min_satisfaction", 0.3, 0.85},
			{2, "fairness.min_satisfaction", 0.99, 1}, about(2, "twelfth.admitted_rps", 83.3), about(2, "tenant-1.admitted_rps", 83.3),
		}},
		{"four-algorithms", 1, 0, []shown{
			{0, "app.admitted", 42, 42}, {1, "app.admitted", 42, 42}, {1, "app.latency_ms.admitted.max", 0.9, 0.91},
			{2, "app.admitted", 50, 50}, {3, "app.admitted", 36, 40},
		}},
		{"forgetful", 3, 0, []shown{exactly(0, "caller.admitted", 65), exactly(1, "caller.admitted", 200)}},
	} {
		t.Run(c.profile, func(t *testing.T) {
			t.Parallel()
			p := builtin(t, c.profile)
			if c.duration > 0 {
				p.Duration = c.duration
				p.WarmUp = max(p.WarmUp, p.Duration/4) // past the burst that all start with
			}
			sums := make([]float64, len(c.shown))
			for seed := range c.seeds {
				p.Seed = uint64(seed) + 1
				for i, q := range lesson(t, p) {
					if !slices.ContainsFunc(c.shown, func(s shown) bool { return s.step == i }) {
						continue
					}
					now := simulate(t, q)
					for k, s := range c.shown {
						if s.step == i {
							sums[k] += measured(t, s.measure, now.json)
						}
					}
				}
			}
			for k, s := range c.shown {
				if mean := sums[k] / float64(c.seeds); mean < s.low-1e-9 || mean > s.high+1e-9 {
					t.Errorf("step %d: %s is %.6g, want %.6g to %.6g", s.step+1, s.measure, mean, s.low, s.high)
				}
			}
		})
	}
}

// What the profile says of itself is true in its own run: what it expects comes
// true, its verdicts are as designed, and every step can be told with numbers.
func TestBuiltinsKeepTheirWord(t *testing.T) {
	if underRace {
		t.Skip("see above")
	}
	verdicts := map[string][]fairness.Verdict{
		"starvation":     {fairness.Starved, fairness.Starved, fairness.Fair, fairness.Starved, fairness.Fair, fairness.Starved, fairness.Fair, fairness.Starved},
		"agent":          {fairness.Starved, fairness.Fair},
		"polite":         {fairness.Starved, fairness.Fair},
		"dear-calls":     {fairness.Starved, fairness.Fair},
		"heartbeat":      {fairness.Contended, fairness.Fair},
		"phase-lock":     {fairness.Starved, fairness.Starved, fairness.Starved},
		"newcomers":      {fairness.Fair, fairness.Contended, fairness.Fair},
		"oversubscribed": {fairness.Starved, fairness.Fair},
	}
	for _, info := range profiles.Builtins() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			p := builtin(t, info.Name)
			own := simulate(t, p)
			var clients []string
			for _, c := range own.report.Clients {
				clients = append(clients, c.Name)
			}
			for _, line := range p.Expect {
				condition, err := fairness.ParseExpectation(line, clients)
				if err != nil {
					t.Fatal(err)
				}
				if e := condition.Judge(own.report); e.OK == nil || !*e.OK {
					t.Errorf("expects %s, and it is %v", line, e.Value)
				}
			}
			if len(p.Lesson) == 0 {
				t.Fatal("has no lesson")
			}
			var was []byte
			for i, q := range lesson(t, p) {
				step, now := p.Lesson[i], simulate(t, q)
				text, err := profiles.Fill(step.Reveal, now.json, was)
				if err != nil {
					t.Errorf("step %d: %v", i+1, err)
				}
				if text == "" || strings.Contains(text, "n/a") || strings.ContainsAny(text, "{}") {
					t.Errorf("step %d reveals %q", i+1, text)
				}
				if want := verdicts[info.Name]; want != nil && now.report.Fairness.Verdict != want[i] {
					t.Errorf("step %d is %s, want %s: %s", i+1, now.report.Fairness.Verdict, want[i], now.report.Fairness.Why)
				}
				was = now.json
			}
		})
	}
}

// Behind sixty calls on a drained bucket of five a second, a lease waits for
// sixty-one tokens.
func TestALeaseBehindSixtyCallsWaitsTwelveSeconds(t *testing.T) {
	p := builtin(t, "heartbeat")
	none := int64(0)
	p.Limiter.Initial = &none
	p.Clients[0].Arrivals.Count = 60
	p.Clients[1].Arrivals = profiles.Arrivals{Process: profiles.Once, Count: 1, At: time.Nanosecond}
	p.Clients[1].Deadline = 0
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if wait := measured(t, "lease.queue_wait_ms.max", simulate(t, p).json); wait < 12.19 || wait > 12.21 {
		t.Errorf("waited %g s, want 12.2 s", wait)
	}
}

type result struct {
	report *fairness.Report
	json   []byte
}

func builtin(t *testing.T, name string) *profiles.Profile {
	t.Helper()
	text, ok := profiles.Text(name)
	if !ok {
		t.Fatalf("no built-in %s", name)
	}
	p, err := profiles.Parse(name+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func simulate(t *testing.T, p *profiles.Profile) result {
	t.Helper()
	r, err := attack.Simulate(context.Background(), p, attack.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return result{r, data}
}

// lesson is the profile after each step.
func lesson(t *testing.T, p *profiles.Profile) []*profiles.Profile {
	t.Helper()
	var after []*profiles.Profile
	for _, step := range p.Lesson {
		var err error
		if p, err = step.Apply(p); err != nil {
			t.Fatal(err)
		}
		after = append(after, p)
	}
	return after
}

// measured is a measure of a report by its name; times are in seconds.
func measured(t *testing.T, name string, report []byte) float64 {
	t.Helper()
	form := ":.6}"
	if strings.Contains(name, "_ms.") {
		form = "}"
	}
	text, err := profiles.Fill("{"+name+form, report, nil)
	if err != nil {
		t.Fatal(err)
	}
	unit := 1.0
	number, isMillis := strings.CutSuffix(text, " ms")
	if isMillis {
		unit = 1e-3
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(number, " s"), 64)
	if err != nil {
		t.Fatalf("%s is %q", name, text)
	}
	return v * unit
}
