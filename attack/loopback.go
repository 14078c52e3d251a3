package attack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
)

// commonFiles is how many files a process may commonly have open.
const commonFiles = 1024

// connectionsFor is how many connections the loopback transport opens for each client: enough to keep two cores busy, and together so few that
// the process never runs out of files, of which each connection takes two, one at either end.
func connectionsFor(clients, files int) int {
	const (
		most  = 400 // for all
		spare = 64  // for everything else that is open
	)
	return max(min(most, (files-spare)/2)/clients, 1)
}

// server is the handler behind a real HTTP server on the loopback interface.
type server struct {
	http        *http.Server
	listener    net.Listener
	url         string
	connections int // for each client
	served      chan struct{}
	witnesses   witnesses
}

func newServer(clients int) *server {
	return &server{connections: connectionsFor(clients, mostFiles()), served: make(chan struct{})}
}

// open listens; serve serves.
func (s *server) open(h http.Handler) (err error) {
	s.listener, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("the loopback transport cannot listen: %w", err)
	}
	s.url = "http://" + s.listener.Addr().String() + "/"
	s.http = &http.Server{
		Handler: s.witnesses.handler(h), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // what it would log are connections that the end of the run cut
	}
	return nil
}

func (s *server) serve(r *Run) {
	defer close(s.served)
	defer r.caught()
	_ = s.http.Serve(s.listener)
}

// close ends the server and its connections.
func (s *server) close() {
	_ = s.http.Close()
	<-s.served
}

// loopback is a transport over real connections of the client's own, so that no client waits for a connection behind another. The client reads the answer as
// anybody would; the measures have the decision from the server itself.
type loopback struct {
	lane *lane
	http *http.Transport
}

func newLoopback(l *lane, s *server) *loopback {
	return &loopback{lane: l, http: &http.Transport{
		MaxConnsPerHost: s.connections, MaxIdleConnsPerHost: s.connections, DisableCompression: true,
	}}
}

// mostBody is how much of a body is read; what is longer costs its connection.
const mostBody = 64 << 10

// RoundTrip takes the attempt that the pacer has put up, and sends the request for it.
func (b *loopback) RoundTrip(req *http.Request) (*http.Response, error) {
	l := b.lane
	r := l.run
	fault := errCut
	defer r.caught()
	var a Attempt
	if !l.take(&a) {
		return nil, fault
	}
	if r.shadows.any.Load() {
		r.score(&a)
	}
	ctx, cancel := r.cutting(a.Deadline)
	defer cancel()
	taken := r.server.witnesses.expect(req, &a)
	resp, err := b.http.RoundTrip(req.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, mostBody))
		_ = resp.Body.Close()
	}
	now := r.now()
	o, decided := taken()
	switch {
	case r.isOver():
		return nil, fault
	case err != nil:
		if _, counted := l.observe(&a, Answer{}, &fairness.Outcome{Kind: fairness.Failed, Decided: now}); !counted {
			return nil, fault
		}
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	o.Told = toldWait(resp.Header, time.Now)
	if !decided || resp.StatusCode >= 400 && o.Kind != fairness.Rejected {
		o = fairness.Outcome{Kind: fairness.Failed, Decided: now, Told: o.Told} // it was cut short, or answered by nobody of ours
	}
	ended, counted := l.observe(&a, Answer{Status: resp.StatusCode, Told: o.Told}, &o)
	if !counted {
		return nil, fault
	}
	if r.options.Record != nil {
		r.mark(resp.Header, &a, &o, false, ended)
	}
	return resp, nil
}

// cutting is a context that ends with the run, and at the deadline of an attempt.
func (r *Run) cutting(deadline time.Duration) (context.Context, context.CancelFunc) {
	if deadline == limiter.Never {
		return context.WithCancel(r.life)
	}
	return context.WithTimeout(r.life, deadline-r.now())
}
