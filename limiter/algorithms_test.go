package limiter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// counterOf is a new counter at 0.
func counterOf(t testing.TB, s spec) Counter {
	t.Helper()
	f, err := s.form()
	if err != nil {
		t.Fatal(err)
	}
	return f.one(0)
}

// try takes when it may.
func try(c Counter, now time.Duration, cost int64) bool {
	if c.Wait(now, cost) > 0 {
		return false
	}
	c.Take(now, cost)
	return true
}

func seconds(s float64) time.Duration { return time.Duration(s*1e9 + 0.5) }

// One a second with a limit of five. Never as the last figure means never, and 0 that it passed.
func TestGCRA(t *testing.T) {
	c := counterOf(t, spec{algorithm: AlgorithmGCRA, rate: rate("1/s"), burst: 5})
	for i, step := range []struct {
		at           float64
		cost         int64
		remaining    int64
		reset, retry float64
	}{
		{0, 6, 5, 0, -1},
		{0, 1, 4, 1, 0}, {0, 1, 3, 2, 0}, {0, 1, 2, 3, 0}, {0, 1, 1, 4, 0}, {0, 1, 0, 5, 0},
		{0, 1, 0, 5, 1},
		{3, 0, 3, 2, 0}, // cost 0 only looks
		{3, 1, 2, 3, 0}, {3.1, 1, 1, 3.9, 0}, {4, 1, 1, 4, 0}, {8, 1, 4, 1, 0}, {9.5, 1, 4, 1, 0},
		{9.5, 2, 2, 3, 0}, {9.5, 5, 2, 3, 3},
	} {
		now, want := seconds(step.at), seconds(step.retry)
		if step.retry < 0 {
			want = Never
		}
		wait := c.Wait(now, step.cost)
		try(c, now, step.cost)
		if wait != want || c.Remaining(now) != step.remaining || c.Reset(now) != seconds(step.reset) {
			t.Errorf("step %d: at %v cost %d: wait %v, remaining %d, reset %v; want %+v", i, now, step.cost, wait, c.Remaining(now), c.Reset(now), step)
		}
	}
}

func TestGCRAOfThreeASecondIsExact(t *testing.T) {
	c := counterOf(t, spec{algorithm: AlgorithmGCRA, rate: rate("3/s"), burst: 1})
	now := time.Duration(0)
	for range 3 * 1000 {
		if !try(c, now, 1) {
			t.Fatalf("at %v refused", now)
		}
		now += c.Wait(now, 1)
	}
	// A third of a second is rounded up where somebody waits for it; over a thousand seconds nothing adds up.
	if late := now - 1000*time.Second; late < 0 || late > 3000 {
		t.Errorf("3000 tokens took %v", now)
	}
	whole := counterOf(t, spec{algorithm: AlgorithmGCRA, rate: rate("3/s"), burst: 3000})
	whole.Take(0, 3000)
	if got := whole.Reset(0); got != 1000*time.Second {
		t.Errorf("3000 at 3/s lie %v ahead, want 1000 s to the nanosecond", got)
	}
}

func TestALeakyMeterDrainsHoweverOftenItIsAsked(t *testing.T) {
	c := counterOf(t, spec{algorithm: AlgorithmLeakyBucket, rate: rate("1/s"), burst: 3})
	for range 3 {
		try(c, 0, 1)
	}
	for at := time.Duration(0); at < time.Second; at += 10 * time.Millisecond {
		if try(c, at, 1) {
			t.Fatalf("at %v a fourth was admitted", at)
		}
		c.Take(at, 0) // and even if asking moved its time
	}
	if w := c.Wait(time.Second-1, 1); w != 1 {
		t.Errorf("a nanosecond before the first slot is free the wait is %v", w)
	}
	if !try(c, time.Second, 1) {
		t.Error("after a second a slot is free")
	}
}

// shaped sends n at one moment and returns when each leaves, as offsets from then, and how many were refused.
func shaped(s *scene, now time.Duration, n int) (leave []time.Duration, refused int) {
	sent := map[uint64]bool{}
	for range n {
		switch a, d := s.attempt(now, "web", 1); d.Verdict {
		case Admitted:
			leave = append(leave, 0)
		case Queued:
			sent[a.ID] = true
		default:
			refused++
		}
	}
	s.settle(Never, func(at time.Duration, a Attempt, d Decision) {
		if sent[a.ID] && d.Verdict == Admitted {
			leave = append(leave, at-now)
		}
	})
	return leave, refused
}

