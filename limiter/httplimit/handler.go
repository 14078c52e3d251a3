package httplimit

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairgate/limiter"
)

// Options of a Handler.
type Options struct {
	// Next is what an admitted request reaches. Nil: 200 with an empty body.
	Next http.Handler

	// Identify says whose request it is. Nil: ByHeader(DefaultHeader).
	Identify Identify

	// Now is the time since the start of the run. Nil: since New.
	Now func() time.Duration

	// ServiceTime is how long an admitted request is held before Next is called, as a stand-in for a service. See SetServiceTime.
	ServiceTime time.Duration

	// Strangers is how many names that were never joined may each have a state of their own. All that come after share one, called Rest, so
	// that a flood of made-up names neither fills the memory nor frees anybody's bucket. 0: a stranger is answered 403.
	Strangers int

	// Admitted, when it is not nil, is told of every admission at the moment of its decision, in the order of the decisions. It is called with the
	// handler's lock held, and must neither call the handler nor wait.
	Admitted func(at time.Duration, a limiter.Attempt)

	// Remote, when it is not nil, decides in the place of the Limiter, which then only knows who is who. It is asked outside of the handler's lock, by
	// many requests at once.
	Remote Remote

	// Endpoint is what a Remote is told that all these requests are for.
	Endpoint string

	// Closing, once closed, ends all waiting: parked requests and those held for the service time are answered 503.
	Closing <-chan struct{}
}

// Rest is the client that strangers share when there are more of them than Options.Strangers.
const Rest = "(other)"

// A Witness is a ResponseWriter that is told in process, exactly, what an ordinary client can only read, rounded, from the headers.
type Witness interface {
	http.ResponseWriter

	// Decided tells the limiter's answer, never Queued; it is called once, unless the request is cut short before. The attempt reached the
	// limiter at arrived and was answered at decided; queued says whether it was parked in between.
	Decided(arrived, decided time.Duration, queued bool, d limiter.Decision)

	// Patience is asked for when the request is parked, and tells when it will be parked no longer: it then leaves the
	// line and is answered 503. Nil: it waits until it is decided or cut short.
	Patience() <-chan time.Time

	// Before is called, without any lock, right before a step that the passing of time brought about. A caller that orders what falls on
	// one instant can hold the request up here.
	Before(Step)
}

// Step is what a Witness is told of beforehand.
type Step uint8

// The steps.
const (
	Releasing Step = iota // the attempt is about to be released
	Settling              // what waits and is due is about to be handed out
	Leaving               // the request is about to leave the line, its patience at an end
)

// Handler limits what reaches Options.Next. It may be used from any number of goroutines.
type Handler struct {
	next     http.Handler
	identify Identify
	now      func() time.Duration
	service  atomic.Int64
	admitted func(time.Duration, limiter.Attempt)
	remote   Remote
	endpoint string
	closing  <-chan struct{}
	pauses   sync.Pool // of *time.Timer; one per handler, for a timer must not leave its test's bubble
	tickets  sync.Pool // of *ticket

	mu      sync.Mutex
	lim     limiter.Limiter
	callers map[string]*caller
	open    bool // to strangers
	spare   int  // how many of them may still have a state of their own
	id      uint64
	parked  map[uint64]*ticket
	tick    *time.Timer   // all that are parked wait on it; made when the first is parked
	armed   time.Duration // when tick goes off, or unarmed
	nudge   chan struct{} // of 1: something is due already
}

// caller is what the handler remembers of a client.
type caller struct {
	name   string
	handle int
	cost   int64                // of its requests, unless Identify says otherwise
	view   atomic.Pointer[view] // the last that was made for it
}

// New is a handler that asks lim about every request. From now on lim is the handler's: use Do to reach it.
func New(lim limiter.Limiter, o Options) *Handler {
	h := &Handler{
		next: o.Next, identify: o.Identify, now: o.Now, admitted: o.Admitted, remote: o.Remote, endpoint: o.Endpoint, closing: o.Closing,
		lim: lim, callers: make(map[string]*caller), open: o.Strangers > 0, spare: o.Strangers, parked: make(map[uint64]*ticket),
	}
	if h.identify == nil {
		h.identify = ByHeader(DefaultHeader)
	}
	if h.now == nil {
		began := time.Now()
		h.now = func() time.Duration { return time.Since(began) }
	}
	h.service.Store(int64(o.ServiceTime))
	return h
}

// SetServiceTime changes the service time of the requests admitted from now on.
func (h *Handler) SetServiceTime(d time.Duration) { h.service.Store(int64(d)) }

// Join makes a client known, or changes its settings, and returns its handle. Its requests cost c.MaxCost unless Identify says otherwise.
func (h *Handler) Join(c limiter.Client) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.joinLocked(h.now(), c).handle
}

func (h *Handler) joinLocked(now time.Duration, c limiter.Client) *caller {
	handle := h.lim.Join(now, c)
	who := h.callers[c.Name]
	if who == nil {
		who = &caller{name: c.Name}
		h.callers[c.Name] = who
	}
	who.handle, who.cost = handle, max(c.MaxCost, 1)
	return who
}

