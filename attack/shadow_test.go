package attack

import (
	"encoding/json"
	"testing"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

func withShadows(t *testing.T, p *profiles.Profile, policies ...limiter.Policy) (*fairness.Report, []*fairness.Report) {
	t.Helper()
	sim, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Shadow(policies...); err != nil {
		t.Fatal(err)
	}
	sim.Advance(p.Duration)
	for _, r := range sim.Shadows() {
		accounts(t, r)
	}
	return sim.Report(), sim.Shadows()
}

func TestShadowsDisturbNothing(t *testing.T) {
	p := starvation()
	p.Duration = 2 * s
	alone, _ := json.Marshal(simulated(t, p))
	watched, _ := withShadows(t, p, limiter.PerClient, limiter.FairQueue)
	if with, _ := json.Marshal(watched); string(alone) != string(with) {
		t.Error("a run with shadows differs from one without")
	}
}

// A shadow of the policy that is in force decides as that does.
func TestTheOwnShadowAgrees(t *testing.T) {
	for _, policy := range limiter.Policies {
		p := starvation()
		p.Duration, p.Limiter.Policy = s, policy
		r, shadows := withShadows(t, p, policy)
		for i, c := range r.Clients {
			in := shadows[0].Clients[i]
			// What was admitted and not yet seen at the end is known to the shadow already.
			if d := in.Admitted - c.Admitted; d < 0 || d > c.InFlight {
				t.Errorf("%s: %s is admitted %d times, by the shadow %d times", policy, c.Name, c.Admitted, in.Admitted)
			}
		}
	}
}

func TestShadowSaysWhoWouldBeWhole(t *testing.T) {
	p := starvation()
	p.Duration = 4 * s
	_, shadows := withShadows(t, p, limiter.PerClient, limiter.FairQueue, limiter.Global)
	for i, least := range []float64{0.97, 0.97, 0} {
		r := shadows[i]
		for _, c := range r.Clients[1:] {
			if !(float64(c.Satisfaction) >= least && float64(c.Satisfaction) < 1.05) {
				t.Errorf("%s would satisfy %s by %v", r.Limiter.Policy, c.Name, c.Satisfaction)
			}
		}
	}
	if v := shadows[2].Fairness.Verdict; v != fairness.Starved {
		t.Errorf("the shadow of a global limit is called %s", v)
	}
}

func TestShadowForgetsRequests(t *testing.T) {
	p := starvation()
	p.Duration = 5 * s
	sim, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Shadow(limiter.PerClient, limiter.FairQueue); err != nil {
		t.Fatal(err)
	}
	sim.Advance(p.Duration)
	pending := 0
	for _, c := range sim.clients {
		pending += c.Pending()
	}
	for _, shadow := range sim.shadows {
		if n := len(shadow.requests); n > pending+shadow.waiting {
			t.Errorf("%s remembers %d requests, and %d are pending", shadow.policy, n, pending)
		}
	}
}

func TestShadowFollowsChanges(t *testing.T) {
	p := told(t, `
name: follow
duration: 20s
limiter: {rate: 100/s, burst: 1, client: {rate: 50/s, burst: 1}}
clients:
  - name: web
    arrivals: {process: constant, rate: 1000/s}
    retry: {attempts: 0}
`)
	sim, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Shadow(limiter.PerClient); err != nil {
		t.Fatal(err)
	}
	sim.Advance(10 * s)
	if err := sim.Edit(func(p *profiles.Profile) { p.Limiter.Client.Rate = limiter.PerSecond(20) }); err != nil {
		t.Fatal(err)
	}
	sim.Advance(20 * s)
	if n := sim.Shadows()[0].Aggregate.AdmittedCount; n < 690 || n > 705 {
		t.Errorf("10 s at 50/s and 10 s at 20/s admit %d", n)
	}
	if err := sim.Shadow("nonsense"); err == nil {
		t.Error("a shadow of an unknown policy was made")
	}
}