func TestAShaperDelaysWhatItAdmits(t *testing.T) {
	cfg := Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("5/s"), Burst: 50}
	s := play(t, cfg)
	for range 30 {
		s.send(0, "web", 1)
	}
	more, refused := shaped(s, 0, 50)
	if len(more) != 20 || refused != 30 {
		t.Errorf("of a second burst of 50 %d were accepted and %d refused, want 20 and 30", len(more), refused)
	}
	if first := more[0]; first != 6*time.Second {
		t.Errorf("the 31st leaves after %v, want 6s: the 30th at 5.8", first)
	}
	first, _ := shaped(play(t, cfg), 0, 30)
	if last := first[29]; last != 5800*time.Millisecond {
		t.Errorf("the 30th leaves after %v, want 5.8s", last)
	}
	six, _ := shaped(play(t, Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: rate("1/s"), Burst: 21}), 0, 6)
	if want := []time.Duration{0, 1e9, 2e9, 3e9, 4e9, 5e9}; !slices.Equal(six, want) {
		t.Errorf("six leave at %v, want %v", six, want)
	}
}

// What leaves a shaper is even: within any time T no more than one attempt's cost beyond rate × T.
func TestWhatLeavesAShaperIsEven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom([]Rate{rate("10/s"), rate("3/s"), rate("17/30s")}).Draw(rt, "rate")
		s := play(t, Config{Algorithm: AlgorithmLeakyBucket, Shape: true, Rate: r, Burst: 20})
		type left struct {
			at   time.Duration
			cost int64
		}
		var log []left
		leaves := func(at time.Duration, a Attempt, d Decision) {
			if d.Verdict != Admitted {
				return
			}
			log = append(log, left{at, a.Cost})
			sum := -a.Cost // the last one may leave now, and be leaking still
			for i := len(log) - 1; i >= 0; i-- {
				sum += log[i].cost
				if most := r.PerSecond()*(at-log[i].at).Seconds() + 1e-6; float64(sum) > most {
					rt.Fatalf("%d tokens left within %v, and then one more", sum, at-log[i].at)
				}
			}
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(rt, "attempts") {
			now += time.Duration(rapid.Int64Range(0, 1e9).Draw(rt, "pause"))
			s.settle(now, leaves)
			a, d := s.attempt(now, "web", rapid.Int64Range(1, 4).Draw(rt, "cost"))
			leaves(now, a, d)
		}
		s.settle(Never, leaves)
	})
}

// nginx with 10 r/s, burst 20 and delay 8, asked 25 times at once.
func TestAShaperWithAThresholdDoesWhatNginxDoes(t *testing.T) {
	cfg := Config{Policy: PerClient, Rate: rate("1000/s"), Burst: 1000, Algorithm: AlgorithmLeakyBucket, Shape: true, Delay: 8,
		Client: ClientLimit{Rate: rate("10/s"), Burst: 21}}
	leave, refused := shaped(play(t, cfg), 0, 25)
	want := make([]time.Duration, 9)
	for i := range 12 {
		want = append(want, time.Duration(i+1)*100*time.Millisecond)
	}
	if !slices.Equal(leave, want) || refused != 4 {
		t.Errorf("they leave at %v and %d are refused, want %v and 4", leave, refused, want)
	}
}

func TestWhatAWindowPermitsAtItsEdge(t *testing.T) {
	for algorithm, want := range map[Algorithm]int{AlgorithmFixedWindow: 200, AlgorithmSlidingLog: 100, AlgorithmSlidingWindow: 100} {
		s := play(t, Config{Algorithm: algorithm, Rate: rate("100/s")})
		if got := s.admitted(999_999_999, "web", 100) + s.admitted(time.Second, "web", 100); got != want {
			t.Errorf("%s admits %d round the edge, want %d", algorithm, got, want)
		}
	}
	s := play(t, Config{Algorithm: AlgorithmGCRA, Rate: rate("100/s"), Burst: 10})
	if a, b := s.admitted(0, "web", 100), s.admitted(time.Second, "web", 100); a != 10 || b != 10 {
		t.Errorf("gcra admits %d and %d, want its burst of 10 each time", a, b)
	}
}

func TestASlidingLogForgetsAtTheAgeOfTheWindow(t *testing.T) {
	c := counterOf(t, spec{algorithm: AlgorithmSlidingLog, rate: rate("3/s")})
	try(c, 0, 1)
	try(c, seconds(0.5), 2)
	for range 100 {
		try(c, seconds(0.6), 1) // refusals leave no trace
	}
	if w := c.Wait(seconds(0.6), 1); w != seconds(0.4) {
		t.Errorf("wait for one %v, want until the first entry is a second old", w)
	}
	if w := c.Wait(seconds(0.6), 2); w != seconds(0.9) {
		t.Errorf("wait for two %v, want until the second entry is a second old", w)
	}
	if try(c, time.Second-1, 1) || !try(c, time.Second, 1) {
		t.Error("an entry leaves at the age of one second exactly")
	}
}

