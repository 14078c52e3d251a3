package attack

import (
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"

	"pgregory.net/rapid"
)

// Whatever is changed under way, no attempt is lost or counted twice, and time only goes forward.
func TestNothingIsLostByChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := starvation()
		p.Duration = 300 * ms
		p.Seed = rapid.Uint64Range(1, 1000).Draw(t, "seed")
		p.Clients[1].Deadline = 20 * ms
		sim, err := NewSimulation(p, true)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			sim.Advance(sim.Now() + time.Duration(rapid.Int64Range(0, int64(80*ms)).Draw(t, "later")))
			err := sim.Edit(func(p *profiles.Profile) {
				client := &p.Clients[rapid.IntRange(0, len(p.Clients)-1).Draw(t, "client")]
				switch rapid.IntRange(0, 7).Draw(t, "what") {
				case 0:
					p.Limiter.Policy = rapid.SampledFrom(limiter.Policies).Draw(t, "policy")
				case 1:
					p.Service.RoundTrip = time.Duration(rapid.Int64Range(int64(ms), int64(20*ms)).Draw(t, "round trip"))
				case 2:
					p.Service.Time = time.Duration(rapid.Int64Range(0, int64(20*ms)).Draw(t, "service"))
				case 3:
					p.Limiter.Rate = limiter.PerSecond(rapid.Int64Range(100, 3000).Draw(t, "rate"))
				case 4:
					client.Arrivals = profiles.Arrivals{Process: profiles.Poisson, Rate: limiter.PerSecond(rapid.Int64Range(1, 3000).Draw(t, "arrivals"))}
				case 5:
					client.Arrivals = profiles.Arrivals{Process: profiles.Closed, Workers: rapid.IntRange(1, 20).Draw(t, "workers")}
				case 6:
					client.Stop = max(client.Start+1, sim.Now())
				case 7:
					client.Stop = 0
				}
			})
			if err != nil && !strings.Contains(err.Error(), "stop") {
				t.Fatal(err)
			}
		}
		sim.Advance(p.Duration)
		r := sim.Report()
		accounts(t, r)
		var unfinished int64
		for i, c := range r.Clients {
			if pending := int64(sim.clients[i].Pending()); pending != c.Unfinished {
				t.Fatalf("%s has %d requests without an end, and the report says %d", c.Name, pending, c.Unfinished)
			}
			unfinished += c.Unfinished
		}
		flying := int64(len(sim.flights) - len(sim.free))
		if flying != r.Aggregate.InFlight {
			t.Fatalf("%d attempts are under way, and the report says %d", flying, r.Aggregate.InFlight)
		}
		if sim.Attempts() != r.Aggregate.Attempts {
			t.Fatalf("%d attempts were sent, and the report says %d", sim.Attempts(), r.Aggregate.Attempts)
		}
	})
}

// The cure while it runs: under a bucket for each client, those who starved are whole from the change on.
func TestAPolicyCuresUnderWay(t *testing.T) {
	p := starvation()
	p.Duration = 4 * s
	sim, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	sim.Advance(2 * s)
	before := sim.Report().Clients[1]
	if err := sim.NextPolicy(1); err != nil {
		t.Fatal(err)
	}
	if got := sim.Profile().Limiter.Policy; got != limiter.PerClient {
		t.Fatalf("after global comes %s", got)
	}
	sim.Advance(4 * s)
	r := sim.Report()
	if admitted := r.Clients[1].Admitted - before.Admitted; admitted < 150 {
		t.Errorf("in the two seconds after the change %d of web's 200 requests were admitted", admitted)
	}
	if len(r.Changes) != 1 || float64(r.Changes[0].T) != 2 || !strings.Contains(r.Changes[0].What, "global → per-client") {
		t.Errorf("changes are %+v", r.Changes)
	}
}

func TestWhatASimulationCannotChange(t *testing.T) {
	sim, err := NewSimulation(starvation(), false)
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*profiles.Profile){
		"seed":     func(p *profiles.Profile) { p.Seed++ },
		"duration": func(p *profiles.Profile) { p.Duration *= 2 },
		"clients":  func(p *profiles.Profile) { p.Expect = nil; p.Clients = p.Clients[1:] },
		"nonsense": func(p *profiles.Profile) { p.Limiter.Burst = -1 },
	} {
		before := sim.Profile()
		if err := sim.Edit(edit); err == nil {
			t.Errorf("%s was changed", name)
		}
		if after := sim.Profile(); after.Seed != before.Seed || after.Duration != before.Duration || len(after.Clients) != len(before.Clients) || after.Limiter.Burst != before.Limiter.Burst {
			t.Errorf("the refused change of %s left a trace", name)
		}
	}
}
