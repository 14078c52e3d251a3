package attack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"

	"pgregory.net/rapid"
)

// starvation is the demonstration: a batch job at five times the limit, and small clients that ask for little.
func starvation() *profiles.Profile {
	p, err := profiles.Load("starvation")
	if err != nil {
		panic(err)
	}
	return p
}

func simulated(t testing.TB, p *profiles.Profile) *fairness.Report {
	t.Helper()
	r, err := Simulate(context.Background(), p, SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSameSeedSameBytes(t *testing.T) {
	bytesOf := func(seed uint64) []byte {
		p := starvation()
		p.Duration, p.Seed = 3*s, seed
		b, err := json.Marshal(simulated(t, p))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := bytesOf(1)
	if again := bytesOf(1); !bytes.Equal(first, again) {
		t.Error("two simulations with one seed differ")
	}
	if other := bytesOf(2); bytes.Equal(first, other) {
		t.Error("simulations with two seeds are equal")
	}
}

// In however many steps it is played back, it comes to the same.
func TestPlayingBackChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := starvation()
		p.Duration = 200 * ms
		at := func(steps []time.Duration) []byte {
			sim, err := NewSimulation(p, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range steps {
				sim.Advance(to)
				sim.Snapshot()
			}
			sim.Advance(p.Duration)
			b, _ := json.Marshal(sim.Report())
			return b
		}
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(p.Duration)).Draw(t, "to"))
		}), 0, 10).Draw(t, "steps")
		if !bytes.Equal(at(nil), at(steps)) {
			t.Fatalf("stops at %v change the report", steps)
		}
	})
}

// accounts checks what must hold in every report.
func accounts(t interface{ Errorf(string, ...any) }, r *fairness.Report) {
	var attempts int64
	for _, c := range r.Clients {
		if c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight {
			t.Errorf("%s: %d attempts are not %d admitted + %d rejected + %d errors + %d in flight", c.Name, c.Attempts, c.Admitted, c.Rejected, c.Errors, c.InFlight)
		}
		attempts += c.Attempts
	}
	a := r.Aggregate
	if a.Attempts != attempts || a.Attempts != a.AdmittedCount+a.RejectedCount+a.ErrorCount+a.InFlight {
		t.Errorf("the sum: %d attempts (clients: %d) are not %d + %d + %d + %d", a.Attempts, attempts, a.AdmittedCount, a.RejectedCount, a.ErrorCount, a.InFlight)
	}
}

// scripted is a limiter that answers by the script and writes down what it was asked, and when.
type scripted struct {
	limiter.Limiter
	answers []limiter.Decision // in turn; afterwards all are admitted
	waiting []limiter.Attempt  // handed out at ready
	ready   time.Duration
	final   limiter.Decision
	log     []string
}

func (l *scripted) note(what string, now time.Duration, a limiter.Attempt) {
	l.log = append(l.log, what+" "+string(rune('a'+a.Client))+" "+now.String())
}

func (l *scripted) Arrive(now time.Duration, a limiter.Attempt) limiter.Decision {
	l.note("arrive", now, a)
	if len(l.answers) == 0 {
		return limiter.Decision{Verdict: limiter.Admitted}
	}
	d := l.answers[0]
	l.answers = l.answers[1:]
	if d.Verdict == limiter.Queued {
		l.waiting = append(l.waiting, a)
	}
	return d
}

func (l *scripted) Release(now time.Duration, a limiter.Attempt) { l.note("release", now, a) }

func (l *scripted) Due() (time.Duration, bool) { return l.ready, len(l.waiting) > 0 }

func (l *scripted) Settle(now time.Duration) (limiter.Attempt, limiter.Decision, bool) {
	if len(l.waiting) == 0 || now < l.ready {
		return limiter.Attempt{}, limiter.Decision{}, false
	}
	a := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.note("settle", now, a)
	return a, l.final, true
}

func (l *scripted) Cancel(now time.Duration, a limiter.Attempt) bool {
	l.note("cancel", now, a)
	n := len(l.waiting)
	l.waiting = slices.DeleteFunc(l.waiting, func(w limiter.Attempt) bool { return w == a })
	return len(l.waiting) < n
}

// at is a client that sends at these moments.
func at(name string, times ...time.Duration) profiles.Client {
	c := only(profiles.Arrivals{Process: profiles.Trace, Trace: times})
	c.Name, c.Copies = name, 1
	return c
}

