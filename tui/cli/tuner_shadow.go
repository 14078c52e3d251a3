package cli

import (
	"errors"

	"fairgate/limiter"
)

// toggleShadows lets every other policy that can work decide beside the one in force, or ends that.
func (t *tuner) toggleShadows() error {
	t.shadowed = !t.shadowed
	if t.shadowed {
		return t.shadowAgain()
	}
	if s, ok := t.run.(shadower); ok {
		s.Unshadow()
	}
	return nil
}

// shadowAgain adds the shadows where they are wanted.
func (t *tuner) shadowAgain() error {
	s, ok := t.run.(shadower)
	if !ok || !t.shadowed {
		return nil
	}
	s.Unshadow()
	cfg, some := t.run.Profile().Limiter.WithDefaults(), false
	var last error
	for _, policy := range limiter.Policies {
		if policy == cfg.Policy {
			continue
		}
		if err := s.Shadow(policy); err != nil {
			last = err
			continue
		}
		some = true
	}
	if !some {
		t.shadowed = false
		return errors.Join(errors.New("no other policy can decide beside this one"), last)
	}
	return nil
}
