package attack

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// aimedAt runs a profile against a service to its end.
func aimedAt(t *testing.T, p *profiles.Profile, target Target) *fairness.Report {
	t.Helper()
	r := live(t, p, Options{Target: &target})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	report := r.Report()
	accounts(t, report)
	var errors int64
	for _, n := range report.ErrorsBy {
		errors += n
	}
	if errors != report.Aggregate.ErrorCount {
		t.Errorf("the errors by kind, %v, are not the %d errors", report.ErrorsBy, report.Aggregate.ErrorCount)
	}
	return report
}

// until lets a run go on until something has happened, and ends it.
func until(t *testing.T, p *profiles.Profile, target Target, happened func(*fairness.Snapshot) bool) *fairness.Report {
	t.Helper()
	p.Duration = time.Hour
	r := live(t, p, Options{Target: &target})
	for s := r.Snapshot(); !happened(s); s = r.Snapshot() {
		time.Sleep(time.Millisecond)
	}
	r.Stop()
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	accounts(t, r.Report())
	return r.Report()
}

// answered waits for so many answers.
func answered(n int64) func(*fairness.Snapshot) bool {
	return func(s *fairness.Snapshot) bool {
		return s.Aggregate.AdmittedCount+s.Aggregate.RejectedCount+s.Aggregate.ErrorCount >= n
	}
}

func service(t *testing.T, h http.Handler) *url.URL {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return parsed(t, s.URL)
}

func parsed(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// salvo is a profile whose clients send so many at once.
func salvo(t *testing.T, n int) *profiles.Profile {
	t.Helper()
	return told(t, fmt.Sprintf(`
limiter: {rate: 60/h, burst: 5}
clients: [{name: web, kind: interactive, arrivals: {process: once, count: %d, at: 0s}, retry: {attempts: 0}}]
`, n))
}

func TestJudgeStatus(t *testing.T) {
	both := []int{429, 503}
	for _, c := range []struct {
		status int
		told   bool
		on     []int
		want   string
	}{
		{200, false, both, ""}, {204, true, both, ""}, {302, false, both, ""},
		{429, false, both, "rejected"}, {429, true, nil, "rejected"},
		{503, true, []int{429}, "rejected"}, {503, false, both, "rejected"}, {503, false, []int{429}, "status-503"},
		{400, false, both, "status-4xx"}, {404, false, both, "status-4xx"}, {499, true, both, "status-4xx"},
		{500, false, both, "status-500"}, {501, false, both, "status-5xx"}, {502, true, both, "status-502"}, {504, false, both, "status-504"}, {599, true, both, "status-5xx"},
	} {
		kind, fault := judgeStatus(c.status, c.told, c.on)
		got := map[fairness.Kind]string{fairness.Admitted: "", fairness.Rejected: "rejected", fairness.Failed: faultNames[fault]}[kind]
		if got != c.want {
			t.Errorf("%d, Retry-After %v, retried %v: %q, want %q", c.status, c.told, c.on, got, c.want)
		}
	}
}

// TestTargetOfOurOwnKind: what a service with our limiter says is understood to the last word.
func TestTargetOfOurOwnKind(t *testing.T) {
	lim, err := limiter.New(limiter.Config{Policy: limiter.PerClient, Rate: limiter.PerSecond(1000), Client: limiter.ClientLimit{Rate: limiter.Rate{Tokens: 60, Per: time.Hour}, Burst: 5}})
	if err != nil {
		t.Fatal(err)
	}
	at := service(t, httplimit.New(lim, httplimit.Options{Strangers: 10}))
	r := until(t, salvo(t, 20), Target{URL: at}, answered(20))
	c := r.Clients[0]
	if c.Admitted != 5 || c.Rejected != 15 || c.Errors != 0 || c.RejectedBy["client"] != 15 {
		t.Errorf("%d admitted, %d rejected by %v, %d errors", c.Admitted, c.Rejected, c.RejectedBy, c.Errors)
	}
	if told := c.RetryAfter.Told; len(told) == 0 || told[0].Seconds < 1 || told[0].Seconds > 60 {
		t.Errorf("told %v", told)
	}
	if r.Target == nil || r.Target.Entitlement != fairness.FromAdmitted || r.Target.URL != at.String() {
		t.Fatalf("the report's target is %+v", r.Target)
	}
	seen := map[string]fairness.ToldLimit{}
	for _, l := range r.Target.Limits {
		seen[l.Name] = l
	}
	if own := seen["client"]; own.Quota != 60 || own.Window != 3600 || own.Answers != 20 || own.Remaining != 0 || own.Field != "RateLimit-Policy" {
		t.Errorf("the client's own limit is told as %+v", own)
	}
	if r.Limiter.Policy != "target" || r.Limiter.RatePerS.Exists() || r.Overshoot.Exists() || r.Aggregate.Limit.Exists() || r.Aggregate.Utilization.Exists() {
		t.Errorf("limiter %+v, overshoot %v, limit %v: nobody can know them", r.Limiter, r.Overshoot, r.Aggregate.Limit)
	}
}

// TestTheServiceKnowsItsClients: by the headers that the profile names, at the endpoint that it names.
func TestTheServiceKnowsItsClients(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	at := service(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		mu.Lock()
		defer mu.Unlock()
		seen[strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("X-Client-Id"), r.Header.Get("X-Api-Key"), user + ":" + password}, " ")] = true
	}))
	at.Path, at.User = "/v1", url.UserPassword("me", "secret")
	p := told(t, `
limiter: {rate: 1000/s}
clients:
  - {name: web, kind: interactive, arrivals: {process: once, count: 1, at: 0s}, headers: {X-Api-Key: abc}, endpoint: "/items?page=2"}
  - {name: app, kind: interactive, arrivals: {process: once, count: 1, at: 0s}, headers: {X-Client-Id: tenant-7}}
`)
	r := until(t, p, Target{URL: at}, answered(2))
	for _, want := range []string{"GET /v1/items?page=2 web abc me:secret", "GET /v1 tenant-7  me:secret"} {
		if !seen[want] {
			t.Errorf("no %q in %v", want, seen)
		}
	}
	if strings.Contains(r.Target.URL, "secret") {
		t.Errorf("the report tells the password: %s", r.Target.URL)
	}
}

