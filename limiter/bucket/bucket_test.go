package bucket

import (
	"math"
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
)

func TestProbeAndEstimate(t *testing.T) {
	tell(t, only(greedy("20/m", 20)), func(s story) {
		s.takes(5, true)
		equal(s, "probe(1)", s.Probe(1), Probe{Taken: true, Remaining: 14, Reset: 18 * time.Second})
		equal(s, "estimate(20)", s.Estimate(20), Probe{Remaining: 14, Wait: 18 * time.Second, Reset: 18 * time.Second})
		equal(s, "estimate(14)", s.Estimate(14), Probe{Taken: true, Remaining: 14, Reset: 18 * time.Second})
		s.available(14)
		equal(s, "drained", s.TakeAll(), 14)
		equal(s, "probe(5)", s.Probe(5), Probe{Wait: 15 * time.Second, Reset: time.Minute})
		equal(s, "probe(21)", s.Probe(21), Probe{Wait: limiter.Never, Reset: time.Minute})
		s.takes(21, false)
		s.pass(15*time.Second - 1)
		s.takes(5, false)
		equal(s, "the last ns", s.Probe(5).Wait, 1)
		s.pass(1)
		s.takes(5, true)
		s.available(0)
	})
}

func TestAsMuchAsPossible(t *testing.T) {
	tell(t, only(greedy("20/m", 20).holding(14)), func(s story) {
		equal(s, "first", s.TakeUpTo(10), 10)
		equal(s, "second", s.TakeUpTo(10), 4)
		equal(s, "third", s.TakeUpTo(10), 0)
		equal(s, "all of nothing", s.TakeAll(), 0)
	})
}

func TestGivingAndForcing(t *testing.T) {
	tell(t, only(greedy("10/m", 10)), func(s story) {
		s.Add(5)
		s.available(10)
		s.ForceAdd(5)
		s.available(15)
		s.pass(time.Hour)
		s.available(15)
		s.takes(12, true) // more than the burst, but it is there
		equal(s, "rest", s.TakeAll(), 3)
		equal(s, "violation", s.TakeAnyway(4), 24*time.Second)
		s.available(-4)
		equal(s, "probe in debt", s.Probe(1), Probe{Remaining: -4, Wait: 30 * time.Second, Reset: 84 * time.Second})
		s.Add(6)
		s.available(2)
		equal(s, "no violation", s.TakeAnyway(2), 0)
		s.Reset()
		s.available(10)
		s.ForceAdd(1)
		s.Reset()
		s.available(10)
		equal(s, "a debt for ever", s.TakeAnyway(math.MaxInt64), limiter.Never)
		s.available(10)
	})
}

func TestTwoBandwidthsTakeTogether(t *testing.T) {
	tell(t, []Bandwidth{
		greedy("5/6ns", 9).byPeriods().holding(0).with("nine"),
		greedy("4/5ns", 12).byPeriods().holding(0).with("twelve"),
	}, func(s story) {
		last := time.Duration(0)
		for i, at := range []time.Duration{4, 5, 6, 10, 12, 15} {
			s.pass(at - last)
			last = at
			s.available([]int64{0, 0, 4, 5, 8, 9}[i])
		}
		// 9 and 12: the refusal of one leaves the other alone.
		s.takes(10, false)
		equal(s, "probe(10)", s.Probe(10).Wait, limiter.Never)
		s.available(9)
		s.takes(9, true)
		s.available(0)
		equal(s, "each", s.Verbose().Available().Each[1], 3)
	})
}

func TestIntervalRefill(t *testing.T) {
	tell(t, only(greedy("10/m", 10).byPeriods().holding(0)), func(s story) {
		equal(s, "1 at once", s.Estimate(1).Wait, time.Minute)
		equal(s, "10 at once", s.Estimate(10).Wait, time.Minute)
		s.pass(15 * time.Second)
		equal(s, "1 at 15 s", s.Estimate(1).Wait, 45*time.Second)
		equal(s, "10 at 15 s", s.Estimate(10).Wait, 45*time.Second)
		equal(s, "15 of 10", s.Estimate(15).Wait, limiter.Never)
	})
}

func TestAlignedRefillIsAdaptive(t *testing.T) {
	for rate, want := range map[string]int64{"400/m": 266, "300/m": 300, "200/m": 333, "100/m": 366} {
		clock := &manualClock{wall: true}
		clock.advance(time.Duration(time.Date(2026, 5, 1, 12, 0, 20, 0, time.UTC).UnixNano()))
		bw := greedy(rate, 400)
		bw.Refill, bw.Adaptive = limiter.Aligned, true
		bw.FirstRefill = time.Date(2026, 5, 1, 12, 1, 0, 0, time.UTC)
		b := mustNew(t, Config{Bandwidths: only(bw), Clock: clock})
		equal(t, rate, b.Available(), want)
		b.TakeAll()
		equal(t, rate+" wait", b.Estimate(1).Wait, 40*time.Second)
		clock.advance(40 * time.Second)
		equal(t, rate+" at the full minute", b.Available(), bw.Rate.Tokens)
	}
}

