package attack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// longEnough is how long a test waits for what must happen; running out of it means that it does not.
const longEnough = time.Minute

// hourly is a profile of two clients before a limit that, once its burst of 3 is used up, admits nobody for the rest of the test.
func hourly(t *testing.T, policy string) *profiles.Profile {
	t.Helper()
	return told(t, `
name: hourly
limiter: {policy: `+policy+`, rate: 60/h, burst: 3, client: {rate: 60/h, burst: 3}}
service: {time: 0s}
clients: [{name: web, kind: interactive}, {name: batch, kind: batch, cost: 2}]
`)
}

// guarded starts a guard at an address of its own.
func guarded(t *testing.T, p *profiles.Profile, o GuardOptions) *Guard {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	g, err := NewGuard(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Stop()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// visitor asks a guard, each time over a connection of its own.
func visitor(t *testing.T, at, name string) *http.Response {
	t.Helper()
	r, err := http.NewRequest("GET", at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		r.Header.Set(httplimit.DefaultHeader, name)
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp
}

// outcome is a client of a report, as admitted/rejected/errors.
func outcome(clients []fairness.ClientMeasures, name string) string {
	for _, c := range clients {
		if c.Name == name {
			return fmt.Sprintf("%d/%d/%d", c.Admitted, c.Rejected, c.Errors)
		}
	}
	return "not there"
}

func TestGuardCountsWhoeverComes(t *testing.T) {
	g := guarded(t, hourly(t, "per-client"), GuardOptions{})
	for _, c := range []struct {
		name   string
		status int
	}{
		{"web", 200}, {"web", 200}, {"zoe", 200}, {"batch", 429}, {"zoe", 429}, {"", 400}, {strings.Repeat("x", 200), 403}, {"adam", 429},
	} {
		if got := visitor(t, g.URL(), c.name).StatusCode; got != c.status {
			t.Errorf("%q is answered %d, want %d", c.name, got, c.status)
		}
	}
	g.Stop()
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	r := g.Report()
	accounts(t, r)
	var names []string
	for _, c := range r.Clients {
		names = append(names, c.Name+" "+outcome(r.Clients, c.Name))
	}
	if got, want := strings.Join(names, ", "), "web 2/0/0, batch 0/1/0, zoe 1/1/0, adam 0/1/0"; got != want {
		t.Errorf("the report has %s; want %s", got, want)
	}
	if r.Mode != "served" || r.Overshoot != 0 || r.Aggregate.InFlight != 0 || g.Nameless() != 2 {
		t.Errorf("mode %q, overshoot %v, in flight %d, nameless %d", r.Mode, r.Overshoot, r.Aggregate.InFlight, g.Nameless())
	}
	if told := r.Clients[2].RetryAfter.Told; len(told) != 1 || told[0].Seconds < 1 {
		t.Errorf("zoe was told %v", told)
	}
	for _, point := range r.Timeline {
		if len(point.Clients) != 4 {
			t.Fatalf("a step of the timeline has %d clients", len(point.Clients))
		}
	}
}

// TestVisitsInVirtualTime: what a request takes is measured from its arrival, waiting in line included.
func TestVisitsInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := told(t, `
limiter: {policy: fair-queue, rate: 10/s, burst: 1, queue: {per_client: 5, max_wait: 1s}}
service: {time: 30ms}
clients: [{name: web, kind: interactive}]
`)
		g := idle(t, p)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { g.ServeHTTP(httptest.NewRecorder(), from("web")) })
			synctest.Wait()
		}
		all.Wait()
		time.Sleep(time.Second)
		c := g.Report().Clients[0]
		if c.Admitted != 3 || c.Latency.Admitted.Max != 230 || c.QueueWait.Max != 200 {
			t.Errorf("%d admitted, at most %v ms, of these %v ms in line; want 3, 230 and 200", c.Admitted, c.Latency.Admitted.Max, c.QueueWait.Max)
		}
	})
}

