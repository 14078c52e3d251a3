package attack

import (
	"math"
	"math/big"
	"testing"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"

	"pgregory.net/rapid"
)

// only is a client that arrives like this and does nothing else of note.
func only(a profiles.Arrivals) profiles.Client {
	return profiles.Client{Name: "web", Weight: 1, Cost: 1, Arrivals: a}
}

func rate(t interface{ Fatal(...any) }, s string) limiter.Rate {
	r, err := limiter.ParseRate(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// served runs a client until the time end, answering each attempt at once, and returns when it sent.
func served(c *Client, from, end time.Duration) []time.Duration {
	var times []time.Duration
	for {
		now := max(from, c.Next(from))
		if now >= end {
			return times
		}
		a, ok := c.Send(now)
		if !ok {
			panic("an attempt was announced and not given")
		}
		times = append(times, a.Planned)
		c.Observe(now, a, Answer{Status: 200})
	}
}

func TestConstantArrivalsStandOnTheirGrid(t *testing.T) {
	for _, r := range []string{"5000/s", "3/s", "7/m", "1.39/s", "17/30s", "999999999/s", "1000000000/s", "1/7s"} {
		c := NewClient(0, only(profiles.Arrivals{Process: profiles.Constant, Rate: rate(t, r)}), profiles.Service{}, 1)
		tokens, per := rate(t, r).Reduced()
		phase := c.Next(0)
		if phase < 0 || phase > time.Duration(per/tokens)+1 {
			t.Errorf("%s: the first request comes at %v, not within the first interval", r, phase)
		}
		for k := range uint64(10_000) {
			want := phase + time.Duration(k*per/tokens)
			if got := c.Next(0); got != want {
				t.Fatalf("%s: request %d is planned for %d ns, and its place is %d ns", r, k, got, want)
			}
			c.Send(c.Next(0))
		}
	}
}

// Up to a thousand million steps on, the grid stands where the formula says. The formula itself goes to the stretch that is
// walked, so that the test need not walk them all.
func TestGridDoesNotDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := limiter.Rate{
			Tokens: rapid.Int64Range(1, 1e9).Draw(t, "tokens"),
			Per:    time.Duration(rapid.Int64Range(1e9, 1e11).Draw(t, "per")),
		}
		g := newGrid(r)
		k := rapid.Uint64Range(0, 1e9).Draw(t, "k")
		place := func(k uint64) (time.Duration, uint64) {
			tokens, per := r.Reduced()
			x := new(big.Int).Mul(new(big.Int).SetUint64(k), new(big.Int).SetUint64(per))
			q, m := x.DivMod(x, new(big.Int).SetUint64(tokens), new(big.Int))
			return time.Duration(q.Int64()), m.Uint64()
		}
		g.at, g.pending = place(k)
		for i := range uint64(200) {
			at, pending := place(k + i)
			if g.at != at || g.pending != pending {
				t.Fatalf("step %d of %s stands at %d + %d, not at %d + %d", k+i, r, g.at, g.pending, at, pending)
			}
			g.step()
		}
	})
}

func TestGridOverTenMillionSteps(t *testing.T) {
	g := newGrid(limiter.Rate{Tokens: 17, Per: 30 * time.Millisecond})
	const steps = 10_000_000
	for range steps {
		g.step()
	}
	if want := time.Duration(30_000_000*steps) / 17; g.at != want {
		t.Errorf("after 10⁷ steps of 17 each 30 ms the grid stands at %d ns, not at %d", g.at, want)
	}
}

func TestJitterStaysRoundTheGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := limiter.Rate{Tokens: rapid.Int64Range(1, 20_000).Draw(t, "tokens"), Per: time.Second}
		j := rapid.Float64Range(0, 1).Draw(t, "jitter")
		seed := rapid.Uint64().Draw(t, "seed")
		smooth := NewClient(0, only(profiles.Arrivals{Process: profiles.Constant, Rate: r}), profiles.Service{}, seed)
		rough := NewClient(0, only(profiles.Arrivals{Process: profiles.Constant, Rate: r, Jitter: j}), profiles.Service{}, seed)
		half := time.Duration(j*1e9/float64(r.Tokens)/2) + 1
		last := time.Duration(0)
		for k := range 300 {
			s, q := smooth.Next(0), rough.Next(0)
			if q < s-half || q > s+half {
				t.Fatalf("request %d of %s with jitter %g is sent at %v, %v from its place", k, r, j, q, q-s)
			}
			if q < last {
				t.Fatalf("request %d is planned before the one before it", k)
			}
			last = q
			smooth.Send(s)
			rough.Send(q)
		}
	})
}

