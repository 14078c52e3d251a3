package limiter

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// remaining is what the tightest limit of that name has left for the client.
func (s *scene) remaining(now time.Duration, client, name string) int64 {
	s.t.Helper()
	for _, q := range s.Quotas(now, s.clients[client], nil) {
		if q.Name == name {
			return q.Remaining
		}
	}
	s.t.Fatalf("%s has no limit %q", client, name)
	return 0
}

func (s *scene) change(now time.Duration, change func(*Config)) {
	s.t.Helper()
	cfg := s.Config()
	change(&cfg)
	if err := s.Reconfigure(now, cfg); err != nil {
		s.t.Fatal(err)
	}
}

func TestTokensAreCarriedOverByStrategy(t *testing.T) {
	for _, a := range []Algorithm{AlgorithmTokenBucket, AlgorithmGCRA, AlgorithmLeakyBucket} {
		for how, want := range map[Inherit][2]int64{Proportional: {80, 8}, AsIs: {40, 20}, Additive: {140, 20}, Reset: {200, 20}} {
			for i, burst := range []int64{200, 20} {
				s := play(t, Config{Algorithm: a, Rate: rate("1/h"), Burst: 100})
				s.admits(0, "web", 60)
				s.change(0, func(c *Config) { c.Burst, c.Inherit = burst, how })
				if got := s.remaining(0, "web", "global"); got != want[i] {
					t.Errorf("%s, %s: 40 of 100 become %d of %d, want %d", a, how, got, burst, want[i])
				}
			}
		}
	}
}

func TestBandwidthsPairByID(t *testing.T) {
	band := func(id string, burst int64) []Bandwidth {
		return []Bandwidth{{ID: id, Rate: rate("20/h"), Burst: burst}}
	}
	for id, want := range map[string]int64{"hour": 30, "other": 40} {
		s := play(t, Config{Rate: rate("1000/s"), Burst: 1000, Bandwidths: band("hour", 20)})
		s.admits(0, "web", 5)
		s.change(0, func(c *Config) { c.Bandwidths = band(id, 40) })
		if got := s.Quotas(0, 0, nil)[0].Remaining; got != want {
			t.Errorf("15 of 20 under the id %q become %d of 40, want %d", id, got, want)
		}
	}
}

func TestAWrongChangeChangesNothing(t *testing.T) {
	s := play(t, Config{Rate: rate("10/s"), Burst: 10})
	s.admits(0, "web", 4)
	before := s.Config()
	bad := before
	bad.Rate = Rate{}
	if err := s.Reconfigure(0, bad); err == nil {
		t.Error("a limiter without a rate was accepted")
	}
	if !reflect.DeepEqual(before, s.Config()) || s.remaining(0, "web", "global") != 6 {
		t.Error("a refused change changed something")
	}
}

// What a change does not touch goes on as if nothing had happened.
func TestAnUntouchedLimitKeepsItsVeryCount(t *testing.T) {
	for _, a := range Algorithms {
		s := play(t, Config{Policy: PerClient, Algorithm: a, Rate: rate("10/s"), Burst: 10, Client: ClientLimit{Rate: rate("5/s"), Burst: 5}})
		s.admits(0, "web", 1)
		s.admits(50*time.Millisecond, "web", 1)
		wait := s.send(60*time.Millisecond, "web", 5).Wait
		s.change(60*time.Millisecond, func(c *Config) { c.RetryAfter = RetryAdaptive })
		if got := s.send(60*time.Millisecond, "web", 5); got.Wait != wait {
			t.Errorf("%s: the wait was %v and became %v", a, wait, got.Wait)
		}
	}
}

// Whoever waits in a fair queue stays in line under another discipline, and is answered when nobody queues any more.
func TestWhoWaitsIsNotForgottenByAChange(t *testing.T) {
	s := queueing(t)
	s.queue("b", 1, 1, 1)
	s.queue("w", 1)
	s.change(0, func(c *Config) { c.Order = FIFO })
	if got := s.order(2 * time.Second); got != "bb" {
		t.Errorf("in one line served %s, want bb", got)
	}
	s.change(2*time.Second, func(c *Config) { c.Order = StartTime })
	if got := s.order(3 * time.Second); got != "b" {
		t.Errorf("served %s, want b", got)
	}
	s.change(3*time.Second, func(c *Config) { c.Policy = Global })
	ends := 0
	s.settle(3*time.Second, func(_ time.Duration, a Attempt, d Decision) {
		ends++
		if a.Client != s.clients["w"] || d.Verdict != Rejected || d.By != ByGlobal || d.Wait != time.Second {
			t.Errorf("%+v was answered %+v", a, d)
		}
	})
	if _, more := s.Due(); ends != 1 || more {
		t.Errorf("%d were answered, more to come: %v", ends, more)
	}
}

