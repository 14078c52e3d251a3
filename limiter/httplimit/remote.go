package httplimit

import (
	"context"

	"fairgate/limiter"
)

// A Remote decides on attempts by counters that are kept elsewhere. It must be safe for concurrent use and bound its own time.
//
// The decision is obeyed also when there is an error beside it, which says that it was made without those counters; but when ctx has ended, the
// request is cut short. A decision is never Queued.
type Remote interface {
	Decide(ctx context.Context, client, endpoint string, cost int64) (limiter.Decision, []limiter.Quota, error)
}

// unreachable is the mark of an answer whose decision was made without the store.
var unreachable = []string{"unreachable"}

// consult asks the Remote; false when the request is cut short before it has answered. Admissions are told in the order of the answers, since
// only the Remote knows that of its decisions.
func (h *Handler) consult(ctx context.Context, t *ticket) (decided bool) {
	d, quotas, err := h.remote.Decide(ctx, t.who.name, h.endpoint, t.attempt.Cost)
	if err != nil && ctx.Err() != nil {
		return false
	}
	t.decision, t.blind = d, err != nil
	t.quotas = append(t.quotas[:0], quotas...)
	h.mu.Lock()
	defer h.mu.Unlock()
	t.decided = h.now()
	if h.admitted != nil && d.Verdict == limiter.Admitted {
		h.admitted(t.decided, t.attempt)
	}
	return true
}