// TestFaultsAreErrorsByKind: nothing that goes wrong on the way counts as a rejection.
func TestFaultsAreErrorsByKind(t *testing.T) {
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused.Close()
	stuck := make(chan struct{})
	defer close(stuck)
	hijack := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				io.WriteString(c, answer)
				c.Close()
			}
		}
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = (&faults{}).logger()
	secure.StartTLS()
	defer secure.Close()
	plain := service(t, http.NotFoundHandler())
	for _, c := range []struct {
		want    string
		at      *url.URL
		timeout time.Duration
	}{
		{"refused", parsed(t, "http://"+refused.Addr().String()), 0},
		{"time-out", service(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-stuck:
			case <-r.Context().Done():
			}
		})), 50 * time.Millisecond},
		{"reset", service(t, hijack("")), 0},
		{"reset", service(t, hijack("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")), 0},
		{"no-http", service(t, hijack("220 smtp ready\r\n")), 0},
		{"tls", parsed(t, secure.URL), 0},
		{"tls", parsed(t, "https://"+plain.Host), 0},
		{"status-4xx", plain, 0},
		{"status-500", service(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })), 0},
		{"status-502", service(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) })), 0},
		{"public-address", parsed(t, "http://192.0.2.1:9/"), 0}, // never connected to
	} {
		r := until(t, salvo(t, 3), Target{URL: c.at, Timeout: c.timeout}, answered(3))
		if r.Aggregate.ErrorCount != 3 || r.ErrorsBy[c.want] != 3 || r.Aggregate.RejectedCount != 0 {
			t.Errorf("%s: %d errors %v, %d rejected, %d admitted; want 3 %q", c.at, r.Aggregate.ErrorCount, r.ErrorsBy, r.Aggregate.RejectedCount, r.Aggregate.AdmittedCount, c.want)
		}
	}
}

