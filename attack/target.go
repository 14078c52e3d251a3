package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// A Target is somebody's real service, which a live run attacks instead of a limiter of its own. All that is known of its limit is what its answers
// say: 429 is a rejection, and so is a 503 that comes with Retry-After or that the client retries; what else is 400 or above, and what is no answer, is
// an error.
type Target struct {
	URL *url.URL // http or https

	// Stated says that the profile's limit is that of the service, as far as its rate and burst go. Otherwise the capacity that is shared out is
	// what the service admits in sum.
	Stated bool

	// Connections is how many there may be at one time, of all clients together. 0: as many as the loopback transport has.
	Connections int

	// Timeout is how long an attempt may take. 0: 30 s.
	Timeout time.Duration

	// Public allows connections to addresses that are neither of this machine nor of a private network.
	Public bool
}

// CheckTarget reports what is wrong with the address of a service.
func CheckTarget(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q does not begin with http:// or https://: write for example http://127.0.0.1:8080/", u.Redacted())
	case u.Hostname() == "":
		return fmt.Errorf("%q names no host: write for example http://127.0.0.1:8080/", u.Redacted())
	case u.Fragment != "":
		return fmt.Errorf("%q has a fragment (#%s), which is never sent: leave it out", u.Redacted(), u.Fragment)
	}
	return nil
}

// private reports whether an address is of this machine or of a private network.
func private(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() // the last is dialled as this machine
}

// PublicAddresses are the addresses of a service that are neither of this machine nor of a private network: what stands there may be
// somebody else's. The error tells that its host has no address at all.
func PublicAddresses(ctx context.Context, u *url.URL) (public []netip.Addr, err error) {
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if private(a) {
			return nil, nil
		}
		return []netip.Addr{a}, nil
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("the host %s cannot be found: %w", u.Hostname(), err)
	}
	return slices.DeleteFunc(all, private), nil
}

// publicError is a connection that Target.Public does not allow.
type publicError struct{ address string }

func (e publicError) Error() string {
	return e.address + " is neither of this machine nor of a private network"
}

// target is a Target as a run uses it.
type target struct {
	Target
	connections int // of each client
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	told        toldBook
}

const defaultTimeout = 30 * time.Second

func newTarget(t Target, clients int) (*target, error) {
	if err := CheckTarget(t.URL); err != nil {
		return nil, err
	}
	if t.Timeout == 0 {
		t.Timeout = defaultTimeout
	}
	each := connectionsFor(clients, mostFiles())
	if t.Connections > 0 {
		if t.Connections < clients {
			return nil, fmt.Errorf("%d connections are too few for %d clients: each needs one at least", t.Connections, clients)
		}
		if files := mostFiles(); t.Connections > files-64 {
			return nil, fmt.Errorf("%d connections are more than the %d files that a process may have open here allow", t.Connections, files)
		}
		each = t.Connections / clients
	}
	dialer := &net.Dialer{Timeout: t.Timeout}
	if !t.Public {
		// At the very last moment, when it is certain where the connection goes.
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !private(at.Addr()) {
				return publicError{address}
			}
			return nil
		}
	}
	return &target{Target: t, connections: each, dial: dialer.DialContext}, nil
}

// address is what a client's attempts ask for: its endpoint under the service's path.
func (t *target) address(endpoint string) string {
	if endpoint == "" {
		return t.URL.String()
	}
	u := *t.URL
	path, query, _ := strings.Cut(endpoint, "?")
	u = *u.JoinPath(path)
	if query != "" {
		u.RawQuery = query
	}
	return u.String()
}

// limit is what is known of the service's limit, for measures and for people.
func (t *target) limit(cfg limiter.Config) fairness.Limit {
	l := fairness.Limit{
		Policy: fairness.OfTarget, Algorithm: "not known", RatePerS: fairness.None, ClientRatePerS: fairness.None, Shards: 1,
		RateText: "rate not known", Measured: true,
	}
	if t.Stated {
		l.RatePerS, l.RateText, l.Burst = fairness.Number(cfg.Rate.PerSecond()), cfg.Rate.String(), cfg.Burst
		l.Capacity, l.Measured = cfg.Rate.PerSecond(), false
	}
	return l
}

// describe is the limit in force, for measures and for people.
func (r *Run) describe(cfg limiter.Config, svc profiles.Service, specs []profiles.Client) fairness.Limit {
	if r.target != nil {
		return r.target.limit(cfg)
	}
	return describe(cfg, svc, specs)
}

