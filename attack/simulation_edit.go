package attack

import (
	"reflect"

	"fairgate/fairness"
	"fairgate/profiles"
)

// Profile is the profile as it stands after all changes. It is the caller's own copy.
func (s *Simulation) Profile() *profiles.Profile { return s.profile.Clone() }

// Edit changes the profile at the moment that the simulation has reached, before anything that falls on that moment. As in a live run, edit is given a
// copy, an error changes nothing, and which clients there are, the seed, the duration and the warm-up stay as they are.
func (s *Simulation) Edit(edit func(*profiles.Profile)) error {
	p := s.profile.Clone()
	edit(p)
	if reflect.DeepEqual(s.profile, p) {
		return nil
	}
	if err := p.Check(); err != nil {
		return err
	}
	specs := expand(p.Clients)
	if err := fixed(s.profile, p, s.specs, specs); err != nil {
		return err
	}
	if err := s.lim.Reconfigure(s.now, limiterConfig(p)); err != nil {
		return err
	}
	what := describeChange(s.profile, p, s.specs, specs)
	before := s.specs
	s.profile, s.specs = p, specs
	s.setService(p.Service)
	cfg := s.lim.Config()
	s.tally.Change(s.now, what, describe(cfg, p.Service, specs), tallyClients(cfg, p.Service, specs))
	for _, shadow := range s.shadows {
		// A change that a shadow's policy cannot follow leaves it as it was: nobody obeys it.
		_ = shadow.change(s.now, what, p, specs)
	}
	for i := range specs {
		if !reflect.DeepEqual(before[i], specs[i]) {
			s.change(i, specs[i])
		}
	}
	s.look()
	return nil
}

// change gives one client new settings.
func (s *Simulation) change(i int, spec profiles.Client) {
	s.lim.Join(s.now, limiterClient(spec))
	for range s.clients[i].Change(s.now, spec) {
		s.tally.Ended(s.now, i, fairness.GaveUp)
	}
	s.sending.set(int32(i), s.clients[i].Next(s.now))
}

// NextPolicy goes on to the next policy (by 1), or back (by −1), that can work with the algorithm and with what else the limiter is
// set to. The error says why there is none.
func (s *Simulation) NextPolicy(by int) error {
	return nextPolicy(s.profile.Limiter, by, s.Edit)
}
