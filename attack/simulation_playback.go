package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

const (
	// frame is how often a playback goes on: some times for each picture of the screen.
	frame = 20 * time.Millisecond
	// hurry is how many events a playback goes on by before it lets others have the lock: about a millisecond's work.
	hurry = 1 << 12
)

// Playback is a simulation that happens as if it were now, some times as fast as life. It has the methods of a live run. Where the
// machine is too slow for the speed that was asked, its time passes as fast as it can.
type Playback struct {
	speed float64
	again sync.Mutex // one restart at a time; taken before mu

	mu    sync.Mutex // guards the rest
	sim   *Simulation
	ctx   context.Context // of Start; nil before
	stop  chan struct{}   // closed by Stop
	done  chan struct{}   // closed when the simulation has ended or was stopped
	ended bool            // stop is closed
	fault error
}

// NewPlayback makes a playback, at its beginning.
func NewPlayback(p *profiles.Profile, speed float64) (*Playback, error) {
	if !(speed > 0) || math.IsInf(speed, 0) {
		return nil, fmt.Errorf("speed %g must be a number above zero: write for example 10", speed)
	}
	sim, err := NewSimulation(p.Clone(), true)
	if err != nil {
		return nil, err
	}
	return &Playback{speed: speed, sim: sim, stop: make(chan struct{}), done: make(chan struct{})}, nil
}

// Start begins. It ends with the simulation, with Stop, or with ctx.
func (b *Playback) Start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx != nil {
		return errors.New("the playback has been started before")
	}
	b.ctx = ctx
	go b.play(ctx, b.stop, b.done)
	return nil
}

// Restart begins anew with a seed, with everything that was changed since still in force; also after the end.
func (b *Playback) Restart(seed uint64) error {
	b.again.Lock()
	defer b.again.Unlock()
	b.mu.Lock()
	p := b.sim.Profile()
	p.Seed = seed
	ctx, done := b.ctx, b.done
	b.end()
	b.mu.Unlock()
	if ctx == nil {
		return errors.New("the playback was never started")
	}
	sim, err := NewSimulation(p, true)
	if err != nil {
		return err
	}
	<-done
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sim, b.fault, b.ended = sim, nil, false
	b.stop, b.done = make(chan struct{}), make(chan struct{})
	go b.play(ctx, b.stop, b.done)
	return nil
}

// play is the goroutine of a playback.
func (b *Playback) play(ctx context.Context, stop, done chan struct{}) {
	defer close(done)
	defer func() {
		if p := recover(); p != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.fault = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	tick := time.NewTicker(frame)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stop:
			return
		case <-tick.C:
		}
		now := time.Now()
		// What a slow machine could not do in time is not made up for: that would only make it slower.
		passed := min(now.Sub(last), 5*frame)
		last = now
		if !b.advance(time.Duration(float64(passed)*b.speed), stop) {
			return
		}
	}
}

// advance goes on by some time, in steps between which others may look and change; false when the simulation is at its end, or stopped.
func (b *Playback) advance(by time.Duration, stop chan struct{}) bool {
	b.mu.Lock()
	to := min(b.sim.Now()+by, b.sim.end)
	b.mu.Unlock()
	for {
		select {
		case <-stop:
			return false
		default:
		}
		if there, over := b.hurry(to); there {
			return !over
		}
	}
}

// hurry goes on towards a time by a bounded number of events.
func (b *Playback) hurry(to time.Duration) (there, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range hurry {
		if !b.sim.step(to) {
			b.sim.Advance(to)
			return true, b.sim.Done()
		}
	}
	return false, false
}

// Stop ends the playback where it is. It does not wait; Wait does.
func (b *Playback) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
}

func (b *Playback) end() {
	if !b.ended {
		b.ended = true
		close(b.stop)
	}
}

// Done is closed when the simulation has ended, or was stopped. A restart makes a new one.
func (b *Playback) Done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done
}

// Wait waits until nothing of the playback runs any more. The error says what went wrong; an end that was planned or asked for is none.
func (b *Playback) Wait() error {
	<-b.Done()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault
}

// Snapshot is the picture of this moment.
func (b *Playback) Snapshot() *fairness.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sim.Snapshot()
	s.Speed = b.speed
	return s
}

// Report is the run so far.
func (b *Playback) Report() *fairness.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sim.Report()
}

// Profile is the profile as it stands after all changes.
func (b *Playback) Profile() *profiles.Profile {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sim.Profile()
}

// Edit changes the profile at this moment; see Simulation.Edit.
func (b *Playback) Edit(edit func(*profiles.Profile)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sim.Edit(edit)
}

// NextPolicy goes on to the next policy that works, or back; see Simulation.NextPolicy.
func (b *Playback) NextPolicy(by int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sim.NextPolicy(by)
}

// Shadow lets further policies decide beside the one in force, from this moment on.
func (b *Playback) Shadow(policies ...limiter.Policy) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sim.Shadow(policies...)
}

// Unshadow ends that.
func (b *Playback) Unshadow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sim.Unshadow()
}

// Shadows are what the further policies would have done so far.
func (b *Playback) Shadows() []*fairness.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sim.Shadows()
}
