package limiter

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// settle hands out all that is due up to until, each at its moment.
func (s *scene) settle(until time.Duration, seen func(time.Duration, Attempt, Decision)) {
	s.t.Helper()
	for range 10_000_000 {
		at, ok := s.Due()
		if !ok || at > until {
			return
		}
		for {
			a, d, ok := s.Settle(at)
			if !ok {
				break
			}
			if d.Verdict == Queued {
				s.t.Fatalf("at %v a queued attempt was handed out as queued again", at)
			}
			seen(at, a, d)
		}
		if next, ok := s.Due(); ok && next <= at {
			s.t.Fatalf("at %v nothing more is handed out, and yet something is due at %v", at, next)
		}
	}
	s.t.Fatal("it never comes to an end")
}

// order is who is served, as one string, once all attempts have arrived at 0.
func (s *scene) order(until time.Duration) string {
	names := map[int]string{}
	for n, h := range s.clients {
		names[h] = n
	}
	served := ""
	s.settle(until, func(_ time.Duration, a Attempt, d Decision) {
		if d.Verdict == Admitted {
			served += names[a.Client]
		}
	})
	return served
}

// queueing is a fair queue with a limit of one token a second and long patience; its one token at the start is taken.
func queueing(t *testing.T, change ...func(*Config)) *scene {
	cfg := Config{Policy: FairQueue, Rate: rate("1/s"), Burst: 1000, Initial: new(int64), Queue: Queue{PerClient: 1000, MaxWait: time.Hour}}
	for _, c := range change {
		c(&cfg)
	}
	return play(t, cfg)
}

func (s *scene) queue(client string, costs ...int64) {
	s.t.Helper()
	for _, cost := range costs {
		if d := s.send(0, client, cost); d.Verdict != Queued {
			s.t.Fatalf("%s got %+v, want it queued", client, d)
		}
	}
}

func TestAFairQueueTakesTurns(t *testing.T) {
	s := queueing(t)
	s.queue("b", 1, 1, 1, 1, 1, 1)
	s.queue("w", 1, 1)
	s.queue("m", 1)
	if got := s.order(time.Hour); got != "bwmbwbbbb" {
		t.Errorf("served %s, want bwmbwbbbb", got)
	}
}

