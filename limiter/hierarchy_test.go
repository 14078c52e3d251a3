package limiter

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// press lets clients send evenly, each so many a second, and returns what each was admitted per second from warm on.
func (s *scene) press(perSecond []int64, costs []int64, warm, end time.Duration) []float64 {
	got := make([]float64, len(perSecond))
	next := make([]time.Duration, len(perSecond))
	for i := range next {
		next[i] = time.Duration(i) // no two on one moment
	}
	for {
		who := 0
		for i := range next {
			if next[i] < next[who] {
				who = i
			}
		}
		at := next[who]
		if at >= end {
			break
		}
		cost := int64(1)
		if costs != nil {
			cost = costs[who]
		}
		if s.send(at, fmt.Sprint(who), cost).Verdict == Admitted && at >= warm {
			got[who] += float64(cost)
		}
		next[who] += time.Second / time.Duration(perSecond[who])
	}
	for i := range got {
		got[i] /= (end - warm).Seconds()
	}
	return got
}

func near(got, want []float64, tolerance float64) bool {
	for i := range want {
		if math.Abs(got[i]-want[i]) > tolerance*want[i]+1 {
			return false
		}
	}
	return true
}

func TestTheSpareIsLentByWeight(t *testing.T) {
	for _, c := range []struct {
		name     string
		cfg      Config
		weights  []int64
		terms    []Rate // guarantees
		ceilings []Rate
		demand   []int64
		want     []float64
	}{
		{"all of it to one that is alone", Config{Guarantee: rate("100/s")}, []int64{1, 1}, nil, nil, []int64{5000, 1}, []float64{999, 1}},
		{"guarantees hold against a hog", Config{Guarantee: rate("200/s")}, []int64{1, 1, 1}, nil, nil, []int64{5000, 200, 150}, []float64{650, 200, 150}},
		{"the rest by weight", Config{Guarantee: rate("100/s")}, []int64{3, 1}, nil, nil, []int64{5000, 5000}, []float64{700, 300}},
		{"no guarantees at all: weighted max-min", Config{}, []int64{1, 2, 1}, nil, nil, []int64{5000, 5000, 100}, []float64{300, 600, 100}},
		{"a ceiling caps what is lent", Config{Ceiling: rate("400/s")}, []int64{1, 1}, nil, nil, []int64{5000, 100}, []float64{400, 100}},
		{"guarantees above the rate are scaled", Config{}, []int64{1, 1}, []Rate{rate("600/s"), rate("900/s")}, nil, []int64{5000, 5000}, []float64{400, 600}},
		{"guarantees of their own", Config{}, []int64{1, 1, 1}, []Rate{rate("500/s"), rate("300/s"), {}}, nil, []int64{5000, 5000, 5000}, []float64{566.7, 366.7, 66.7}},
		{"an unused guarantee is lent", Config{}, []int64{1, 1, 1}, []Rate{rate("900/s"), {}, {}}, nil, []int64{10, 5000, 5000}, []float64{10, 495, 495}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Policy, c.cfg.Rate, c.cfg.Burst = Hierarchical, rate("1000/s"), 100
			s := play(t, c.cfg)
			for i, w := range c.weights {
				client := Client{Name: fmt.Sprint(i), Weight: w}
				if c.terms != nil {
					client.Guarantee = c.terms[i]
				}
				s.clients[client.Name] = s.Join(0, client)
			}
			got := s.press(c.demand, nil, 2*time.Second, 12*time.Second)
			if !near(got, c.want, 0.02) {
				t.Errorf("admitted %.1f per second, want %.1f", got, c.want)
			}
		})
	}
}

// Guarantee and weight decide against any demands: in the long run each has min(demand, guarantee + λ·weight).
func TestHierarchicalAgreesWithWaterFilling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(rt, "clients")
		const perSecond = 1000.0
		s := play(t, Config{Policy: Hierarchical, Rate: PerSecond(perSecond), Burst: 200})
		demand, guarantee, weight := make([]int64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			g := rapid.Int64Range(0, 1000/int64(n)).Draw(rt, "guarantee")
			w := rapid.Int64Range(1, 5).Draw(rt, "weight")
			demand[i] = rapid.Int64Range(20, 2000).Draw(rt, "demand")
			guarantee[i], weight[i] = float64(g), float64(w)
			c := Client{Name: fmt.Sprint(i), Weight: w}
			if g > 0 {
				c.Guarantee = PerSecond(g)
			}
			s.clients[c.Name] = s.Join(0, c)
		}
		want := make([]float64, n)
		low, high := 0.0, 2000.0
		for range 60 {
			level, sum := (low+high)/2, 0.0
			for i := range n {
				want[i] = min(float64(demand[i]), guarantee[i]+level*weight[i])
				sum += want[i]
			}
			if sum > perSecond {
				high = level
			} else {
				low = level
			}
		}
		got := s.press(demand, nil, 2*time.Second, 12*time.Second)
		if !near(got, want, 0.02) {
			rt.Errorf("demand %v guarantee %v weight %v: admitted %.1f, want %.1f", demand, guarantee, weight, got, want)
		}
	})
}

// Whatever clients do, all together stay within burst + rate × time, and a wait that was told is exact.
func TestHierarchicalNeverExceedsTheLimitAndKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{Policy: Hierarchical, Rate: rapid.SampledFrom([]Rate{rate("100/s"), rate("997/s"), rate("17/30s"), rate("1000000/s")}).Draw(rt, "rate"),
			Burst: rapid.Int64Range(5, 60).Draw(rt, "burst")}
		if rapid.Bool().Draw(rt, "guaranteed") {
			cfg.Guarantee = cfg.Rate.Scaled(1, rapid.Int64Range(2, 8).Draw(rt, "part"))
		}
		s := play(t, cfg)
		now, passed := time.Duration(0), int64(0)
		perToken := time.Duration(float64(time.Second) / cfg.Rate.PerSecond())
		for range rapid.IntRange(20, 150).Draw(rt, "attempts") {
			now += time.Duration(rapid.Int64Range(0, int64(4*perToken)).Draw(rt, "pause"))
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "client")
			cost := rapid.Int64Range(1, 5).Draw(rt, "cost")
			d := s.send(now, name, cost)
			if d.Verdict == Rejected && d.Wait < Never && rapid.IntRange(0, 3).Draw(rt, "patient") == 0 {
				if d.Wait > 1 {
					if e := s.send(now+d.Wait-1, name, cost); e.Verdict == Admitted || e.Wait != 1 {
						rt.Fatalf("at %v %s was told to wait %v by %v, and a nanosecond earlier got %+v", now, name, d.Wait, d.By, e)
					}
				}
				now += d.Wait
				if e := s.send(now, name, cost); e.Verdict != Admitted {
					rt.Fatalf("%s waited %v as told by %v, and got %+v", name, d.Wait, d.By, e)
				}
				d.Verdict = Admitted
			}
			if d.Verdict == Admitted {
				passed += cost
			}
			if limit := float64(cfg.Burst) + cfg.Rate.PerSecond()*now.Seconds(); float64(passed) > limit+1e-6 {
				rt.Fatalf("at %v %d tokens have passed, more than %.3f", now, passed, limit)
			}
		}
	})
}
