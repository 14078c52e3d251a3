package attack

import (
	"fmt"
	"reflect"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// Edit changes the profile while it is served, as Run.Edit does while it attacks.
func (g *Guard) Edit(edit func(*profiles.Profile)) error {
	g.editing.Lock()
	defer g.editing.Unlock()
	was := g.profile.Load()
	p := was.Clone()
	edit(p)
	if reflect.DeepEqual(was, p) {
		return nil
	}
	if err := p.Check(); err != nil {
		return err
	}
	before, specs := expand(was.Clients), expand(p.Clients)
	if err := fixed(was, p, before, specs); err != nil {
		return err
	}
	for i := range specs {
		if a, b := before[i], specs[i]; !sameSending(a, b) {
			return fmt.Errorf("what %s sends is its own affair: it comes from outside", b.Name)
		}
	}
	if g.options.Upstream != nil && p.Service != was.Service {
		return fmt.Errorf("the service is the one behind, %s: what it takes cannot be set", g.options.Upstream.Redacted())
	}
	return g.apply(p, specs, describeChange(was, p, before, specs))
}

// sameSending reports whether a client sends as before.
func sameSending(a, b profiles.Client) bool {
	return reflect.DeepEqual(a.Arrivals, b.Arrivals) && reflect.DeepEqual(a.Retry, b.Retry) &&
		a.Start == b.Start && a.Stop == b.Stop && a.Deadline == b.Deadline
}

// apply puts a profile into force at one moment. The limiter comes first, since it alone may refuse.
func (g *Guard) apply(p *profiles.Profile, specs []profiles.Client, what string) (err error) {
	g.handler.Do(func(lim limiter.Limiter, now time.Duration) {
		if err = reconfigure(g.options.Store, lim, now, p); err != nil {
			return
		}
		if g.options.Upstream == nil {
			g.handler.SetServiceTime(p.Service.Time)
		}
		g.profile.Store(p)
		g.change(func(t *fairness.Tally) {
			t.Change(now, what, g.describe(lim.Config(), specs), g.places.clients(specs))
		})
	})
	if err != nil {
		return err
	}
	for _, spec := range specs {
		g.handler.Join(limiterClient(spec))
	}
	return nil
}

// change lets f change the tally, unless all is over.
func (g *Guard) change(f func(*fairness.Tally)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended < 0 {
		f(g.tally)
	}
}

// NextPolicy goes on to the next policy (by 1), or back (by −1), that can work with the algorithm and with what else the limiter is set to.
func (g *Guard) NextPolicy(by int) error {
	return nextPolicy(g.profile.Load().Limiter, by, g.Edit)
}

// Profile is the profile as it stands after all changes. It is the caller's own copy.
func (g *Guard) Profile() *profiles.Profile { return g.profile.Load().Clone() }