func TestGreedyRefillIsExact(t *testing.T) {
	tell(t, only(greedy("100/1000ns", 100).holding(0)), func(s story) {
		s.pass(3)
		s.available(0)
		equal(s, "wait", s.Estimate(1).Wait, 7)
		s.pass(6)
		s.available(0)
		equal(s, "never rounded down to 0", s.Estimate(1).Wait, 1)
		s.pass(1)
		s.available(1)
	})
	tell(t, only(greedy("3/10ns", 10).holding(0)), func(s story) {
		for range 100 {
			s.pass(1)
			s.Available()
		}
		s.available(10)
		s.TakeAll()
		for i := range int64(30) {
			s.pass(1)
			s.available((i + 1) * 3 / 10)
		}
	})
}

func TestClockThatStepsBack(t *testing.T) {
	for _, sync := range []Sync{LockFree, Mutex, None} {
		clock := &manualClock{}
		clock.advance(time.Hour)
		b := mustNew(t, Config{Bandwidths: only(greedy("10/s", 10)), Clock: clock, Sync: sync})
		taken := 0
		for range 500 {
			for _, d := range []time.Duration{100 * time.Millisecond, -100 * time.Millisecond} {
				if b.TryTake(1) {
					taken++
				}
				clock.advance(d)
			}
		}
		equal(t, "taken", taken, 11)
		b.Reset()
		clock.advance(-time.Hour)
		equal(t, "an hour back", b.Available(), 10)
		equal(t, "as much as possible", b.TakeAll(), 10)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	ok := greedy("10/s", 10)
	aligned := ok
	aligned.Refill, aligned.FirstRefill = limiter.Aligned, time.Unix(1000, 0)
	adrift := ok
	adrift.Refill = limiter.Aligned
	early := ok
	early.FirstRefill = time.Unix(1000, 0)
	for text, cfg := range map[string]Config{
		"at least one bandwidth":                   {},
		`two bandwidths have the id "a"`:           {Bandwidths: []Bandwidth{ok.with("a"), ok.with("b"), ok.with("a")}},
		"needs a wall clock":                       {Bandwidths: only(aligned)},
		"bandwidth 1: aligned refill needs a wall": {Bandwidths: only(aligned), Clock: &manualClock{}},
		"needs FirstRefill":                        {Bandwidths: only(adrift), Clock: WallClock},
		"for aligned refill only":                  {Bandwidths: only(early)},
		`bandwidth "a": burst 0`:                   {Bandwidths: only(greedy("10/s", 0).with("a"))},
		"bandwidth 2: a rate is missing":           {Bandwidths: []Bandwidth{ok, {Burst: 1}}},
		"initial tokens 11":                        {Bandwidths: only(ok.holding(11))},
		"synchronisation strategy 7 is unknown":    {Bandwidths: only(ok), Sync: 7},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
	}
	if _, err := New(Config{Bandwidths: only(aligned), Clock: WallClock}); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{Bandwidths: []Bandwidth{ok, ok}}); err != nil {
		t.Errorf("several bandwidths without an id are allowed: %v", err)
	}
}

func TestTooFewTokensPanic(t *testing.T) {
	b := mustNew(t, Config{Bandwidths: only(greedy("10/s", 10))})
	for name, call := range map[string]func(){
		"TryTake":  func() { b.TryTake(0) },
		"Probe":    func() { b.Probe(-1) },
		"Estimate": func() { b.Estimate(0) },
		"TakeUpTo": func() { b.TakeUpTo(0) },
		"Anyway":   func() { b.TakeAnyway(-4) },
		"Add":      func() { b.Add(0) },
		"ForceAdd": func() { b.ForceAdd(-1) },
		"Reserve":  func() { b.Reserve(0, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took it", name)
				}
			}()
			call()
		}()
	}
	equal(t, "available", b.Available(), 10)
}

func TestVerboseTellsTheStateOfTheSameMoment(t *testing.T) {
	tell(t, []Bandwidth{greedy("20/m", 20).with("m"), greedy("600/h", 100).with("h")}, func(s story) {
		v := s.Verbose()
		probe := v.Probe(6)
		equal(s, "probe", probe.Value, Probe{Taken: true, Remaining: 14, Reset: 36 * time.Second})
		equal(s, "id", probe.Bandwidths[1].ID, "h")
		equal(s, "available", probe.Available, 14)
		equal(s, "hourly", probe.Each[1], 94)
		equal(s, "reset", probe.Reset, 36*time.Second)
		equal(s, "try", v.TryTake(15).Value, false)
		equal(s, "estimate", v.Estimate(14).Value.Taken, true)
		equal(s, "up to", v.TakeUpTo(4).Value, 4)
		equal(s, "all", v.TakeAll().Value, 10)
		equal(s, "anyway", v.TakeAnyway(2).Value, 6*time.Second)
		equal(s, "debt", v.Available().Value, -2)
		equal(s, "add", v.Add(3).Value, 1)
		equal(s, "force add", v.ForceAdd(30).Available, 31)
		equal(s, "reset", v.Reset().Value, 20)
		after, err := v.Replace([]Bandwidth{greedy("20/m", 40).with("m")}, limiter.AsIs)
		if err != nil {
			s.Fatal(err)
		}
		equal(s, "replaced", after.Value, 20)
		equal(s, "bandwidths", len(after.Bandwidths), 1)
	})
}
