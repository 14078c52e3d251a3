package cli

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
	"fairgate/tui"
)

// A tuner is a run as the screen knows it: pictures of it, and commands to it. Every change goes through the run's Edit, so that it is
// checked as a profile is and marked on the time axis.
type tuner struct {
	run attacker

	mu       sync.Mutex // one command at a time
	past     []*profiles.Profile
	calm     map[string]profiles.Retry // how clients retried before they were made to storm
	stops    map[string]time.Duration  // when clients would have stopped that were turned off
	endless  bool                      // the run goes on until it is ended, as far as anybody is told
	held     bool                      // nobody sends
	shadowed bool                      // further policies decide beside the one in force
}

// mostUndone is how many changes can be taken back.
const mostUndone = 200

func newTuner(run attacker) *tuner {
	return &tuner{run: run, calm: map[string]profiles.Retry{}, stops: map[string]time.Duration{}}
}

// Snapshot is the run at this moment.
func (t *tuner) Snapshot() *fairness.Snapshot {
	s := snapshotOf(t.run)
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Held = t.held
	if t.endless {
		s.Duration = 0
	}
	return s
}

// Can reports whether a command is carried out.
func (t *tuner) Can(c tui.Command) bool {
	_, ours := t.run.(restarter) // the clients are emulated here, not somebody's real ones
	switch c.(type) {
	case tui.Restart, tui.HoldLoad, tui.ScaleDemand, tui.StepCost, tui.StepRetries, tui.Storm, tui.Switch:
		return ours
	case tui.ToggleShadows:
		_, ok := t.run.(shadower)
		return ok
	}
	return true
}

// Do carries a command out.
func (t *tuner) Do(c tui.Command) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch c := c.(type) {
	case tui.Undo:
		return t.undo()
	case tui.Restart:
		return t.restart(c.NewSeed)
	case tui.ToggleShadows:
		return t.toggleShadows()
	}
	was := t.run.Profile()
	if err := t.change(c, was); err != nil {
		return err
	}
	t.remember(was)
	return nil
}

// remember keeps a state to go back to, and sees whether anybody sends any more.
func (t *tuner) remember(was *profiles.Profile) {
	t.past = append(t.past[max(0, len(t.past)-mostUndone+1):], was)
	t.look()
}

func (t *tuner) look() {
	p, now := t.run.Profile(), t.run.Snapshot().Now
	t.held = !slices.ContainsFunc(p.Clients, func(c profiles.Client) bool { return !isOff(c, now) })
}

// undo goes back to the state before the last change that has not been taken back.
func (t *tuner) undo() error {
	n := len(t.past)
	if n == 0 {
		return fmt.Errorf("nothing has been changed, or all of it was taken back")
	}
	was := t.past[n-1]
	if err := t.run.Edit(func(p *profiles.Profile) { p.Limiter, p.Service, p.Clients = was.Limiter, was.Service, was.Clients }); err != nil {
		return err
	}
	t.past = t.past[:n-1]
	t.look()
	return nil
}

// change makes one change. was is the profile before it, the caller's own copy.
func (t *tuner) change(c tui.Command, was *profiles.Profile) error {
	cfg := was.Limiter.WithDefaults()
	limit := func(set func(*limiter.Config)) error {
		return t.run.Edit(func(p *profiles.Profile) { set(&p.Limiter) })
	}
	switch c := c.(type) {
	case tui.StepPolicy:
		return t.run.NextPolicy(c.By)
	case tui.StepAlgorithm:
		return t.nextAlgorithm(cfg, c.By)
	case tui.ScaleRate:
		return limit(func(l *limiter.Config) { l.Rate = l.Rate.Scaled(c.Num, c.Den) })
	case tui.ScaleBurst:
		return limit(func(l *limiter.Config) { l.Burst = times(cfg.Burst, c.Num, c.Den) })
	case tui.ScaleClientRate:
		return t.scaleClientRate(cfg, c)
	case tui.StepRetryAfter:
		return limit(func(l *limiter.Config) {
			l.RetryAfter = next([]limiter.RetryAfter{limiter.RetryExact, limiter.RetryAdaptive, limiter.RetrySlot}, cfg.RetryAfter, c.By)
		})
	case tui.ScaleServiceTime:
		return t.run.Edit(func(p *profiles.Profile) {
			p.Service.Time = time.Duration(times(int64(p.Service.Time), c.Num, c.Den)).Round(10 * time.Microsecond)
			if was.Service.Time == 0 && c.Num > c.Den {
				p.Service.Time = time.Millisecond
			}
		})
	case tui.HoldLoad:
		return t.holdLoad(was)
	case tui.Set:
		return t.set(was, c)
	}
	return t.changeClient(c)
}

// nextAlgorithm goes on to the next algorithm that works with the policy and with what else the limiter is set to. The error says why there is none.
func (t *tuner) nextAlgorithm(cfg limiter.Config, by int) error {
	var last error
	for step, a := 1, cfg.Algorithm; step < len(limiter.Algorithms); step++ {
		a = next(limiter.Algorithms, a, by)
		if err := limiter.Compatible(cfg.Policy, a); err != nil {
			last = err
			continue
		}
		if last = t.run.Edit(func(p *profiles.Profile) { p.Limiter.Algorithm = a }); last == nil {
			return nil
		}
	}
	return last
}

// scaleClientRate scales the limit that each client has for its own, where the policy gives it one.
func (t *tuner) scaleClientRate(cfg limiter.Config, c tui.ScaleClientRate) error {
	switch {
	case cfg.Policy == limiter.Hierarchical && !cfg.Ceiling.IsZero():
		return t.run.Edit(func(p *profiles.Profile) { p.Limiter.Ceiling = p.Limiter.Ceiling.Scaled(c.Num, c.Den) })
	case cfg.Policy == limiter.PerClient:
		return t.run.Edit(func(p *profiles.Profile) { p.Limiter.Client.Rate = p.Limiter.Client.Rate.Scaled(c.Num, c.Den) })
	}
	return fmt.Errorf("%s gives no client a limit of its own: p goes to per-client, which does", cfg.Policy)
}

// next is the element after v (by 1), or before it (by −1), in a ring.
func next[T comparable](ring []T, v T, by int) T {
	n := len(ring)
	return ring[((slices.Index(ring, v)+by)%n+n)%n]
}

// times is v·num/den to the nearest whole number.
func times(v, num, den int64) int64 {
	return int64(math.Round(float64(v) * float64(num) / float64(den)))
}
