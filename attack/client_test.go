package attack

import (
	"slices"
	"testing"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"

	"pgregory.net/rapid"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// oneShot is a client that sends one request at 0 and then only retries.
func oneShot(r profiles.Retry) profiles.Client {
	c := only(profiles.Arrivals{Process: profiles.Once, Count: 1})
	c.Retry = r
	return c
}

// waits is how long the client waits after each refusal, when all its attempts are refused at once.
func waits(c *Client, told time.Duration, most int) []time.Duration {
	var all []time.Duration
	now := c.Next(0)
	for range most {
		a, ok := c.Send(now)
		if !ok {
			panic("nothing is due")
		}
		if ended, _ := c.Observe(now, a, Answer{Status: 429, Told: told}); ended {
			break
		}
		all = append(all, c.Next(now)-now)
		now = c.Next(now)
	}
	return all
}

func TestWaitsBeforeRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		retry profiles.Retry
		told  time.Duration
		want  []time.Duration
	}{
		"no retries":                    {profiles.Retry{}, s, nil},
		"at once":                       {profiles.Retry{Attempts: 3, Backoff: profiles.NoBackoff}, s, []time.Duration{0, 0, 0}},
		"fixed":                         {profiles.Retry{Attempts: 2, Backoff: profiles.Fixed, Base: 7 * ms}, s, []time.Duration{7 * ms, 7 * ms}},
		"exponential":                   {profiles.Retry{Attempts: 5, Backoff: profiles.Exponential, Base: 100 * ms, Max: s}, 0, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, s}},
		"told and obeyed":               {profiles.Retry{Attempts: 2, Backoff: profiles.Exponential, Base: 100 * ms, HonorRetryAfter: true}, 3 * s, []time.Duration{3 * s, 3 * s}},
		"told and not obeyed":           {profiles.Retry{Attempts: 2, Backoff: profiles.Fixed, Base: 100 * ms}, 3 * s, []time.Duration{100 * ms, 100 * ms}},
		"would obey, was not told":      {profiles.Retry{Attempts: 1, Backoff: profiles.Fixed, Base: 100 * ms, HonorRetryAfter: true}, 0, []time.Duration{100 * ms}},
		"would obey 0, has no back-off": {profiles.Retry{Attempts: 1, HonorRetryAfter: true}, 0, []time.Duration{s}},
	} {
		t.Run(name, func(t *testing.T) {
			got := waits(NewClient(0, oneShot(tc.retry), profiles.Service{}, 1), tc.told, 10)
			if !slices.Equal(got, tc.want) {
				t.Errorf("it waits %v, not %v", got, tc.want)
			}
		})
	}
}

func TestExponentialBackoffNeverOverflows(t *testing.T) {
	c := NewClient(0, oneShot(profiles.Retry{Attempts: profiles.Unlimited, Backoff: profiles.Exponential, Base: 3 * s, Max: time.Hour}), profiles.Service{}, 1)
	for i, w := range waits(c, 0, 200) {
		if w < 3*s || w > time.Hour {
			t.Fatalf("wait %d is %v", i, w)
		}
	}
}

func TestJitterOfRetries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := profiles.Retry{
			Attempts: 20,
			Backoff:  rapid.SampledFrom([]profiles.Backoff{profiles.Fixed, profiles.Exponential}).Draw(t, "backoff"),
			Base:     time.Duration(rapid.Int64Range(1, int64(s)).Draw(t, "base")),
			Jitter:   rapid.SampledFrom([]profiles.Jitter{profiles.FullJitter, profiles.Decorrelated}).Draw(t, "jitter"),

			HonorRetryAfter: rapid.Bool().Draw(t, "honour"),
		}
		r.Max = r.Base + time.Duration(rapid.Int64Range(0, int64(10*s)).Draw(t, "max"))
		told := time.Duration(rapid.Int64Range(0, 5).Draw(t, "told")) * s
		last := r.Base
		for i, w := range waits(NewClient(0, oneShot(r), profiles.Service{}, rapid.Uint64().Draw(t, "seed")), told, 20) {
			low, high := time.Duration(0), r.Max
			if r.Backoff == profiles.Fixed {
				high = r.Base
			}
			if r.Jitter == profiles.Decorrelated {
				low, high = r.Base, min(r.Max, 3*last)
			}
			if r.HonorRetryAfter && told > 0 {
				low, high = told, told+max(told, high, 3*last)
			}
			if w < low || w > high {
				t.Fatalf("wait %d is %v, outside %v to %v", i, w, low, high)
			}
			last = max(w, r.Base)
		}
	})
}