func TestADelayedAttemptLeavesWhateverChanges(t *testing.T) {
	s := play(t, Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("1/s"), Burst: 5})
	s.admits(0, "web", 1)
	s.queue("web", 1, 1)
	s.change(0, func(c *Config) { c.Algorithm, c.Shape = AlgorithmTokenBucket, false })
	if got := s.order(2 * time.Second); got != "webweb" {
		t.Errorf("left %q, want both", got)
	}
	if _, more := s.Due(); more {
		t.Error("somebody never left")
	}
}

func TestInFlightIsKnownToEveryPolicy(t *testing.T) {
	s := play(t, Config{Rate: rate("1000/s"), Client: ClientLimit{MaxInFlight: 2}})
	a, _ := s.attempt(0, "web", 1)
	s.admits(0, "web", 1)
	s.change(0, func(c *Config) { c.Policy = Concurrency })
	if d := s.send(0, "web", 1); d.By != ByInFlight {
		t.Errorf("a third in flight got %+v", d)
	}
	s.Release(0, a)
	s.admits(0, "web", 1)
}

// drawConfig is a configuration that makes sense, of any policy and algorithm.
func drawConfig(rt *rapid.T) Config {
	for {
		c := Config{
			Policy:    rapid.SampledFrom(Policies).Draw(rt, "policy"),
			Algorithm: rapid.SampledFrom(Algorithms).Draw(rt, "algorithm"),
			Rate:      rapid.SampledFrom([]Rate{rate("10/s"), rate("100/s"), rate("60/m"), rate("17/30s")}).Draw(rt, "rate"),
			Burst:     rapid.Int64Range(8, 50).Draw(rt, "burst"),
			Client:    ClientLimit{Rate: rate("5/s"), Burst: 10, MaxInFlight: 2},
			Shards:    rapid.IntRange(1, 4).Draw(rt, "shards"),
			Order:     rapid.SampledFrom([]Discipline{StartTime, DeficitRound, FIFO}).Draw(rt, "order"),
			Inherit:   rapid.SampledFrom([]Inherit{Proportional, AsIs, Additive}).Draw(rt, "inherit"),
		}
		if rapid.Bool().Draw(rt, "exchanges") {
			c.Exchange = 100 * time.Millisecond
		}
		c.Routing = rapid.SampledFrom([]Routing{Random, Pinned, TwoChoices}).Draw(rt, "routing")
		if c.Algorithm == AlgorithmLeakyBucket {
			c.Shape = rapid.Bool().Draw(rt, "shape")
		}
		if c.Check() == nil {
			return c
		}
	}
}

// A change of anything never grants the global limit more than its strategy says, and loses no attempt.
func TestNoChangeMintsTokens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := play(t, drawConfig(rt))
		now, sent, ended := time.Duration(0), 0, 0
		end := func(_ time.Duration, a Attempt, d Decision) {
			ended++
			if d.Verdict == Admitted {
				s.Release(now, a)
			}
		}
		for range rapid.IntRange(1, 8).Draw(rt, "changes") {
			for range rapid.IntRange(0, 40).Draw(rt, "attempts") {
				now += time.Duration(rapid.Int64Range(0, 50e6).Draw(rt, "pause"))
				s.settle(now, end)
				sent++
				a, d := s.attempt(now, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "client"), rapid.Int64Range(1, 3).Draw(rt, "cost"))
				if d.Verdict != Queued {
					end(now, a, d)
				}
			}
			cfg := drawConfig(rt)
			if rapid.IntRange(0, 2).Draw(rt, "a small change") == 0 {
				cfg = s.Config()
				cfg.Burst = rapid.Int64Range(8, 50).Draw(rt, "new burst")
			}
			inside := s.Limiter.(Inspector).Inspect(now)
			before, counted := inside.Global[0], int64(max(1, len(inside.Shards)))
			if err := s.Reconfigure(now, cfg); err != nil {
				rt.Fatal(err)
			}
			after := s.Limiter.(Inspector).Inspect(now).Global[0]
			// Parts of a token are carried too, between token buckets, of each shard.
			held := min(before.Remaining+counted, before.Capacity)
			if most := grant(cfg.Inherit, held, before.Capacity, after.Capacity); after.Remaining > most {
				rt.Fatalf("%s: %d of %d became %d of %d, more than %d; now %+v", cfg.Inherit, before.Remaining, before.Capacity, after.Remaining, after.Capacity, most, cfg)
			}
		}
		s.settle(Never, end)
		if ended != sent {
			rt.Fatalf("%d attempts, %d ends", sent, ended)
		}
	})
}

