package redislimit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fairgate/limiter"
)

var algorithms = []limiter.Algorithm{
	limiter.AlgorithmTokenBucket, limiter.AlgorithmGCRA, limiter.AlgorithmLeakyBucket, limiter.AlgorithmFixedWindow, limiter.AlgorithmSlidingWindow,
}

// rates are in periods that divide the epoch of the tests, so that windows begin there.
var rates = []limiter.Rate{
	limiter.PerSecond(1), limiter.PerSecond(3), limiter.PerSecond(10), limiter.PerSecond(1000), limiter.PerSecond(1_000_003),
	{Tokens: 17, Per: 30 * time.Second}, {Tokens: 7, Per: 100 * time.Millisecond}, {Tokens: 60, Per: time.Minute},
}

func upToMicro(d time.Duration) time.Duration {
	if d == limiter.Never {
		return d
	}
	return (d + time.Microsecond - 1) / time.Microsecond * time.Microsecond
}

// TestTheStoreDecidesAsTheEngineDoes sends random attempts at random microseconds to a store and to the engine in memory, and compares
// everything that they say: verdict, reason, wait and quotas.
func TestTheStoreDecidesAsTheEngineDoes(t *testing.T) {
	server := newServer(t)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := limiter.Config{
			Policy:    rapid.SampledFrom([]limiter.Policy{limiter.Global, limiter.PerClient}).Draw(t, "policy"),
			Algorithm: rapid.SampledFrom(algorithms).Draw(t, "algorithm"),
			Rate:      rapid.SampledFrom(rates).Draw(t, "rate"),
			Burst:     rapid.Int64Range(0, 40).Draw(t, "burst"),
			Client:    limiter.ClientLimit{Rate: rapid.SampledFrom(rates).Draw(t, "client rate"), Burst: rapid.Int64Range(0, 12).Draw(t, "client burst")},
		}
		if rapid.Bool().Draw(t, "bandwidth") {
			cfg.Bandwidths = []limiter.Bandwidth{{Rate: rapid.SampledFrom(rates).Draw(t, "bandwidth rate"), Burst: rapid.Int64Range(0, 60).Draw(t, "bandwidth burst")}}
		}
		engine, err := limiter.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		run++
		store, err := New(Options{URL: server.URL(), Config: cfg, TTL: time.Hour, Timeout: 10 * time.Second, Prefix: fmt.Sprint("oracle", run)})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		var now moment
		store.clock = now.clock
		clients := []string{"web", "batch", "sync"}
		for _, name := range clients {
			engine.Join(0, limiter.Client{Name: name})
		}
		for i := range rapid.IntRange(1, 60).Draw(t, "attempts") {
			now += moment(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 2000), rapid.Int64Range(0, 500_000), rapid.Int64Range(0, 70_000_000)).Draw(t, "step"))
			who := rapid.IntRange(0, len(clients)-1).Draw(t, "client")
			cost := rapid.OneOf(rapid.Int64Range(1, 3), rapid.Int64Range(-1, 45)).Draw(t, "cost")
			at := time.Duration(now) * time.Microsecond
			want := engine.Arrive(at, limiter.Attempt{Client: who, ID: uint64(i), Cost: cost})
			want.Wait = upToMicro(want.Wait)
			got, quotas, err := store.Decide(context.Background(), clients[who], "", cost)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Fatalf("attempt %d at %s, cost %d of %s: the store says %+v, the engine %+v", i, at, cost, clients[who], got, want)
			}
			wantQuotas := engine.Quotas(at, who, nil)
			for j := range wantQuotas {
				wantQuotas[j].Reset = upToMicro(wantQuotas[j].Reset)
			}
			if fmt.Sprint(quotas) != fmt.Sprint(wantQuotas) {
				t.Fatalf("attempt %d at %s, cost %d of %s: the store's quotas are %+v, the engine's %+v", i, at, cost, clients[who], quotas, wantQuotas)
			}
			if want.Verdict == limiter.Rejected && want.Wait < limiter.Never && rapid.IntRange(0, 3).Draw(t, "hold it to its wait") == 0 {
				now += moment(want.Wait/time.Microsecond) - 1
				if d, _, _ := store.Decide(context.Background(), clients[who], "", cost); d.Verdict != limiter.Rejected || d.Wait != time.Microsecond {
					t.Fatalf("a microsecond before the promised moment: %+v", d)
				}
				now++
				if d, _, _ := store.Decide(context.Background(), clients[who], "", 0); d.Verdict != limiter.Admitted {
					t.Fatalf("a look is refused: %+v", d)
				}
				engineNow := time.Duration(now) * time.Microsecond
				got, _, _ := store.Decide(context.Background(), clients[who], "", cost)
				if want := engine.Arrive(engineNow, limiter.Attempt{Client: who, ID: 1000 + uint64(i), Cost: cost}); got.Verdict != limiter.Admitted || want.Verdict != limiter.Admitted {
					t.Fatalf("at the promised moment: %+v, %+v", got, want)
				}
			}
		}
	})
}
