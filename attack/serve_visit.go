package attack

import (
	"net/http"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
)

// nobody is the client of a visit that has not reached the limiter.
const nobody = -1

// A visit is one request at a Guard: the writer of its answer, and the witness of its decision. What comes back from the service
// behind is written as it is.
type visit struct {
	http.ResponseWriter
	guard   *Guard
	name    string
	client  int // its place in the tally
	sent    time.Duration
	decided bool
	status  int
	outcome fairness.Outcome
}

var _ httplimit.Witness = (*visit)(nil)

// Unwrap lets http.ResponseController flush, hijack and set deadlines.
func (v *visit) Unwrap() http.ResponseWriter { return v.ResponseWriter }

func (v *visit) WriteHeader(status int) {
	if v.status == 0 && status >= 200 { // what comes before is no answer yet
		v.status = status
	}
	v.ResponseWriter.WriteHeader(status)
}

func (v *visit) Write(b []byte) (int, error) {
	if v.status == 0 {
		v.status = http.StatusOK
	}
	return v.ResponseWriter.Write(b)
}

// Patience implements httplimit.Witness: whoever asks waits as long as its connection stands.
func (v *visit) Patience() <-chan time.Time {
	v.come(v.guard.now())
	return nil
}

// Before implements httplimit.Witness.
func (v *visit) Before(httplimit.Step) {}

// Decided implements httplimit.Witness.
func (v *visit) Decided(arrived, decided time.Duration, queued bool, d limiter.Decision) {
	v.come(arrived)
	v.decided = true
	v.outcome.Decided, v.outcome.Queued, v.outcome.Waited = decided, queued, decided-arrived
	if d.Verdict == limiter.Rejected {
		v.outcome.Kind, v.outcome.By, v.outcome.Needed, v.outcome.Told = fairness.Rejected, uint8(d.By), d.Wait, d.Told
	}
}

// come counts the request as sent, once. Nobody here knows when it was sent and whether it is a retry: it counts as
// a request of its own, sent when it reached the limiter.
func (v *visit) come(at time.Duration) {
	if v.client != nobody {
		return
	}
	g := v.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	v.client, v.sent = g.placeLocked(v.name), at
	if g.ended < 0 {
		g.tally.Sent(at, 0, v.client, true)
	}
}

// end counts what came of it. An admitted request that was answered 5xx, or not to the end, has failed; but not when it is the client that
// left: it was given what it asked for. Who leaves a queue was given nothing.
func (v *visit) end(broken, left bool) {
	g := v.guard
	if v.client == nobody { // its name was none
		g.refuseNameless()
		return
	}
	now := g.now()
	o := &v.outcome
	how := fairness.GaveUp
	switch {
	case !v.decided:
		o.Kind, o.Decided, o.Queued, o.Waited = fairness.Failed, now, true, now-v.sent
	case o.Kind == fairness.Rejected || left:
	case broken || v.status >= 500:
		o.Kind = fairness.Failed
	default:
		how = fairness.Served
	}
	o.Client, o.Sent, o.Seen = v.client, v.sent, now
	g.mu.Lock()
	if g.ended < 0 {
		g.tally.Observe(*o)
		g.tally.Ended(now, v.client, how)
	}
	g.mu.Unlock()
	if g.metrics != nil {
		g.metrics.observe(o)
	}
}
