package attack

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/limiter"
	"fairgate/profiles"
)

// builtin is a built-in profile with a duration of its own.
func builtin(t testing.TB, name string, d time.Duration) *profiles.Profile {
	t.Helper()
	p, err := profiles.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	p.Duration = d
	return p
}

// constant is a profile of one client that sends at a rate, before a limit that it does not reach.
func constant(t testing.TB, rate limiter.Rate, d time.Duration) *profiles.Profile {
	t.Helper()
	p := builtin(t, "starvation", d)
	p.Expect, p.Lesson = nil, nil
	p.Limiter = limiter.Config{Rate: limiter.PerSecond(1_000_000)}
	p.Clients = p.Clients[:1]
	p.Clients[0].Arrivals = profiles.Arrivals{Process: profiles.Constant, Rate: rate}
	return p
}

// live starts a run.
func live(t testing.TB, p *profiles.Profile, o Options) *Run {
	t.Helper()
	r, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryAttemptIsAccountedFor(t *testing.T) {
	for _, name := range []string{"starvation", "agent", "polite"} {
		synctest.Test(t, func(t *testing.T) {
			r := live(t, builtin(t, name, 2*time.Second), Options{})
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
			report := r.Report()
			for _, c := range report.Clients {
				if c.Attempts == 0 || c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight {
					t.Errorf("%s, %s: %d attempts, but %d admitted, %d rejected, %d errors, %d in flight",
						name, c.Name, c.Attempts, c.Admitted, c.Rejected, c.Errors, c.InFlight)
				}
			}
			if g := report.Generator; g.Achieved != 1 || g.Missed != 0 || g.Lateness.Max != 0 {
				t.Errorf("%s: where time stands still while we work nothing is late: %+v", name, g)
			}
		})
	}
}

// TestNeverMoreThanTheLimit looks at every window, live, through the times of the admissions.
func TestNeverMoreThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var admitted []time.Time
		p := builtin(t, "starvation", 3*time.Second)
		p.Service = profiles.Service{} // an admission is then a result's timestamp
		r := live(t, p, Options{Record: func(res *vegeta.Result) {
			if res.Code == http.StatusOK {
				mu.Lock()
				admitted = append(admitted, res.Timestamp)
				mu.Unlock()
			}
		}})
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(admitted, time.Time.Compare)
		burst, perSecond := int(p.Limiter.Burst), p.Limiter.Rate.PerSecond()
		for i := range admitted {
			for j := i; j < len(admitted); j++ {
				window := admitted[j].Sub(admitted[i])
				if n := j - i + 1; float64(n) > perSecond*window.Seconds()+float64(burst)+1e-6 {
					t.Fatalf("%d admissions within %v, at %v/s with a burst of %d", n, window, perSecond, burst)
				}
			}
		}
		if n := len(admitted); n < 3000 {
			t.Errorf("only %d were admitted: the test has seen nothing", n)
		}
		if s := r.Snapshot(); s.Overshoot > 0 {
			t.Errorf("the snapshot says that the limit was exceeded by %v", s.Overshoot)
		}
	})
}

func TestTwentyThousandASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := constant(t, limiter.PerSecond(20_000), time.Second)
		r := live(t, p, Options{})
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		report := r.Report()
		if n := report.Aggregate.Attempts; n < 19_999 || n > 20_001 || report.Generator.Achieved < 0.995 {
			t.Errorf("%d attempts, achieved %v", n, report.Generator.Achieved)
		}
	})
}

// TestStopIsPrompt: a client that sends every ten seconds, stopped while it waits.
func TestStopIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := constant(t, limiter.Rate{Tokens: 1, Per: 10 * time.Second}, time.Hour)
		r := live(t, p, Options{})
		time.Sleep(25 * time.Second)
		began := time.Now()
		r.Stop()
		r.Stop()
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("stopping took %v", d)
		}
		report := r.Report()
		if report.Duration != 25 || report.Aggregate.Attempts < 2 || report.Aggregate.Attempts > 3 {
			t.Errorf("a report over %v s with %d attempts, want 25 s and one attempt every ten", report.Duration, report.Aggregate.Attempts)
		}
		time.Sleep(time.Minute)
		if again := r.Report(); again.Duration != 25 || r.Snapshot().Now != 25*time.Second {
			t.Errorf("time goes on after the end: %v s", again.Duration)
		}
	})
}