// The number of Poisson arrivals in a window has mean and variance λ; with n windows the mean of the counts
// deviates by √(λ/n), their variance by about λ·√(2/n) (for λ not small). Four standard deviations, and a seed that is fixed.
func TestPoissonCounts(t *testing.T) {
	const windows, lambda = 4000, 50.0
	c := NewClient(0, only(profiles.Arrivals{Process: profiles.Poisson, Rate: limiter.PerSecond(lambda)}), profiles.Service{}, 7)
	counts := make([]float64, windows)
	for _, at := range served(c, 0, windows*time.Second) {
		counts[at/time.Second]++
	}
	mean, variance := moments(counts)
	if dev := math.Abs(mean - lambda); dev > 4*math.Sqrt(lambda/windows) {
		t.Errorf("mean %.3f requests a second, not %.0f", mean, lambda)
	}
	if dev := math.Abs(variance - lambda); dev > 4*lambda*math.Sqrt(2.0/windows) {
		t.Errorf("variance %.3f, not %.0f", variance, lambda)
	}
}

func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, variance
}

// A process whose rate varies is judged by its integral: mapped through Λ, its arrivals are a Poisson process
// of rate 1, whose intervals have mean 1 and variance 1.
func TestVaryingPoissonIsExactInDistribution(t *testing.T) {
	for name, tc := range map[string]struct {
		arrivals profiles.Arrivals
		expected func(t float64) float64 // Λ(t), t in seconds
		end      time.Duration
	}{
		"ramp up": {
			profiles.Arrivals{Process: profiles.Ramp, From: limiter.Rate{Tokens: 0, Per: time.Second}, To: limiter.PerSecond(200), Over: 100 * time.Second},
			func(t float64) float64 {
				if t > 100 {
					return 10_000 + 200*(t-100)
				}
				return t * t
			}, 150 * time.Second,
		},
		"ramp down": {
			profiles.Arrivals{Process: profiles.Ramp, From: limiter.PerSecond(200), To: limiter.PerSecond(2), Over: 100 * time.Second},
			func(t float64) float64 {
				if t > 100 {
					return 10_100 + 2*(t-100)
				}
				return 200*t - 0.99*t*t
			}, 1000 * time.Second,
		},
		"sine": {
			profiles.Arrivals{Process: profiles.Sine, Rate: limiter.PerSecond(100), Amplitude: 0.8, Period: 10 * time.Second},
			func(t float64) float64 {
				w := 2 * math.Pi / 10
				return 100*t + 80/w*(1-math.Cos(w*t))
			}, 200 * time.Second,
		},
		"sine to zero": {
			profiles.Arrivals{Process: profiles.Sine, Rate: limiter.PerSecond(10), Amplitude: 1, Period: 7 * time.Second},
			func(t float64) float64 {
				w := 2 * math.Pi / 7
				return 10*t + 10/w*(1-math.Cos(w*t))
			}, 1000 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewClient(0, only(tc.arrivals), profiles.Service{}, 11)
			var gaps []float64
			last := 0.0
			for _, at := range served(c, 0, tc.end) {
				now := tc.expected(at.Seconds())
				gaps = append(gaps, now-last)
				last = now
			}
			n := float64(len(gaps))
			if total := tc.expected(tc.end.Seconds()); math.Abs(n-total) > 4*math.Sqrt(total) {
				t.Errorf("%v requests, and %.0f were expected", n, total)
			}
			mean, variance := moments(gaps)
			// The variance of the sample variance of an exponential distribution is 8/n.
			if math.Abs(mean-1) > 4/math.Sqrt(n) || math.Abs(variance-1) > 4*math.Sqrt(8/n) {
				t.Errorf("intervals have mean %.4f and variance %.4f, not 1 and 1", mean, variance)
			}
		})
	}
}

func TestOnOffIsAGridThatSleeps(t *testing.T) {
	a := profiles.Arrivals{Process: profiles.OnOff, Rate: limiter.PerSecond(10), On: 250 * time.Millisecond, Off: 750 * time.Millisecond}
	c := NewClient(0, only(a), profiles.Service{}, 3)
	times := served(c, 0, 100*time.Second)
	if n := len(times); n != 250 {
		t.Errorf("%d requests in 100 s, of which the client was on for 25 s at 10/s", n)
	}
	for _, at := range times {
		if at%time.Second >= a.On {
			t.Errorf("a request at %v, while the client is off", at)
		}
	}
}

