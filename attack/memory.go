package attack

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
)

var (
	// errCut is what becomes of an attempt that is on its way when the run ends.
	errCut = errors.New("the run has ended")
	// errLeft is what becomes of an attempt that waits in a queue when its request's deadline comes.
	errLeft = errors.New("the deadline has come")
)

// wasCut reports whether a result of vegeta's, which has errors as text behind the URL, is of an attempt that was cut.
func wasCut(res *vegeta.Result) bool { return strings.HasSuffix(res.Error, errCut.Error()) }

// memory is a transport that calls the handler in process. It carries a client's attempt there and the answer back, and lets the client
// and the tally see it.
type memory struct{ lane *lane }

// RoundTrip takes the attempt that the pacer has put up; the request only stands for it.
func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	defer m.lane.run.caught()
	e := m.lane.exchange()
	if err := e.carry(req); err != nil {
		return nil, err
	}
	return e.answer(req), nil
}

// carry takes an attempt there and its answer back.
func (e *exchange) carry(req *http.Request) error {
	l := e.lane
	r := l.run
	if !l.take(&e.attempt) {
		return errCut
	}
	if !r.pause(r.there()) {
		return errCut
	}
	r.pass(atArrive, l.index, e.attempt.Number)
	if e.attempt.Deadline != limiter.Never {
		e.arrived = r.now()
	}
	if r.shadows.any.Load() {
		r.score(&e.attempt)
	}
	r.handler.ServeHTTP(e, req)
	if e.leave != nil {
		e.leave.Stop()
	}
	switch {
	case r.isOver():
		return errCut
	case !e.decided:
		now := r.now()
		e.outcome = fairness.Outcome{Kind: fairness.Failed, Decided: now, Queued: true, Waited: now - e.arrived}
		if _, counted := l.observe(&e.attempt, Answer{}, &e.outcome); !counted {
			return errCut
		}
		return errLeft
	case !r.pause(r.back()):
		return errCut
	}
	if e.status != http.StatusOK {
		e.outcome.Told = toldWait(e.header, time.Now)
	}
	ended, counted := l.observe(&e.attempt, Answer{Status: e.status, Told: e.outcome.Told}, &e.outcome)
	if !counted {
		return errCut
	}
	if r.options.Record != nil {
		r.mark(e.header, &e.attempt, &e.outcome, true, ended)
	}
	return nil
}

// there is how long an attempt takes to the limiter; back is how long its answer takes, which gets the odd nanosecond.
func (r *Run) there() time.Duration { return time.Duration(r.trip.Load()) / 2 }

func (r *Run) back() time.Duration {
	trip := time.Duration(r.trip.Load())
	return trip - trip/2
}

// An exchange is an attempt at the handler: the writer of its answer, the witness of its decision, and then the answer's body. When that is closed,
// it is used again.
type exchange struct {
	lane     *lane
	attempt  Attempt
	arrived  time.Duration
	decided  bool
	outcome  fairness.Outcome
	leave    *time.Timer // set when it is parked and has a deadline
	header   http.Header
	status   int
	body     string
	read     int
	response http.Response
}

// exchange is one that is not in use.
func (l *lane) exchange() *exchange {
	e, ok := l.run.exchanges.Get().(*exchange)
	if !ok {
		e = new(exchange)
	}
	header, ok := l.run.headers.Get().(http.Header)
	if !ok {
		header = make(http.Header, 8)
	}
	e.lane, e.header = l, header
	return e
}

// Close implements io.Closer: nobody looks at the response any more, but for its header.
func (e *exchange) Close() error {
	pool := &e.lane.run.exchanges
	*e = exchange{}
	pool.Put(e)
	return nil
}

func (e *exchange) Header() http.Header { return e.header }

func (e *exchange) WriteHeader(status int) {
	if e.status == 0 {
		e.status = status
	}
}

func (e *exchange) Write(b []byte) (int, error) { return e.WriteString(string(b)) }

// WriteString implements io.StringWriter: the first string is kept as it is, without a copy.
func (e *exchange) WriteString(s string) (int, error) {
	e.WriteHeader(http.StatusOK)
	e.body += s
	return len(s), nil
}

// Decided implements httplimit.Witness.
func (e *exchange) Decided(arrived, decided time.Duration, queued bool, d limiter.Decision) {
	e.decided = true
	e.outcome.Decided, e.outcome.Queued, e.outcome.Waited = decided, queued, decided-arrived
	if d.Verdict == limiter.Rejected {
		e.outcome.Kind, e.outcome.By, e.outcome.Needed = fairness.Rejected, uint8(d.By), d.Wait
	}
}

// Patience implements httplimit.Witness: a client waits in line until its request's deadline.
func (e *exchange) Patience() <-chan time.Time {
	if e.attempt.Deadline == limiter.Never {
		return nil
	}
	e.leave = time.NewTimer(e.attempt.Deadline - e.lane.run.now())
	return e.leave.C
}

// Before implements httplimit.Witness.
func (e *exchange) Before(s httplimit.Step) {
	if e.lane.run.options.gate != nil {
		e.lane.run.pass(stepMoment[s], e.lane.index, e.attempt.Number)
	}
}

var stepMoment = [...]moment{
	httplimit.Releasing: atRelease,
	httplimit.Settling:  atSettle,
	httplimit.Leaving:   atLeave,
}

// answer is the exchange as the response to the request.
func (e *exchange) answer(req *http.Request) *http.Response {
	e.response = http.Response{
		Status: statusLine(e.status), StatusCode: e.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.header, Body: e, ContentLength: int64(len(e.body)), Request: req,
	}
	return &e.response
}

// statusLine is a status as net/http reads it off the wire.
func statusLine(status int) string {
	switch status {
	case http.StatusOK:
		return "200 OK"
	case http.StatusTooManyRequests:
		return "429 Too Many Requests"
	}
	return fmt.Sprintf("%d %s", status, http.StatusText(status))
}

// Read reads the body.
func (e *exchange) Read(p []byte) (int, error) {
	n := copy(p, e.body[e.read:])
	e.read += n
	if e.read == len(e.body) {
		return n, io.EOF
	}
	return n, nil
}

// WriteTo implements io.WriterTo, so that nobody needs a buffer to read the body.
func (e *exchange) WriteTo(w io.Writer) (int64, error) {
	rest := e.body[e.read:]
	e.read = len(e.body)
	if rest == "" {
		return 0, nil
	}
	n, err := io.WriteString(w, rest)
	return int64(n), err
}
