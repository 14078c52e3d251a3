package attack

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// tooLate is how late a request may be sent. One that comes up later, as when the machine stood still, is not sent but counted as missed: what it would
// make, in a burst with others like it, is no behaviour of the client. A retry is always sent, however late, for its request is under way.
const tooLate = time.Second

// A lane is the live side of one client: vegeta's attacker, and its pacer.
//
//	Pace: wait until the client sends, put the attempt up ──► vegeta wakes a worker ──► RoundTrip: take the attempt, carry it there and back
//	  ▲                                                                                                │
//	  └────────────────────────────── wake, when an outcome brought the next attempt forward ◄─────────┘
//
// So retries are ordinary hits, and the attempt that a hit stands for needs not be told through vegeta: whichever worker comes first
// takes the one that was put up first.
type lane struct {
	run      *Run
	index    int
	name     string
	attacker *vegeta.Attacker
	trip     http.RoundTripper
	target   atomic.Pointer[vegeta.Target]
	wake     chan struct{} // of 1
	timer    *time.Timer   // the pacer's own

	mu     sync.Mutex
	client *Client
	up     upcoming      // put up and not yet taken
	asleep time.Duration // the pacer sleeps until then; 0: it is awake
}

func newLane(r *Run, index int, c *Client) *lane {
	return &lane{run: r, index: index, name: c.Spec().Name, client: c, wake: make(chan struct{}, 1)}
}

// address is what the memory transport's requests are for. It has no host, which would be parsed anew for every hit.
const address = "memory:/"

// aim makes what every hit of the client asks for.
func (l *lane) aim(spec profiles.Client) {
	t := &vegeta.Target{Method: http.MethodGet, URL: address, Header: http.Header{}}
	switch {
	case l.run.server != nil:
		t.URL = l.run.server.url
	case l.run.target != nil:
		t.URL = l.run.target.address(spec.Endpoint)
	}
	for k, v := range spec.Headers {
		t.Header.Set(k, v)
	}
	if l.run.target == nil || t.Header.Get(httplimit.DefaultHeader) == "" { // a service may know its clients by other names
		t.Header.Set(httplimit.DefaultHeader, l.name)
	}
	l.target.Store(t)
}

// mostWorkers is how many attempts a client may have on the way at one time. What comes on top waits, and is seen as late.
func mostWorkers(clients int) uint64 { return uint64(min(max(20_000/clients, 64), 10_000)) }

// attack begins the client's attack.
func (l *lane) attack() <-chan *vegeta.Result {
	l.aim(l.spec())
	most := mostWorkers(len(l.run.lanes))
	switch {
	case l.run.server != nil:
		most = uint64(l.run.server.connections)
	case l.run.target != nil:
		most = uint64(l.run.target.connections)
	}
	l.attacker = vegeta.NewAttacker(l.run.client(l.trip), vegeta.Workers(1), vegeta.MaxWorkers(most))
	return l.attacker.Attack(l.aimed, l, 0, "") // with a name, every hit would carry it as a header, beside our own
}

// aimed is the vegeta.Targeter.
func (l *lane) aimed(t *vegeta.Target) error {
	*t = *l.target.Load()
	return nil
}

// drain takes results until there are no more, whatever becomes of them: vegeta's workers wait for it.
func (l *lane) drain(results <-chan *vegeta.Result) func() {
	return func() {
		for res := range results {
			switch {
			case l.run.options.Record == nil:
				l.run.reuse(res.Headers)
			case !wasCut(res):
				l.record(res)
			}
		}
	}
}

func (l *lane) record(res *vegeta.Result) {
	defer l.run.caught()
	res.Attack = l.name
	l.run.options.Record(res)
}

// caught, deferred, turns a panic into the end of the run.
func (r *Run) caught() {
	if p := recover(); p != nil {
		r.finish(fmt.Errorf("panic: %v\n\n%s", p, debug.Stack()))
	}
}

// Pace waits until the client sends its next attempt, and puts that up. It is the whole of the pacing: vegeta neither waits nor
// counts. It implements vegeta.Pacer.
func (l *lane) Pace(time.Duration, uint64) (wait time.Duration, stop bool) {
	stop = true // also when it panics
	defer l.run.caught()
	for {
		next, ok := l.next()
		if ok {
			return 0, false
		}
		if !l.sleep(next) {
			return 0, true
		}
	}
}

