package attack

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
)

// nginxConf limits each client, by its header, to 10 requests a second with a burst of 20 in three ways. What answers must be a handler: a
// `return` would come before limit_req is asked.
const nginxConf = `
daemon off;
master_process off;
pid %[1]s/pid;
error_log stderr crit;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	limit_req_zone $http_x_client_id zone=nodelay:1m rate=10r/s;
	limit_req_zone $http_x_client_id zone=delay:1m rate=10r/s;
	limit_req_zone $http_x_client_id zone=plain:1m rate=10r/s;
	server {
		listen %[2]s;
		location /nodelay { limit_req zone=nodelay burst=20 nodelay; limit_req_status 429; empty_gif; }
		location /delay { limit_req zone=delay burst=20 delay=8; limit_req_status 429; empty_gif; }
		location /plain { limit_req zone=plain burst=20 nodelay; empty_gif; }
	}
}
`

// nginx starts one of its own for the test. Where there is none, the test is skipped, but not in CI.
func nginx(t *testing.T) *url.URL {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil { // where it is, and not everybody's path leads
			if os.Getenv("CI") == "true" {
				t.Fatal("there is no nginx, which CI is to have")
			}
			t.Skip("there is no nginx here")
		}
	}
	for try := 1; ; try++ {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		dir := t.TempDir()
		conf := filepath.Join(dir, "nginx.conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, address), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-p", dir, "-c", conf, "-e", "stderr")
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for {
			select {
			case err := <-ended:
				if try == 5 {
					t.Fatalf("nginx ended: %v\n%s", err, said.String())
				}
			default:
				c, err := net.Dial("tcp", address)
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				c.Close()
				t.Cleanup(func() {
					cmd.Process.Signal(os.Interrupt)
					<-ended
				})
				return &url.URL{Scheme: "http", Host: address}
			}
			break // somebody else has taken the port: another
		}
	}
}

// TestNginxAdmitsWhatItIsConfiguredFor: over some seconds each client gets its burst of 20 (and the one that nginx always admits) and 10 a second.
func TestNginxAdmitsWhatItIsConfiguredFor(t *testing.T) {
	at := nginx(t)
	// A client that stops after 5 s leaves the delayed the time to be answered.
	p := told(t, `
duration: 7s
limiter: {rate: 60/s}
clients:
  - {name: web, kind: interactive, stop: 5s, endpoint: /nodelay, arrivals: {process: constant, rate: 60/s}, retry: {attempts: 0}}
  - {name: batch, kind: batch, stop: 5s, endpoint: /nodelay, arrivals: {process: poisson, rate: 100/s}, retry: {attempts: 0}}
  - {name: late, kind: interactive, stop: 5s, endpoint: /delay, arrivals: {process: poisson, rate: 60/s}, retry: {attempts: 0}}
`)
	r := aimedAt(t, p, Target{URL: at})
	for _, c := range r.Clients {
		if c.Errors != 0 || c.InFlight != 0 {
			t.Errorf("%s: errors %v, %d in flight", c.Name, r.ErrorsBy, c.InFlight)
		}
		near(t, c.Name+"'s admitted", fairness.Number(c.Admitted), 21+10*5, 0.05)
	}
	if max := r.Clients[2].Latency.Admitted.Max; max < 1000 { // it waits behind twelve
		t.Errorf("nobody is delayed: at most %v ms", max)
	}
}

// TestNginxDelaysAndRejectsASalvo: of 25 at once nginx admits 9 at once (1 and delay=8), delays 12 (burst 20), and rejects 4.
func TestNginxDelaysAndRejectsASalvo(t *testing.T) {
	at := nginx(t)
	// All must arrive before nginx's bucket has lost one, which takes 100 ms. Where the machine was too busy for that, another client tries.
	const quick = 40 * time.Millisecond
	for try := 1; ; try++ {
		p := salvo(t, 25)
		p.Clients[0].Name, p.Clients[0].Endpoint = fmt.Sprint("salvo-", try), "/delay"
		var mu sync.Mutex
		var results []*vegeta.Result
		p.Duration = time.Hour
		r := live(t, p, Options{Target: &Target{URL: at}, Record: func(res *vegeta.Result) {
			mu.Lock()
			defer mu.Unlock()
			results = append(results, res)
		}})
		for s := r.Snapshot(); !answered(25)(s); s = r.Snapshot() {
			time.Sleep(time.Millisecond)
		}
		r.Stop()
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		c := r.Report().Clients[0]
		slices.SortFunc(results, func(a, b *vegeta.Result) int { return cmp.Compare(a.End().UnixNano(), b.End().UnixNano()) })
		begun := results[0].Timestamp
		for _, res := range results {
			if res.Timestamp.Before(begun) {
				begun = res.Timestamp
			}
		}
		var atOnce, delayed, rejected int
		last := begun // when the last answer to one that was not delayed came: by then all had arrived
		for _, res := range results {
			switch {
			case res.Code == http.StatusTooManyRequests:
				rejected++
			case res.End().Sub(begun) < 60*time.Millisecond:
				atOnce++
			default:
				delayed++
				continue
			}
			last = res.End()
		}
		if took := last.Sub(begun); took > quick {
			if try == 30 {
				t.Fatalf("this machine never sends 25 requests within %v; the last time it took %v", quick, took)
			}
			continue
		}
		if atOnce != 9 || delayed != 12 || rejected != 4 || c.Admitted != 21 || c.Rejected != 4 || c.Errors != 0 {
			t.Errorf("%d at once, %d delayed, %d rejected; want 9, 12, 4. In the report %d admitted, %d rejected", atOnce, delayed, rejected, c.Admitted, c.Rejected)
		}
		return
	}
}

// TestNginxsOwnStatus: as it comes, nginx rejects with a 503 that says nothing of when to come again. A client that retries 503 takes that for what it is.
func TestNginxsOwnStatus(t *testing.T) {
	at := nginx(t)
	p := salvo(t, 25)
	p.Clients[0].Endpoint = "/plain"
	r := until(t, p, Target{URL: at}, answered(25))
	if c := r.Clients[0]; c.Rejected < 1 || c.Rejected > 4 || c.Errors != 0 || len(c.RetryAfter.Told) != 0 { // where the machine is slow, some have leaked out meanwhile
		t.Errorf("%d rejected, %d errors, told %v", c.Rejected, c.Errors, c.RetryAfter.Told)
	}
	p.Clients[0].Name, p.Clients[0].Retry.On = "strict", []int{429}
	if r := until(t, p, Target{URL: at}, answered(25)); r.ErrorsBy["status-503"] < 1 || r.Aggregate.RejectedCount != 0 {
		t.Errorf("who does not retry 503 sees %v", r.ErrorsBy)
	}
}