func TestListedRequests(t *testing.T) {
	ms := time.Millisecond
	burst := only(profiles.Arrivals{Process: profiles.Once, Count: 3, At: 5 * ms})
	if got := served(NewClient(0, burst, profiles.Service{}, 1), 0, time.Second); len(got) != 3 || got[0] != 5*ms || got[2] != 5*ms {
		t.Errorf("three requests at 5 ms came at %v", got)
	}
	trace := only(profiles.Arrivals{Process: profiles.Trace, Trace: []time.Duration{0, 3 * ms, 3 * ms, 10 * ms}})
	trace.Start, trace.Stop = 2*ms, 12*ms
	got := served(NewClient(0, trace, profiles.Service{}, 1), 0, time.Second)
	if len(got) != 3 || got[0] != 2*ms || got[1] != 5*ms || got[2] != 5*ms {
		t.Errorf("a trace begun at 2 ms and stopped at 12 ms came at %v", got)
	}
}

func TestClosedLoopWaitsForTheEndOfItsRequest(t *testing.T) {
	ms := time.Millisecond
	spec := only(profiles.Arrivals{Process: profiles.Closed, Workers: 2, Think: 10 * ms})
	spec.Retry = profiles.Retry{Attempts: 1, Backoff: profiles.Fixed, Base: 5 * ms}
	c := NewClient(0, spec, profiles.Service{}, 1)
	a, ok := c.Send(c.Next(0))
	b, ok2 := c.Send(c.Next(0))
	if !ok || !ok2 || c.Next(0) != limiter.Never {
		t.Fatal("two workers do not send two requests and then wait")
	}
	c.Observe(20*ms, a, Answer{Status: 429})
	if at := c.Next(0); at != 25*ms {
		t.Errorf("the retry comes at %v, not 5 ms after the refusal at 20 ms", at)
	}
	c.Observe(22*ms, b, Answer{Status: 200})
	a, _ = c.Send(25 * ms)
	if ended, _ := c.Observe(26*ms, a, Answer{Status: 429}); !ended {
		t.Error("a request with one retry goes on after two refusals")
	}
	if at := c.Next(0); at != 32*ms {
		t.Errorf("the second worker sends again at %v, not 10 ms after its request ended at 22 ms", at)
	}
	c.Send(32 * ms)
	if at := c.Next(0); at != 36*ms {
		t.Errorf("the first worker sends again at %v, not 10 ms after its request ended at 26 ms", at)
	}
}

func TestStartAndStop(t *testing.T) {
	spec := only(profiles.Arrivals{Process: profiles.Constant, Rate: limiter.PerSecond(10)})
	spec.Start, spec.Stop = 3*time.Second, 5*time.Second
	times := served(NewClient(0, spec, profiles.Service{}, 1), 0, time.Minute)
	if len(times) != 20 || times[0] < spec.Start || times[19] >= spec.Stop {
		t.Errorf("a client of 10/s from 3 s to 5 s sent %d requests, from %v on", len(times), times[0])
	}
}

// Every client has draws of its own: whatever others do, and in whatever order, its requests come at the same times. Another seed or name
// gives other times.
func TestClientsDrawApart(t *testing.T) {
	spec := only(profiles.Arrivals{Process: profiles.Poisson, Rate: limiter.PerSecond(10)})
	first := served(NewClient(0, spec, profiles.Service{}, 1), 0, 10*time.Second)
	again := served(NewClient(5, spec, profiles.Service{}, 1), 0, 10*time.Second)
	if len(first) != len(again) || first[0] != again[0] || first[len(first)-1] != again[len(again)-1] {
		t.Error("the same client with the same seed sends at other times")
	}
	if other := served(NewClient(0, spec, profiles.Service{}, 2), 0, 10*time.Second); other[0] == first[0] {
		t.Error("another seed gives the same times")
	}
	spec.Name = "mobile"
	if other := served(NewClient(0, spec, profiles.Service{}, 1), 0, 10*time.Second); other[0] == first[0] {
		t.Error("another client gets the same times")
	}
}

func TestOneNanosecondGap(t *testing.T) {
	if d, rest := whole(math.Inf(1)); d != limiter.Never || rest != 0 {
		t.Errorf("an endless wait is %v and %g", d, rest)
	}
	if d, rest := whole(2.75); d != 2 || rest != 0.75 {
		t.Errorf("2.75 ns are %d and %g", d, rest)
	}
}
