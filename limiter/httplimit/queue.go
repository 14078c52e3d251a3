package httplimit

import (
	"context"
	"time"

	"fairgate/limiter"
)

// unarmed is no time that anything is due at.
const unarmed = time.Duration(-1)

// parkLocked puts the ticket of an attempt that the limiter queued in line.
func (h *Handler) parkLocked(t *ticket) {
	t.line = make(chan struct{}, 1)
	h.parked[t.attempt.ID] = t
	if h.tick == nil {
		h.tick, h.armed = time.NewTimer(time.Hour), unarmed
		h.tick.Stop()
		h.nudge = make(chan struct{}, 1)
	}
}

// wait keeps the request parked until the limiter has decided; false when it is cut short before. Whoever receives the
// tick, or the nudge, hands out for all.
func (h *Handler) wait(ctx context.Context, t *ticket, witness Witness) (decided bool) {
	defer func() {
		if !decided { // cut short, or somebody panicked
			h.abandon(t)
		}
	}()
	var patience <-chan time.Time
	if witness != nil {
		patience = witness.Patience()
	}
	for {
		select {
		case <-t.line:
			return true
		case <-h.tick.C:
			h.settleFor(witness)
		case <-h.nudge:
			h.settleFor(witness)
		case <-patience:
			witness.Before(Leaving)
			select {
			case <-t.line: // at the very last moment
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
		t := h.parked[a.ID]
		if t == nil {
			// Its request left, and the limiter would not take it back then.
			if d.Verdict == limiter.Admitted {
				h.lim.Release(now, a)
			}
			continue
		}
		delete(h.parked, a.ID)
		h.decideLocked(t, now, d)
		t.line <- struct{}{}
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
func (h *Handler) abandon(t *ticket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if h.parked[t.attempt.ID] == t {
		delete(h.parked, t.attempt.ID)
		h.lim.Cancel(now, t.attempt)
	} else if t.decision.Verdict == limiter.Admitted {
		h.lim.Release(now, t.attempt)
	}
	h.armed = unarmed // it may have left with the tick in its hand
	h.followLocked()
}
