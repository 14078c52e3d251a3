package attack

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// The transports of a live run.
const (
	TransportMemory   = "memory"   // the handler is called in process
	TransportLoopback = "loopback" // a real HTTP server on 127.0.0.1
)

// MostLive is how many clients a live run drives at most. Each has an attacker, a pacer and workers of its own, which more of them
// would only measure; a simulation takes any number.
const MostLive = 1000

// Options of a live run. The zero value is good.
type Options struct {
	Transport string  // "": memory
	Target    *Target // the service to attack, over connections to it; nil: a limiter of our own, over the transport

	// Store decides in the place of a limiter in this process. A profile that names a store needs one.
	Store Store

	// Record, when it is not nil, receives every result that vegeta hands out, of each client in a goroutine of its own: it must be safe
	// for that, and may keep the result. Attempts that the end of the run cut short are not among them.
	Record func(*vegeta.Result)

	gate gate
}

// A Run is one profile, live: real clients' attempts, at real times, at a real limiter. It is made by New, begins with Start, and ends
// at the profile's duration, with Stop, or when something goes wrong; Wait tells which. All methods may be called from anywhere, at any time.
type Run struct {
	options   Options
	end       time.Duration   // planned; 0: none
	began     time.Time       // set by Start, before there is anything that reads it
	started   chan struct{}   // closed by Start
	done      chan struct{}   // closed when nothing of the run is left
	over      chan struct{}   // closed when the run ends: whatever waits, lets go
	life      context.Context // ends with over
	kill      context.CancelFunc
	begin     sync.Once
	cancel    sync.Once
	handler   *httplimit.Handler
	lanes     []*lane
	shadows   shadows
	beat      metronome
	server    *server      // of the loopback transport
	target    *target      // nil: the limiter is our own
	pauses    sync.Pool    // of *time.Timer
	exchanges sync.Pool    // of *exchange
	headers   sync.Pool    // of http.Header, empty
	trip      atomic.Int64 // the round trip
	marks     atomic.Int64

	editing sync.Mutex                       // one change at a time; taken before any other lock
	profile atomic.Pointer[profiles.Profile] // as it stands; what it points at never changes

	mu    sync.Mutex // guards the rest; the last to be taken
	tally *fairness.Tally
	ended time.Duration // when it ended, or -1
	fault error         // why it ended, when that was not as planned
}

// New checks everything and starts nothing.
func New(p *profiles.Profile, o Options) (*Run, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	p = p.Clone()
	r := &Run{
		options: o, end: p.Duration, ended: -1,
		started: make(chan struct{}), done: make(chan struct{}), over: make(chan struct{}),
	}
	r.profile.Store(p)
	r.trip.Store(int64(p.Service.RoundTrip))
	r.life, r.kill = context.WithCancel(context.Background())
	specs := expand(p.Clients)
	if len(specs) > MostLive {
		return nil, fmt.Errorf("the profile has %d clients, and a live run drives at most %d: use `fairgate simulate`", len(specs), MostLive)
	}
	lim, err := limiter.New(limiterConfig(p))
	if err != nil {
		return nil, err
	}
	if o.Target == nil {
		if err := enter(p, o.Store); err != nil {
			return nil, err
		}
	}
	asked := httplimit.Options{
		Identify: httplimit.ByHeader(httplimit.DefaultHeader), Now: r.now, ServiceTime: p.Service.Time, Closing: r.over,
		Admitted: func(at time.Duration, a limiter.Attempt) {
			r.count(func(t *fairness.Tally) { t.Admit(at, a.Client) })
		},
		Endpoint: p.Name,
	}
	if o.Store != nil {
		asked.Remote = o.Store
	}
	r.handler = httplimit.New(lim, asked)
	for i, spec := range specs {
		if got := r.handler.Join(limiterClient(spec)); got != i {
			return nil, fmt.Errorf("client %q is there twice: give each client a name of its own", spec.Name)
		}
		r.lanes = append(r.lanes, newLane(r, i, NewClient(i, spec, p.Service, p.Seed)))
	}
	counting := fairness.Options{
		WarmUp: p.WarmUp, Reasons: limiter.Reasons[:], Live: true, End: p.Duration, InOrder: true,
	}
	if o.Target != nil {
		if r.target, err = newTarget(*o.Target, len(specs)); err != nil {
			return nil, err
		}
		counting.InOrder, counting.Afar, counting.Faults = false, true, faultNames[:]
	}
	if o.Store != nil {
		counting.InOrder, counting.Afar = false, true
	}
	cfg := lim.Config()
	r.tally = fairness.NewTally(r.tallyClients(cfg, p.Service, specs), r.describe(cfg, p.Service, specs), counting)
	if r.target != nil {
		for _, l := range r.lanes {
			l.trip = newTargeted(l, r.target)
		}
		return r, nil
	}
	switch o.Transport {
	case "", TransportMemory:
		for _, l := range r.lanes {
			l.trip = &memory{lane: l}
		}
	case TransportLoopback:
		r.server = newServer(len(specs))
		for _, l := range r.lanes {
			l.trip = newLoopback(l, r.server)
		}
	default:
		return nil, fmt.Errorf("transport %q is not known: use %s or %s", o.Transport, TransportMemory, TransportLoopback)
	}
	return r, nil
}

