package attack

import (
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// Attempt is one hit that a client makes. It carries all that its client needs to
// know again when the answer comes, so that a driver only has to hand it back to Observe.
type Attempt struct {
	Client   int           // index in the run
	Request  uint64        // number of the logical request, from 0
	Try      int           // 0: the first attempt
	Number   uint64        // number of the attempt within its client, from 0, in order of sending
	Cost     int64         // tokens
	Planned  time.Duration // when it was to be sent
	Sent     time.Duration // when it was sent
	Deadline time.Duration // when its request gives up; an answer at that very moment is in time; limiter.Never: never
	Promised time.Duration // of a retry: when the refusal before it had told it to come; 0: it had told nothing

	waited time.Duration // the wait before it, from which decorrelated jitter draws the next; 0 on a first attempt
	loop   uint32        // of a closed-loop client: the loop whose worker sent it
}

// Answer is what a client sees of an attempt.
type Answer struct {
	Status int           // the HTTP status: 200, 429, 503, …; 0: no answer at all
	Told   time.Duration // Retry-After; 0: none
}

// Client is one emulated client: a state machine that says when it sends its next
// attempt and that is told what came of each. It holds no clock, no lock and no goroutine; the
// live run and the simulation drive the same machine.
//
// All that happens by chance comes from generators of its own, keyed by the run's seed and the client's name:
// one for the arrivals, drawn in the order of the requests, and for each retry one of its own, keyed by
// request and try. So neither other clients nor the order in which outcomes come can change what it does.
type Client struct {
	index    int
	spec     profiles.Client
	arrivals arrivals
	retrier  retrier
	waiting  retries // retries whose time has not come
	requests uint64  // begun so far
	attempts uint64  // sent so far
	pending  int
}

// NewClient is the client at an index of the run. spec stands for one client: Copies and Zipf are
// not looked at. seed is the run's.
func NewClient(index int, spec profiles.Client, svc profiles.Service, seed uint64) *Client {
	c := &Client{index: index, spec: spec}
	c.arrivals.begin(spec, newSource(seed, spec.Name))
	c.retrier = newRetrier(spec.Retry, seed, spec.Name)
	_ = svc // no process of today looks at the service; closed loops feel it through their outcomes
	return c
}

// Next is when the next attempt is to be sent, which may have passed already. limiter.Never: nothing
// is to be sent until an outcome is observed or a setting changes.
func (c *Client) Next(time.Duration) time.Duration {
	at := c.arrivals.at
	if r := c.waiting.next(); r < at {
		at = r
	}
	return at
}

// Send takes the attempt that is due at now; false when none is. It must be called again until it returns false,
// since several may be due at one moment: the one planned earlier comes first, and of two planned for
// the same moment the one whose request is older.
func (c *Client) Send(now time.Duration) (Attempt, bool) {
	at := c.arrivals.at
	if r := c.waiting.next(); r <= at {
		if r > now || r == limiter.Never {
			return Attempt{}, false
		}
		retry := c.waiting.pop()
		a := Attempt{
			Client: c.index, Request: retry.request, Try: int(retry.try), Number: c.attempts, Cost: c.spec.Cost,
			Planned: retry.at, Sent: now, Deadline: retry.deadline, Promised: retry.promised,
			waited: retry.waited, loop: retry.loop,
		}
		c.attempts++
		return a, true
	}
	if at > now {
		return Attempt{}, false
	}
	deadline := time.Duration(limiter.Never)
	if c.spec.Deadline > 0 {
		deadline = later(now, c.spec.Deadline)
	}
	a := Attempt{
		Client: c.index, Request: c.requests, Number: c.attempts, Cost: c.spec.Cost,
		Planned: at, Sent: now, Deadline: deadline, loop: c.arrivals.loop,
	}
	c.requests++
	c.attempts++
	c.pending++
	c.retrier.earn()
	c.arrivals.take()
	return a, true
}

// Observe tells the client at now what came of an attempt. It reports whether the request has ended by it, and how: an answer below 400 that
// comes by the deadline serves it; a refusal is retried after a wait that counts from now, or, when the client's
// retries, its budget or the request's time are used up, makes it give up; so does anything else.
func (c *Client) Observe(now time.Duration, a Attempt, ans Answer) (ended bool, how fairness.End) {
	how = fairness.GaveUp
	switch {
	case ans.Status >= 100 && ans.Status < 400:
		if now <= a.Deadline {
			how = fairness.Served
		}
	case c.retrier.allows(a.Try, ans.Status):
		wait := c.retrier.wait(a, ans.Told)
		at := later(now, wait)
		if at <= a.Deadline && at < c.arrivals.stop && c.retrier.spend() {
			c.waiting.push(retry{
				at: at, request: a.Request, try: int32(a.Try + 1), deadline: a.Deadline,
				promised: promise(now, ans.Told), waited: wait, loop: a.loop,
			})
			return false, 0
		}
	}
	c.pending--
	c.arrivals.ended(now, a.loop)
	return true, how
}

// Change gives the client new settings. A changed rate keeps the part of the interval that is still to wait,
// so that a change makes neither a burst nor a silence; a client whose Stop had passed begins anew. Weight, cost, deadline and
// retries hold from the next attempt on. A Stop that has come ends the retries that wait beyond it: it returns how many requests
// gave up by that.
func (c *Client) Change(now time.Duration, spec profiles.Client) (gaveUp int) {
	c.arrivals.change(now, spec)
	c.retrier.change(spec.Retry)
	c.spec = spec
	if c.arrivals.stop == limiter.Never {
		return 0
	}
	c.waiting.dropFrom(c.arrivals.stop, func(r retry) {
		gaveUp++
		c.pending--
		c.arrivals.ended(now, r.loop)
	})
	return gaveUp
}

// Pending is how many requests have begun and have no end.
func (c *Client) Pending() int { return c.pending }

// Spec is what the client does at present.
func (c *Client) Spec() profiles.Client { return c.spec }

// instant is the least time that passes before a client does again what it may do without end: a worker's next request, and a retry of
// a client that never gives up. Without it, where nothing on the way takes time, a refused client would send for ever within one moment.
const instant = time.Microsecond

// promise is the moment that a told wait names; 0 when nothing was told.
func promise(now, told time.Duration) time.Duration {
	if told <= 0 {
		return 0
	}
	return later(now, told)
}

// later is now + wait, and limiter.Never where that is beyond what can be told.
func later(now, wait time.Duration) time.Duration {
	if wait > limiter.Never-now {
		return limiter.Never
	}
	return now + wait
}
