package attack

import (
	"fmt"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// A Store decides in the place of the limiter in this process, by counters that others may count by too.
type Store interface {
	httplimit.Remote

	// Reconfigure counts by another limit from now on. An error says what it cannot count, and changes nothing.
	Reconfigure(limiter.Config) error
}

// enter makes a store count by a profile's limiter; nil where that counts in memory. A profile that names a store is never run without it.
func enter(p *profiles.Profile, s Store) error {
	switch {
	case s != nil:
		return p.Locate(s.Reconfigure(limiterConfig(p)))
	case p.Store.URL != "":
		return p.Locate(&limiter.ConfigError{Field: "store", Msg: p.Store.Name() + " is not connected: open the store and hand it over, or write memory"})
	}
	return nil
}

// InVirtualTime refuses a profile whose counters cannot be asked in virtual time: a server has a clock of its own.
func InVirtualTime(p *profiles.Profile) error {
	if p.Store.URL == "" {
		return nil
	}
	return p.Locate(&limiter.ConfigError{Field: "store", Msg: fmt.Sprintf("%s keeps a clock of its own, which virtual time cannot move: write memory, or give --store memory", p.Store.Name())})
}

// mostMarks bounds the marks of a run: each cuts it into one more stretch.
const mostMarks = 20

// Mark says in the run's timeline that something happened now, such as a store that went away. The measures begin a new stretch there. Of more than
// 20 marks the later ones are left out.
func (r *Run) Mark(what string) {
	if r.marks.Add(1) > mostMarks {
		return
	}
	r.count(func(t *fairness.Tally) {
		p := r.profile.Load()
		specs, cfg := expand(p.Clients), limiterConfig(p).WithDefaults()
		t.Change(r.now(), what, r.describe(cfg, p.Service, specs), r.tallyClients(cfg, p.Service, specs))
	})
}

// Mark says in the timeline that something happened now, as Run.Mark does.
func (g *Guard) Mark(what string) {
	if g.marks.Add(1) > mostMarks {
		return
	}
	g.change(func(t *fairness.Tally) {
		p := g.profile.Load()
		specs := expand(p.Clients)
		t.Change(g.now(), what, g.describe(limiterConfig(p).WithDefaults(), specs), g.places.clients(specs))
	})
}

// reconfigure puts a configuration into force: in the store, where there is one, and then in the limiter.
func reconfigure(s Store, lim limiter.Limiter, now time.Duration, p *profiles.Profile) error {
	if err := limiterConfig(p).Check(); err != nil {
		return err
	}
	if s != nil {
		if err := s.Reconfigure(limiterConfig(p)); err != nil {
			return err
		}
	}
	return lim.Reconfigure(now, limiterConfig(p))
}