// scriptedRun simulates clients against a scripted limiter to the end.
func scriptedRun(t *testing.T, l *scripted, svc profiles.Service, clients ...profiles.Client) *fairness.Report {
	t.Helper()
	p := &profiles.Profile{Name: "scripted", Duration: s, Service: svc, Clients: clients, Limiter: limiter.Config{Rate: limiter.PerSecond(100)}}
	sim, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	l.Limiter, sim.lim = sim.lim, l
	if err := sim.run(context.Background(), func() {}); err != nil {
		t.Fatal(err)
	}
	r := sim.Report()
	accounts(t, r)
	return r
}

func wantLog(t *testing.T, l *scripted, want ...string) {
	t.Helper()
	if !slices.Equal(l.log, want) {
		t.Errorf("the limiter was asked\n%q, and not\n%q", l.log, want)
	}
}

func TestTheWayOfAnAttempt(t *testing.T) {
	l := &scripted{}
	r := scriptedRun(t, l, profiles.Service{Time: 4 * ms, RoundTrip: 3*ms + 1}, at("a", 10*ms))
	wantLog(t, l, "arrive a 11.5ms", "release a 15.5ms")
	// 1.5 ms there, 4 ms of service, 1.500001 ms back.
	if c := r.Clients[0]; c.Admitted != 1 || c.Latency.Admitted.Max.Format(2) != "7.00" {
		t.Errorf("%d admitted after %s ms", c.Admitted, c.Latency.Admitted.Max.Format(6))
	}
}

// What falls on one nanosecond: the slot of the first is released as the second and third arrive; those go by the clients' order.
func TestOrderOnOneNanosecond(t *testing.T) {
	l := &scripted{}
	scriptedRun(t, l, profiles.Service{Time: 2 * ms, RoundTrip: 2 * ms}, at("a", 2*ms), at("b", 0, 2*ms, 2*ms))
	wantLog(t, l, "arrive b 1ms", "release b 3ms", "arrive a 3ms", "arrive b 3ms", "arrive b 3ms", "release a 5ms", "release b 5ms", "release b 5ms")
}

// Without any delay all happens within one nanosecond, and still in order: a retry arrives after what was sent before it.
func TestNoDelaysAtAll(t *testing.T) {
	l := &scripted{answers: []limiter.Decision{{Verdict: limiter.Rejected}}}
	b := at("b", 0)
	b.Retry = profiles.Retry{Attempts: 1}
	r := scriptedRun(t, l, profiles.Service{}, b, at("a", 0))
	wantLog(t, l, "arrive a 0s", "arrive b 0s", "release b 0s", "arrive a 0s", "release a 0s")
	if r.Aggregate.AdmittedCount != 2 || r.Aggregate.RejectedCount != 1 {
		t.Errorf("%d admitted, %d rejected", r.Aggregate.AdmittedCount, r.Aggregate.RejectedCount)
	}
}

func TestWhatFallsOnTheEndDoesNotCount(t *testing.T) {
	l := &scripted{}
	r := scriptedRun(t, l, profiles.Service{Time: 2 * ms, RoundTrip: 2 * ms}, at("a", s-4*ms-1, s-4*ms, s-1, s))
	if c := r.Clients[0]; c.Attempts != 3 || c.Admitted != 1 || c.InFlight != 2 || c.Unfinished != 2 {
		t.Errorf("%d attempts, %d admitted, %d in flight, %d unfinished", c.Attempts, c.Admitted, c.InFlight, c.Unfinished)
	}
	wantLog(t, l, "arrive a 996.999999ms", "arrive a 997ms", "release a 998.999999ms", "release a 999ms")
}

