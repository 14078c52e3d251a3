package redislimit

import (
	"fmt"
	"sync"
	"time"
)

// Health is how a store has answered.
type Health struct {
	Up        bool      // it answers; a failure now and then does not change that
	Since     time.Time // when that began; zero before anything was known
	Decisions uint64    // answered by the store
	Admitted  uint64    // admitted without the store (open)
	Rejected  uint64    // rejected without the store (closed)
	Outages   uint64    // how often it went away: three round trips in a row that failed
	Err       error     // why a decision last was made without it; nil: none was
}

// String is one line for people.
func (h Health) String() string {
	blind := ""
	switch {
	case h.Admitted > 0 && h.Rejected > 0:
		blind = fmt.Sprintf("; %d attempts were admitted and %d rejected without it", h.Admitted, h.Rejected)
	case h.Admitted > 0:
		blind = fmt.Sprintf("; %d attempts were admitted without it", h.Admitted)
	case h.Rejected > 0:
		blind = fmt.Sprintf("; %d attempts were rejected without it", h.Rejected)
	}
	switch {
	case h.Since.IsZero() && h.Err != nil:
		return fmt.Sprintf("the store has not answered yet (%v)%s", h.Err, blind)
	case h.Since.IsZero():
		return "the store has not been asked yet"
	case h.Up:
		return fmt.Sprintf("the store answers, %d decisions so far%s", h.Decisions, blind)
	}
	return fmt.Sprintf("the store does not answer since %s (%v)%s", h.Since.UTC().Format(time.RFC3339), h.Err, blind)
}

// patience is how many round trips in a row must fail until a store counts as gone. One may be an accident, and each costs a time-out.
const patience = 3

// A pulse watches the store: it counts its answers, and while the store is gone lets only one decision at a time try it, with pauses.
type pulse struct {
	pause  time.Duration
	notice func(up bool, gone time.Duration, err error) // of a change, with mu held; nil: nobody listens

	mu     sync.Mutex
	health Health
	failed int       // round trips in a row
	since  time.Time // of the first of them
	retry  time.Time // while it is gone: when the next may try
}

// tries reports whether a decision should ask the store. While it is gone, whoever may try puts off the next.
func (p *pulse) tries(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed < patience {
		return true
	}
	if now.Before(p.retry) {
		return false
	}
	p.retry = now.Add(p.pause)
	return true
}

// observe notes what came of a round trip: how many decisions it brought back, and the error of one that it did not; nil when all came.
func (p *pulse) observe(now time.Time, answered int, failure error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &p.health
	h.Decisions += uint64(answered)
	if failure != nil {
		h.Err = failure
	}
	if answered > 0 { // it is there, whatever it says to others
		p.failed = 0
		if !h.Up {
			if h.Outages > 0 {
				p.tell(true, now.Sub(h.Since), nil)
			}
			h.Up, h.Since = true, now
		}
		return
	}
	if p.failed++; p.failed == 1 {
		p.since = now
	}
	p.retry = now.Add(p.pause)
	if p.failed >= patience && (h.Up || h.Since.IsZero()) {
		h.Up, h.Since = false, p.since
		h.Outages++
		p.tell(false, 0, failure)
	}
}

func (p *pulse) tell(up bool, gone time.Duration, err error) {
	if p.notice != nil {
		p.notice(up, gone, err)
	}
}

// blind counts an answer that was given without the store, because of err or, when that is nil, of what went wrong before; it returns which.
func (p *pulse) blind(how OnError, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.health.Err = err
	}
	if how == Open {
		p.health.Admitted++
	} else {
		p.health.Rejected++
	}
	return p.health.Err
}

func (p *pulse) state() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.health
}