func TestWhoHasNothingToRememberMayLeave(t *testing.T) {
	for _, p := range Policies {
		cfg := Config{Policy: p, Rate: rate("10/s"), Burst: 10, Client: ClientLimit{Rate: rate("2/s"), Burst: 4, MaxInFlight: 3}, Guarantee: rate("1/s"), Ceiling: rate("5/s")}
		s := play(t, cfg)
		leave := s.Limiter.(Leaver).Leave
		a, _ := s.attempt(0, "web", 2)
		if leave(0, a.Client) {
			t.Errorf("%s: left with an attempt in flight", p)
		}
		s.Release(0, a)
		fresh := p != PerClient && p != Hierarchical // which owe it nothing, and it owes them nothing
		fresh = fresh && p != FairQueue              // where its finish is ahead of virtual time
		fresh = fresh && p != Concurrency            // which remembers how often its attempts end
		if got := leave(0, a.Client); got != fresh {
			t.Errorf("%s: left %v at once, want %v", p, got, fresh)
		}
		if !fresh && !leave(10*time.Second, a.Client) {
			t.Errorf("%s: may not leave when it has all its tokens again", p)
		}
		if h := s.Join(10*time.Second, Client{Name: "other"}); h != a.Client {
			t.Errorf("%s: the handle %d was not used again, but %d", p, a.Client, h)
		}
	}
}

// The keys of the screen walk through all policies and algorithms while clients send: each step is taken or refused with a reason, and nobody is lost.
func TestAWalkThroughAllPoliciesAndAlgorithms(t *testing.T) {
	s := play(t, Config{Rate: rate("100/s"), Burst: 20, Client: ClientLimit{Rate: rate("30/s"), Burst: 10, MaxInFlight: 3}, Guarantee: rate("10/s"), Shards: 2})
	now, sent, ended := time.Duration(0), 0, 0
	end := func(at time.Duration, a Attempt, d Decision) {
		ended++
		if d.Verdict == Admitted {
			s.Release(at, a)
		}
	}
	for _, p := range Policies {
		for _, a := range Algorithms {
			cfg := s.Config()
			cfg.Policy, cfg.Algorithm = p, a
			if err := s.Reconfigure(now, cfg); (err == nil) != (Compatible(p, a) == nil) {
				t.Errorf("%s with %s: %v", p, a, err)
			}
			before := ended
			for i := range 100 {
				now += 5 * time.Millisecond
				s.settle(now, end)
				sent++
				if at, d := s.attempt(now, []string{"a", "b", "c"}[i%3], 1); d.Verdict != Queued {
					end(now, at, d)
				}
			}
			if ended == before {
				t.Errorf("%s with %s: nobody was answered", p, a)
			}
		}
	}
	s.settle(Never, end)
	if sent != ended {
		t.Errorf("%d attempts, %d ends", sent, ended)
	}
}

func TestWhatIsOwedIsKeptUnderOtherTerms(t *testing.T) {
	s := play(t, Config{Policy: Hierarchical, Rate: rate("10/s"), Burst: 40, Guarantee: rate("2/s"), Ceiling: rate("8/s")})
	s.clients["b"] = s.Join(0, Client{Name: "b"})
	s.admits(0, "a", 8) // all that the ceiling lets it have at once
	s.change(0, func(c *Config) { c.Rate, c.Burst = rate("20/s"), 80 })
	if got := s.remaining(0, "a", "client"); got < 1 {
		t.Errorf("a has %d left of its own after the burst was doubled", got)
	}
	s.rejects(0, "a", 1, ByClient, 125*time.Millisecond) // the ceiling's bucket is as empty as before
	if got := s.remaining(0, "b", "global"); got != 64 {
		t.Errorf("8 of 40 spent became %d left of 80, want 64", got)
	}
}

func TestShardsKeepOrShareOutWhatTheyHeld(t *testing.T) {
	s := play(t, Config{Policy: Sharded, Rate: rate("12/h"), Burst: 12, Shards: 2, Routing: RoundRobin, Inherit: AsIs})
	s.admits(0, "a", 4)
	inside := func() (left []int64) {
		for _, l := range s.Limiter.(Inspector).Inspect(0).Shards {
			left = append(left, l.Remaining)
		}
		return left
	}
	s.change(0, func(c *Config) { c.RetryAfter = RetrySlot })
	if got := inside(); got[0] != 2 || got[1] != 6 {
		t.Errorf("two shards stay two and hold %v, want 2 and 6", got)
	}
	s.change(0, func(c *Config) { c.Shards = 4 })
	if got := inside(); len(got) != 4 || got[0] != 2 || got[3] != 2 {
		t.Errorf("the 8 that two held are held by four as %v, want 2 each", got)
	}
	s.change(0, func(c *Config) { c.Policy = Global })
	if got := s.remaining(0, "a", "global"); got != 8 {
		t.Errorf("back in one bucket there are %d, want 8", got)
	}
}