// TestADeadlineIsTheClients: a request that its client gives up is no time-out of ours.
func TestADeadlineIsTheClients(t *testing.T) {
	at := service(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	p := salvo(t, 2)
	p.Clients[0].Deadline = 20 * time.Millisecond
	r := until(t, p, Target{URL: at}, answered(2))
	if r.ErrorsBy["deadline"] != 2 {
		t.Errorf("errors by kind: %v, want 2 by deadline", r.ErrorsBy)
	}
}

// TestRetriesAgainstATarget: a client that honours Retry-After comes back when it was told, by seconds and by date.
func TestRetriesAgainstATarget(t *testing.T) {
	for _, told := range []func() string{
		func() string { return "1" },
		func() string { return time.Now().Add(1500 * time.Millisecond).UTC().Format(http.TimeFormat) },
	} {
		var hits atomic.Int64
		at := service(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if hits.Add(1) == 1 {
				w.Header().Set("Retry-After", told())
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		p := salvo(t, 1)
		p.Clients[0].Retry = profiles.Retry{Attempts: 1, Backoff: profiles.NoBackoff, Jitter: profiles.NoJitter, HonorRetryAfter: true, On: []int{429, 503}}
		r := until(t, p, Target{URL: at}, answered(2))
		if c := r.Clients[0]; c.Rejected != 1 || c.Admitted != 1 || c.Retries != 1 || c.Kept != 1 || len(c.RetryAfter.Told) != 1 || c.RetryAfter.Told[0].Seconds < 1 {
			t.Errorf("%d rejected, %d admitted, %d retries, %d promises kept, told %v", c.Rejected, c.Admitted, c.Retries, c.Kept, c.RetryAfter.Told)
		}
	}
}

// TestConnectionsAreBounded: of all clients together there are never more than were allowed.
func TestConnectionsAreBounded(t *testing.T) {
	var open, most atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			n := open.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	s.Start()
	defer s.Close()
	p := told(t, `
limiter: {rate: 1000/s}
clients: [{name: web, kind: batch, copies: 3, arrivals: {process: once, count: 200, at: 0s}, retry: {attempts: 0}}]
`)
	r := until(t, p, Target{URL: parsed(t, s.URL), Connections: 7}, answered(600))
	if r.Aggregate.AdmittedCount != 600 || most.Load() > 6 || most.Load() < 3 { // 2 for each of 3
		t.Errorf("%d admitted over up to %d connections", r.Aggregate.AdmittedCount, most.Load())
	}
	if _, err := New(p, Options{Target: &Target{URL: parsed(t, s.URL), Connections: 2}}); err == nil || !strings.Contains(err.Error(), "too few for 3 clients") {
		t.Errorf("2 connections for 3 clients: %v", err)
	}
	if _, err := New(p, Options{Target: &Target{URL: parsed(t, s.URL), Connections: 1 << 30}}); err == nil || !strings.Contains(err.Error(), "files") {
		t.Errorf("2^30 connections: %v", err)
	}
}

// TestEntitlementsAgainstATarget: from a limit that is stated, or else from what the service admits in sum.
func TestEntitlementsAgainstATarget(t *testing.T) {
	// A service that always refuses web and admits a hundred of batch's requests.
	var admitted atomic.Int64
	at := service(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(httplimit.DefaultHeader) == "web" || admitted.Add(1) > 100 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	p := told(t, `
limiter: {rate: 80/s, burst: 10}
clients:
  - {name: web, kind: interactive, arrivals: {process: once, count: 50, at: 0s}, retry: {attempts: 0}}
  - {name: batch, kind: batch, arrivals: {process: once, count: 150, at: 0s}, retry: {attempts: 0}}
`)
	for _, stated := range []bool{false, true} {
		admitted.Store(0)
		r := until(t, p, Target{URL: at, Stated: stated}, answered(200))
		web, batch := r.Clients[0], r.Clients[1]
		seconds := float64(r.Duration)
		switch {
		case web.RejectedBy["global"] != 0:
			t.Errorf("it is known which limit refused: %v", web.RejectedBy)
		case web.Admitted != 0 || batch.Admitted != 100:
			t.Fatalf("admitted %d and %d", web.Admitted, batch.Admitted)
		case stated:
			if r.Aggregate.Limit != 80 || r.Limiter.RatePerS != 80 || r.Target.Entitlement != fairness.FromStated {
				t.Errorf("stated: limit %v, %+v", r.Aggregate.Limit, r.Limiter)
			}
		default: // 100 in sum: 50 for each
			near(t, "web's entitlement", web.Entitled*fairness.Number(seconds), 50, 0.01)
			near(t, "batch's entitlement", batch.Entitled*fairness.Number(seconds), 50, 0.01)
			if cure := r.Diagnosis.Cure; cure.Policy != "" || cure.Text == "" {
				t.Errorf("the cure is %+v, a policy that nobody can set from here", cure)
			}
			if r.Fairness.Verdict != fairness.Starved || r.Fairness.Starved[0] != "web" {
				t.Errorf("%s: %s", r.Fairness.Verdict, r.Fairness.Why)
			}
		}
	}
}

func TestTheTargetsLimiterIsItsOwn(t *testing.T) {
	at := service(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, stated := range []bool{false, true} {
		p := salvo(t, 1)
		p.Duration = time.Hour
		r := live(t, p, Options{Target: &Target{URL: at, Stated: stated}})
		if err := r.NextPolicy(1); err == nil || !strings.Contains(err.Error(), "target's own: its policy") {
			t.Errorf("another policy: %v", err)
		}
		err := r.Edit(func(p *profiles.Profile) { p.Limiter.Rate = limiter.PerSecond(7) })
		if (err == nil) != stated {
			t.Errorf("stated %v: another rate: %v", stated, err)
		}
		if s := r.Snapshot(); stated && s.Limiter.RatePerS != 7 || s.Inside != nil {
			t.Errorf("the limit is then %+v", s.Limiter)
		}
		if err := r.Edit(func(p *profiles.Profile) { p.Service.Time = time.Second }); err == nil {
			t.Error("another service time is accepted")
		}
		if err := r.Edit(func(p *profiles.Profile) { p.Limiter.Algorithm = limiter.AlgorithmGCRA }); err == nil {
			t.Error("another algorithm is accepted")
		}
		if err := r.Edit(func(p *profiles.Profile) { p.Clients[0].Weight = 3 }); err != nil {
			t.Errorf("a client's weight is ours: %v", err)
		}
		r.Stop()
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	for at, want := range map[string]string{
		"http://127.0.0.1:80/": "", "http://[::1]/": "", "http://10.1.2.3/": "", "http://192.168.7.7/": "", "http://172.31.0.1/": "", "http://[fd00::1]/": "",
		"http://169.254.1.1/": "", "http://[::ffff:10.0.0.1]/": "", "http://localhost:8080/": "", "http://0.0.0.0/": "",
		"http://192.0.2.1/": "192.0.2.1", "http://172.32.0.1/": "172.32.0.1", "http://[2001:db8::1]/": "2001:db8::1",
		"http://[::ffff:192.0.2.1]/": "::ffff:192.0.2.1",
	} {
		public, err := PublicAddresses(t.Context(), parsed(t, at))
		got := ""
		for _, a := range public {
			got += a.String()
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", at, got, err, want)
		}
	}
	for _, at := range []string{"ftp://127.0.0.1/", "127.0.0.1:8080", "http:///path", "http://127.0.0.1/#top"} {
		u, err := url.Parse(at)
		if err == nil {
			err = CheckTarget(u)
		}
		if err == nil {
			t.Errorf("%s is accepted", at)
		}
	}
}
