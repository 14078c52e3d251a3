package attack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// MetricsPath is where a Guard's metrics are.
const MetricsPath = "/metrics"

// GuardOptions of a Guard. Only Listen is needed.
type GuardOptions struct {
	Listen   string             // the address, as 127.0.0.1:8080; with port 0 any free one
	Upstream *url.URL           // the service behind; nil: an admitted request is answered 200 after the profile's service time
	Identify httplimit.Identify // nil: by the header X-Client-Id

	// Strangers is how many names that the profile does not know have a state of their own in the limiter; those that come after share
	// one. 0: DefaultStrangers.
	Strangers int

	// Store decides in the place of a limiter in this process. A profile that names a store needs one.
	Store Store

	Metrics       bool   // answer MetricsPath with Prometheus metrics; such requests are neither limited nor counted
	MetricsListen string // answer it at an address of its own instead; "": at Listen

	// Duration is when it ends by itself. 0: never.
	Duration time.Duration

	// Grace is how long requests that are on their way when the end comes may take to finish. 0: 5 s.
	Grace time.Duration

	limits serverLimits
}

// DefaultStrangers is GuardOptions.Strangers when that is 0.
const DefaultStrangers = 100_000

// serverLimits are what a connection may cost; the zero value of each means its default.
type serverLimits struct {
	header      time.Duration // the header must have come by then
	read        time.Duration // and the body
	idle        time.Duration // between two requests of a connection
	headerBytes int
	connections int // at one time; those beyond wait to be accepted
}

func (l serverLimits) withDefaults() serverLimits {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&l.header, 5*time.Second)
	set(&l.read, time.Minute)
	set(&l.idle, time.Minute)
	if l.headerBytes == 0 {
		l.headerBytes = 32 << 10
	}
	if l.connections == 0 {
		const spare = 64                                           // files that something else needs
		l.connections = min(max((mostFiles()-spare)/2, 16), 8_000) // the other half are the connections to the service behind
	}
	return l
}

// A Guard is a profile's limiter before a service, open to whoever comes: an HTTP server, or a reverse proxy. The profile says what the limit is and
// which clients are known by name; what they do is theirs, so that its arrivals and its duration count for nothing.
//
//	whoever ─► who is it? ─► httplimit ─┬─ rejected, 429
//	                │                   └─ admitted ─► the service behind, or a stand-in
//	                └─► its place in the tally: one of the profile's, one of the first strangers', or (other)
//
// It is made by NewGuard, begins with Start, and ends with Stop or with the context. All methods may be called from anywhere, at any time.
type Guard struct {
	options  GuardOptions
	identify httplimit.Identify
	listener net.Listener
	aside    net.Listener // of the metrics; nil: none
	server   *http.Server
	handler  *httplimit.Handler
	metrics  *metrics // nil: none
	faults   faults
	nameless atomic.Int64
	marks    atomic.Int64

	began   time.Time // set by Start, before there is anything that reads it
	started chan struct{}
	leaving chan struct{} // closed when it is to end
	closing chan struct{} // closed when the grace is over: what still waits is let go
	done    chan struct{}
	begin   sync.Once
	leave   sync.Once

	editing sync.Mutex                       // one change at a time; taken before any other lock
	profile atomic.Pointer[profiles.Profile] // as it stands; what it points at never changes

	mu     sync.Mutex // guards the rest; the last to be taken
	tally  *fairness.Tally
	places places
	ended  time.Duration // when it ended, or -1
	fault  error
}

// NewGuard checks everything, and takes the address: who connects from now on waits for Start.
func NewGuard(p *profiles.Profile, o GuardOptions) (*Guard, error) {
	g, err := newGuard(p, o)
	if err != nil {
		return nil, err
	}
	if err := g.listen(); err != nil {
		return nil, err
	}
	return g, nil
}

