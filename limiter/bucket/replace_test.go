package bucket

import (
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
)

func (s story) replaces(inherit limiter.Inherit, bandwidths ...Bandwidth) {
	s.Helper()
	if err := s.Replace(bandwidths, inherit); err != nil {
		s.Fatal(err)
	}
}

func TestReplaceInherits(t *testing.T) {
	for inherit, want := range map[limiter.Inherit][2]int64{
		limiter.Proportional: {80, 8}, limiter.AsIs: {40, 20}, limiter.Additive: {140, 20}, limiter.Reset: {200, 20},
	} {
		for i, burst := range []int64{200, 20} {
			tell(t, only(greedy("100/m", 100)), func(s story) {
				s.takes(60, true)
				s.replaces(inherit, greedy("100/m", burst))
				s.available(want[i])
				equal(s, "burst", s.Bandwidths()[0].Burst, burst)
			})
		}
	}
}

func TestReplaceKeepsFractions(t *testing.T) {
	for inherit, want := range map[limiter.Inherit][3]int64{
		limiter.Proportional: {36, 36, 37}, limiter.AsIs: {1, 2, 2}, limiter.Additive: {58, 59, 59}, limiter.Reset: {60, 60, 60},
	} {
		tell(t, only(greedy("3/5ns", 3).holding(0)), func(s story) {
			s.pass(3)
			s.replaces(inherit, greedy("60/1000ns", 60))
			s.available(want[0])
			s.pass(4)
			s.available(want[1])
			s.pass(13)
			s.available(want[2])
		})
	}
	tell(t, only(greedy("3/5ns", 3).holding(0)), func(s story) {
		s.pass(3)
		s.replaces(limiter.AsIs, greedy("60/1000ns", 60).byPeriods())
		s.pass(999)
		s.available(1)
		s.pass(1)
		s.available(60)
	})
}

func TestReplacePairsByID(t *testing.T) {
	held := func() Bandwidth { return greedy("20/m", 20).holding(15) }
	for _, c := range []struct {
		what        string
		before, now string
		want        int64
	}{
		{"no id on both sides", "", "", 30},
		{"the same id", "plan", "plan", 30},
		{"an id on the new side only", "", "plan", 40},
		{"an id on the old side only", "plan", "", 40},
		{"different ids", "free", "pro", 40},
	} {
		tell(t, only(held().with(c.before)), func(s story) {
			s.replaces(limiter.Proportional, greedy("40/m", 40).with(c.now))
			if s.available(c.want); s.Failed() {
				s.Log(c.what)
			}
		})
	}
	// By id and not by place, and what is new begins anew.
	tell(t, []Bandwidth{greedy("10/s", 10).holding(4).with("technical"), greedy("100/h", 100).holding(60).with("business")}, func(s story) {
		s.replaces(limiter.Proportional, greedy("50/h", 50).with("business"), greedy("7/s", 7).holding(1).with("daily"), greedy("20/s", 20).with("technical"))
		each := s.Verbose().Available().Each
		for i, want := range []int64{30, 1, 8} {
			equal(s, s.Bandwidths()[i].ID, each[i], want)
		}
	})
	// Two without an id cannot be told apart.
	tell(t, []Bandwidth{greedy("10/s", 10).holding(1), greedy("10/m", 10).holding(2)}, func(s story) {
		s.replaces(limiter.AsIs, greedy("10/s", 10))
		s.available(10)
	})
}

// Several without an id cannot be told apart on the new side either.
func TestReplaceByTwoWithoutAnID(t *testing.T) {
	tell(t, only(greedy("20/m", 20).holding(5)), func(s story) {
		s.replaces(limiter.AsIs, greedy("20/m", 20), greedy("30/m", 30))
		each := s.Verbose().Available().Each
		equal(s, "first", each[0], 20)
		equal(s, "second", each[1], 30)
	})
}

// What a cancelled reservation is worth was reckoned under a configuration; under another one nothing is given back until it
// has been reckoned again.
func TestGivingBackWaitsForItsConfiguration(t *testing.T) {
	tell(t, only(greedy("1/h", 20).holding(0)), func(s story) {
		now, stale := s.core.now(), s.core.current.Load().config
		s.replaces(limiter.AsIs, greedy("1/h", 30))
		s.core.doAt(now, op{kind: giveBack, refund: []int64{7}, config: stale})
		s.available(0)
		s.core.doAt(now, op{kind: giveBack, refund: []int64{7}, config: s.core.current.Load().config})
		s.available(7)
	})
}

func TestReplaceKeepsPeriodsRunning(t *testing.T) {
	tell(t, only(greedy("10/m", 10).byPeriods().holding(0)), func(s story) {
		s.pass(50 * time.Second)
		s.replaces(limiter.AsIs, greedy("20/m", 20).byPeriods())
		s.pass(10 * time.Second)
		s.available(20)
	})
}

func TestReplaceThatIsRefusedChangesNothing(t *testing.T) {
	tell(t, only(greedy("10/s", 10).holding(3)), func(s story) {
		for text, err := range map[string]error{
			"burst 0":        s.Replace(only(greedy("10/s", 0)), limiter.Reset),
			"at least one":   s.Replace(nil, limiter.Reset),
			"generously":     s.Replace(only(greedy("10/s", 20)), "generously"),
			"two bandwidths": s.Replace([]Bandwidth{greedy("1/s", 1).with("x"), greedy("1/s", 1).with("x")}, limiter.Reset),
			"needs a wall":   s.Replace(only(Bandwidth{Rate: limiter.PerSecond(1), Burst: 1, Refill: limiter.Aligned}), limiter.Reset),
		} {
			if err == nil || !strings.Contains(err.Error(), text) {
				s.Errorf("want an error with %q, got %v", text, err)
			}
		}
		s.available(3)
		equal(s, "burst", s.Bandwidths()[0].Burst, 10)
	})
}
