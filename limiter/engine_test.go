package limiter

import (
	"errors"
	"testing"
	"time"
)

// rate reads a rate that the test knows to be right.
func rate(s string) Rate {
	r, err := ParseRate(s)
	if err != nil {
		panic(err)
	}
	return r
}

// A scene is a limiter with clients, told as a story.
type scene struct {
	t *testing.T
	Limiter
	clients map[string]int
	ids     uint64
}

func play(t *testing.T, cfg Config, clients ...Client) *scene {
	t.Helper()
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, Limiter: l, clients: map[string]int{}}
	for _, c := range clients {
		s.clients[c.Name] = l.Join(0, c)
	}
	return s
}

// send is an attempt of a client, which joins if nobody knows it.
func (s *scene) send(now time.Duration, client string, cost int64) Decision {
	_, d := s.attempt(now, client, cost)
	return d
}

func (s *scene) attempt(now time.Duration, client string, cost int64) (Attempt, Decision) {
	h, ok := s.clients[client]
	if !ok {
		h = s.Join(now, Client{Name: client})
		s.clients[client] = h
	}
	s.ids++
	a := Attempt{Client: h, ID: s.ids, Cost: cost}
	return a, s.Arrive(now, a)
}

func (s *scene) admits(now time.Duration, client string, cost int64) {
	s.t.Helper()
	if d := s.send(now, client, cost); d.Verdict != Admitted {
		s.t.Errorf("at %v %s got %+v, want it admitted", now, client, d)
	}
}

func (s *scene) rejects(now time.Duration, client string, cost int64, by Reason, wait time.Duration) Decision {
	s.t.Helper()
	d := s.send(now, client, cost)
	if d.Verdict != Rejected || d.By != by || d.Wait != wait {
		s.t.Errorf("at %v %s got %+v, want it rejected by %v with a wait of %v", now, client, d, by, wait)
	}
	return d
}

// admitted counts how many of n attempts pass at one moment.
func (s *scene) admitted(now time.Duration, client string, n int) int {
	passed := 0
	for range n {
		if s.send(now, client, 1).Verdict == Admitted {
			passed++
		}
	}
	return passed
}

func TestAGlobalBucketServesWhoeverComesFirst(t *testing.T) {
	s := play(t, Config{Rate: rate("10/s"), Burst: 5})
	if got := s.admitted(0, "batch", 100); got != 5 {
		t.Errorf("batch got %d at once, want the burst of 5", got)
	}
	d := s.rejects(0, "web", 1, ByGlobal, 100*time.Millisecond)
	if d.Told != time.Second {
		t.Errorf("told %v, want 1s", d.Told)
	}
	s.rejects(100*time.Millisecond-1, "web", 1, ByGlobal, 1)
	s.admits(100*time.Millisecond, "web", 1)
	if d := s.rejects(time.Second, "web", 6, ByGlobal, Never); d.Told != 0 {
		t.Errorf("told %v of what never passes, want nothing", d.Told)
	}
}

func TestAClientsOwnLimitHoldsItBack(t *testing.T) {
	cfg := Config{Policy: PerClient, Rate: rate("100/s"), Burst: 20, Client: ClientLimit{Rate: rate("10/s"), Burst: 10}}
	s := play(t, cfg)
	if got := s.admitted(0, "batch", 50); got != 10 {
		t.Errorf("batch got %d, want its own burst of 10", got)
	}
	s.rejects(0, "batch", 1, ByClient, 100*time.Millisecond)
	if got := s.admitted(0, "web", 50); got != 10 {
		t.Errorf("web got %d, want 10: the batch's refusals must not have charged the cap", got)
	}
	s.rejects(0, "sync", 1, ByGlobal, 10*time.Millisecond) // the cap is spent, its own bucket is full
	// At 10 ms one token is there for all: the refused attempts of sync took nothing from its own.
	s.admits(10*time.Millisecond, "sync", 1)
	if q := s.Quotas(10*time.Millisecond, s.clients["sync"], nil); q[1].Name != "client" || q[1].Remaining != 9 {
		t.Errorf("quotas %+v, want sync's own bucket at 9, after the global one", q)
	}
}

func TestTheLongestWaitIsTold(t *testing.T) {
	cfg := Config{Policy: PerClient, Rate: rate("10/s"), Burst: 1, Client: ClientLimit{Rate: rate("10/s"), Burst: 1}}
	s := play(t, cfg)
	s.admits(0, "web", 1)
	s.rejects(0, "web", 1, ByClient, 100*time.Millisecond) // a tie goes to its own limit
	s.rejects(0, "sync", 1, ByGlobal, 100*time.Millisecond)
}

func TestConcurrencyCountsWhatIsInFlight(t *testing.T) {
	s := play(t, Config{Policy: Concurrency, Rate: rate("1000/s"), Client: ClientLimit{MaxInFlight: 2}})
	first, _ := s.attempt(0, "batch", 1)
	s.admits(0, "batch", 1)
	if d := s.send(0, "batch", 1); d.Verdict != Rejected || d.By != ByInFlight {
		t.Errorf("the third in flight got %+v", d)
	}
	s.admits(0, "web", 1)
	s.Release(time.Millisecond, first)
	s.admits(time.Millisecond, "batch", 1)
	if q := s.Quotas(time.Millisecond, 0, nil); q[0].Remaining != 997 {
		t.Errorf("%d tokens left, want 997: four admissions less a millisecond's token, and no refusal charged", q[0].Remaining)
	}
}

func TestTimeThatGoesBackIsNoTime(t *testing.T) {
	s := play(t, Config{Rate: rate("10/s"), Burst: 10})
	passed := 0
	for i := range 1000 {
		passed += s.admitted(time.Duration(i%2)*100*time.Millisecond, "web", 1)
	}
	if passed != 11 {
		t.Errorf("%d admitted, want the burst and one tenth of a second's token", passed)
	}
}