// idle is a guard that is called and does not listen.
func idle(t *testing.T, p *profiles.Profile) *Guard {
	t.Helper()
	g, err := newGuard(p, GuardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g.began = time.Now()
	close(g.started)
	return g
}

// from is a request of a client.
func from(name string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header[httplimit.DefaultHeader] = []string{name}
	return r
}

func TestPlacesAreNeverGivenBack(t *testing.T) {
	p := newPlaces([]profiles.Client{{Name: "web"}, {Name: "batch"}})
	if len(p.names) != goodPlaces || p.taken != 2 {
		t.Fatalf("%d places, %d taken", len(p.names), p.taken)
	}
	for i := range 2 * goodPlaces {
		place, fresh := p.find(fmt.Sprint("stranger-", i))
		if want := min(2+i, p.rest()); place != want || fresh != (i+2 <= p.rest()) {
			t.Errorf("stranger %d: place %d, fresh %v; want %d", i, place, fresh, want)
		}
	}
	for name, want := range map[string]int{"web": 0, "batch": 1, "stranger-0": 2, "stranger-99": p.rest(), httplimit.Rest: p.rest()} {
		if place, fresh := p.find(name); place != want || fresh {
			t.Errorf("%s: place %d, fresh %v; want %d", name, place, fresh, want)
		}
	}
	if len(p.of) != goodPlaces-1 {
		t.Errorf("%d names are remembered", len(p.of))
	}
	crowd := newPlaces(make([]profiles.Client, 100))
	if len(crowd.names) != 100+fewPlaces {
		t.Errorf("a hundred clients have %d places", len(crowd.names))
	}
}

// TestAFloodOfNamesCostsNothing: a million made-up names neither fill the memory nor give anybody a fresh bucket.
func TestAFloodOfNamesCostsNothing(t *testing.T) {
	names := 1_000_000
	if raced {
		names = 50_000
	}
	p := hourly(t, "per-client")
	p.Limiter.Rate, p.Limiter.Burst = limiter.PerSecond(1_000_000_000), 1_000_000_000
	g, err := newGuard(p, GuardOptions{Strangers: 1000, Metrics: true})
	if err != nil {
		t.Fatal(err)
	}
	g.began = time.Now()
	close(g.started)
	status := func(name string) int {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, from(name))
		return w.Code
	}
	for _, name := range []string{"web", "web", "web", "first", "first", "first"} {
		if got := status(name); got != 200 {
			t.Fatalf("%s is answered %d", name, got)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	admitted := 0
	r, w := from(""), &discard{header: http.Header{}}
	flood := func(from, to int) {
		for i := from; i < to; i++ {
			r.Header[httplimit.DefaultHeader][0] = fmt.Sprintf("made-up-%d", i)
			w.status = 0
			if g.ServeHTTP(w, r); w.status == 200 {
				admitted++
			}
		}
	}
	flood(0, names/10)
	before := heap()
	flood(names/10, names)
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("the last nine tenths of the names cost %d bytes", grown)
	}
	for _, name := range []string{"web", "first"} {
		if got := status(name); got != 429 {
			t.Errorf("%s has a fresh bucket: it is answered %d", name, got)
		}
	}
	// 999 names with a bucket of their own, and the rest, which share one of 3.
	if admitted != 999+3 {
		t.Errorf("%d of the made-up names were admitted, want %d", admitted, 999+3)
	}
	report := g.Report()
	accounts(t, report)
	if n := len(report.Clients); n != goodPlaces || report.Clients[n-1].Name != httplimit.Rest {
		t.Errorf("the report has %d clients, the last %q", n, report.Clients[n-1].Name)
	}
	if report.Aggregate.Attempts != int64(names)+8 {
		t.Errorf("%d attempts are counted of %d", report.Aggregate.Attempts, names+8)
	}
}

// discard is a response that only keeps its status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// TestSlowAndHugeHeaders: whoever sends its header drop by drop is cut off, whoever sends too much of it is told, and others are served meanwhile.
func TestSlowAndHugeHeaders(t *testing.T) {
	g := guarded(t, hourly(t, "global"), GuardOptions{limits: serverLimits{header: 100 * time.Millisecond, idle: 100 * time.Millisecond, headerBytes: 8 << 10, connections: 40}})
	var slow []net.Conn
	for range 30 {
		c, err := net.Dial("tcp", g.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Client-Id: w")
		slow = append(slow, c)
	}
	if got := visitor(t, g.URL(), "web").StatusCode; got != 200 {
		t.Errorf("beside slow ones web is answered %d", got)
	}
	ended := func(c net.Conn) string {
		c.SetReadDeadline(time.Now().Add(longEnough))
		b, err := io.ReadAll(c)
		if err != nil {
			t.Fatalf("it is not cut off: %v", err)
		}
		return string(b)
	}
	for _, c := range slow {
		if answer := ended(c); strings.HasPrefix(answer, "HTTP/1.1 200") {
			t.Errorf("half a header is answered %q", answer)
		}
	}
	huge, err := net.Dial("tcp", g.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer huge.Close()
	go fmt.Fprintf(huge, "GET / HTTP/1.1\r\nHost: x\r\nX-Client-Id: web\r\nX-Much: %s\r\n\r\n", strings.Repeat("x", 64<<10))
	huge.SetReadDeadline(time.Now().Add(longEnough))
	line, err := bufio.NewReader(huge).ReadString('\n')
	if err != nil || !strings.Contains(line, "431") {
		t.Errorf("a huge header is answered %q, %v", line, err)
	}
	idle, err := net.Dial("tcp", g.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	fmt.Fprint(idle, "GET / HTTP/1.1\r\nHost: x\r\nX-Client-Id: web\r\n\r\n")
	if answer := ended(idle); !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("an idle connection was answered %q", answer)
	}
	if got := outcome(g.Report().Clients, "web"); got != "2/0/0" {
		t.Errorf("web: %s, want 2/0/0", got)
	}
}

// upstream is a service behind a guard.
func upstream(t *testing.T, h http.HandlerFunc) *url.URL {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProxyPassesOnWhatIsAdmitted(t *testing.T) {
	behind := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", r.URL.Path+" "+r.URL.RawQuery+" "+r.Header.Get(httplimit.DefaultHeader)+" "+r.Header.Get("X-Forwarded-For"))
		if r.URL.Path == "/api/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		io.WriteString(w, "hello")
	})
	behind.Path = "/api"
	g := guarded(t, hourly(t, "global"), GuardOptions{Upstream: behind, Metrics: true})
	resp := visitor(t, g.URL()+"items?n=1", "web")
	body, _ := io.ReadAll(resp.Body)
	if got, want := resp.Header.Get("X-Seen"), "/api/items n=1 web 127.0.0.1"; resp.StatusCode != 200 || got != want || string(body) != "hello" {
		t.Errorf("answered %d, %q, %q; want 200, %q and hello", resp.StatusCode, got, body, want)
	}
	if resp.Header.Get("X-Ratelimit-Limit") == "" {
		t.Error("the answer does not tell the limit")
	}
	if got := visitor(t, g.URL()+"broken", "web").StatusCode; got != 500 {
		t.Errorf("the service's 500 comes as %d", got)
	}
	if got := visitor(t, g.URL(), "web").StatusCode; got != 200 {
		t.Errorf("the third is answered %d", got)
	}
	if resp := visitor(t, g.URL(), "web"); resp.StatusCode != 429 || resp.Header.Get("X-Seen") != "" {
		t.Errorf("what is rejected reached the service, or was answered %d", resp.StatusCode)
	}
	if got := outcome(g.Report().Clients, "web"); got != "2/1/1" {
		t.Errorf("web: %s, want 2/1/1", got)
	}
}

func TestProxyBeforeNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := &url.URL{Scheme: "http", Host: l.Addr().String()}
	l.Close()
	g := guarded(t, hourly(t, "global"), GuardOptions{Upstream: gone})
	if got := visitor(t, g.URL(), "web").StatusCode; got != http.StatusBadGateway {
		t.Errorf("answered %d", got)
	}
	if got := outcome(g.Report().Clients, "web"); got != "0/0/1" {
		t.Errorf("web: %s, want 0/0/1", got)
	}
	if n, last := g.Faults(); n != 1 || !strings.Contains(last, "refused") {
		t.Errorf("%d faults, the last %q", n, last)
	}
}

// TestGracefulStop: what is on its way is answered, while nobody new is let in.
func TestGracefulStop(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	behind := upstream(t, func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-leave
	})
	g := guarded(t, hourly(t, "global"), GuardOptions{Upstream: behind, Grace: longEnough})
	status := make(chan int)
	go func() { status <- visitor(t, g.URL(), "web").StatusCode }()
	<-inside
	g.Stop()
	for {
		c, err := net.Dial("tcp", g.listener.Addr().String())
		if err != nil {
			break // the listener is closed
		}
		c.Close()
		runtime.Gosched()
	}
	select {
	case <-g.Done():
		t.Fatal("it did not wait for the request on its way")
	default:
	}
	close(leave)
	if got := <-status; got != 200 {
		t.Errorf("the request on its way is answered %d", got)
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := outcome(g.Report().Clients, "web"); got != "1/0/0" {
		t.Errorf("web: %s, want 1/0/0", got)
	}
}

// TestStopDoesNotWaitForEver: a service that never answers, and a line that never moves, are left after the grace.
func TestStopDoesNotWaitForEver(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	behind := upstream(t, func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-leave
	})
	defer close(leave)
	p := hourly(t, "fair-queue")
	p.Limiter.Burst, p.Limiter.Queue.MaxWait = 2, 10*time.Hour
	g := guarded(t, p, GuardOptions{Upstream: behind, Grace: 50 * time.Millisecond})
	go http.Get(g.URL()) // nameless
	ask := func(name string) {
		r, _ := http.NewRequest("GET", g.URL(), nil)
		r.Header.Set(httplimit.DefaultHeader, name)
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
	}
	go ask("batch") // it costs 2: the burst
	<-inside
	go ask("web")
	for g.handler.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	g.Stop()
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	accounts(t, g.Report())
	if got := outcome(g.Report().Clients, "web"); got != "0/0/1" {
		t.Errorf("web, in line: %s, want 0/0/1", got)
	}
}