// tallyClients is what the tally is to know of the clients. What a target's service takes is not known, so that the demand of a closed loop that does
// not think is not either, and counts as what it was seen to ask for.
func (r *Run) tallyClients(cfg limiter.Config, svc profiles.Service, specs []profiles.Client) []fairness.Client {
	all := tallyClients(cfg, svc, specs)
	if r.target == nil {
		return all
	}
	for i, spec := range specs {
		if spec.Arrivals.Process == profiles.Closed {
			all[i].ClosedDemand = 0
			if cycle := spec.Arrivals.Think + svc.Time + svc.RoundTrip; cycle > 0 {
				all[i].ClosedDemand = float64(spec.Arrivals.Workers) / cycle.Seconds()
			}
		}
	}
	return all
}

// report is what the run knows of the service.
func (t *target) report() *fairness.Target {
	r := &fairness.Target{URL: t.URL.Redacted(), Entitlement: fairness.FromAdmitted, Limits: t.told.report()}
	if t.Stated {
		r.Entitlement = fairness.FromStated
	}
	return r
}

// errForeignPolicy answers whoever wants another policy of a target.
var errForeignPolicy = errors.New("the limiter is the target's own: its policy cannot be changed from here")

// fixed refuses changes of what is the service's own.
func (t *target) fixed(was, is *profiles.Profile) error {
	a, b := was.Limiter, is.Limiter
	if t.Stated { // whoever stated a limit may correct it
		a.Rate, a.Burst = b.Rate, b.Burst
	}
	switch {
	case !reflect.DeepEqual(a, b):
		if a.Policy != b.Policy {
			return errForeignPolicy
		}
		if !t.Stated && a.Rate != b.Rate {
			return fmt.Errorf("the limiter is the target's own: its rate cannot be changed from here")
		}
		return fmt.Errorf("the limiter is the target's own: it cannot be changed from here")
	case was.Service != is.Service:
		return fmt.Errorf("the service is the target's own: it cannot be changed from here")
	}
	return nil
}

// targeted is a client's transport to a Target, over connections of its own.
type targeted struct {
	lane   *lane
	target *target
	http   *http.Transport
}

func newTargeted(l *lane, t *target) *targeted {
	return &targeted{lane: l, target: t, http: &http.Transport{
		DialContext: t.dial, TLSHandshakeTimeout: t.Timeout,
		MaxConnsPerHost: t.connections, MaxIdleConnsPerHost: t.connections, DisableCompression: true, ForceAttemptHTTP2: true,
	}}
}

// RoundTrip takes the attempt that the pacer has put up, and sends the request for it.
func (b *targeted) RoundTrip(req *http.Request) (*http.Response, error) {
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
	ctx, stop := context.WithTimeout(ctx, b.target.Timeout)
	defer stop()
	resp, err := b.http.RoundTrip(req.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, mostBody))
		_ = resp.Body.Close()
	}
	now := r.now()
	switch {
	case r.isOver():
		return nil, fault
	case err != nil:
		o := fairness.Outcome{Kind: fairness.Failed, Decided: now, Fault: faultOf(err)}
		if o.Fault == faultTimeout && now >= a.Deadline {
			o.Fault = faultDeadline
		}
		if _, counted := l.observe(&a, Answer{}, &o); !counted {
			return nil, fault
		}
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	b.target.told.hear(resp.Header)
	o := fairness.Outcome{Decided: now, Told: toldWait(resp.Header, time.Now)}
	o.Kind, o.Fault = judgeStatus(resp.StatusCode, o.Told > 0, l.spec().Retry.On)
	if o.Kind == fairness.Rejected {
		o.By = notTold
		if by, ok := httplimit.RefusedBy(body); ok { // it is one of ours, which says so
			o.By = uint8(by)
		}
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

// notTold is no index of limiter.Reasons: services seldom say which of their limits refused.
const notTold = 255

// judgeStatus says what a status means. told: it came with Retry-After; retried: the statuses that the client tries again.
func judgeStatus(status int, told bool, retried []int) (fairness.Kind, uint8) {
	switch {
	case status == http.StatusTooManyRequests,
		status == http.StatusServiceUnavailable && (told || slices.Contains(retried, status)):
		return fairness.Rejected, 0
	case status >= 400:
		return fairness.Failed, faultOfStatus(status)
	}
	return fairness.Admitted, 0
}