// newGuard is a guard that does not listen yet.
func newGuard(p *profiles.Profile, o GuardOptions) (*Guard, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	p = p.Clone()
	o.limits = o.limits.withDefaults()
	if o.Identify == nil {
		o.Identify = httplimit.ByHeader(httplimit.DefaultHeader)
	}
	if o.Strangers == 0 {
		o.Strangers = DefaultStrangers
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	g := &Guard{
		options: o, identify: o.Identify, ended: -1,
		started: make(chan struct{}), leaving: make(chan struct{}), closing: make(chan struct{}), done: make(chan struct{}),
	}
	g.profile.Store(p)
	lim, err := limiter.New(limiterConfig(p))
	if err != nil {
		return nil, err
	}
	if err := enter(p, o.Store); err != nil {
		return nil, err
	}
	behind := httplimit.Options{
		Identify: o.Identify, Now: g.now, Strangers: o.Strangers, Closing: g.closing,
		Admitted: func(at time.Duration, a limiter.Attempt) {
			g.change(func(t *fairness.Tally) { t.Admit(at, min(a.Client, g.places.rest())) })
		},
		Endpoint: p.Name,
	}
	if o.Store != nil {
		behind.Remote = o.Store
	}
	if o.Upstream != nil {
		behind.Next = newProxy(o.Upstream, o.limits.connections, &g.faults)
	} else {
		behind.ServiceTime = p.Service.Time
	}
	g.handler = httplimit.New(lim, behind)
	specs := expand(p.Clients)
	for _, spec := range specs {
		g.handler.Join(limiterClient(spec))
	}
	g.places = newPlaces(specs)
	cfg := lim.Config()
	g.tally = fairness.NewTally(g.places.clients(specs), g.describe(cfg, specs), fairness.Options{
		WarmUp: p.WarmUp, Reasons: limiter.Reasons[:], Live: true, InOrder: o.Store == nil, Afar: o.Store != nil,
	})
	var front http.Handler = g
	if o.Metrics || o.MetricsListen != "" {
		g.metrics = newMetrics(g)
		if o.MetricsListen == "" {
			front = exactly(MetricsPath, g.metrics.handler(), g)
		}
	}
	g.server = o.limits.server(front, &g.faults)
	return g, nil
}

// exactly is one handler for one path and another for the rest. A ServeMux would redirect paths that are not clean, which are the service's to judge.
func exactly(path string, there, rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			there.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

func (l serverLimits) server(h http.Handler, f *faults) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: l.header, ReadTimeout: l.read, IdleTimeout: l.idle, MaxHeaderBytes: l.headerBytes,
		ErrorLog: f.logger(),
	}
}

// listen takes the addresses.
func (g *Guard) listen() (err error) {
	if g.listener, err = net.Listen("tcp", g.options.Listen); err != nil {
		return fmt.Errorf("%s cannot be listened at: %w", g.options.Listen, err)
	}
	g.listener = netutil.LimitListener(g.listener, g.options.limits.connections)
	if at := g.options.MetricsListen; at != "" {
		if g.aside, err = net.Listen("tcp", at); err != nil {
			g.listener.Close()
			return fmt.Errorf("%s cannot be listened at: %w", at, err)
		}
		g.aside = netutil.LimitListener(g.aside, 16)
	}
	return nil
}

// URL is where it is served.
func (g *Guard) URL() string { return "http://" + g.listener.Addr().String() + "/" }

// MetricsURL is where its metrics are; "": nowhere.
func (g *Guard) MetricsURL() string {
	switch {
	case g.aside != nil:
		return "http://" + g.aside.Addr().String() + MetricsPath
	case g.metrics != nil:
		return "http://" + g.listener.Addr().String() + MetricsPath
	}
	return ""
}

