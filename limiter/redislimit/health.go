package redislimit

import (
	"fmt"
	"sync"
	"time"
)

// Health is how a store has answered.
type Health struct {
	Up        bool      // the last answer was one
	Since     time.Time // when that began: the first answer, or the first failure, of this state; zero before any
	Decisions uint64    // answered by the store
	Admitted  uint64    // admitted without the store (open)
	Rejected  uint64    // rejected without the store (closed)
	Outages   uint64    // how often it went away
	Err       error     // why it last did not answer; nil: it always has
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
	case h.Since.IsZero():
		return "the store has not been asked yet"
	case h.Up:
		return fmt.Sprintf("the store answers, %d decisions so far%s", h.Decisions, blind)
	}
	return fmt.Sprintf("the store does not answer since %s (%v)%s", h.Since.UTC().Format(time.RFC3339), h.Err, blind)
}

// patience is how many failures in a row make a store count as gone. One may be an accident, and each costs a time-out.
const patience = 3

// A pulse watches the store: it counts its answers, and while the store is gone lets only one decision at a time try it, with pauses.
type pulse struct {
	pause time.Duration

	mu     sync.Mutex
	health Health
	failed int       // in a row
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

// answered notes an answer of the store; back is how long it had been gone, 0 when it had not.
func (p *pulse) answered(now time.Time) (back time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.health.Decisions++
	p.failed = 0
	if !p.health.Up {
		if !p.health.Since.IsZero() {
			back = max(1, now.Sub(p.health.Since))
		}
		p.health.Up, p.health.Since = true, now
	}
	return back
}

// failedWith notes that the store did not answer, and whether that is news.
func (p *pulse) failedWith(now time.Time, err error) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	p.retry = now.Add(p.pause)
	p.health.Err = err
	if p.health.Up || p.health.Since.IsZero() {
		p.health.Up, p.health.Since = false, now
		p.health.Outages++
		return true
	}
	return false
}

// blind counts an answer that was given without the store, and returns why the store is not asked.
func (p *pulse) blind(how OnError) error {
	p.mu.Lock()
	defer p.mu.Unlock()
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