// The draw of a retry belongs to its request and try: in whatever order the refusals are seen, each request waits as long.
func TestOrderOfOutcomesDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := only(profiles.Arrivals{Process: profiles.Once, Count: 20})
		spec.Retry = profiles.Retry{Attempts: 5, Backoff: profiles.Exponential, Base: s, Max: time.Minute, Jitter: profiles.FullJitter}
		seen := func(order []int) map[uint64]time.Duration {
			c := NewClient(0, spec, profiles.Service{}, 9)
			var sent []Attempt
			for a, ok := c.Send(0); ok; a, ok = c.Send(0) {
				sent = append(sent, a)
			}
			for _, i := range order {
				c.Observe(ms, sent[i], Answer{Status: 429})
			}
			at := map[uint64]time.Duration{}
			for c.Next(0) != limiter.Never {
				a, _ := c.Send(c.Next(0))
				at[a.Request] = a.Planned
			}
			return at
		}
		straight := make([]int, 20)
		for i := range straight {
			straight[i] = i
		}
		one, other := seen(straight), seen(rapid.Permutation(straight).Draw(t, "order"))
		for request, at := range one {
			if other[request] != at {
				t.Fatalf("request %d is retried at %v or at %v", request, at, other[request])
			}
		}
	})
}

func TestRetriesComeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q retries
		var model []retry
		less := func(a, b retry) int {
			switch {
			case a.before(&b):
				return -1
			case b.before(&a):
				return 1
			}
			return 0
		}
		for i := range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(model) > 0 && rapid.Bool().Draw(t, "pop") {
				want := slices.MinFunc(model, less)
				if q.next() != want.at {
					t.Fatalf("the next is said to be due at %d, and is at %d", q.next(), want.at)
				}
				if got := q.pop(); got != want {
					t.Fatalf("%+v came before %+v", got, want)
				}
				model = slices.DeleteFunc(model, func(r retry) bool { return r == want })
				continue
			}
			r := retry{at: time.Duration(rapid.IntRange(0, 50).Draw(t, "at")), request: uint64(i)}
			q.push(r)
			model = append(model, r)
		}
		edge := time.Duration(rapid.IntRange(0, 50).Draw(t, "edge"))
		dropped := 0
		q.dropFrom(edge, func(r retry) {
			if r.at < edge {
				t.Fatalf("%+v was dropped, and only what is due at %d or later should be", r, edge)
			}
			dropped++
		})
		if dropped+q.size+len(q.heap) != len(model) {
			t.Fatalf("of %d retries %d were dropped and %d are left", len(model), dropped, q.size+len(q.heap))
		}
	})
}

func TestOfTwoDueAtOnceTheOlderRequestComesFirst(t *testing.T) {
	spec := only(profiles.Arrivals{Process: profiles.Trace, Trace: []time.Duration{0, 5 * ms}})
	spec.Retry = profiles.Retry{Attempts: 1, Backoff: profiles.Fixed, Base: 4 * ms}
	c := NewClient(0, spec, profiles.Service{}, 1)
	a, _ := c.Send(0)
	c.Observe(ms, a, Answer{Status: 429})
	first, _ := c.Send(5 * ms)
	second, _ := c.Send(5 * ms)
	if first.Request != 0 || first.Try != 1 || first.Number != 1 || second.Request != 1 || second.Try != 0 || second.Number != 2 {
		t.Errorf("%+v came before %+v", first, second)
	}
}