// Start begins to serve; it ends when ctx does. An error means that nothing has begun, and nothing can any more.
func (g *Guard) Start(ctx context.Context) error {
	err := fmt.Errorf("it has been started before")
	g.begin.Do(func() {
		select {
		case <-g.leaving:
			g.listener.Close()
			if g.aside != nil {
				g.aside.Close()
			}
			close(g.done)
			err = fmt.Errorf("it was stopped before it began")
			return
		default:
		}
		err = nil
		g.began = time.Now()
		close(g.started)
		go g.watch(ctx)
	})
	return err
}

// watch serves until the end, and then lets what is on its way finish.
func (g *Guard) watch(ctx context.Context) {
	defer close(g.done)
	failed := make(chan error, 2)
	go func() { failed <- g.server.Serve(g.listener) }()
	if g.aside != nil {
		mux := http.NewServeMux()
		mux.Handle(MetricsPath, g.metrics.handler())
		beside := g.options.limits.server(mux, &g.faults)
		go func() { failed <- beside.Serve(g.aside) }()
		defer beside.Close()
	}
	var end <-chan time.Time // nil, which never comes, when it is to go on until stopped
	if d := g.options.Duration; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-end:
	case <-ctx.Done():
	case <-g.leaving:
	case err := <-failed:
		g.fail(err)
	}
	g.shutDown()
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = now
}

// shutDown closes the listener, waits for the requests on their way, and in the end lets them go.
func (g *Guard) shutDown() {
	grace, cancel := context.WithTimeout(context.Background(), g.options.Grace)
	defer cancel()
	if g.server.Shutdown(grace) == nil {
		return
	}
	close(g.closing)
	last, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond) // to answer those that waited
	defer cancel()
	if g.server.Shutdown(last) != nil {
		g.server.Close()
	}
}

// fail ends it by a fault; the first counts.
func (g *Guard) fail(fault error) {
	g.mu.Lock()
	if g.fault == nil {
		g.fault = fault
	}
	g.mu.Unlock()
	g.Stop()
}

// Stop ends it. It does not wait; Wait does.
func (g *Guard) Stop() { g.leave.Do(func() { close(g.leaving) }) }

// Done is closed when it has ended and nothing is served any more.
func (g *Guard) Done() <-chan struct{} { return g.done }

// Wait waits for the end, which never comes to what was never started. The error says what went wrong; an end that was asked for is none.
func (g *Guard) Wait() error {
	<-g.done
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault
}

// now is the time since the start; 0 before it.
func (g *Guard) now() time.Duration {
	select {
	case <-g.started:
		return time.Since(g.began)
	default:
		return 0
	}
}

// timeLocked is what measures count as now: it stands still when all has ended.
func (g *Guard) timeLocked() time.Duration {
	if g.ended >= 0 {
		return g.ended
	}
	return g.now()
}

// ServeHTTP limits a request and counts what becomes of it.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, err := g.identify(r)
	if err != nil {
		g.refuseNameless()
		g.handler.ServeHTTP(w, r) // which says why
		return
	}
	v := &visit{ResponseWriter: w, guard: g, name: name, client: nobody}
	defer func() {
		p := recover()
		v.end(p != nil, r.Context().Err() != nil)
		switch {
		case p == nil:
		case p == http.ErrAbortHandler: // the proxy's way to say that an answer broke off
			panic(p)
		default:
			g.fail(fmt.Errorf("panic: %v\n\n%s", p, debug.Stack()))
			panic(http.ErrAbortHandler)
		}
	}()
	g.handler.ServeHTTP(v, r)
}

func (g *Guard) refuseNameless() {
	g.nameless.Add(1)
	if g.metrics != nil {
		g.metrics.nameless.Inc()
	}
}

// Nameless is how many requests were refused, and counted nowhere else, because they did not say who was asking, or gave a name that cannot be one.
func (g *Guard) Nameless() int64 { return g.nameless.Load() }

// Faults is how many faults the server met, such as connections to the service behind that failed, and the last of them in words.
func (g *Guard) Faults() (n int64, last string) { return g.faults.read() }