func TestWaitingAttemptsLeaveAtTheirDeadline(t *testing.T) {
	queued := limiter.Decision{Verdict: limiter.Queued}
	svc := profiles.Service{Time: ms, RoundTrip: 2 * ms}
	a := at("a", 0)
	a.Deadline = 20 * ms
	for name, tc := range map[string]struct {
		ready time.Duration
		final limiter.Decision
		log   []string
		check func(fairness.ClientMeasures) bool
	}{
		"in time": {
			10 * ms, limiter.Decision{}, []string{"arrive a 1ms", "settle a 10ms", "release a 11ms"},
			func(c fairness.ClientMeasures) bool { return c.Admitted == 1 && c.GaveUp == 0 },
		},
		"refused at last": {
			10 * ms, limiter.Decision{Verdict: limiter.Rejected, By: limiter.ByWait, Told: s}, []string{"arrive a 1ms", "settle a 10ms"},
			func(c fairness.ClientMeasures) bool {
				return c.Rejected == 1 && c.GaveUp == 1 && c.RejectedBy["wait"] == 1
			},
		},
		"at the very deadline it is handed out first, and its answer comes too late": {
			20 * ms, limiter.Decision{}, []string{"arrive a 1ms", "settle a 20ms", "release a 21ms"},
			func(c fairness.ClientMeasures) bool { return c.Admitted == 1 && c.GaveUp == 1 },
		},
		"too late": {
			21 * ms, limiter.Decision{}, []string{"arrive a 1ms", "cancel a 20ms"},
			func(c fairness.ClientMeasures) bool { return c.Errors == 1 && c.GaveUp == 1 && c.Unfinished == 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &scripted{answers: []limiter.Decision{queued}, ready: tc.ready, final: tc.final}
			c := scriptedRun(t, l, svc, a).Clients[0]
			wantLog(t, l, tc.log...)
			if !tc.check(c) {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestLinesKeepTheOrderOfTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLine()
		var model []event
		now := time.Duration(0)
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if len(model) > 0 && rapid.IntRange(0, 2).Draw(t, "take") == 0 {
				now = l.at
				if slot := l.take(); slot != model[0].slot {
					t.Fatalf("%d came out, not %d", slot, model[0].slot)
				}
				model = model[1:]
				continue
			}
			e := event{now + time.Duration(rapid.IntRange(0, 20).Draw(t, "delay")), int32(i)}
			l.add(e.at, e.slot)
			model = append(model, e)
			slices.SortStableFunc(model, func(a, b event) int { return cmp.Compare(a.at, b.at) })
			if l.at != model[0].at {
				t.Fatalf("the first is said to be at %d, and is at %d", l.at, model[0].at)
			}
		}
	})
}

func TestAgendaKnowsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		model := map[int32]time.Duration{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			n := int32(rapid.IntRange(0, 40).Draw(t, "number"))
			if rapid.IntRange(0, 4).Draw(t, "drop") == 0 {
				a.drop(n)
				delete(model, n)
			} else {
				at := time.Duration(rapid.IntRange(0, 30).Draw(t, "at"))
				if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
					at = limiter.Never
				}
				a.set(n, at)
				model[n] = at
			}
			want, first := entry{limiter.Never, -1}, true
			for n, at := range model {
				if e := (entry{at, n}); first || e.before(want) {
					want, first = e, false
				}
			}
			if a.at() != want.at || !first && a.entries[0].number != want.number {
				t.Fatalf("the first is said to be at %d, and is %+v", a.at(), want)
			}
			if len(a.entries) != len(model) {
				t.Fatalf("%d entries for %d numbers", len(a.entries), len(model))
			}
		}
	})
}

// Interrupted by its context, a simulation gives what it has.
func TestInterruptedSimulation(t *testing.T) {
	p := starvation()
	p.Duration = 1000 * time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	r, err := Simulate(ctx, p, SimulateOptions{Progress: func(time.Duration) {
		if calls++; calls == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if r == nil || r.Aggregate.Attempts == 0 || r.Duration.Float(0) >= 60 {
		t.Fatalf("after two looks at the context the report covers %v s", r.Duration)
	}
	accounts(t, r)
}

func TestSimulationNeedsAnEnd(t *testing.T) {
	p := starvation()
	p.Duration = 0
	if _, err := NewSimulation(p, false); err == nil {
		t.Error("a simulation without an end was made")
	}
}

func TestSimulationAllocatesNothingPerAttempt(t *testing.T) {
	p := starvation()
	p.Duration = time.Hour
	sim, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	sim.Advance(2 * s)
	before := sim.Attempts()
	n := testing.AllocsPerRun(10, func() { sim.Advance(sim.Now() + 100*ms) })
	if attempts := float64(sim.Attempts()-before) / 11; n > attempts/100 {
		t.Errorf("%g allocations for %g attempts", n, attempts)
	}
}
