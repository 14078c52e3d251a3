package limiter

import (
	"fmt"
	"testing"
	"time"
)

// Every limit is carried through every policy, not only the first.
func TestFurtherLimitsAreCarriedThroughShards(t *testing.T) {
	s := play(t, Config{Rate: rate("1000/s"), Burst: 1000, Inherit: AsIs, Bandwidths: []Bandwidth{{ID: "h", Rate: rate("10/h"), Burst: 10}, {Rate: rate("20/h"), Burst: 20}}})
	if got := s.admitted(0, "a", 50); got != 10 {
		t.Fatalf("%d within a limit of 10", got)
	}
	for i, change := range []func(*Config){
		func(c *Config) { c.Policy, c.Shards = Sharded, 2 },
		func(c *Config) { c.Shards = 5 },
		func(c *Config) { c.Keep = true },
		func(c *Config) { c.Keep, c.Policy = false, FairQueue },
		func(c *Config) { c.Policy = Hierarchical },
		func(c *Config) { c.Policy = Global },
	} {
		s.change(0, change)
		for range 50 {
			if a, d := s.attempt(0, "a", 1); d.Verdict == Admitted {
				t.Fatalf("change %d filled a limit", i)
			} else if d.Verdict == Queued {
				s.Cancel(0, a)
			}
		}
	}
}

// What clients hold of their own is kept while a policy is in force that does not ask for it.
func TestWalkingThroughPoliciesFillsNobodysBucket(t *testing.T) {
	for _, p := range []Policy{PerClient, Hierarchical} {
		cfg := Config{Policy: p, Rate: rate("100/h"), Burst: 1000, Inherit: AsIs, Client: ClientLimit{Rate: rate("10/h"), Burst: 10, MaxInFlight: 1000}}
		s := play(t, cfg)
		s.clients["b"] = s.Join(0, Client{Name: "b"})
		first := s.admitted(0, "a", 600)
		for _, between := range []Policy{FairQueue, Sharded, Concurrency, Global} {
			s.change(0, func(c *Config) { c.Policy = between })
			if s.Limiter.(Leaver).Leave(0, s.clients["a"]) {
				t.Errorf("a client left under %s that owes something to %s", between, p)
			}
			s.change(0, func(c *Config) { c.Policy = p })
			if again := s.admitted(0, "a", 600); again != 0 {
				t.Errorf("%s: %d, and %d more after a walk to %s and back", p, first, again, between)
			}
		}
	}
}

func TestAFreshClientIsAsGoodAsANewOne(t *testing.T) {
	for _, how := range []Inherit{Proportional, AsIs, Additive} {
		s := play(t, Config{Policy: PerClient, Rate: rate("1000/s"), Client: ClientLimit{Rate: rate("100/s"), Burst: 100}, Inherit: how})
		s.clients["a"] = s.Join(0, Client{Name: "a"})
		s.change(0, func(c *Config) { c.Client.Burst = 200 })
		s.clients["new"] = s.Join(0, Client{Name: "new"})
		if kept, made := s.remaining(0, "a", "client"), s.remaining(0, "new", "client"); kept != made {
			t.Errorf("%s: who stayed has %d, who came has %d", how, kept, made)
		}
	}
}

// What leaves a shaper after it began anew leaves at its rate, for what was delayed before counts.
func TestAShaperThatBeginsAnewCountsWhatWaits(t *testing.T) {
	s := play(t, Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("10/s"), Burst: 21})
	_, refused := shaped(s, 0, 30)
	if refused != 9 {
		t.Fatalf("%d refused", refused)
	}
	s.change(0, func(c *Config) { c.Inherit, c.Burst = Reset, 21 })
	for range 5 {
		s.attempt(0, "web", 1)
	}
	last := time.Duration(0)
	s.settle(time.Hour, func(at time.Duration, _ Attempt, _ Decision) {
		if at-last < 100*time.Millisecond {
			t.Errorf("two leave within %v", at-last)
		}
		last = at
	})
}

func TestWhatIsDelayedIsOnItsWay(t *testing.T) {
	s := play(t, Config{Policy: Concurrency, Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("10/s"), Burst: 20, Client: ClientLimit{MaxInFlight: 2}})
	accepted := 0
	for range 20 {
		if s.send(0, "a", 1).Verdict != Rejected {
			accepted++
		}
	}
	if accepted != 2 {
		t.Errorf("%d are in flight or will be, of at most 2", accepted)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	s := play(t, Config{Policy: FairQueue, Rate: rate("10/s"), Burst: 1})
	s.admits(0, "a", 1)
	for _, cost := range []int64{-1, -1 << 63} {
		s.rejects(0, "a", cost, ByGlobal, Never)
	}
	s.Release(0, Attempt{})
	if !s.Limiter.(Leaver).Leave(10*time.Second, 0) {
		t.Fatal("may not leave")
	}
	for _, client := range []int{0, 1, -1} {
		if d := s.Arrive(10*time.Second, Attempt{Client: client, Cost: 1}); d.Verdict != Rejected || d.Wait != Never {
			t.Errorf("handle %d, which is nobody's, got %+v", client, d)
		}
	}
}

func TestNobodyTakesBackWhatIsAnothers(t *testing.T) {
	s := play(t, Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("1/s"), Burst: 9})
	s.admits(0, "a", 1)
	a, _ := s.attempt(0, "a", 1)
	s.clients["b"] = s.Join(0, Client{Name: "b"})
	if s.Cancel(0, Attempt{Client: s.clients["b"], ID: a.ID}) {
		t.Error("b took back what a sent")
	}
}