func TestTwoCountersSlideAWindow(t *testing.T) {
	c := counterOf(t, spec{algorithm: AlgorithmSlidingWindow, rate: rate("100/s")})
	c.Take(seconds(0.5), 80)
	for _, step := range []struct {
		at        float64
		remaining int64
		cost      int64
		wait      float64
	}{
		{1.0, 20, 20, 0}, {1.0, 20, 21, 0.0125}, {1.25, 40, 40, 0}, {1.5, 60, 100, 0.5}, {2, 100, 100, 0},
	} {
		if got := c.Remaining(seconds(step.at)); got != step.remaining {
			t.Errorf("at %v s %d remain, want %d", step.at, got, step.remaining)
		}
		if got := c.Wait(seconds(step.at), step.cost); got != seconds(step.wait) {
			t.Errorf("at %v s %d need %v, want %v s", step.at, step.cost, got, step.wait)
		}
	}
}

// A window that begins later than the run shifts all edges.
func TestAFixedWindowBeginsWhereItIsTold(t *testing.T) {
	s := play(t, Config{Algorithm: AlgorithmFixedWindow, Rate: rate("10/m"), Start: 15 * time.Second})
	s.admits(0, "web", 10)
	s.rejects(0, "web", 1, ByGlobal, 15*time.Second)
	s.admits(15*time.Second, "web", 10)
	s.rejects(15*time.Second, "web", 1, ByGlobal, time.Minute)
	s.rejects(15*time.Second, "web", 11, ByGlobal, Never)
}

func TestSeveralBandwidthsAreAllAskedAndAllCharged(t *testing.T) {
	for _, a := range Algorithms {
		s := play(t, Config{Algorithm: a, Rate: rate("10/s"), Burst: 10, Bandwidths: []Bandwidth{{ID: "minute", Rate: rate("15/m"), Burst: 15}}})
		if got := s.admitted(0, "web", 100); got != 10 {
			t.Errorf("%s: %d at once, want the smaller burst of 10", a, got)
		}
		if got := s.admitted(2*time.Second, "web", 100); got != 5 {
			t.Errorf("%s: then %d, want what the minute has left: refusals by the first must not have charged it", a, got)
		}
	}
}

// a drawn spec of any algorithm, with rates from one per day to a thousand million a second.
func drawSpec(rt *rapid.T) spec {
	r := rapid.SampledFrom([]string{"1/d", "17/30s", "7/m", "1/s", "3/s", "10/s", "999/s", "100/72s", "1000003/s", "1000000000/s"}).Draw(rt, "rate")
	a := rapid.SampledFrom(Algorithms).Draw(rt, "algorithm")
	s := spec{algorithm: a, rate: rate(r), burst: rapid.Int64Range(1, 40).Draw(rt, "burst"), initial: full}
	if a == AlgorithmTokenBucket {
		s.refill = rapid.SampledFrom([]Refill{Greedy, Interval, Aligned}).Draw(rt, "refill")
	}
	if rapid.Bool().Draw(rt, "starts later") {
		s.start = time.Duration(rapid.Int64Range(0, int64(s.rate.Per)).Draw(rt, "start"))
	}
	return s
}

// bound is the most that a limit lets pass within any time of length T, as its doc comment says.
func (f form) bound(t time.Duration) float64 {
	flow := f.rate.PerSecond() * t.Seconds()
	windows := float64(t / max(f.window, f.rate.Per))
	switch f.algorithm {
	case AlgorithmFixedWindow, AlgorithmSlidingWindow:
		return float64(f.capacity) * (windows + 2)
	case AlgorithmSlidingLog:
		return float64(f.capacity) * (windows + 1)
	}
	if f.refill == Interval || f.refill == Aligned {
		flow += float64(f.rate.Tokens)
	}
	return float64(f.capacity) + flow
}

