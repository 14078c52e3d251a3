package limiter

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Ten shards of 10/s refuse traffic of 80/s, which is below the limit; the reference is a simulation made elsewhere.
func TestShardsRefuseTrafficBelowTheLimit(t *testing.T) {
	for _, c := range []struct {
		routing Routing
		burst   int64 // of each shard
		want    float64
	}{
		{Random, 1, 41.2}, {Random, 2, 17.2}, {Random, 5, 2.6}, {Random, 10, 0.2},
		{TwoChoices, 1, 25.4}, {TwoChoices, 2, 1.6}, {TwoChoices, 5, 0}, {TwoChoices, 10, 0},
		{TwoChoicesCombine, 1, 16.1}, {TwoChoicesCombine, 2, 0.3}, {TwoChoicesCombine, 5, 0}, {TwoChoicesCombine, 10, 0},
	} {
		s := play(t, Config{Policy: Sharded, Rate: rate("100/s"), Burst: 10 * c.burst, Shards: 10, Routing: c.routing, Seed: 1})
		const n = 60_000
		refused := 0
		for i := range n {
			if s.send(time.Duration(i)*time.Second/80, "web", 1).Verdict == Rejected {
				refused++
			}
		}
		if got := 100 * float64(refused) / n; math.Abs(got-c.want) > 1 {
			t.Errorf("%s with burst %d: %.1f%% refused, want %.1f%%", c.routing, c.burst, got, c.want)
		}
	}
}

func TestTwoHalfTokensMakeOne(t *testing.T) {
	s := play(t, Config{Policy: Sharded, Rate: rate("2/s"), Burst: 2, Shards: 2, Initial: new(int64), Routing: TwoChoicesCombine})
	half := 500 * time.Millisecond
	s.admits(half, "web", 1)
	s.rejects(half, "web", 1, ByGlobal, time.Second) // both are empty to the last part
	s.rejects(half+500*time.Millisecond-1, "web", 1, ByGlobal, 500*time.Millisecond+1)
	s.admits(half+500*time.Millisecond, "web", 1)
}

func TestALimitIsDividedInWholeTokens(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Policy: Sharded, Rate: rate("100/s"), Shards: 7}, "98/s"},
		{Config{Policy: Sharded, Rate: rate("100/s"), Shards: 7, Exchange: time.Second}, "100/s"},
		{Config{Policy: Sharded, Rate: rate("60/m"), Shards: 3, Keep: true}, "180/m"},
		{Config{Policy: Sharded, Rate: rate("150/s"), Shards: 6, Algorithm: AlgorithmTokenBucket}, "150/s"},
		{Config{Rate: rate("100/s"), Shards: 7}, "100/s"},
	} {
		if got := c.cfg.Enforced().String(); got != c.want {
			t.Errorf("%+v enforces %s, want %s", c.cfg, got, c.want)
		}
	}
}

// Kept whole, a client that is spread gets the limit as often as there are instances; pinned it gets it once.
func TestAFleetThatKeepsTheLimitMultipliesIt(t *testing.T) {
	for routing, want := range map[Routing]int{RoundRobin: 180, Pinned: 60} {
		s := play(t, Config{Policy: Sharded, Rate: rate("60/m"), Burst: 2, Shards: 3, Keep: true, Routing: routing})
		passed := 0
		for i := range 5 * 600 {
			passed += s.admitted(time.Duration(i)*time.Second/5, "web", 1)
		}
		if perMinute := passed / 10; perMinute != want {
			t.Errorf("%s: %d a minute, want %d", routing, perMinute, want)
		}
	}
}

// All traffic meets one of four shards: an exchange gives it nearly the whole limit, without one it has a quarter.
func TestAnExchangeFollowsDemand(t *testing.T) {
	for exchange, want := range map[time.Duration][2]int{0: {249, 251}, 200 * time.Millisecond: {900, 1000}} {
		s := play(t, Config{Policy: Sharded, Rate: rate("1000/s"), Burst: 1000, Shards: 4, Routing: Pinned, Exchange: exchange})
		s.admitted(0, "web", 1000)
		passed := 0
		for i := range 20_000 {
			at := time.Second + time.Duration(i)*time.Second/2000
			if n := s.admitted(at, "web", 1); at >= 6*time.Second && at < 11*time.Second {
				passed += n
			}
		}
		if rate := passed / 5; rate < want[0] || rate > want[1] {
			t.Errorf("exchange %v: %d per second, want %v", exchange, rate, want)
		}
	}
}

// Whatever the routing and however the limit is divided, all shards together stay within burst + rate × time.
func TestShardsTogetherStayWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{Policy: Sharded, Rate: rate("100/s"), Seed: rapid.Uint64().Draw(rt, "seed"),
			Routing: rapid.SampledFrom([]Routing{Random, RoundRobin, Pinned, TwoChoices, TwoChoicesCombine}).Draw(rt, "routing"),
			Shards:  rapid.IntRange(1, 8).Draw(rt, "shards"), Burst: rapid.Int64Range(8, 80).Draw(rt, "burst")}
		if cfg.Routing != TwoChoicesCombine && rapid.Bool().Draw(rt, "exchanges") {
			cfg.Exchange = 100 * time.Millisecond
		}
		s := play(t, cfg)
		now, passed := time.Duration(0), int64(0)
		for range rapid.IntRange(50, 300).Draw(rt, "attempts") {
			now += time.Duration(rapid.Int64Range(0, 50e6).Draw(rt, "pause"))
			name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "client")
			cost := rapid.Int64Range(1, 3).Draw(rt, "cost")
			if s.send(now, name, cost).Verdict == Admitted {
				passed += cost
			}
			if limit := float64(cfg.Burst) + 100*now.Seconds(); float64(passed) > limit+1e-6 {
				rt.Fatalf("at %v %d tokens have passed, more than %.3f", now, passed, limit)
			}
		}
	})
}

func TestTheSeedDecidesTheRouting(t *testing.T) {
	run := func(seed uint64) (passed string) {
		s := play(t, Config{Policy: Sharded, Rate: rate("10/h"), Burst: 20, Shards: 10, Seed: seed})
		for range 40 {
			passed += string("01"[s.admitted(0, "web", 1)])
		}
		return passed
	}
	first, again := run(1), run(1)
	if first != again {
		t.Error("one seed, two outcomes")
	}
	if first == run(2) {
		t.Error("two seeds, one outcome")
	}
}