func TestGuardThatNeverBegins(t *testing.T) {
	g, err := NewGuard(hourly(t, "global"), GuardOptions{Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewGuard(hourly(t, "global"), GuardOptions{Listen: g.listener.Addr().String()}); err == nil || !strings.Contains(err.Error(), "cannot be listened at") {
		t.Errorf("an address that is taken: %v", err)
	}
	g.Stop()
	if err := g.Start(context.Background()); err == nil {
		t.Error("it begins after its end")
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if err := g.Start(context.Background()); err == nil {
		t.Error("it begins twice")
	}
	g.Report()
}

func TestGuardIsChangedWhileItServes(t *testing.T) {
	g := guarded(t, hourly(t, "global"), GuardOptions{})
	for range 3 {
		visitor(t, g.URL(), "zoe")
	}
	if got := visitor(t, g.URL(), "web").StatusCode; got != 429 {
		t.Errorf("web is answered %d where zoe has taken all", got)
	}
	if err := g.NextPolicy(1); err != nil {
		t.Fatal(err)
	}
	if got := g.Profile().Limiter.Policy; got != limiter.PerClient {
		t.Errorf("the next policy is %s", got)
	}
	if err := g.Edit(func(p *profiles.Profile) { p.Limiter.Rate = limiter.PerSecond(1_000_000) }); err != nil {
		t.Fatal(err)
	}
	if err := g.Edit(func(p *profiles.Profile) { p.Limiter.Burst = 1 }); err == nil {
		t.Error("a burst below batch's cost is accepted")
	}
	for what, change := range map[string]func(*profiles.Profile){
		"comes from outside": func(p *profiles.Profile) { p.Clients[0].Arrivals.Rate = limiter.PerSecond(7) },
		"seed":               func(p *profiles.Profile) { p.Seed++ },
		"come, go":           func(p *profiles.Profile) { p.Clients = p.Clients[:1] },
	} {
		if err := g.Edit(change); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q is answered %v", what, err)
		}
	}
	if s := g.Snapshot(); len(s.Clients) != 3 || s.Clients[2].Name != "zoe" || s.Inside == nil || len(s.Changes) != 2 {
		t.Errorf("%d clients, %d changes, inside %v", len(s.Clients), len(s.Changes), s.Inside)
	}
	r := g.Report()
	if len(r.Stretches) == 0 {
		t.Fatal("no stretches")
	}
	for _, s := range r.Stretches {
		if len(s.Clients) != 3 || s.Clients[2].Name != "zoe" {
			t.Errorf("a stretch has %d clients", len(s.Clients))
		}
	}
}

// A fault of our own ends it, and says where it was.
func TestAPanicEndsTheGuard(t *testing.T) {
	g, err := NewGuard(hourly(t, "global"), GuardOptions{Listen: "127.0.0.1:0", Identify: func(r *http.Request) (string, int64, error) {
		return "web", 0, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	g.tally = nil
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(g.URL()); err == nil {
		t.Error("it is answered all the same")
	}
	if err := g.Wait(); err == nil || !strings.Contains(err.Error(), "(*Guard).ServeHTTP") {
		t.Errorf("%v", err)
	}
}