func TestDeadline(t *testing.T) {
	spec := oneShot(profiles.Retry{Attempts: profiles.Unlimited, Backoff: profiles.Fixed, Base: 10 * ms})
	spec.Deadline = 25 * ms
	c := NewClient(0, spec, profiles.Service{}, 1)
	if got := waits(c, 0, 10); len(got) != 2 {
		t.Errorf("within 25 ms it retries %d times each 10 ms, not twice", len(got))
	}
	if c.Pending() != 0 {
		t.Errorf("%d requests are pending after it gave up", c.Pending())
	}
	for _, tc := range []struct {
		at  time.Duration
		how fairness.End
	}{{25 * ms, fairness.Served}, {25*ms + 1, fairness.GaveUp}} {
		c := NewClient(0, spec, profiles.Service{}, 1)
		a, _ := c.Send(0)
		if a.Deadline != 25*ms {
			t.Fatalf("the request gives up at %v, not at 25 ms", a.Deadline)
		}
		if ended, how := c.Observe(tc.at, a, Answer{Status: 200}); !ended || how != tc.how {
			t.Errorf("an answer at %v with the deadline at 25 ms ends the request as %d", tc.at, how)
		}
	}
}

func TestWhatIsRetried(t *testing.T) {
	for _, tc := range []struct {
		on     []int
		status int
		ended  bool
		how    fairness.End
	}{
		{nil, 200, true, fairness.Served}, {nil, 302, true, fairness.Served},
		{nil, 429, false, 0}, {nil, 503, false, 0}, {nil, 500, true, fairness.GaveUp},
		{nil, 0, true, fairness.GaveUp}, {nil, 404, true, fairness.GaveUp},
		{[]int{503}, 429, true, fairness.GaveUp}, {[]int{503}, 503, false, 0},
	} {
		c := NewClient(0, oneShot(profiles.Retry{Attempts: 1, On: tc.on}), profiles.Service{}, 1)
		a, _ := c.Send(0)
		if ended, how := c.Observe(ms, a, Answer{Status: tc.status}); ended != tc.ended || how != tc.how {
			t.Errorf("status %d with %v retried: ended %v as %d", tc.status, tc.on, ended, how)
		}
	}
}

// However refusals fall, no more retries are made than the budget's part of the requests, and while there is
// demand for them not many fewer.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.SampledFrom([]float64{0.01, 0.1, 0.25, 1, 1.5}).Draw(t, "budget")
		refused := rapid.Float64Range(0, 1).Draw(t, "refused")
		spec := only(profiles.Arrivals{Process: profiles.Constant, Rate: limiter.PerSecond(100)})
		spec.Retry = profiles.Retry{Attempts: profiles.Unlimited, Backoff: profiles.Fixed, Base: 3 * ms, Budget: budget}
		c := NewClient(0, spec, profiles.Service{}, 1)
		requests, tried, wanted := 0, 0, 0
		for i := range 2000 {
			now := c.Next(0)
			a, _ := c.Send(now)
			if a.Try == 0 {
				requests++
			} else {
				tried++
			}
			answer := Answer{Status: 200}
			if unit(mix(uint64(i))) < refused {
				answer.Status = 429
				wanted++
			}
			c.Observe(now, a, answer)
			if float64(tried) > budget*float64(requests)+1e-9 {
				t.Fatalf("%d retries of %d requests with a budget of %g", tried, requests, budget)
			}
		}
		if refused == 1 && float64(tried) < budget*float64(requests)-3 {
			t.Fatalf("only %d retries of %d requests, all refused, with a budget of %g", tried, requests, budget)
		}
	})
}

func TestBudgetIsExactAndCapped(t *testing.T) {
	r := newRetrier(profiles.Retry{Budget: 0.1}, 1, "web")
	spent := 0
	for range 10_000 {
		r.earn()
		if r.spend() {
			spent++
		}
	}
	if spent != 1000 {
		t.Errorf("10000 requests at a tenth bought %d retries", spent)
	}
	for range 10_000 {
		r.earn()
	}
	for spent = 0; r.spend(); spent++ {
	}
	if spent != budgetCap {
		t.Errorf("a long quiet saved up %d retries, not %d", spent, budgetCap)
	}
}

