package attack

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

// shelf is a Store on an engine of its own, a millisecond away. From goneAt on, if that is set, it cannot be reached, and admits everything.
type shelf struct {
	began  time.Time
	goneAt time.Duration

	mu    sync.Mutex
	lim   limiter.Limiter
	cfg   limiter.Config
	names map[string]int
	where map[string]bool
	blind int
}

func (s *shelf) Reconfigure(cfg limiter.Config) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cfg.Policy == limiter.FairQueue {
		return &limiter.ConfigError{Field: "policy", Msg: "not on this shelf"}
	}
	if s.cfg = cfg; s.lim != nil {
		return s.lim.Reconfigure(time.Since(s.began), cfg)
	}
	s.began, s.names, s.where = time.Now(), map[string]int{}, map[string]bool{}
	s.lim, err = limiter.New(cfg)
	return err
}

func (s *shelf) Decide(_ context.Context, client, endpoint string, cost int64) (limiter.Decision, []limiter.Quota, error) {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.began)
	if s.goneAt > 0 && now >= s.goneAt {
		s.blind++
		return limiter.Decision{}, nil, errors.New("gone")
	}
	if _, ok := s.names[client]; !ok {
		s.names[client] = s.lim.Join(now, limiter.Client{Name: client})
	}
	s.where[endpoint] = true
	d := s.lim.Arrive(now, limiter.Attempt{Client: s.names[client], Cost: cost})
	return d, s.lim.Quotas(now, s.names[client], nil), nil
}

func shelved(t *testing.T) *profiles.Profile {
	p := constant(t, limiter.PerSecond(200), 10*time.Second)
	p.Limiter.Rate, p.Limiter.Burst = limiter.PerSecond(50), 50
	p.Store.URL = "redis://127.0.0.1:6379/0"
	return p
}

func TestARunCountsInItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		p := shelved(t)
		r, err := New(p, Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if snap := r.Snapshot(); snap.Inside != nil {
			t.Error("it pictures the inside of a limiter that decides nothing")
		}
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		rep := r.Report()
		if n := rep.Aggregate.AdmittedCount; n < 540 || n > 550 || rep.Aggregate.ErrorCount != 0 {
			t.Errorf("%d admitted and %d errors in 10 s at 50/s with a burst of 50", n, rep.Aggregate.ErrorCount)
		}
		if len(s.where) != 1 || !s.where[p.Name] {
			t.Errorf("asked about %v, want the profile %s", s.where, p.Name)
		}
	})
}

func TestChangesReachTheStoreOrNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		r, err := New(shelved(t), Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.Stop(); r.Wait() }()
		time.Sleep(time.Second)
		if err := r.Edit(func(p *profiles.Profile) { p.Limiter.Rate = limiter.PerSecond(70) }); err != nil || s.cfg.Rate != limiter.PerSecond(70) {
			t.Errorf("%v; the store counts by %s", err, s.cfg.Rate)
		}
		if err := r.Edit(func(p *profiles.Profile) { p.Limiter.Policy = limiter.FairQueue }); err == nil || r.Profile().Limiter.Policy == limiter.FairQueue {
			t.Errorf("the store refused, and the profile is %s: %v", r.Profile().Limiter.Policy, err)
		}
		if err := r.Edit(func(p *profiles.Profile) { p.Store.URL = "" }); err == nil || !strings.Contains(err.Error(), "--store memory") {
			t.Errorf("another store under way: %v", err)
		}
	})
}

func TestAStoreThatGoesAwayIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{goneAt: 5 * time.Second}
		r, err := New(shelved(t), Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		for range 30 {
			r.Mark("the store does not answer")
		}
		r.Wait()
		rep := r.Report()
		if len(rep.Changes) != mostMarks || rep.Changes[0].What != "the store does not answer" || rep.Changes[0].T != 5 {
			t.Errorf("%d changes, the first %+v", len(rep.Changes), rep.Changes[:min(1, len(rep.Changes))])
		}
		if n := rep.Aggregate.AdmittedCount; s.blind < 900 || n < int64(s.blind) || rep.Aggregate.ErrorCount != 0 {
			t.Errorf("%d admitted, %d of them without the store, %d errors", n, s.blind, rep.Aggregate.ErrorCount)
		}
	})
}

func TestAProfileWithAStoreNeedsIt(t *testing.T) {
	p := shelved(t)
	for name, err := range map[string]error{
		"run":        func() error { _, err := New(p, Options{}); return err }(),
		"guard":      func() error { _, err := NewGuard(p, GuardOptions{Listen: "127.0.0.1:0"}); return err }(),
		"simulation": func() error { _, err := NewSimulation(p, false); return err }(),
		"playback":   func() error { _, err := NewPlayback(p, 2); return err }(),
		"compare": func() error {
			_, err := Compare(t.Context(), p, []limiter.Policy{limiter.Global}, nil, nil)
			return err
		}(),
		"repeat": func() error { _, err := Repeat(t.Context(), p, 2, nil); return err }(),
	} {
		var at *profiles.Error
		if !errors.As(err, &at) || at.Path != "limiter.store" || !strings.Contains(at.Msg, "redis://127.0.0.1:6379/0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Limiter.Policy = limiter.FairQueue
	var at *profiles.Error
	if _, err := New(p, Options{Store: &shelf{}}); !errors.As(err, &at) || at.Path != "limiter.policy" {
		t.Errorf("what the store refuses: %v", err)
	}
}

func TestAGuardCountsInItsStore(t *testing.T) {
	p := hourly(t, "global")
	p.Store.URL = "redis://127.0.0.1:6379/0"
	s := &shelf{}
	g := guarded(t, p, GuardOptions{Store: s})
	var codes []int
	for range 5 {
		codes = append(codes, visitor(t, g.URL(), "web").StatusCode)
	}
	if s.names["web"] != 0 || len(s.names) != 1 || !s.where["hourly"] {
		t.Errorf("the store was asked about %v at %v", s.names, s.where)
	}
	if codes[0] != 200 || codes[2] != 200 || codes[3] != 429 || codes[4] != 429 {
		t.Errorf("answers %v, want three admissions", codes)
	}
	if snap := g.Snapshot(); snap.Inside != nil {
		t.Error("it pictures the inside of a limiter that decides nothing")
	}
	g.Mark("the store does not answer")
	if c := g.Report().Changes; len(c) != 1 || c[0].What != "the store does not answer" {
		t.Errorf("changes %+v", c)
	}
}
