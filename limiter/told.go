package limiter

import "time"

// A teller says what a refused client is told in Retry-After: whole seconds, at least one; 0, no promise at all, when no
// waiting would help.
type teller interface {
	tell(now, needed time.Duration, m *member) time.Duration
}

func newTeller(c Config) teller {
	switch c.RetryAfter {
	default:
		return exact{}
	}
}

// exact tells the needed wait, rounded up.
type exact struct{}

func (exact) tell(_, needed time.Duration, _ *member) time.Duration {
	if needed == Never {
		return 0
	}
	return wholeSeconds(needed)
}

// wholeSeconds is d rounded up to whole seconds, at least one.
func wholeSeconds(d time.Duration) time.Duration {
	if d <= time.Second {
		return time.Second
	}
	if d > Never-time.Second {
		return d / time.Second * time.Second
	}
	return (d + time.Second - 1) / time.Second * time.Second
}