func TestWeightsAndCostsDecideHowOften(t *testing.T) {
	s := queueing(t)
	s.clients["h"] = s.Join(0, Client{Name: "h", Weight: 3})
	s.queue("h", 1, 1, 1, 1, 1, 1)
	s.queue("l", 1, 1)
	if got := s.order(4 * time.Second); got != "hlhh" {
		t.Errorf("of four tokens h (weight 3) and l got %s", got)
	}
	s = queueing(t)
	s.queue("d", 10, 10)
	s.queue("c", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	if got := s.order(time.Hour); got != "dccccccccccdc" {
		t.Errorf("a dear client and a cheap one were served as %s, want ten cheap ones for each dear one", got)
	}
}

func TestIdlenessEarnsNoCredit(t *testing.T) {
	for _, order := range []Discipline{StartTime, DeficitRound} {
		s := queueing(t, func(c *Config) { c.Order = order })
		s.queue("b", slices.Repeat([]int64{1}, 100)...)
		s.clients["w"] = s.Join(0, Client{Name: "w"})
		s.order(50 * time.Second) // w idles through fifty services
		for range 5 {
			s.send(50*time.Second, "w", 1)
		}
		if got := s.order(60 * time.Second); got != "wbwbwbwbwb" && got != "bwbwbwbwbw" {
			t.Errorf("%s: after idling w and b were served as %s, want them to take turns", order, got)
		}
	}
}

func TestDeficitRoundRobinServesByCredit(t *testing.T) {
	s := queueing(t, func(c *Config) { c.Order, c.Quantum = DeficitRound, 500 })
	s.queue("1", 200, 400)
	s.queue("2", 100, 200, 300)
	s.queue("3", 200, 200, 200)
	if got := s.order(time.Hour); got != "12233123" {
		t.Errorf("served %s, want 12233123", got)
	}
}

func TestOneLineForAllServesTheHogFirst(t *testing.T) {
	s := queueing(t, func(c *Config) { c.Order = FIFO })
	s.queue("b", 1, 1, 1)
	s.queue("w", 1)
	s.queue("b", 1)
	if got := s.order(time.Hour); got != "bbbwb" {
		t.Errorf("served %s, want the order of arrival", got)
	}
	for name, h := range s.clients {
		s.Release(time.Hour, Attempt{Client: h})
		for s.Limiter.(*engine).members[h].inFlight > 0 {
			s.Release(time.Hour, Attempt{Client: h})
		}
		if !s.Limiter.(Leaver).Leave(time.Hour, h) {
			t.Errorf("%s has nothing to remember and may not leave", name)
		}
	}
}

func TestAQueueIsBoundedInLengthAndTime(t *testing.T) {
	s := play(t, Config{Policy: FairQueue, Rate: rate("10/s"), Burst: 1, Queue: Queue{PerClient: 2, MaxWait: 250 * time.Millisecond}})
	s.admits(0, "b", 1)
	s.queue("b", 1, 1)
	s.rejects(0, "b", 1, ByQueueFull, 300*time.Millisecond)
	s.queue("w", 1, 1) // another lane has room
	type end struct {
		at time.Duration
		id uint64
		by string
	}
	var got []end
	s.settle(time.Hour, func(at time.Duration, a Attempt, d Decision) {
		e := end{at, a.ID, "admitted"}
		if d.Verdict == Rejected {
			e.by = d.By.String()
		}
		got = append(got, e)
	})
	ms := time.Millisecond
	want := []end{{100 * ms, 5, "admitted"}, {200 * ms, 2, "admitted"}, {250 * ms, 3, "wait"}, {250 * ms, 6, "wait"}}
	if !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
}

func TestWhoGivesUpLeavesTheLine(t *testing.T) {
	s := queueing(t)
	s.queue("b", 1)
	a, _ := s.attempt(0, "w", 1)
	s.queue("w", 1)
	if !s.Cancel(0, a) || s.Cancel(0, a) {
		t.Error("a waiting attempt can be taken back once")
	}
	if got := s.order(time.Hour); got != "bw" {
		t.Errorf("served %s, want bw", got)
	}
	if _, ok := s.Due(); ok {
		t.Error("nothing waits, and yet something is due")
	}
}

func TestConcurrencyMayWaitForASlot(t *testing.T) {
	cfg := Config{Policy: Concurrency, Rate: rate("1000/s"), Client: ClientLimit{MaxInFlight: 2},
		Queue: Queue{PerClient: 3, MaxWait: time.Minute, ForSlot: true}}
	s := play(t, cfg)
	first, _ := s.attempt(0, "b", 1)
	s.admits(0, "b", 1)
	s.queue("b", 1, 1, 1)
	if d := s.send(0, "b", 1); d.By != ByQueueFull {
		t.Errorf("the sixth got %+v", d)
	}
	s.admits(0, "w", 1) // has slots of its own, whoever waits for his
	if got := s.order(time.Second); got != "" {
		t.Errorf("served %s with no slot free", got)
	}
	s.Release(2*time.Second, first)
	if got := s.order(2 * time.Second); got != "b" {
		t.Errorf("one slot came free, served %q", got)
	}
}

// maxMin is what weighted max-min fairness gives: the oracle.
func maxMin(capacity float64, demand, weight []float64) []float64 {
	got := make([]float64, len(demand))
	open := map[int]bool{}
	for i := range demand {
		open[i] = true
	}
	for len(open) > 0 {
		weights := 0.0
		for i := range open {
			weights += weight[i]
		}
		level, content := capacity/weights, false
		for i := range open {
			if demand[i] <= level*weight[i] {
				got[i], content = demand[i], true
				capacity -= demand[i]
				delete(open, i)
				break
			}
		}
		if !content {
			for i := range open {
				got[i] = level * weight[i]
			}
			break
		}
	}
	return got
}

// Clients send evenly at random rates; in the long run each has its weighted max-min share of the tokens.
func TestAFairQueueSharesByMaxMin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.SampledFrom([]Discipline{StartTime, DeficitRound}).Draw(rt, "order")
		n := rapid.IntRange(2, 6).Draw(rt, "clients")
		weight, demand := make([]float64, n), make([]float64, n)
		cost := make([]int64, n)
		const perSecond, seconds = 1000, 30
		s := play(t, Config{Policy: FairQueue, Rate: PerSecond(perSecond), Burst: 10, Order: order,
			Queue: Queue{PerClient: 1 << 20, MaxWait: time.Hour}})
		every := make([]time.Duration, n)
		for i := range n {
			w := rapid.Int64Range(1, 5).Draw(rt, "weight")
			cost[i] = rapid.Int64Range(1, 5).Draw(rt, "cost")
			sends := rapid.Int64Range(20, 600).Draw(rt, "requests per second")
			weight[i], demand[i], every[i] = float64(w), float64(sends*cost[i]), time.Second/time.Duration(sends)
			name := fmt.Sprint(i)
			s.clients[name] = s.Join(0, Client{Name: name, Weight: w, MaxCost: cost[i]})
		}
		want := maxMin(perSecond, demand, weight)
		got := make([]float64, n)
		serve := func(_ time.Duration, a Attempt, d Decision) {
			if d.Verdict == Admitted {
				got[a.Client] += float64(a.Cost)
			}
		}
		next := make([]time.Duration, n)
		for {
			who := 0
			for i := range n {
				if next[i] < next[who] {
					who = i
				}
			}
			at := next[who]
			if at >= seconds*time.Second {
				break
			}
			s.settle(at, serve)
			if a, d := s.attempt(at, fmt.Sprint(who), cost[who]); d.Verdict == Admitted {
				serve(at, a, d)
			}
			next[who] += every[who]
		}
		for i := range n {
			// What a burst and a few last attempts make of thirty seconds is well below 2%.
			if rate := got[i] / seconds; math.Abs(rate-want[i]) > 0.02*want[i]+1 {
				rt.Errorf("%s: client %d of weight %v, cost %d and demand %.0f was served %.1f per second, want %.1f", order, i, weight[i], cost[i], demand[i], rate, want[i])
			}
		}
	})
}

