package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

func TestCompareGivesEachPolicyItsOwnSimulation(t *testing.T) {
	p := starvation()
	p.Duration = 5 * s
	policies := []limiter.Policy{limiter.Global, limiter.PerClient, limiter.FairQueue}
	last := 0.0
	c, err := Compare(context.Background(), p, policies, nil, func(part float64) {
		if part < last || part > 1+1e-9 {
			t.Errorf("progress went from %g to %g", last, part)
		}
		last = part
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range c.Variants {
		q := p.Clone()
		q.Limiter.Policy = policies[i]
		alone, _ := json.Marshal(simulated(t, q))
		together, _ := json.Marshal(v.Report)
		if !bytes.Equal(alone, together) {
			t.Errorf("%s in a comparison differs from %s alone", v.Name, v.Name)
		}
	}
	if c.Best < 0 || c.Variants[c.Best].Report.Fairness.Verdict != fairness.Fair {
		t.Errorf("it would take variant %d", c.Best)
	}
	if !strings.Contains(c.Why, "take ") || !strings.Contains(c.Why, "under global") {
		t.Errorf("it says: %s", c.Why)
	}
}

func TestCompareSaysWhatCannotBe(t *testing.T) {
	p := starvation()
	p.Duration = s
	c, err := Compare(context.Background(), p, []limiter.Policy{limiter.Hierarchical, limiter.Global},
		[]limiter.Algorithm{limiter.AlgorithmTokenBucket, limiter.AlgorithmGCRA}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := c.Variants[1]; v.Err == nil || v.Report != nil {
		t.Errorf("%s was simulated", v.Name)
	}
	if v := c.Variants[2]; v.Name != "global token-bucket" || v.Report == nil {
		t.Errorf("%s was not simulated: %v", v.Name, v.Err)
	}
}

func TestInterruptedComparison(t *testing.T) {
	p := starvation()
	p.Duration *= 100_000
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Compare(ctx, p, []limiter.Policy{limiter.Global, limiter.PerClient, limiter.Concurrency}, nil, func(part float64) {
		if part > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(c.Reports()) == 0 {
		t.Errorf("error %v with %d reports", err, len(c.Reports()))
	}
}

func TestVary(t *testing.T) {
	p := starvation()
	p.Duration = s
	p.Expect = nil
	p.Clients[1].Name = "web.eu"
	for setting, get := range map[string]func(*profiles.Profile) any{
		"burst=10,50":                    func(p *profiles.Profile) any { return p.Limiter.Burst },
		"limiter.burst=10,50":            func(p *profiles.Profile) any { return p.Limiter.Burst },
		"rate=500/s, 2000/s":             func(p *profiles.Profile) any { return p.Limiter.Rate },
		"client.max_in_flight=1,7":       func(p *profiles.Profile) any { return p.Limiter.Client.MaxInFlight },
		"service.time=1ms,9ms":           func(p *profiles.Profile) any { return p.Service.Time },
		"web.eu.arrivals.rate=1/s,900/s": func(p *profiles.Profile) any { return p.Clients[1].Arrivals.Rate },
		"batch.weight=3,4":               func(p *profiles.Profile) any { return p.Clients[0].Weight },
	} {
		c, err := Vary(context.Background(), p, setting, nil)
		if err != nil {
			t.Errorf("%s: %v", setting, err)
			continue
		}
		a, b := c.Variants[0].Profile, c.Variants[1].Profile
		if get(a) == get(b) || get(a) == get(p) || get(b) == get(p) {
			t.Errorf("%s became %v and %v", setting, get(a), get(b))
		}
		if len(a.Clients) != len(p.Clients) {
			t.Errorf("%s made %d clients", setting, len(a.Clients))
		}
	}
	for _, setting := range []string{"", "burst", "burst=", "burst=1,,2", "=3", "bursts=3", "burst=many", "rate=5", "nobody.weight=3", "burst={a: b}"} {
		if _, err := Vary(context.Background(), p, setting, nil); err == nil {
			t.Errorf("%q was accepted", setting)
		}
	}
}

func TestRepeat(t *testing.T) {
	p := starvation()
	p.Duration = s
	r, err := Repeat(context.Background(), p, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Seeds) != 5 || r.Seeds[0] != p.Seed || r.Seeds[4] != p.Seed+4 || r.Verdicts["starved"] != 5 {
		t.Errorf("seeds %v ended as %v", r.Seeds, r.Verdicts)
	}
	var sum, squares float64
	for _, report := range r.Reports {
		sum += float64(report.Clients[0].Share)
	}
	for _, report := range r.Reports {
		squares += math.Pow(float64(report.Clients[0].Share)-sum/5, 2)
	}
	f := r.Clients[0].Share
	if math.Abs(float64(f.Mean)-sum/5) > 1e-12 || math.Abs(float64(f.SD)-math.Sqrt(squares/4)) > 1e-12 {
		t.Errorf("batch's share is %v ± %v, not %g ± %g", f.Mean, f.SD, sum/5, math.Sqrt(squares/4))
	}
	if one, _ := Repeat(context.Background(), p, 1, nil); one.Jain.SD.Exists() || !one.Jain.Mean.Exists() {
		t.Errorf("one run has a mean of %v and a deviation of %v", one.Jain.Mean, one.Jain.SD)
	}
	if _, err := Repeat(context.Background(), p, 0, nil); err == nil {
		t.Error("no run at all was accepted")
	}
}

func TestWhatIsNamedTwiceIsComparedOnce(t *testing.T) {
	c, err := Compare(t.Context(), builtin(t, "agent", s), []limiter.Policy{limiter.Global, limiter.PerClient, limiter.Global},
		[]limiter.Algorithm{limiter.AlgorithmTokenBucket, limiter.AlgorithmTokenBucket}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Variants) != 2 || c.Variants[0].Name != "global" || c.Variants[1].Name != "per-client" {
		t.Errorf("two policies, one of them named twice, give %d variants: %+v", len(c.Variants), c.Variants)
	}
}