// TestTheEndCutsWhatIsOnItsWay: attempts of every station are under way when the run is stopped.
func TestTheEndCutsWhatIsOnItsWay(t *testing.T) {
	for _, c := range []struct {
		name    string
		service profiles.Service
		policy  limiter.Policy
	}{
		{"on the way there", profiles.Service{RoundTrip: 20 * time.Hour}, limiter.Global},
		{"in the service", profiles.Service{Time: 10 * time.Hour}, limiter.Global},
		{"in a queue", profiles.Service{}, limiter.FairQueue},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := constant(t, limiter.PerSecond(10), time.Hour)
			p.Service = c.service
			p.Limiter.Policy = c.policy
			if c.policy == limiter.FairQueue {
				p.Limiter.Rate, p.Limiter.Burst = limiter.Rate{Tokens: 1, Per: time.Hour}, 1
				p.Limiter.Queue.MaxWait = time.Hour
			}
			r := live(t, p, Options{})
			time.Sleep(time.Second)
			began := time.Now()
			r.Stop()
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d != 0 {
				t.Errorf("%s: stopping took %v", c.name, d)
			}
			if a := r.Report().Aggregate; a.InFlight < 9 || a.Attempts != a.InFlight+a.AdmittedCount {
				t.Errorf("%s: %d of %d attempts in flight", c.name, a.InFlight, a.Attempts)
			}
		})
	}
}

func TestTheContextEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := New(constant(t, limiter.PerSecond(10), time.Hour), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.Start(ctx); err == nil {
			t.Error("a run starts twice")
		}
		time.Sleep(2 * time.Second)
		cancel()
		<-r.Done()
		if d := r.Report().Duration; d != 2 {
			t.Errorf("it went on to %v s", d)
		}
	})
}

// TestAPanicEndsTheRunWithItsStack wherever it happens, and leaves the report so far.
func TestAPanicEndsTheRunWithItsStack(t *testing.T) {
	panics := func(when time.Duration) func() {
		began := time.Now()
		return func() {
			if time.Since(began) >= when {
				panic("the sky is falling")
			}
		}
	}
	for name, sabotage := range map[string]func(r *Run, boom func()){
		"a hook":      func(r *Run, boom func()) { r.options.Record = func(*vegeta.Result) { boom() } },
		"a pacer":     func(r *Run, boom func()) { r.options.gate = trap{atSend, boom} },
		"a transport": func(r *Run, boom func()) { r.options.gate = trap{atArrive, boom} },
		"a release":   func(r *Run, boom func()) { r.options.gate = trap{atRelease, boom} },
		"an observer": func(r *Run, boom func()) { r.options.gate = trap{atObserve, boom} },
	} {
		synctest.Test(t, func(t *testing.T) {
			r, err := New(builtin(t, "starvation", time.Hour), Options{})
			if err != nil {
				t.Fatal(err)
			}
			sabotage(r, panics(time.Second))
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			err = r.Wait()
			if err == nil || !strings.Contains(err.Error(), "the sky is falling") || !strings.Contains(err.Error(), "run_test.go") {
				t.Errorf("%s: the run ended with %v", name, err)
			}
			if report := r.Report(); report.Duration < 1 || report.Duration > 1.1 || report.Aggregate.AdmittedCount < 900 {
				t.Errorf("%s: the report has %v s and %d admissions", name, report.Duration, report.Aggregate.AdmittedCount)
			}
		})
	}
}