// A live change 20 → 100 → 20 per second at any moment makes no interval longer than the slow one or
// shorter than the fast one, and keeps the part of an interval that was still to wait.
func TestLiveChangeOfRateMakesNeitherBurstNorSilence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := only(profiles.Arrivals{Process: profiles.Constant, Rate: limiter.PerSecond(20), Jitter: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "jitter")})
		c := NewClient(0, spec, profiles.Service{}, rapid.Uint64().Draw(t, "seed"))
		slow, fast := 50*ms, 10*ms
		slack := time.Duration(spec.Arrivals.Jitter * float64(slow))
		var times []time.Duration
		up := time.Duration(rapid.Int64Range(int64(100*ms), int64(2*s)).Draw(t, "up"))
		down := up + time.Duration(rapid.Int64Range(0, int64(2*s)).Draw(t, "down"))
		times = append(times, served(c, 0, up)...)
		before := c.Next(up) - up
		spec.Arrivals.Rate = limiter.PerSecond(100)
		c.Change(up, spec)
		if after := c.Next(up) - up; after < before/5-2 || after > before/5+2 {
			t.Fatalf("%v were left to wait at 20/s, and %v are at 100/s", before, after)
		}
		times = append(times, served(c, up, down)...)
		before = c.Next(down) - down
		spec.Arrivals.Rate = limiter.PerSecond(20)
		c.Change(down, spec)
		if after := c.Next(down) - down; after < before*5-10 || after > before*5+10 {
			t.Fatalf("%v were left to wait at 100/s, and %v are at 20/s", before, after)
		}
		times = append(times, served(c, down, 5*s)...)
		for i := 1; i < len(times); i++ {
			if gap := times[i] - times[i-1]; gap < fast-slack-10 || gap > slow+slack+10 {
				t.Fatalf("an interval of %v between %v and %v (changes at %v and %v)", gap, times[i-1], times[i], up, down)
			}
		}
		want := up.Seconds()*20 + (down-up).Seconds()*100 + (5*s-down).Seconds()*20
		if n := float64(len(times)); n < want-2 || n > want+2 {
			t.Fatalf("%g requests, and %.1f were asked", n, want)
		}
	})
}

// Whatever is changed into whatever, at any time: requests come in the order of time, none is planned before the change, and the
// number that came is near what was asked.
func TestLiveChangeOfProcess(t *testing.T) {
	processes := []profiles.Arrivals{
		{Process: profiles.Constant, Rate: limiter.PerSecond(50), Jitter: 0.2},
		{Process: profiles.Constant, Rate: limiter.PerSecond(400)},
		{Process: profiles.Poisson, Rate: limiter.PerSecond(50)},
		{Process: profiles.Poisson, Rate: limiter.PerSecond(400)},
		{Process: profiles.OnOff, Rate: limiter.PerSecond(100), On: 100 * ms, Off: 100 * ms},
		{Process: profiles.OnOff, Rate: limiter.PerSecond(300), On: 10 * ms, Off: 50 * ms},
		{Process: profiles.Ramp, From: limiter.PerSecond(10), To: limiter.PerSecond(300), Over: 3 * s},
		{Process: profiles.Sine, Rate: limiter.PerSecond(100), Amplitude: 1, Period: s},
		{Process: profiles.Closed, Workers: 3, Think: 20 * ms},
		{Process: profiles.Closed, Workers: 7, Think: 5 * ms},
		{Process: profiles.Once, Count: 50, At: 100 * ms},
		{Process: profiles.Trace, Trace: []time.Duration{0, 10 * ms, 2 * s}},
	}
	rapid.Check(t, func(t *rapid.T) {
		spec := only(rapid.SampledFrom(processes).Draw(t, "first"))
		c := NewClient(0, spec, profiles.Service{}, rapid.Uint64().Draw(t, "seed"))
		now := time.Duration(0)
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			until := now + time.Duration(rapid.Int64Range(0, int64(2*s)).Draw(t, "until"))
			last := now
			for _, at := range served(c, now, until) {
				if at < last-1 {
					t.Fatalf("a request at %v after one at %v", at, last)
				}
				last = at
			}
			now = until
			spec.Arrivals = rapid.SampledFrom(processes).Draw(t, "next")
			switch rapid.IntRange(0, 3).Draw(t, "stop") {
			case 0:
				spec.Stop = max(now, 1)
			case 1:
				spec.Stop = 0
			}
			c.Change(now, spec)
			if at := c.Next(now); at < now-1 {
				t.Fatalf("after a change at %v a request is planned for %v", now, at)
			}
			if spec.Stop > 0 && c.Next(now) != limiter.Never && c.Next(now) >= spec.Stop {
				t.Fatalf("a request at %v of a client that stopped at %v", c.Next(now), spec.Stop)
			}
		}
		if c.Pending() != 0 {
			t.Fatalf("%d requests are pending, and all were answered", c.Pending())
		}
	})
}