func TestIdleStateIsForgottenTooEarly(t *testing.T) {
	for _, c := range []struct {
		forget time.Duration
		want   int
	}{{0, 65}, {300 * time.Second, 200}} {
		s := play(t, Config{Rate: rate("1/60s"), Burst: 20, ForgetAfter: c.forget})
		passed := 0
		for round := range 10 {
			passed += s.admitted(time.Duration(round)*301*time.Second, "web", 20)
		}
		if passed != c.want {
			t.Errorf("forgotten after %v: %d admitted, want %d", c.forget, passed, c.want)
		}
	}
}

func TestAWrongConfigurationNamesItsField(t *testing.T) {
	good := Config{Rate: rate("100/s")}
	for _, c := range []struct {
		field  string
		change func(*Config)
	}{
		{"policy", func(c *Config) { c.Policy = "fair" }},
		{"rate", func(c *Config) { c.Rate = Rate{} }},
		{"burst", func(c *Config) { c.Burst = -1 }},
		{"client.rate", func(c *Config) { c.Policy = PerClient }},
		{"client.max_in_flight", func(c *Config) { c.Policy = Concurrency }},
		{"shape", func(c *Config) { c.Algorithm, c.Shape = AlgorithmSlidingLog, true }},
		{"refill", func(c *Config) { c.Algorithm, c.Refill = AlgorithmGCRA, Interval }},
		{"algorithm", func(c *Config) { c.Policy, c.Algorithm = Hierarchical, AlgorithmSlidingLog }},
		{"rate", func(c *Config) { c.Algorithm, c.Rate = AlgorithmFixedWindow, rate("1.39/s") }},
		{"burst", func(c *Config) { c.Rate, c.Burst = rate("1/d"), 1<<62 }},
		{"bandwidths[1].rate", func(c *Config) { c.Bandwidths = []Bandwidth{{Rate: rate("5/m")}, {}} }},
		{"queue.max_wait", func(c *Config) { c.Queue.MaxWait = -1 }},
		{"queue.per_client", func(c *Config) { c.Queue.PerClient = -1 }},
		{"client.burst", func(c *Config) { c.Client = ClientLimit{Rate: rate("1/s"), Burst: -1} }},
		{"client.max_in_flight", func(c *Config) { c.Client.MaxInFlight = -1 }},
		{"window", func(c *Config) { c.Window = -1 }},
		{"rate", func(c *Config) { c.Algorithm, c.Window = AlgorithmSlidingLog, 15*time.Millisecond }}, // one and a half tokens
		{"start", func(c *Config) { c.Start = -1 }},
		{"forget_after", func(c *Config) { c.ForgetAfter = -1 }},
		{"max_reserved", func(c *Config) { n := int64(-1); c.MaxReserved = &n }},
		{"initial", func(c *Config) { n := int64(101); c.Initial = &n }},
		{"initial", func(c *Config) { n := int64(1); c.Initial, c.Algorithm = &n, AlgorithmGCRA }},
		{"bandwidths[0].refill", func(c *Config) { c.Bandwidths = []Bandwidth{{Rate: rate("5/m"), Refill: "often"}} }},
		{"bandwidths[0].refill", func(c *Config) {
			c.Algorithm, c.Bandwidths = AlgorithmGCRA, []Bandwidth{{Rate: rate("5/m"), Refill: Interval}}
		}},
		{"bandwidths[1].id", func(c *Config) {
			c.Bandwidths = []Bandwidth{{ID: "a", Rate: rate("5/m")}, {ID: "a", Rate: rate("6/m")}}
		}},
		{"quantum", func(c *Config) { c.Quantum = -1 }},
		{"delay", func(c *Config) { c.Delay = -1 }},
		{"delay", func(c *Config) { c.Delay = 3 }},
		{"shape", func(c *Config) { c.Policy, c.Algorithm, c.Shape = FairQueue, AlgorithmLeakyBucket, true }},
		{"shards", func(c *Config) { c.Shards = -2 }},
		{"exchange", func(c *Config) { c.Exchange = -1 }},
		{"exchange", func(c *Config) { c.Policy, c.Keep, c.Exchange = Sharded, true, time.Second }},
		{"exchange", func(c *Config) { c.Policy, c.Routing, c.Exchange = Sharded, TwoChoicesCombine, time.Second }},
		{"routing", func(c *Config) { c.Policy, c.Algorithm, c.Routing = Sharded, AlgorithmGCRA, TwoChoicesCombine }},
		{"burst", func(c *Config) { c.Policy, c.Shards, c.Burst = Sharded, 7, 6 }},
		{"rate", func(c *Config) { c.Policy, c.Algorithm, c.Shards = Sharded, AlgorithmFixedWindow, 101 }},
		{"guarantee", func(c *Config) { c.Guarantee = Rate{Tokens: -1, Per: 1} }},
		{"guarantee", func(c *Config) { c.Policy, c.Guarantee = Hierarchical, rate("101/s") }},
		{"ceiling", func(c *Config) { c.Guarantee, c.Ceiling = rate("50/s"), rate("49/s") }},
		{"refill", func(c *Config) { c.Policy, c.Refill = Hierarchical, Interval }},
		{"burst", func(c *Config) { c.Policy, c.Rate, c.Burst = Hierarchical, rate("999999937/s"), 1<<40 }},
	} {
		cfg := good
		c.change(&cfg)
		_, err := New(cfg)
		var wrong *ConfigError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%+v\nis refused with %v, want the field %q", cfg, err, c.field)
		}
	}
}
