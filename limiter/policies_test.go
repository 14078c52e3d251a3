package limiter

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// For every policy whose waits are exact: a refused attempt that comes again after its needed wait passes, a nanosecond before it does not, if
// nobody else comes; and a refusal charges nothing anywhere.
func TestEveryPolicyKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{
			Policy:    rapid.SampledFrom([]Policy{Global, PerClient, FairQueue, Hierarchical, Sharded}).Draw(rt, "policy"),
			Algorithm: rapid.SampledFrom(Algorithms).Draw(rt, "algorithm"),
			Rate:      rapid.SampledFrom([]Rate{rate("10/s"), rate("1000/s"), rate("17/30s"), rate("7/m")}).Draw(rt, "rate"),
			Burst:     rapid.Int64Range(12, 30).Draw(rt, "burst"), // above any cost, for each shard
			Client:    ClientLimit{Rate: rate("5/s"), Burst: rapid.Int64Range(2, 9).Draw(rt, "client burst")},
			Guarantee: rate("1/m"),
			Queue:     Queue{PerClient: 2, MaxWait: 1000 * time.Hour},
			Routing:   Pinned, Shards: 2,
		}
		if cfg.Algorithm.windowed() && cfg.Policy == FairQueue {
			rt.Skip("what waits is taken as tokens that flow")
		}
		if cfg.Check() != nil {
			rt.Skip()
		}
		s := play(t, cfg)
		nothing := func(time.Duration, Attempt, Decision) {}
		now := time.Duration(0)
		pause := int64(3 * time.Second / time.Duration(cfg.Rate.PerSecond()+1))
		for range rapid.IntRange(1, 60).Draw(rt, "attempts") {
			now += time.Duration(rapid.Int64Range(0, pause).Draw(rt, "pause"))
			s.settle(now, nothing)
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "client")
			cost := rapid.Int64Range(1, 5).Draw(rt, "cost")
			s.clients[name] = s.Join(now, Client{Name: name, MaxCost: 5})
			before := fmt.Sprintf("%+v", s.Quotas(now, s.clients[name], nil))
			d := s.send(now, name, cost)
			if d.Verdict != Rejected {
				continue
			}
			if after := fmt.Sprintf("%+v", s.Quotas(now, s.clients[name], nil)); after != before {
				rt.Fatalf("%+v: a refusal made %s of %s", cfg, after, before)
			}
			if d.Wait == Never || rapid.Bool().Draw(rt, "gives up") {
				continue
			}
			if d.Wait <= 0 || d.Told < d.Wait || d.Told%time.Second != 0 {
				rt.Fatalf("%+v: refused with %+v", cfg, d)
			}
			s.settle(now+d.Wait-1, nothing)
			if cfg.Policy != FairQueue || d.Wait == 1 {
				if e := s.send(now+d.Wait-1, name, cost); d.Wait > 1 && e.Verdict != Rejected {
					rt.Fatalf("%+v: at %v told %+v, and a nanosecond before got %+v", cfg, now, d, e)
				}
			} else if a, e := s.attempt(now+d.Wait-1, name, cost); e.Verdict == Admitted {
				rt.Fatalf("%+v: at %v told %+v, and a nanosecond before got %+v", cfg, now, d, e)
			} else {
				s.Cancel(now+d.Wait-1, a)
			}
			now += d.Wait
			s.settle(now, nothing)
			if e := s.send(now, name, cost); e.Verdict != Admitted {
				rt.Fatalf("%+v: told %+v, and then got %+v", cfg, d, e)
			}
		}
	})
}

// For every policy with a token bucket: all that passes, queued or not, stays within burst + rate × time.
func TestNoPolicyExceedsTheLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := drawConfig(rt)
		cfg.Algorithm, cfg.Shape = rapid.SampledFrom([]Algorithm{AlgorithmTokenBucket, AlgorithmGCRA, AlgorithmLeakyBucket}).Draw(rt, "flowing"), false
		if cfg.Check() != nil {
			rt.Skip()
		}
		s := play(t, cfg)
		passed, now := int64(0), time.Duration(0)
		pass := func(at time.Duration, a Attempt, d Decision) {
			if d.Verdict != Admitted {
				return
			}
			passed += a.Cost
			if most := float64(cfg.Burst) + cfg.Rate.PerSecond()*at.Seconds(); float64(passed) > most+1e-6 {
				rt.Fatalf("%+v: %d tokens by %v, more than %v", cfg, passed, at, most)
			}
			s.Release(at, a)
		}
		for range rapid.IntRange(10, 120).Draw(rt, "attempts") {
			now += time.Duration(rapid.Int64Range(0, 40e6).Draw(rt, "pause"))
			s.settle(now, pass)
			a, d := s.attempt(now, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "client"), rapid.Int64Range(1, 3).Draw(rt, "cost"))
			pass(now, a, d)
		}
	})
}