// At every moment two clients that both wait differ by at most one largest cost each, over their weights.
func TestTwoBackloggedClientsStayTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(rt, "clients")
		s := queueing(t)
		weight, served, left := make([]float64, n), make([]float64, n), make([]int, n)
		largest := make([]float64, n)
		for i := range n {
			w := rapid.Int64Range(1, 9).Draw(rt, "weight")
			weight[i] = float64(w)
			name := fmt.Sprint(i)
			s.clients[name] = s.Join(0, Client{Name: name, Weight: w})
			costs := rapid.SliceOfN(rapid.Int64Range(1, 20), 5, 60).Draw(rt, "costs")
			left[i] = len(costs)
			largest[i] = float64(slices.Max(costs))
			s.queue(name, costs...)
		}
		s.settle(time.Hour, func(at time.Duration, a Attempt, _ Decision) {
			served[a.Client] += float64(a.Cost)
			left[a.Client]--
			for i := range n {
				for j := range i {
					if left[i] == 0 || left[j] == 0 {
						continue
					}
					lag := math.Abs(served[i]/weight[i] - served[j]/weight[j])
					if bound := largest[i]/weight[i] + largest[j]/weight[j]; lag > bound+1e-4 {
						rt.Fatalf("at %v clients %d and %d are %.4f apart, more than %.4f", at, i, j, lag, bound)
					}
				}
			}
		})
	})
}

// However many clients are backlogged, a newcomer is served before any of them is served twice.
func TestANewcomerIsServedWithinOneRound(t *testing.T) {
	for _, order := range []Discipline{StartTime, DeficitRound} {
		s := queueing(t, func(c *Config) { c.Order = order })
		for i := range 20 {
			s.queue(fmt.Sprint(i), slices.Repeat([]int64{1}, 50)...)
		}
		s.order(200 * time.Second)
		newcomer, _ := s.attempt(200*time.Second, "new", 1)
		s.settle(time.Hour, func(at time.Duration, a Attempt, _ Decision) {
			if a.ID == newcomer.ID && at > 221*time.Second {
				t.Errorf("%s: the newcomer among twenty was served after %v services", order, at-200*time.Second)
			}
		})
	}
}

// A burst that is lowered below the cost of what waits refuses it, instead of holding up everybody behind it.
func TestWhatCanNoLongerPassIsRefused(t *testing.T) {
	s := queueing(t)
	s.queue("d", 100)
	s.queue("w", 1)
	s.change(0, func(c *Config) { c.Initial, c.Burst = nil, 10 })
	var got []string
	s.settle(time.Minute, func(_ time.Duration, a Attempt, d Decision) {
		got = append(got, fmt.Sprintf("%d %v %v", a.Cost, d.Verdict == Admitted, d.Wait == Never))
	})
	if want := []string{"100 false true", "1 true false"}; !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
}

// A client never has more in flight than it may, whether it waits for a slot or is refused, and no slot is left idle while it waits.
func TestInFlightStaysBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 3).Draw(rt, "slots")
		s := play(t, Config{Policy: Concurrency, Rate: rate("1000/s"), Burst: 1000, Client: ClientLimit{MaxInFlight: most},
			Queue: Queue{PerClient: 5, MaxWait: time.Second, ForSlot: rapid.Bool().Draw(rt, "waits")}})
		flying, waits := map[int][]Attempt{}, map[int]int{}
		see := func(_ time.Duration, a Attempt, d Decision) {
			switch d.Verdict {
			case Admitted:
				flying[a.Client] = append(flying[a.Client], a)
			case Queued:
				waits[a.Client]++
			}
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 100).Draw(rt, "steps") {
			now += time.Duration(rapid.Int64Range(1e6, 1e8).Draw(rt, "pause"))
			leave := func(at time.Duration, a Attempt, d Decision) { waits[a.Client]--; see(at, a, d) }
			s.settle(now, leave)
			client := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "client")
			if h, ok := s.clients[client]; ok && len(flying[h]) > 0 && rapid.Bool().Draw(rt, "one ends") {
				s.Release(now, flying[h][0])
				flying[h] = flying[h][1:]
				s.settle(now, leave)
			} else {
				a, d := s.attempt(now, client, 1)
				see(now, a, d)
			}
			for client, f := range flying {
				if len(f) > most {
					rt.Fatalf("at %v client %d has %d in flight, more than %d", now, client, len(f), most)
				}
				if len(f) < most && waits[client] > 0 {
					rt.Fatalf("at %v client %d waits with %d of %d in flight", now, client, len(f), most)
				}
			}
		}
	})
}