// For every algorithm: what passes stays within its bound over every stretch of the run, waits are exact, refusals and looks change
// nothing, time that goes back changes nothing, and what is fresh answers like new.
func TestEveryAlgorithmKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSpec(rt)
		f, err := s.form()
		if err != nil {
			rt.Skip(err)
		}
		c := f.one(0)
		type passed struct {
			at   time.Duration
			cost int64
		}
		var log []passed
		now := time.Duration(0)
		pause := f.rate.Per/time.Duration(f.rate.Tokens) + 1
		pass := func(cost int64) {
			log = append(log, passed{now, cost})
			sum := 0.0
			for i := len(log) - 1; i >= 0; i-- {
				sum += float64(log[i].cost)
				if span := now - log[i].at; sum > f.bound(span)*(1+1e-12)+1e-6 {
					rt.Fatalf("%+v: %v tokens within %v, more than %v", s, sum, span, f.bound(span))
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if rapid.IntRange(0, 9).Draw(rt, "a long pause") == 0 {
				now += time.Duration(rapid.Int64Range(0, int64(2*f.rate.Per)).Draw(rt, "idle"))
			} else {
				now += time.Duration(rapid.Int64Range(0, int64(3*pause)).Draw(rt, "pause"))
			}
			cost := rapid.Int64Range(1, f.capacity+1).Draw(rt, "cost")
			if f.capacity > 100 {
				cost = rapid.Int64Range(1, 100).Draw(rt, "small cost")
			}
			left, reset := c.Remaining(now), c.Reset(now)
			wait := c.Wait(now, cost)
			if again := c.Wait(now, cost); again != wait || c.Remaining(now) != left || c.Reset(now) != reset {
				rt.Fatalf("%+v: looking changed something", s)
			}
			if wait == 0 != (cost <= left) {
				rt.Fatalf("%+v: %d remain, and %d need %v", s, left, cost, wait)
			}
			if (wait == Never) != (cost > f.capacity) {
				rt.Fatalf("%+v: cost %d needs %v", s, cost, wait)
			}
			if wait == Never {
				continue
			}
			if wait > 0 {
				if w := c.Wait(now+wait-1, cost); w != 1 {
					rt.Fatalf("%+v: at %v a wait of %v, a nanosecond before its end still %v", s, now, wait, w)
				}
				if w := c.Wait(now+wait, cost); w != 0 {
					rt.Fatalf("%+v: at %v a wait of %v, at its end still %v", s, now, wait, w)
				}
				if rapid.Bool().Draw(rt, "gives up") {
					continue
				}
				now += wait
			}
			c.Take(now, cost)
			pass(cost)
			if back := time.Duration(rapid.Int64Range(1, int64(pause)).Draw(rt, "back")); back < now && f.algorithm != AlgorithmFixedWindow {
				if got := c.Remaining(now - back); got > c.Remaining(now) {
					rt.Fatalf("%+v: going back %v gives %d tokens where there were %d", s, back, got, c.Remaining(now))
				}
			}
		}
		if r := c.Reset(now); r < Never && s.refill != Interval && s.refill != Aligned {
			if !c.Fresh(now + r) {
				rt.Fatalf("%+v: not fresh after its reset of %v", s, r)
			}
			if got := c.Remaining(now + r); got != f.capacity {
				rt.Fatalf("%+v: %d remain after its reset, want %d", s, got, f.capacity)
			}
		}
	})
}

// A burst of 17 and 17 every 30 s, tried twice a second for 30 s.
func TestWhatABurstIs(t *testing.T) {
	for _, a := range []Algorithm{AlgorithmTokenBucket, AlgorithmGCRA, AlgorithmLeakyBucket} {
		s := play(t, Config{Algorithm: a, Rate: rate("17/30s"), Burst: 17})
		passed := 0
		for i := range 60 {
			passed += s.admitted(time.Duration(i)*time.Second/2, "web", 1)
		}
		if passed != 33 {
			t.Errorf("%s: %d admitted, want 33", a, passed)
		}
	}
}

// Ten per ten minutes, asked twice a minute: refusals are not counted, so the rate gets through.
func TestRefusalsAreNeverCounted(t *testing.T) {
	for _, a := range Algorithms {
		s := play(t, Config{Algorithm: a, Rate: rate("10/10m"), Burst: 1})
		passed := 0
		for i := range 20 {
			passed += s.admitted(time.Duration(i)*30*time.Second, "web", 1)
		}
		if passed != 10 {
			t.Errorf("%s: %d of 20 admitted, want 10", a, passed)
		}
	}
}

func ExampleNew() {
	l, err := New(Config{Policy: PerClient, Rate: PerSecond(1000), Client: ClientLimit{Rate: PerSecond(250), Burst: 1}})
	if err != nil {
		panic(err)
	}
	web := l.Join(0, Client{Name: "web"})
	for id := range 2 {
		d := l.Arrive(0, Attempt{Client: web, ID: uint64(id), Cost: 1})
		fmt.Println(d.Verdict == Admitted, d.By, d.Wait, d.Told)
	}
	// Output:
	// true global 0s 0s
	// false client 4ms 1s
}
