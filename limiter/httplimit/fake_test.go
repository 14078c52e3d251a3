package httplimit

import (
	"time"

	"fairgate/limiter"
)

// turnstile is a limiter that is simple enough to be right: it lets one attempt through every `every` and queues up to `room` of those that
// come too early; with room 0 it rejects them. It keeps book of what it was told.
type turnstile struct {
	limiter.Limiter // whatever a test does not need panics
	every           time.Duration
	room            int
	free            time.Duration // when the next may pass
	line            []limiter.Attempt
	clients         []limiter.Client
	quotas          []limiter.Quota
	refusal         limiter.Decision // what it answers to those that it rejects; Verdict is ignored

	arrived, admitted, released, cancelled int
	asked                                  []limiter.Attempt
	broken                                 bool // the next Settle panics
}

func (t *turnstile) Join(_ time.Duration, c limiter.Client) int {
	for i := range t.clients {
		if t.clients[i].Name == c.Name {
			t.clients[i] = c
			return i
		}
	}
	t.clients = append(t.clients, c)
	return len(t.clients) - 1
}

func (t *turnstile) Arrive(now time.Duration, a limiter.Attempt) limiter.Decision {
	t.arrived++
	t.asked = append(t.asked, a)
	switch {
	case len(t.line) == 0 && now >= t.free:
		t.free = now + t.every
		t.admitted++
		return limiter.Decision{}
	case len(t.line) < t.room:
		t.line = append(t.line, a)
		return limiter.Decision{Verdict: limiter.Queued}
	}
	d := t.refusal
	d.Verdict = limiter.Rejected
	return d
}

func (t *turnstile) Release(time.Duration, limiter.Attempt) { t.released++ }

func (t *turnstile) Due() (time.Duration, bool) { return t.free, len(t.line) > 0 }

func (t *turnstile) Settle(now time.Duration) (limiter.Attempt, limiter.Decision, bool) {
	if t.broken {
		t.broken = false
		panic("the turnstile is broken")
	}
	if len(t.line) == 0 || now < t.free {
		return limiter.Attempt{}, limiter.Decision{}, false
	}
	a := t.line[0]
	t.line = t.line[1:]
	t.free += t.every
	t.admitted++
	return a, limiter.Decision{}, true
}

func (t *turnstile) Cancel(_ time.Duration, a limiter.Attempt) bool {
	for i := range t.line {
		if t.line[i].ID == a.ID {
			t.line = append(t.line[:i], t.line[i+1:]...)
			t.cancelled++
			return true
		}
	}
	return false
}

func (t *turnstile) Quotas(_ time.Duration, _ int, to []limiter.Quota) []limiter.Quota {
	return append(to, t.quotas...)
}
