package limiter

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A course is what a limiter lived through: attempts at their times, each in the same way at each replay.
type course struct {
	cfg     Config
	clients []Client
	hits    []hit
}

type hit struct {
	at     time.Duration
	client int
	cost   int64
}

// replay plays the course anew, and then one more hit; what waits is settled when it is due. It returns the limiter and the last answer.
func (c course) replay(t interface{ Fatal(...any) }, last hit) (Limiter, Decision) {
	l, err := New(c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range c.clients {
		l.Join(0, client)
	}
	var d Decision
	for i, h := range append(c.hits[:len(c.hits):len(c.hits)], last) {
		for {
			at, ok := l.Due()
			if !ok || at > h.at {
				break
			}
			if a, d, ok := l.Settle(at); !ok {
				t.Fatal("due at ", at, " and nothing was settled")
			} else if d.Verdict == Admitted {
				l.Release(at, a)
			}
		}
		a := Attempt{Client: h.client, ID: uint64(i), Cost: h.cost}
		if d = l.Arrive(h.at, a); d.Verdict == Admitted {
			l.Release(h.at, a)
		}
	}
	return l, d
}

// drawCourse draws a limiter whose waits are exact, of any policy and algorithm, and what happens to it.
func drawCourse(rt *rapid.T, policy Policy, algorithm Algorithm) (course, bool) {
	unit := rapid.SampledFrom([]time.Duration{1, 7, time.Microsecond, time.Second}).Draw(rt, "unit")
	drawRate := func(most int64, longest int) Rate {
		return Rate{Tokens: rapid.Int64Range(1, most).Draw(rt, "tokens"), Per: unit * time.Duration(rapid.IntRange(1, longest).Draw(rt, "per"))}
	}
	c := course{cfg: Config{Policy: policy, Algorithm: algorithm, Rate: drawRate(20, 3), Burst: rapid.Int64Range(1, 20).Draw(rt, "burst")}}
	cfg := &c.cfg
	if rapid.IntRange(0, 2).Draw(rt, "a second limit") == 0 {
		cfg.Bandwidths = []Bandwidth{{ID: "x", Rate: drawRate(20, 30), Burst: rapid.Int64Range(1, 20).Draw(rt, "its burst")}}
	}
	if algorithm == AlgorithmTokenBucket && policy != Hierarchical {
		cfg.Refill = rapid.SampledFrom([]Refill{Greedy, Greedy, Interval, Aligned}).Draw(rt, "refill")
		cfg.Start = time.Duration(rapid.Int64Range(0, int64(cfg.Rate.Per)).Draw(rt, "start"))
	}
	clients := rapid.IntRange(1, 4).Draw(rt, "clients")
	switch policy {
	case PerClient:
		cfg.Client = ClientLimit{Rate: drawRate(10, 3), Burst: rapid.Int64Range(1, 10).Draw(rt, "client burst")}
	case FairQueue:
		cfg.Queue = Queue{PerClient: rapid.IntRange(1, 4).Draw(rt, "lane"),
			MaxWait: cfg.Rate.Per * time.Duration(rapid.SampledFrom([]int64{1, 3, 1e6}).Draw(rt, "patience"))}
		cfg.Order = rapid.SampledFrom([]Discipline{StartTime, DeficitRound, FIFO}).Draw(rt, "order")
	case Hierarchical:
		clients = rapid.SampledFrom([]int{1, 3, 40}).Draw(rt, "clients under the rain")
		if rapid.Bool().Draw(rt, "guaranteed") {
			cfg.Guarantee = Rate{Tokens: 1, Per: cfg.Rate.Per * time.Duration(rapid.IntRange(1, 5).Draw(rt, "guarantee"))}
		}
	case Sharded:
		cfg.Shards = rapid.IntRange(1, 3).Draw(rt, "shards")
		cfg.Rate.Tokens, cfg.Burst = 6*cfg.Rate.Tokens, 3*cfg.Burst
		for i := range cfg.Bandwidths {
			cfg.Bandwidths[i].Rate.Tokens *= 6
			cfg.Bandwidths[i].Burst *= 3
		}
		cfg.Routing = rapid.SampledFrom([]Routing{Pinned, RoundRobin}).Draw(rt, "routing")
	}
	for i := range clients {
		c.clients = append(c.clients, Client{Name: fmt.Sprint(i), Weight: rapid.Int64Range(1, 4).Draw(rt, "weight"), MaxCost: 5})
	}
	now := time.Duration(0)
	for range rapid.IntRange(2, 50).Draw(rt, "hits") {
		if rapid.IntRange(0, 2).Draw(rt, "pauses") == 0 {
			now += time.Duration(rapid.Int64Range(0, int64(cfg.Rate.Per)+1).Draw(rt, "pause"))
		}
		c.hits = append(c.hits, hit{now, rapid.IntRange(0, clients-1).Draw(rt, "client"), rapid.Int64Range(1, 5).Draw(rt, "cost")})
	}
	return c, cfg.Check() == nil
}

// Whoever is told to wait w and comes again at w, with nobody else, passes at once; a nanosecond earlier it does not; and a refusal leaves
// no trace in what anybody has left. For every policy and algorithm except random routing, limits on what is in flight, and
// shards whose limit is divided anew.
func TestTheWordIsKept(t *testing.T) {
	for _, policy := range []Policy{Global, PerClient, FairQueue, Hierarchical, Sharded} {
		for _, algorithm := range Algorithms {
			if Compatible(policy, algorithm) != nil {
				continue
			}
			t.Run(fmt.Sprint(policy, " ", algorithm), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					c, ok := drawCourse(rt, policy, algorithm)
					if !ok {
						rt.Skip()
					}
					last := c.hits[len(c.hits)-1]
					c.hits = c.hits[:len(c.hits)-1]
					l, d := c.replay(rt, last)
					if d.Verdict != Rejected {
						return
					}
					after := l.Quotas(last.at, last.client, nil)
					probe := hit{last.at, last.client, 0}
					before, _ := c.replay(rt, probe)
					if before := before.Quotas(last.at, last.client, nil); fmt.Sprint(before) != fmt.Sprint(after) {
						rt.Fatalf("%+v: a refusal made %+v of %+v", c.cfg, after, before)
					}
					if d.Wait == Never {
						return
					}
					c.hits = append(c.hits, last)
					again := last
					if again.at += d.Wait - 1; d.Wait > 1 {
						if _, e := c.replay(rt, again); e.Verdict == Admitted {
							rt.Fatalf("%+v: told %v, and passed a nanosecond before", c.cfg, d.Wait)
						}
					}
					again.at++
					if _, e := c.replay(rt, again); e.Verdict != Admitted {
						rt.Fatalf("%+v: told %v, and then got %+v", c.cfg, d.Wait, e)
					}
				})
			})
		}
	}
}
