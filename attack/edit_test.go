package attack

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/limiter"
	"fairgate/profiles"
)

// sendTimes records when a run sends, counted from its beginning.
type sendTimes struct {
	mu    sync.Mutex
	began time.Time
	times []time.Duration
}

func (s *sendTimes) add(res *vegeta.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, res.Timestamp.Sub(s.began))
}

// between is how many were sent from one moment up to another.
func (s *sendTimes) between(from, to time.Duration) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.times {
		if t >= from && t < to {
			n++
		}
	}
	return n
}

// TestALiveChangeOfRateMakesNeitherBurstNorSilence: 20/s, then 100/s, then 20/s again.
func TestALiveChangeOfRateMakesNeitherBurstNorSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := &sendTimes{began: time.Now()}
		p := constant(t, limiter.PerSecond(20), 9*time.Second)
		p.Service = profiles.Service{}
		r := live(t, p, Options{Record: sent.add})
		rate := func(n int64) {
			if err := r.Edit(func(p *profiles.Profile) { p.Clients[0].Arrivals.Rate = limiter.PerSecond(n) }); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3*time.Second + time.Millisecond)
		rate(100)
		time.Sleep(3 * time.Second)
		rate(20)
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		// In every stretch of half a second each rate sends what it says, give or take one; across a change, what lies between the two.
		for from := time.Duration(0); from+500*time.Millisecond <= 9*time.Second; from += 50 * time.Millisecond {
			n := sent.between(from, from+500*time.Millisecond)
			changed := 3*time.Second + time.Millisecond
			fast := min(max(from+500*time.Millisecond-changed, 0), 500*time.Millisecond) - min(max(from+500*time.Millisecond-changed-3*time.Second, 0), 500*time.Millisecond)
			want := 20*(500*time.Millisecond-fast).Seconds() + 100*fast.Seconds()
			if float64(n) < want-1.5 || float64(n) > want+1.5 {
				t.Errorf("%d sent from %v to %v, want about %.1f", n, from, from+500*time.Millisecond, want)
			}
		}
		if g := r.Report().Generator; g.Missed != 0 || g.Lateness.Max != 0 {
			t.Errorf("the change made attempts late: %+v", g)
		}
	})
}

// TestACureWhileItRuns changes the policy under attack: the starved are served from that moment on, and the report says when it was.
func TestACureWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := live(t, builtin(t, "starvation", 4*time.Second), Options{})
		time.Sleep(2 * time.Second)
		if starved := r.Snapshot().Fairness.Starved; len(starved) == 0 {
			t.Error("nobody starves under the global limit")
		}
		if err := r.NextPolicy(1); err != nil {
			t.Fatal(err)
		}
		if policy := r.Profile().Limiter.Policy; policy != limiter.PerClient {
			t.Fatalf("the next policy is %s", policy)
		}
		before := r.Report()
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		after := r.Report()
		for i, c := range after.Clients[1:3] {
			was := before.Clients[i+1]
			got := float64(c.Admitted-was.Admitted) / float64(c.Requests-was.Requests)
			if got < 0.97 {
				t.Errorf("%s: %.2f of its requests are admitted after the cure", c.Name, got)
			}
		}
		if len(after.Changes) != 1 || after.Changes[0].What != "policy global → per-client" || after.Changes[0].T != 2 {
			t.Errorf("changes: %+v", after.Changes)
		}
	})
}

func TestPoliciesGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := live(t, builtin(t, "starvation", time.Minute), Options{})
		defer r.Wait()
		defer r.Stop()
		seen := []limiter.Policy{r.Profile().Limiter.Policy}
		for {
			if err := r.NextPolicy(1); err != nil {
				t.Fatal(err)
			}
			if p := r.Profile().Limiter.Policy; p != seen[0] {
				seen = append(seen, p)
				continue
			}
			break
		}
		if len(seen) < 4 {
			t.Errorf("the round has only %v", seen)
		}
		for i := len(seen) - 1; i >= 0; i-- {
			if err := r.NextPolicy(-1); err != nil {
				t.Fatal(err)
			}
			if p := r.Profile().Limiter.Policy; p != seen[i] {
				t.Errorf("going back leads to %s, want %s", p, seen[i])
			}
		}
	})
}

func TestAWrongEditChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := live(t, builtin(t, "starvation", time.Minute), Options{})
		defer r.Wait()
		defer r.Stop()
		time.Sleep(time.Second)
		for want, edit := range map[string]func(*profiles.Profile){
			"rate":     func(p *profiles.Profile) { p.Limiter.Rate.Tokens = 0 },
			"seed":     func(p *profiles.Profile) { p.Seed++ },
			"duration": func(p *profiles.Profile) { p.Duration++ },
			"clients":  func(p *profiles.Profile) { p.Expect = nil; p.Clients = p.Clients[1:] },
			"jitter":   func(p *profiles.Profile) { p.Clients[0].Arrivals.Jitter = 7 },
		} {
			if err := r.Edit(edit); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("editing the %s: %v", want, err)
			}
		}
		if err := r.Edit(func(*profiles.Profile) {}); err != nil {
			t.Error(err)
		}
		if changes := r.Report().Changes; len(changes) != 0 {
			t.Errorf("changes: %+v", changes)
		}
		if p := r.Profile(); p.Limiter.Rate != limiter.PerSecond(1000) || len(p.Clients) != 4 {
			t.Errorf("the profile is %+v", p)
		}
	})
}

// TestTheServiceAndTheWayChange too, from the next attempt on.
func TestTheServiceAndTheWayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := constant(t, limiter.PerSecond(10), 10*time.Second)
		p.Service = profiles.Service{}
		var last time.Duration
		var mu sync.Mutex
		r := live(t, p, Options{Record: func(res *vegeta.Result) { mu.Lock(); last = res.Latency; mu.Unlock() }})
		time.Sleep(time.Second)
		if err := r.Edit(func(p *profiles.Profile) {
			p.Service = profiles.Service{Time: 20 * time.Millisecond, RoundTrip: 3 * time.Millisecond}
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r.Stop()
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if last != 23*time.Millisecond {
			t.Errorf("an attempt takes %v, want 23ms", last)
		}
	})
}

func TestChangesInWords(t *testing.T) {
	for want, edit := range map[string]func(*profiles.Profile){
		"":                                func(*profiles.Profile) {},
		"policy global → fair-queue":      func(p *profiles.Profile) { p.Limiter.Policy = limiter.FairQueue },
		"rate 1000/s → 1100/s":            func(p *profiles.Profile) { p.Limiter.Rate = limiter.PerSecond(1100) },
		"client rate 250/s → 100/s":       func(p *profiles.Profile) { p.Limiter.Client.Rate = limiter.PerSecond(100) },
		"web arrivals rate 100/s → 200/s": func(p *profiles.Profile) { p.Clients[1].Arrivals.Rate = limiter.PerSecond(200) },
		"service time 2ms → 5ms":          func(p *profiles.Profile) { p.Service.Time = 5 * time.Millisecond },
		"refill greedy → interval, shape off → on": func(p *profiles.Profile) {
			p.Limiter.Refill, p.Limiter.Shape = limiter.Interval, true
		},
	} {
		was := builtin(t, "starvation", time.Second)
		was.Limiter.Client.Burst = 0
		is := was.Clone()
		edit(is)
		if got := describeChange(was, is, expand(was.Clients), expand(is.Clients)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
