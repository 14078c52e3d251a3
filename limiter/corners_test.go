package limiter

import (
	"testing"
	"time"
)

// Virtual time begins anew long before it could overflow, and nobody's turn changes.
func TestVirtualTimeBeginsAnewUnnoticed(t *testing.T) {
	s := queueing(t)
	s.queue("b", 1, 1, 1)
	s.queue("w", 1, 1, 1)
	st := s.Limiter.(*engine).rule.(*fairQueue).discipline.(*startTime)
	const far = 1<<62 - 1<<20
	st.v += far
	for i := range st.tags {
		st.tags[i].finish += far
	}
	for i := range st.heap {
		st.heap[i].key += far
	}
	if got := s.order(time.Hour); got != "bwbwbw" {
		t.Errorf("served %s, want them to take turns", got)
	}
	if st.v > 1<<61 {
		t.Error("virtual time did not begin anew")
	}
	before := queueing(t)
	before.queue("b", 1, 1)
	other := before.Limiter.(*engine).rule.(*fairQueue).discipline.(*startTime)
	before.order(time.Hour)
	other.v = 1<<62 + 5
	other.tags[0].finish = other.v + 7
	other.rebase()
	if other.v != 0 || other.tags[0].finish != 7 {
		t.Errorf("7 units ahead became %d ahead of %d", other.tags[0].finish, other.v)
	}
}

func TestRainBeginsAnewUnnoticed(t *testing.T) {
	s := play(t, Config{Policy: Hierarchical, Rate: rate("10/s"), Burst: 20})
	s.admits(0, "a", 7)
	s.admits(0, "b", 3)
	h := s.Limiter.(*engine).rule.(*hierarchical)
	h.v += 1 << 62
	for i := range h.byV.heap {
		h.byV.heap[i].key += 1 << 62
		h.buckets[h.byV.heap[i].client].atV += 1 << 62
	}
	h.advance(100 * time.Millisecond)
	if h.v > 1<<61 {
		t.Fatal("v did not begin anew")
	}
	// One token has fallen, half on each.
	for name, lacks := range map[string]float64{"a": 6.5, "b": 2.5} {
		spare, _ := h.lacks(s.clients[name])
		if got := float64(spare) / float64(h.token); got < lacks-1e-6 || got > lacks+1e-6 {
			t.Errorf("%s lacks %v tokens, want %v", name, got, lacks)
		}
	}
}

func TestADelayedAttemptMayBeTakenBack(t *testing.T) {
	s := play(t, Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("1/s"), Burst: 9})
	s.admits(0, "a", 1)
	var waiting []Attempt
	for range 6 {
		a, _ := s.attempt(0, "a", 1)
		waiting = append(waiting, a)
	}
	if s.Limiter.(Leaver).Leave(0, 0) {
		t.Error("a client left with attempts on their way")
	}
	if !s.Cancel(0, waiting[2]) || s.Cancel(0, waiting[2]) || s.Cancel(0, Attempt{ID: 999}) {
		t.Error("what waits can be taken back once, and nothing else")
	}
	var at []time.Duration
	s.settle(time.Hour, func(now time.Duration, _ Attempt, _ Decision) { at = append(at, now/time.Second) })
	if len(at) != 5 || at[2] != 4 || at[4] != 6 {
		t.Errorf("they left at %v s, want 1 2 4 5 6: the place stays counted", at)
	}
}

// A time to live that is shorter than the refill hands out a full burst again, under every policy.
func TestForgettingGivesTheLimitAway(t *testing.T) {
	for _, p := range Policies {
		cfg := Config{Policy: p, Rate: rate("1/h"), Burst: 5, ForgetAfter: time.Minute, Guarantee: rate("1/d"), Ceiling: rate("1/h"),
			Client: ClientLimit{Rate: rate("1/h"), Burst: 5, MaxInFlight: 100}, Queue: Queue{PerClient: 1, MaxWait: time.Second}}
		if p == Hierarchical {
			cfg.Ceiling = Rate{}
		}
		s := play(t, cfg)
		nothing := func(time.Duration, Attempt, Decision) {}
		first := s.admitted(0, "a", 9)
		s.settle(59*time.Second, nothing)
		early := s.admitted(59*time.Second, "a", 9)
		s.settle(3*time.Minute, nothing)
		if late := s.admitted(3*time.Minute, "a", 9); first != 5 || early != 0 || late != 5 {
			t.Errorf("%s: admitted %d, %d after 59 s, %d after two quiet minutes; want 5, 0, 5", p, first, early, late)
		}
	}
}

func TestWhoWaitsUnderNoPolicyMayStillGiveUp(t *testing.T) {
	s := queueing(t)
	a, _ := s.attempt(0, "a", 1)
	s.change(0, func(c *Config) { c.Policy = Global })
	if s.Limiter.(Leaver).Leave(0, a.Client) {
		t.Error("a client left with an attempt that waits for its answer")
	}
	if !s.Cancel(0, a) {
		t.Error("it cannot be taken back")
	}
	if _, ok := s.Due(); ok {
		t.Error("and yet something is due")
	}
}

func TestAConfigErrorNamesFieldAndRemedy(t *testing.T) {
	_, err := New(Config{Policy: Sharded, Rate: rate("100/s"), Burst: 5, Shards: 10})
	if want := "burst: 5 cannot be divided among 10 shards: each needs at least 1 token"; err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// The clients' own settings are taken on again when they change, also while something of theirs is owed.
func TestANewWeightCountsFromNowOn(t *testing.T) {
	s := play(t, Config{Policy: Hierarchical, Rate: rate("1000/s"), Burst: 100})
	for _, name := range []string{"0", "1"} {
		s.clients[name] = s.Join(0, Client{Name: name})
	}
	if got := s.press([]int64{3000, 3000}, nil, time.Second, 3*time.Second); !near(got, []float64{500, 500}, 0.02) {
		t.Errorf("alike they get %v", got)
	}
	s.Join(3*time.Second, Client{Name: "0", Weight: 3, Ceiling: rate("600/s")})
	got := make([]float64, 2)
	for i := range 12_000 {
		at := 3*time.Second + time.Duration(i)*time.Second/3000
		a, b := s.admitted(at, "0", 1), s.admitted(at, "1", 1)
		if at >= 5*time.Second { // the ceiling's own burst is spent, and its bucket is full
			got[0] += float64(a) / 2
			got[1] += float64(b) / 2
		}
	}
	if !near(got, []float64{600, 400}, 0.02) {
		t.Errorf("with weight 3, and a ceiling of 600/s that is below its share, they get %v", got)
	}
}