// A look that comes late refuses nobody who could have passed in time.
func TestALateLookRefusesNobodyWhoWasDue(t *testing.T) {
	s := play(t, Config{Policy: FairQueue, Rate: rate("10/s"), Burst: 1, Queue: Queue{PerClient: 5, MaxWait: 250 * time.Millisecond}})
	s.admits(0, "a", 1)
	s.queue("a", 1)
	if _, d, ok := s.Settle(251 * time.Millisecond); !ok || d.Verdict != Admitted {
		t.Errorf("due at 100 ms, and at 251 ms it got %+v", d)
	}
}

// Whoever waits stays first through a policy that does not queue, and its patience goes on.
func TestWhoWaitedBeforeIsServedBefore(t *testing.T) {
	s := play(t, Config{Policy: FairQueue, Rate: rate("1/s"), Burst: 5, Initial: new(int64), Queue: Queue{PerClient: 10, MaxWait: 2 * time.Second}})
	old, _ := s.attempt(0, "a", 1)
	s.change(900*time.Millisecond, func(c *Config) { c.Policy = Global })
	s.change(900*time.Millisecond, func(c *Config) { c.Policy, c.Rate = FairQueue, rate("1/h") })
	if _, d := s.attempt(time.Second, "a", 1); d.Verdict != Queued {
		t.Errorf("who came later got %+v", d)
	}
	if at, ok := s.Due(); !ok || at != 2*time.Second {
		t.Errorf("the patience from 0 on ends at %v", at)
	}
	if a, d, ok := s.Settle(2 * time.Second); !ok || a.ID != old.ID || d.By != ByWait {
		t.Errorf("then %+v got %+v", a, d)
	}
}

// A shard whose part of the burst has become too small may be given a larger one: that is not never.
func TestAnExchangeTellsNobodyNever(t *testing.T) {
	s := play(t, Config{Policy: Sharded, Shards: 2, Routing: Pinned, Rate: rate("100/s"), Burst: 20, Exchange: time.Second})
	home := s.Limiter.(*engine).rule.(*sharded)
	var on [2]string
	for i := 0; on[0] == "" || on[1] == ""; i++ {
		name := fmt.Sprint(i)
		s.clients[name] = s.Join(0, Client{Name: name})
		on[home.home[s.clients[name]]] = name
	}
	s.admitted(0, on[0], 10)
	s.admitted(1, on[1], 1000)
	s.rejects(2*time.Second, on[0], 5, ByGlobal, time.Second)
	s.admits(3*time.Second+200*time.Millisecond, on[0], 1)
	s.admits(3*time.Second+200*time.Millisecond, on[0], 5)
	s.rejects(3*time.Second+200*time.Millisecond, on[0], 20, ByGlobal, Never) // the other keeps a token, whatever happens
}

func TestASlotThatWasPromisedIsRemembered(t *testing.T) {
	s := play(t, Config{Rate: rate("1/s"), Burst: 1, RetryAfter: RetrySlot})
	s.admits(0, "b", 1)
	d := s.send(0, "a", 1)
	if s.Limiter.(Leaver).Leave(0, s.clients["a"]) || s.send(0, "a", 1).Told != d.Told {
		t.Error("a client left its place, and would be given another")
	}
	if !s.Limiter.(Leaver).Leave(d.Told, s.clients["a"]) {
		t.Error("it may not leave when its moment has come")
	}
}

func TestGCRACountsToTheEndOfTime(t *testing.T) {
	const year = 365 * 24 * time.Hour
	s := play(t, Config{Algorithm: AlgorithmGCRA, Rate: rate("1/d"), Burst: 40000})
	s.admits(190*year, "a", 40000)
	s.rejects(190*year, "a", 1, ByGlobal, 24*time.Hour)
	s.rejects(290*year, "a", 40000, ByGlobal, 40000*24*time.Hour-100*year)
}

func TestReservingIsRefused(t *testing.T) {
	five := int64(5)
	if _, err := New(Config{Rate: rate("1/s"), MaxReserved: &five}); err == nil {
		t.Error("5 may be reserved, and nothing reserves")
	}
	if _, err := New(Config{Rate: rate("1/s"), MaxReserved: new(int64)}); err != nil {
		t.Error(err)
	}
	if err := (Rate{Tokens: 1<<60 + 1, Per: 1 << 60}).Check(); err == nil {
		t.Error("a rate a little above a token a nanosecond passes")
	}
}