// Rate implements vegeta.Pacer; only vegeta's plots ask for it.
func (l *lane) Rate(time.Duration) float64 { return 0 }

// next puts up the attempt that is due; where none is, it says when one will be.
func (l *lane) next() (at time.Duration, ok bool) {
	for {
		now, at := l.look()
		if at > now {
			return at, false
		}
		l.run.pass(atSend, l.index, 0)
		a, due := l.putUp(now)
		if due && l.isLate(now, &a) {
			l.run.count(func(t *fairness.Tally) { t.Missed(a.Planned, l.index) })
		} else if due {
			return 0, true
		}
		if l.run.isOver() {
			return at, false
		}
	}
}

// look asks the client when it sends next, and notes that the pacer sleeps until then.
func (l *lane) look() (now, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now = l.run.now()
	at = l.client.Next(now)
	l.asleep = 0
	if at > now {
		l.asleep = at
	}
	return now, at
}

// putUp takes the client's next attempt and puts it up, unless it is too late: then its request is no more.
func (l *lane) putUp(now time.Duration) (a Attempt, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, due = l.client.Send(now)
	switch {
	case !due:
	case l.isLate(now, &a):
		l.client.Observe(now, a, Answer{})
	default:
		l.up.push(a)
	}
	return a, due
}

func (l *lane) isLate(now time.Duration, a *Attempt) bool {
	return a.Try == 0 && now-a.Planned > tooLate
}

// sleep waits until a moment or for a reason to ask the client again; false when the run is over.
func (l *lane) sleep(until time.Duration) bool {
	var timer <-chan time.Time
	if until != limiter.Never {
		d := until - l.run.now()
		if l.timer == nil {
			l.timer = time.NewTimer(d)
		} else {
			l.timer.Reset(d)
		}
		timer = l.timer.C
	}
	select {
	case <-timer:
		return true
	case <-l.wake:
		return true
	case <-l.run.over:
		if l.timer != nil {
			l.timer.Stop()
		}
		return false
	}
}

// rouse wakes the pacer, so that it asks the client again.
func (l *lane) rouse() {
	select {
	case l.wake <- struct{}{}:
	default: // it is being woken already
	}
}

// take takes the attempt that was put up first: it is sent now; false when it is too late for that.
func (l *lane) take(a *Attempt) bool {
	l.mu.Lock()
	ok := l.up.pop(a)
	l.mu.Unlock()
	return ok && l.run.sent(a)
}

// observe tells the client and the tally what came of an attempt; o lacks what the attempt knows itself. ended: its request ended by it; counted: that was not
// too late to count.
func (l *lane) observe(a *Attempt, ans Answer, o *fairness.Outcome) (ended, counted bool) {
	l.run.pass(atObserve, l.index, a.Number)
	now, ended, how := l.tell(a, ans)
	o.Client, o.Sent, o.Seen, o.Retry, o.Promised, o.Late = l.index, a.Sent, now, a.Try > 0, a.Promised, a.Sent-a.Planned
	counted = l.run.observed(o, ended, how)
	if ended && l.run.shadows.any.Load() {
		l.run.scoreEnd(a)
	}
	return ended, counted
}

// tell tells the client, and wakes the pacer when that brought its next attempt forward.
func (l *lane) tell(a *Attempt, ans Answer) (now time.Duration, ended bool, how fairness.End) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now = l.run.now()
	ended, how = l.client.Observe(now, *a, ans)
	if l.client.Next(now) < l.asleep {
		l.rouse()
	}
	return now, ended, how
}

// countMissed counts, when all has ended, the attempts that were planned and that nobody sent any more.
func (l *lane) countMissed() {
	r := l.run
	l.mu.Lock()
	defer l.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := new(Attempt); l.up.pop(a); {
		r.tally.Missed(a.Planned, l.index)
	}
	for {
		a, ok := l.client.Send(r.ended)
		if !ok {
			return
		}
		r.tally.Missed(a.Planned, l.index)
	}
}

// upcoming are attempts that have been put up, first in, first out.
type upcoming struct {
	items []Attempt
	head  int
}

func (q *upcoming) push(a Attempt) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.head:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, a)
}

func (q *upcoming) pop(a *Attempt) bool {
	if q.head == len(q.items) {
		return false
	}
	*a = q.items[q.head]
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return true
}
