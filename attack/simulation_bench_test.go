package attack

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// many is a profile of so many clients that offer twice the limit in all, the loudest a thousandth to a half of it.
func many(clients int, policy limiter.Policy) *profiles.Profile {
	return &profiles.Profile{
		Name: "many", Duration: 24 * time.Hour, Seed: 1,
		Limiter: limiter.Config{
			Policy: policy, Rate: limiter.PerSecond(10_000), Burst: 1000, Shards: 4,
			Client: limiter.ClientLimit{Rate: limiter.PerSecond(10), Burst: 10, MaxInFlight: 2},
			// Nothing for certain, so that the guarantees of all fit into the rate.
			Guarantee: limiter.Rate{Tokens: 1, Per: 100 * s},
		},
		Service: profiles.Service{Time: 2 * ms, RoundTrip: ms},
		Clients: []profiles.Client{{
			Name: "c", Kind: profiles.Interactive, Weight: 1, Cost: 1, Copies: clients, Zipf: 1,
			Arrivals: profiles.Arrivals{Process: profiles.Poisson, Rate: times(limiter.PerSecond(20_000), 1/float64(clients))},
		}},
	}
}

// times is a rate multiplied by a number, for clients that share one.
func times(r limiter.Rate, by float64) limiter.Rate {
	return limiter.Rate{Tokens: 1000, Per: time.Duration(1000 / (r.PerSecond() * by) * 1e9)}
}

func benchmarkSimulation(b *testing.B, p *profiles.Profile) {
	sim, err := NewSimulation(p, false)
	if err != nil {
		b.Skip(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for sim.Attempts() < int64(b.N) && sim.step(sim.end) {
	}
}

func BenchmarkSimulation(b *testing.B) {
	for _, policy := range limiter.Policies {
		b.Run(string(policy), func(b *testing.B) {
			p := starvation()
			p.Duration = 24 * time.Hour
			p.Limiter.Policy = policy
			benchmarkSimulation(b, p)
		})
	}
}

// The cost of an attempt may grow with the logarithm of the clients, and no faster.
func BenchmarkSimulationOfManyClients(b *testing.B) {
	for _, policy := range limiter.Policies {
		for _, clients := range []int{10, 1000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", policy, clients), func(b *testing.B) { benchmarkSimulation(b, many(clients, policy)) })
		}
	}
}

// BenchmarkSimulationAgainstVegeta prints how many times as many attempts per second the simulation of the starvation profile
// comes to, with the whole report, as bare vegeta with a handler in memory that does nothing: the median of five alternating runs.
func BenchmarkSimulationAgainstVegeta(b *testing.B) {
	for range b.N {
		var ratios []float64
		for range 5 {
			ratios = append(ratios, simulatedPerSecond(b)/vegetaPerSecond(b))
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[2], "×vegeta")
		b.ReportMetric(0, "ns/op")
	}
}

func simulatedPerSecond(b *testing.B) float64 {
	p := starvation()
	p.Duration = 60 * s
	began := time.Now()
	r := simulated(b, p)
	return float64(r.Aggregate.Attempts) / time.Since(began).Seconds()
}

type nothing struct{}

func (nothing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func vegetaPerSecond(testing.TB) float64 {
	attacker := vegeta.NewAttacker(vegeta.Client(&http.Client{Transport: nothing{}}), vegeta.MaxWorkers(16), vegeta.Workers(16))
	target := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: "http://memory/"})
	began, hits := time.Now(), 0
	for range attacker.Attack(target, vegeta.ConstantPacer{}, 500*ms, "bare") {
		hits++
	}
	return float64(hits) / time.Since(began).Seconds()
}
