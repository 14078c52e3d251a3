package attack

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
)

// attemptHeader names the attempt that a request of the loopback transport is for.
const attemptHeader = "X-Fairgate-Attempt"

// witnesses are the attempts on their way to the loopback server. It runs in this process, so that when it decided, and by which limit, need not be
// guessed from when the answer came back: a decision is noted here, and the client's side takes it. Whoever waits no longer has taken its name off the list, so that nothing
// is kept for ever.
type witnesses struct {
	mu      sync.Mutex
	waiting map[string]*fairness.Outcome
}

// expect begins to wait for the decision about an attempt; taken gives it back, once the answer is here or nobody waits for it any more.
func (w *witnesses) expect(req *http.Request, a *Attempt) (taken func() (o fairness.Outcome, decided bool)) {
	id := strconv.Itoa(a.Client) + "/" + strconv.FormatUint(a.Number, 10)
	req.Header.Set(attemptHeader, id) // vegeta makes a request of its own for each hit
	o := &fairness.Outcome{Decided: -1}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = map[string]*fairness.Outcome{}
	}
	w.waiting[id] = o
	return func() (fairness.Outcome, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting, id)
		return *o, o.Decided >= 0
	}
}

// handler notes what h decides.
func (w *witnesses) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&witness{ResponseWriter: rw, list: w, id: r.Header.Get(attemptHeader)}, r)
	})
}

// A witness is the writer of one answer of the loopback server. It implements httplimit.Witness.
type witness struct {
	http.ResponseWriter
	list *witnesses
	id   string
}

// Decided implements httplimit.Witness. It is called before anything of the answer is written.
func (w *witness) Decided(arrived, decided time.Duration, queued bool, d limiter.Decision) {
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	o := w.list.waiting[w.id]
	if o == nil {
		return
	}
	o.Decided, o.Queued, o.Waited = decided, queued, decided-arrived
	if d.Verdict == limiter.Rejected {
		o.Kind, o.By, o.Needed = fairness.Rejected, uint8(d.By), d.Wait
	}
}

// Patience implements httplimit.Witness: the connection tells when the client gives up.
func (w *witness) Patience() <-chan time.Time { return nil }

// Before implements httplimit.Witness.
func (w *witness) Before(httplimit.Step) {}