// Do calls f with the limiter while nobody else uses it; now is the time of the call. Use it to Reconfigure.
func (h *Handler) Do(f func(lim limiter.Limiter, now time.Duration)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.followLocked()
	f(h.lim, h.now())
}

// Waiting is how many requests are parked.
func (h *Handler) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.parked)
}

// ServeHTTP answers 200 (or what Next answers), 429, 400 or 403 to a request that says badly who it comes from, and 503 when cut short by Closing.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, cost, err := h.identify(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, problem("Bad Request", http.StatusBadRequest, err.Error()))
		return
	}
	t, _ := h.tickets.Get().(*ticket)
	if t == nil {
		t = new(ticket)
	}
	if err := h.arrive(t, name, cost); err != nil {
		h.putBack(t)
		refuse(w, http.StatusForbidden, problem("Forbidden", http.StatusForbidden, err.Error()))
		return
	}
	witness, _ := w.(Witness)
	queued := t.line != nil
	if queued && !h.wait(r.Context(), t, witness) || h.remote != nil && !h.consult(r.Context(), t) {
		refuse(w, http.StatusServiceUnavailable, cutShort)
		return
	}
	if witness != nil {
		witness.Decided(t.arrived, t.decided, queued, t.decision)
	}
	t.view().write(w.Header())
	attempt, decision, blind := t.attempt, t.decision, t.blind
	h.putBack(t)
	if blind {
		w.Header()[fieldStore] = unreachable
	}
	if decision.Verdict == limiter.Rejected {
		reject(w, decision, blind)
		return
	}
	h.serve(w, r, attempt, witness)
}

func (h *Handler) putBack(t *ticket) {
	t.who, t.line, t.blind = nil, nil, false
	h.tickets.Put(t)
}

// A ticket is a request's way through the limiter.
type ticket struct {
	who      *caller
	attempt  limiter.Attempt
	arrived  time.Duration
	decided  time.Duration
	decision limiter.Decision
	blind    bool            // a Remote decided without its store
	quotas   []limiter.Quota // at the decision
	line     chan struct{}   // not nil: it is, or was, parked; of 1, so that handing out never waits for the request
}

// decideLocked writes the limiter's answer on the ticket.
func (h *Handler) decideLocked(t *ticket, now time.Duration, d limiter.Decision) {
	t.decided, t.decision = now, d
	t.quotas = h.lim.Quotas(now, t.attempt.Client, t.quotas[:0])
	if h.admitted != nil && d.Verdict == limiter.Admitted {
		h.admitted(now, t.attempt)
	}
}

// arrive asks the limiter, unless a Remote is asked in its place. The error says why nobody can be asked about.
func (h *Handler) arrive(t *ticket, name string, cost int64) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	who := h.callers[name]
	if who == nil {
		if who, err = h.strangerLocked(now, name); err != nil {
			return err
		}
	}
	if cost <= 0 {
		cost = who.cost
	}
	h.id++
	t.who, t.arrived = who, now
	t.attempt = limiter.Attempt{Client: who.handle, ID: h.id, Cost: cost}
	if h.remote != nil {
		return nil
	}
	h.catchUpLocked(now)
	if d := h.lim.Arrive(now, t.attempt); d.Verdict == limiter.Queued {
		h.parkLocked(t)
	} else {
		h.decideLocked(t, now, d)
	}
	h.followLocked()
	return nil
}

// strangerLocked finds a place for a name that nobody joined.
func (h *Handler) strangerLocked(now time.Duration, name string) (*caller, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if !h.open {
		return nil, fmt.Errorf("client %q is not known here", name)
	}
	if h.spare == 0 {
		if rest := h.callers[Rest]; rest != nil {
			return rest, nil
		}
		return h.joinLocked(now, limiter.Client{Name: Rest}), nil
	}
	h.spare--
	return h.joinLocked(now, limiter.Client{Name: strings.Clone(name)}), nil
}

// serve holds an admitted request for the service time, passes it on, and releases its attempt whatever happens.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, a limiter.Attempt, witness Witness) {
	defer h.release(a, witness)
	if d := time.Duration(h.service.Load()); d > 0 && !h.pause(r.Context(), d) {
		refuse(w, http.StatusServiceUnavailable, cutShort)
		return
	}
	if h.next == nil {
		w.WriteHeader(http.StatusOK)
		return
	}
	h.next.ServeHTTP(w, r)
}

func (h *Handler) release(a limiter.Attempt, witness Witness) {
	if witness != nil {
		witness.Before(Releasing)
	}
	if h.remote != nil {
		return // the limiter has never heard of the attempt
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lim.Release(h.now(), a)
	h.followLocked()
}

// pause waits for d; false when the request is cut short before.
func (h *Handler) pause(ctx context.Context, d time.Duration) bool {
	t, ok := h.pauses.Get().(*time.Timer)
	if ok {
		t.Reset(d)
	} else {
		t = time.NewTimer(d)
	}
	defer h.pauses.Put(t)
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-h.closing:
	}
	t.Stop()
	return false
}