func TestStoppingEndsTheRetriesThatWait(t *testing.T) {
	spec := oneShot(profiles.Retry{Attempts: profiles.Unlimited, Backoff: profiles.Fixed, Base: s})
	c := NewClient(0, spec, profiles.Service{}, 1)
	a, _ := c.Send(0)
	c.Observe(ms, a, Answer{Status: 429})
	spec.Stop = 500 * ms
	if gaveUp := c.Change(2*ms, spec); gaveUp != 1 || c.Pending() != 0 || c.Next(0) != limiter.Never {
		t.Errorf("stopped before its retry: %d gave up, %d are pending, the next attempt comes at %v", gaveUp, c.Pending(), c.Next(0))
	}
}

func TestOtherChangesHoldFromTheNextAttempt(t *testing.T) {
	spec := only(profiles.Arrivals{Process: profiles.Constant, Rate: limiter.PerSecond(10)})
	c := NewClient(0, spec, profiles.Service{}, 1)
	before := c.Next(0)
	spec.Cost, spec.Deadline = 7, s
	spec.Retry = profiles.Retry{Attempts: 1}
	c.Change(0, spec)
	if c.Next(0) != before {
		t.Error("a change of cost moved the next request")
	}
	a, _ := c.Send(before)
	if a.Cost != 7 || a.Deadline != before+s {
		t.Errorf("after the change an attempt costs %d and gives up at %v", a.Cost, a.Deadline)
	}
	if ended, _ := c.Observe(before, a, Answer{Status: 429}); ended {
		t.Error("the new retries do not hold")
	}
}

// Where nothing takes time, what a client may do without end still takes some: else one moment would never pass.
func TestNoMomentLastsForEver(t *testing.T) {
	endless := oneShot(profiles.Retry{Attempts: profiles.Unlimited})
	looping := only(profiles.Arrivals{Process: profiles.Closed, Workers: 1})
	for _, spec := range []profiles.Client{endless, looping} {
		c := NewClient(0, spec, profiles.Service{}, 1)
		now, sent := time.Duration(0), 0
		for ; sent < 1000; sent++ {
			now = max(now, c.Next(now))
			a, _ := c.Send(now)
			c.Observe(now, a, Answer{Status: 429})
		}
		if now < time.Duration(sent-1)*instant {
			t.Errorf("%s: %d attempts within %v", spec.Arrivals.Process, sent, now)
		}
	}
}

func TestClientAllocatesNothing(t *testing.T) {
	spec := only(profiles.Arrivals{Process: profiles.Constant, Rate: limiter.PerSecond(5000), Jitter: 0.1})
	spec.Retry = profiles.Retry{Attempts: 3}
	c := NewClient(0, spec, profiles.Service{}, 1)
	now := time.Duration(0)
	hit := func() {
		now = c.Next(now)
		a, _ := c.Send(now)
		c.Observe(now, a, Answer{Status: 429, Told: s})
	}
	for range 100 {
		hit()
	}
	if n := testing.AllocsPerRun(1000, hit); n != 0 {
		t.Errorf("%g allocations for each attempt", n)
	}
}

func BenchmarkClient(b *testing.B) {
	for name, a := range map[string]profiles.Arrivals{
		"constant": {Process: profiles.Constant, Rate: limiter.PerSecond(5000), Jitter: 0.1},
		"poisson":  {Process: profiles.Poisson, Rate: limiter.PerSecond(5000)},
		"sine":     {Process: profiles.Sine, Rate: limiter.PerSecond(5000), Amplitude: 0.5, Period: s},
	} {
		b.Run(name, func(b *testing.B) {
			spec := only(a)
			spec.Retry = profiles.Retry{Attempts: 3}
			c := NewClient(0, spec, profiles.Service{}, 1)
			var flight [16]Attempt // answers come 16 attempts later
			b.ReportAllocs()
			for i := range b.N {
				now := c.Next(0)
				a, _ := c.Send(now)
				if i >= len(flight) {
					c.Observe(now, flight[i%len(flight)], Answer{Status: 429, Told: s})
				}
				flight[i%len(flight)] = a
			}
		})
	}
}