// Start begins the attack; the run stops when ctx ends. An error means that nothing has begun, and nothing can any more.
func (r *Run) Start(ctx context.Context) error {
	err := fmt.Errorf("the run has been started before")
	r.begin.Do(func() { err = r.start(ctx) })
	return err
}

func (r *Run) start(ctx context.Context) (err error) {
	select {
	case <-r.over:
		close(r.done)
		return fmt.Errorf("the run was stopped before it began")
	default:
	}
	if r.server != nil {
		if err := r.server.open(r.handler); err != nil {
			r.finish(err)
			close(r.done)
			return err
		}
		go r.server.serve(r)
	}
	p := r.profile.Load()
	r.beat.set(orderDecides(p.Limiter, expand(p.Clients)))
	r.began = time.Now()
	close(r.started)
	var lanes sync.WaitGroup
	for _, l := range r.lanes {
		lanes.Go(l.drain(l.attack()))
	}
	go r.watch(ctx, &lanes)
	return nil
}

// watch ends the run at its time, and then waits for all that belongs to it.
func (r *Run) watch(ctx context.Context, lanes *sync.WaitGroup) {
	defer close(r.done)
	defer r.caught()
	var end <-chan time.Time // nil, which never comes, when the run is to go on until stopped
	if r.end > 0 {
		timer := time.NewTimer(r.end - r.now())
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-end:
	case <-ctx.Done():
	case <-r.over:
	}
	r.finish(nil)
	for _, l := range r.lanes {
		l.attacker.Stop() // it may be waiting for a free worker, where nothing of ours can wake it
	}
	lanes.Wait()
	r.beat.close()
	if r.target != nil {
		for _, l := range r.lanes {
			l.trip.(*targeted).http.CloseIdleConnections()
		}
	}
	if r.server != nil {
		for _, l := range r.lanes {
			l.trip.(*loopback).http.CloseIdleConnections()
		}
		r.server.close()
	}
	for _, l := range r.lanes {
		l.countMissed()
	}
}

// finish ends the run; the first call counts.
func (r *Run) finish(fault error) {
	r.cancel.Do(func() {
		now := r.now()
		if r.end > 0 {
			now = min(now, r.end) // timers are late, the end is not
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended, r.fault = now, fault
		close(r.over)
		r.kill()
	})
}

// Done is closed when the run has ended and nothing of it is left.
func (r *Run) Done() <-chan struct{} { return r.done }

// Stop ends the run now. It does not wait; Wait does.
func (r *Run) Stop() { r.finish(nil) }

// Wait waits until everything of the run has ended, which a run that was never started never does. The error says what went wrong; an end
// that was planned or asked for is none. A panic in a goroutine of the run comes back as an error with its stack.
func (r *Run) Wait() error {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// now is the time since the start; 0 before it.
func (r *Run) now() time.Duration {
	select {
	case <-r.started:
		return time.Since(r.began)
	default:
		return 0
	}
}

// time is timeLocked, for those who do not hold mu.
func (r *Run) time() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.timeLocked()
}

// isOver reports whether the run has ended.
func (r *Run) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// timeLocked is what measures count as now: it stands still when the run has ended.
func (r *Run) timeLocked() time.Duration {
	if r.ended >= 0 {
		return r.ended
	}
	return r.now()
}

// count lets f count something, unless the run is over.
func (r *Run) count(f func(*fairness.Tally)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended < 0 {
		f(r.tally)
	}
}

// sent counts an attempt as sent now, or as missed when the run is over.
func (r *Run) sent(a *Attempt) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.Sent = r.now()
	if r.ended >= 0 || r.end > 0 && a.Sent >= r.end {
		r.tally.Missed(a.Planned, a.Client)
		return false
	}
	r.tally.Sent(a.Sent, max(a.Sent-a.Planned, 0), a.Client, a.Try == 0)
	return true
}

// observed counts what came of an attempt, and the end of its request if it was that; false when that was too late to count.
func (r *Run) observed(o *fairness.Outcome, ended bool, how fairness.End) (counted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended >= 0 || r.end > 0 && o.Seen >= r.end {
		return false
	}
	r.tally.Observe(*o)
	if ended {
		r.tally.Ended(o.Seen, o.Client, how)
	}
	return true
}

// pause waits for d; false when the run ends before.
func (r *Run) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t, ok := r.pauses.Get().(*time.Timer)
	if ok {
		t.Reset(d)
	} else {
		t = time.NewTimer(d)
	}
	defer r.pauses.Put(t)
	select {
	case <-t.C:
		return true
	case <-r.over:
		t.Stop()
		return false
	}
}

// reuse takes back the header of an answer that nobody looks at any more.
func (r *Run) reuse(h http.Header) {
	if h != nil && r.server == nil && r.target == nil {
		clear(h)
		r.headers.Put(h)
	}
}

// client of vegeta: it follows nothing, and has no time-out, which would cost a timer and a goroutine for each hit. What waits is let go
// by the run itself.
func (r *Run) client(trip http.RoundTripper) func(*vegeta.Attacker) {
	return vegeta.Client(&http.Client{
		Transport:     trip,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}
