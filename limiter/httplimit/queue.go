package httplimit

import (
	"context"
	"time"

	"fairgate/limiter"
)

// place is a parked request's place in line.
type place struct {
	who  *caller
	line chan settled
}

// settled is what a parked request is handed.
type settled struct {
	at       time.Duration
	decision limiter.Decision
	view     view
}

// unarmed is no time that anything is due at.
const unarmed = time.Duration(-1)

// parkLocked makes a place in line for an attempt that the limiter queued.
func (h *Handler) parkLocked(id uint64, who *caller) chan settled {
	line := make(chan settled, 1) // of 1, so that handing out never waits for the request
	h.parked[id] = place{who, line}
	if h.tick == nil {
		h.tick, h.armed = time.NewTimer(time.Hour), unarmed
		h.tick.Stop()
		h.nudge = make(chan struct{}, 1)
	}
	return line
}

// wait keeps the request parked until the limiter has decided; false when it is cut short before. Whoever receives the
// tick, or the nudge, hands out for all.
func (h *Handler) wait(ctx context.Context, t *ticket, witness Witness) (decided bool) {
	defer func() {
		if !decided { // cut short, or somebody panicked
			h.abandon(t.attempt, t.line)
		}
	}()
	var patience <-chan time.Time
	if witness != nil {
		patience = witness.Patience()
	}
	for {
		select {
		case s := <-t.line:
			t.take(s)
			return true
		case <-h.tick.C:
			h.settleFor(witness)
		case <-h.nudge:
			h.settleFor(witness)
		case <-patience:
			witness.Before(Leaving)
			select {
			case s := <-t.line: // at the very last moment
				t.take(s)
				return true
			default:
				return false
			}
		case <-ctx.Done():
			return false
		case <-h.closing:
			return false
		}
	}
}

func (t *ticket) take(s settled) { t.decided, t.decision, t.view = s.at, s.decision, s.view }

// settleFor hands out what is due, to everybody.
func (h *Handler) settleFor(witness Witness) {
	if witness != nil {
		witness.Before(Settling)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = unarmed
	h.settleLocked(h.now())
	h.followLocked()
}

func (h *Handler) settleLocked(now time.Duration) {
	for {
		a, d, ok := h.lim.Settle(now)
		if !ok {
			return
		}
		p, waits := h.parked[a.ID]
		if !waits {
			// Its request left, and the limiter would not take it back then.
			if d.Verdict == limiter.Admitted {
				h.lim.Release(now, a)
			}
			continue
		}
		delete(h.parked, a.ID)
		p.line <- settled{at: now, decision: d, view: h.viewLocked(now, p.who)}
	}
}

// catchUpLocked hands out what was due before now and only waits for a late timer, so that nobody who arrives now gets in before it.
func (h *Handler) catchUpLocked(now time.Duration) {
	if len(h.parked) == 0 {
		return
	}
	if due, ok := h.lim.Due(); ok && due < now {
		h.settleLocked(now)
	}
}

// followLocked sets the timer to when something is due next. Call it after whatever may have changed that.
func (h *Handler) followLocked() {
	if len(h.parked) == 0 {
		return
	}
	due, ok := h.lim.Due()
	if !ok {
		h.tick.Stop()
		h.armed = unarmed
		return
	}
	if due == h.armed {
		return
	}
	h.armed = due
	wait := due - h.now()
	if wait > 0 {
		h.tick.Reset(wait)
		return
	}
	h.tick.Stop()
	select {
	case h.nudge <- struct{}{}: // no timer is as quick
	default:
	}
}

// abandon takes a request out of line. Where it had been handed an admission that it will not use, the admission is released.
func (h *Handler) abandon(a limiter.Attempt, line chan settled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if _, waits := h.parked[a.ID]; waits {
		delete(h.parked, a.ID)
		h.lim.Cancel(now, a)
	} else {
		select {
		case s := <-line:
			if s.decision.Verdict == limiter.Admitted {
				h.lim.Release(now, a)
			}
		default:
		}
	}
	h.armed = unarmed // it may have left with the tick in its hand
	h.followLocked()
}