// TestAPanicWithALockHeld: a client falls while its lane is locked, and nobody waits for that lock for ever.
func TestAPanicWithALockHeld(t *testing.T) {
	for _, at := range []moment{atSend, atObserve} {
		synctest.Test(t, func(t *testing.T) {
			r, err := New(builtin(t, "starvation", time.Hour), Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.options.gate = trap{at, func() {
				if r.now() < time.Second {
					return
				}
				for _, l := range r.lanes {
					l.mu.Lock()
					l.client = nil // whoever asks it next, falls
					l.mu.Unlock()
				}
			}}
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := r.Wait(); err == nil || !strings.Contains(err.Error(), "nil pointer") {
				t.Errorf("the run ended with %v", err)
			}
			if a := r.Report().Aggregate; a.AdmittedCount < 900 {
				t.Errorf("the report has %d admissions", a.AdmittedCount)
			}
		})
	}
}

// trap is a gate that somebody falls into.
type trap struct {
	m    moment
	boom func()
}

func (tr trap) pass(m moment, _ int, _ uint64) {
	if m == tr.m {
		tr.boom()
	}
}

// TestAStallIsNotTheClientsBurst: the machine stands still for three seconds; what should have been sent then is missed, but for the last second's.
func TestAStallIsNotTheClientsBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalled := false
		stall := trap{atSend, nil}
		r, err := New(constant(t, limiter.PerSecond(100), 10*time.Second), Options{})
		if err != nil {
			t.Fatal(err)
		}
		stall.boom = func() {
			if !stalled && r.now() > 2*time.Second {
				stalled = true
				time.Sleep(3 * time.Second)
			}
		}
		r.options.gate = stall
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		report := r.Report()
		g := report.Generator
		if g.Missed < 198 || g.Missed > 202 || report.Aggregate.Attempts+g.Missed != 1000 || report.Aggregate.Requests != report.Aggregate.Attempts {
			t.Errorf("%d sent for %d requests, %d missed; want 800 and 200", report.Aggregate.Attempts, report.Aggregate.Requests, g.Missed)
		}
		if g.Lateness.Max < 990 || g.Lateness.Max > 3010 || g.Achieved > 0.81 {
			t.Errorf("the report hides it: %+v", g)
		}
	})
}

// TestOutcomesSeenLateAreNoOvershoot: an attempt's outcome may be observed long after the next one's, as when the machine stalls. What the limiter
// admitted, and when, is held against the limit as it was decided.
func TestOutcomesSeenLateAreNoOvershoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New(builtin(t, "starvation", 2*time.Second), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var seen atomic.Int64
		r.options.gate = trap{atObserve, func() {
			if n := seen.Add(1); n%40 == 0 {
				time.Sleep(time.Duration(n%7) * 100 * time.Millisecond)
			}
		}}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		report := r.Report()
		if report.Overshoot != 0 {
			t.Errorf("the limiter went %v tokens beyond its limit, it says", report.Overshoot)
		}
		if report.Aggregate.AdmittedCount < 1500 {
			t.Errorf("only %d admitted: nothing was put to the test", report.Aggregate.AdmittedCount)
		}
	})
}

func TestWhatCannotRun(t *testing.T) {
	for want, change := range map[string]func(*profiles.Profile, *Options){
		"fairgate simulate":  func(p *profiles.Profile, _ *Options) { p.Clients[1].Copies = MostLive },
		"memory or loopback": func(_ *profiles.Profile, o *Options) { o.Transport = "pigeon" },
		"rate":               func(p *profiles.Profile, _ *Options) { p.Limiter.Rate = limiter.Rate{} },
	} {
		p, o := builtin(t, "starvation", time.Second), Options{}
		p.Expect = nil
		change(p, &o)
		if _, err := New(p, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want it to say %q", err, want)
		}
	}
}

func TestARunThatNeverBegan(t *testing.T) {
	r, err := New(builtin(t, "starvation", time.Second), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s, report := r.Snapshot(), r.Report(); s.Now != 0 || report.Started != nil || report.Aggregate.Attempts != 0 {
		t.Errorf("before the start: %v, %v", s.Now, report.Started)
	}
	r.Stop()
	if err := r.Start(t.Context()); err == nil {
		t.Error("a run that was stopped starts")
	}
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}

// TestARealRunLeavesNothingBehind runs for a moment of real time over each transport.
func TestARealRunLeavesNothingBehind(t *testing.T) {
	for _, transport := range []string{TransportMemory, TransportLoopback} {
		before := goroutines()
		p := builtin(t, "starvation", 300*time.Millisecond)
		p.Limiter.Rate, p.Limiter.Burst = limiter.PerSecond(5), 1 // so low that even a slow machine meets it
		r := live(t, p, Options{Transport: transport})
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		a := r.Report().Aggregate
		if a.AdmittedCount == 0 || a.RejectedCount == 0 || a.ErrorCount != 0 {
			t.Errorf("%s: %d admitted, %d rejected, %d errors", transport, a.AdmittedCount, a.RejectedCount, a.ErrorCount)
		}
		for i := 0; goroutines() > before; i++ { // some are on their last step
			if i == 1000 {
				t.Fatalf("%s: %d goroutines before, %d after:\n%s", transport, before, goroutines(), stacks())
			}
			yield()
		}
	}
}