// A cheap client at 20 a second and a dear one of cost 10 every five seconds, on 5/s with a burst of 10.
func TestADearClientIsStarvedByACheapOne(t *testing.T) {
	for policy, want := range map[Policy]int{Global: 0, FairQueue: 12} {
		s := play(t, Config{Policy: policy, Rate: rate("5/s"), Burst: 10, Queue: Queue{PerClient: 50, MaxWait: 10 * time.Second}})
		s.clients["cheap"] = s.Join(0, Client{Name: "cheap"})
		s.clients["dear"] = s.Join(0, Client{Name: "dear", MaxCost: 10})
		served := 0
		see := func(_ time.Duration, a Attempt, d Decision) {
			if a.Client == s.clients["dear"] && d.Verdict == Admitted {
				served++
			}
		}
		for at := time.Duration(0); at < time.Minute; at += 50 * time.Millisecond {
			s.settle(at, see)
			a, d := s.attempt(at, "cheap", 1)
			see(at, a, d)
			if at%(5*time.Second) == 4*time.Second {
				a, d := s.attempt(at, "dear", 10)
				see(at, a, d)
			}
		}
		s.settle(2*time.Minute, see)
		if served != want {
			t.Errorf("%s: the dear client is served %d times, want %d", policy, served, want)
		}
	}
}

// Three clients of ten a minute each against a cap of twenty a minute: who comes first, and an even share.
func TestQuotasThatAddUpToMoreThanThereIs(t *testing.T) {
	s := play(t, Config{Policy: PerClient, Algorithm: AlgorithmFixedWindow, Rate: rate("20/m"), Client: ClientLimit{Rate: rate("10/m")}})
	for i, want := range []int{10, 10, 0} {
		if got := s.admitted(0, fmt.Sprint(i), 20); got != want {
			t.Errorf("client %d gets %d, want %d", i, got, want)
		}
	}
	q := play(t, Config{Policy: FairQueue, Rate: rate("20/m"), Burst: 1, Queue: Queue{PerClient: 1000, MaxWait: time.Hour}})
	got := make([]float64, 3)
	for i := range got {
		for range 200 {
			q.send(0, fmt.Sprint(i), 1)
		}
	}
	q.settle(10*time.Minute, func(_ time.Duration, a Attempt, _ Decision) { got[a.Client]++ })
	for i := range got {
		if perMinute := got[i] / 10; math.Abs(perMinute-6.67) > 0.15 {
			t.Errorf("client %d gets %.2f a minute, want 6.67", i, perMinute)
		}
	}
}

// A call that must not wait, behind sixty others and in a lane of its own.
func TestAHeartbeatNeedsALaneOfItsOwn(t *testing.T) {
	for order, want := range map[Discipline]time.Duration{FIFO: 12200 * time.Millisecond, StartTime: 200 * time.Millisecond} {
		s := play(t, Config{Policy: FairQueue, Rate: rate("5/s"), Burst: 10, Order: order, Queue: Queue{PerClient: 100, MaxWait: time.Hour}})
		s.admitted(0, "calls", 70)
		lease, d := s.attempt(0, "lease", 1)
		if d.Verdict != Queued {
			t.Fatalf("%s: the lease got %+v on a drained bucket", order, d)
		}
		s.settle(time.Hour, func(at time.Duration, a Attempt, _ Decision) {
			if a.ID == lease.ID && at != want && (order != StartTime || at > 2*want) {
				t.Errorf("%s: the lease waited %v, want %v", order, at, want)
			}
		})
	}
}

func TestEveryPolicyAndAlgorithmThatMakesSenseCanBeBuilt(t *testing.T) {
	for _, p := range Policies {
		for _, a := range Algorithms {
			cfg := Config{Policy: p, Algorithm: a, Rate: rate("1000/s"), Burst: 100, Client: ClientLimit{Rate: rate("250/s"), Burst: 25, MaxInFlight: 2}, Shards: 2}
			_, err := New(cfg)
			if sense := Compatible(p, a); (sense == nil) != (err == nil) {
				t.Errorf("%s with %s: Compatible says %v, New says %v", p, a, sense, err)
			}
		}
	}
}

func TestInspectShowsWhatIsInside(t *testing.T) {
	look := func(s *scene, now time.Duration) State { return s.Limiter.(Inspector).Inspect(now) }
	s := queueing(t)
	s.queue("b", 1, 1)
	s.queue("w", 1)
	s.order(2 * time.Second)
	if st := look(s, 2*time.Second); st.Waiting != 1 || st.Clients[0].Queued != 1 || st.Clients[1].Queued != 0 || st.VirtualTime != 0 ||
		st.Clients[0].Start != 1 || st.Clients[1].InFlight != 1 {
		t.Errorf("a fair queue with one waiting looks like %+v", st)
	}
	s = play(t, Config{Policy: Sharded, Rate: rate("100/s"), Burst: 20, Shards: 2, Routing: RoundRobin})
	s.admits(0, "w", 3)
	if st := look(s, 0); len(st.Shards) != 2 || st.Shards[0].Remaining != 7 || st.Shards[1].Remaining != 10 || st.Global[0].Remaining != 17 || st.Shards[0].Demand != 1 {
		t.Errorf("two shards look like %+v", st)
	}
	s = play(t, Config{Policy: PerClient, Rate: rate("100/s"), Burst: 20, Client: ClientLimit{Rate: rate("10/s"), Burst: 5}})
	s.admits(0, "w", 3)
	if st := look(s, 0); st.Clients[0].Own.Remaining != 2 || st.Clients[0].Own.Capacity != 5 || st.Global[0].Remaining != 17 || st.Clients[0].Name != "w" {
		t.Errorf("a client's own limit looks like %+v", st)
	}
	s = play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 20, Guarantee: rate("50/s")})
	s.admits(0, "w", 3)
	if st := look(s, 0); st.Clients[0].Own.Remaining != 17 || st.Clients[0].Own.Capacity != 20 {
		t.Errorf("a guaranteed client looks like %+v", st.Clients[0].Own)
	}
}
