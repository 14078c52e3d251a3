package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// A rerun is a run that can begin anew: the run of now, and how to make another. It is over when the run of now is; one that
// was replaced does not count any more.
type rerun struct {
	another func(*profiles.Profile) (attacker, error)

	mu    sync.Mutex
	ctx   context.Context
	run   attacker
	done  chan struct{}
	anew  bool // it has begun anew at least once
	ended bool
}

// restarter is a run that can begin anew.
type restarter interface {
	Restart(*profiles.Profile) error
}

// shadower is a run beside which further policies can decide.
type shadower interface {
	Shadow(...limiter.Policy) error
	Unshadow()
	Shadows() []*fairness.Report
}

func newRerun(run attacker, another func(*profiles.Profile) (attacker, error)) *rerun {
	return &rerun{another: another, run: run, done: make(chan struct{})}
}

// now is the run of now.
func (r *rerun) now() attacker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run
}

// Start begins.
func (r *rerun) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx = ctx
	if err := r.run.Start(ctx); err != nil {
		return err
	}
	go r.await(r.run)
	return nil
}

// await ends the rerun with a run, unless that was replaced.
func (r *rerun) await(run attacker) {
	<-run.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == run {
		r.ended = true
		close(r.done)
	}
}

// Restart begins anew with a profile. An error leaves the run as it is.
func (r *rerun) Restart(p *profiles.Profile) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ctx == nil {
		return errors.New("the run is over: start the program again")
	}
	next, err := r.another(p)
	if err != nil {
		return err
	}
	if err := next.Start(r.ctx); err != nil {
		return err
	}
	old := r.run
	r.run, r.anew = next, true
	old.Stop() // whoever awaits it sees that it was replaced
	go r.await(next)
	return nil
}

// Anew reports whether it is no longer the run that it began as.
func (r *rerun) Anew() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.anew
}

func (r *rerun) Done() <-chan struct{}                   { return r.done }
func (r *rerun) Stop()                                   { r.now().Stop() }
func (r *rerun) Snapshot() *fairness.Snapshot            { return r.now().Snapshot() }
func (r *rerun) Report() *fairness.Report                { return r.now().Report() }
func (r *rerun) Profile() *profiles.Profile              { return r.now().Profile() }
func (r *rerun) Edit(edit func(*profiles.Profile)) error { return r.now().Edit(edit) }
func (r *rerun) NextPolicy(by int) error                 { return r.now().NextPolicy(by) }

// Wait waits for the end of the run that is the last.
func (r *rerun) Wait() error {
	<-r.done
	return r.now().Wait()
}

// Shadow lets further policies decide beside the one in force.
func (r *rerun) Shadow(policies ...limiter.Policy) error {
	if s, ok := r.now().(shadower); ok {
		return s.Shadow(policies...)
	}
	return errors.New("nothing decides beside this run")
}

// Unshadow ends that.
func (r *rerun) Unshadow() {
	if s, ok := r.now().(shadower); ok {
		s.Unshadow()
	}
}

// Shadows are the reports of what the further policies would have done.
func (r *rerun) Shadows() []*fairness.Report {
	if s, ok := r.now().(shadower); ok {
		return s.Shadows()
	}
	return nil
}

var _ attacker = (*rerun)(nil)
var _ shadower = (*attack.Run)(nil)

// restart begins the run anew as it is set now.
func (t *tuner) restart(newSeed bool) error {
	r, ok := t.run.(restarter)
	if !ok {
		return errors.New("this run cannot begin anew")
	}
	p := t.present()
	if newSeed {
		p.Seed = 1 + rand.Uint64N(999_999)
	}
	if err := r.Restart(p); err != nil {
		return fmt.Errorf("not begun anew: %w", err)
	}
	t.past = nil // what was changed before belongs to another run
	clear(t.stops)
	t.look()
	return t.shadowAgain()
}
