package cli

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"fairgate/limiter/redislimit/redistest"
)

// patient is the address of a server with a time-out that no machine is too slow for.
func patient(s *redistest.Server) string { return s.URL() + "?read_timeout=30s" }

// answer is one request of a client: its status, and whether it was decided without the store.
func answer(t *testing.T, at, client string) (status int, blind bool) {
	t.Helper()
	r, err := http.NewRequest("GET", at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Client-Id", client)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("X-RateLimit-Store") != ""
}

// Two servers on one Redis admit together what the limit allows, and one that is stopped and started again changes nothing.
func TestServersShareALimit(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	file := profile(t, `
name: shared
limiter: {policy: per-client, rate: 60/h, burst: 90, client: {rate: 60/h, burst: 40}}
service: {time: 0s}
clients: [{name: web}, {name: batch}]
`)
	var admitted, refused atomic.Int64
	press := func(ats ...string) {
		var wg sync.WaitGroup
		for _, at := range ats {
			for _, client := range []string{"web", "batch", "zoe"} {
				wg.Go(func() {
					for range 20 {
						switch status, blind := answer(t, at, client); {
						case blind:
							t.Error("decided without the store")
						case status == 200:
							admitted.Add(1)
						case status == 429:
							refused.Add(1)
						default:
							t.Errorf("status %d", status)
						}
					}
				})
			}
		}
		wg.Wait()
	}
	_, first := served(t, file, "--store", patient(redis))
	r, second := served(t, file, "--store", patient(redis))
	press(second)
	if n := admitted.Load(); n != 60 {
		t.Errorf("%d of 60 admitted", n)
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	finish(t, r)
	press(first)
	_, second = served(t, file, "--store", patient(redis))
	press(first, second)
	// One token comes each minute, to the limit and to each client.
	if n := admitted.Load(); n < 90 || n > 92 || n+refused.Load() != 240 {
		t.Errorf("%d admitted and %d refused, want 90 in all", n, refused.Load())
	}
}

// While Redis is gone the profile says what happens, and nothing has to be restarted when it is back.
func TestServeWithoutItsStore(t *testing.T) {
	for _, c := range []struct {
		how, says string
		status    int
	}{{"closed", "rejecting everything", 429}, {"open", "admitting everything", 200}} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t)
			r, at := served(t, profile(t, `
name: fragile
limiter: {rate: 60/h, burst: 2, store: "`+patient(redis)+`", on_store_error: `+c.how+`}
service: {time: 0s}
clients: [{name: web}]
`), "--format", "json")
			for i, want := range []int{200, 200, 429} {
				if status, blind := answer(t, at, "web"); status != want || blind {
					t.Errorf("request %d: %d, blind %v; want %d", i, status, blind, want)
				}
			}
			redis.Kill()
			for range 5 {
				if status, blind := answer(t, at, "web"); status != c.status || !blind {
					t.Errorf("without the store: %d, blind %v", status, blind)
				}
			}
			r.err.await(t, "the store does not answer: "+c.says+" until it does")
			redis.Again(t)
			blind := true
			for blind {
				_, blind = answer(t, at, "web")
			}
			r.err.await(t, "the store is back after")
			r.cmd.Process.Signal(syscall.SIGTERM)
			got := finish(t, r)
			report := reportOf(t, got.out)
			conserved(t, report)
			if n := len(report.Changes); n != 2 || report.Changes[0].What != "the store does not answer: "+c.says+" until it does" {
				t.Errorf("%d changes: %+v", n, report.Changes)
			}
			if !strings.Contains(got.err, "attempts were "+map[string]string{"closed": "rejected", "open": "admitted"}[c.how]+" without it") {
				t.Errorf("nothing is said of the attempts without the store: %q", got.err)
			}
		})
	}
}

func TestARunInAStore(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	got := fairgate(t, "run", "starvation", "--headless", "--rate", "60/h", "--burst", "100", "--store", patient(redis), "--duration", "1s", "--format", "json")
	if got.code != exitDone || strings.Contains(got.err, "store") {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	report := reportOf(t, got.out)
	conserved(t, report)
	if n := report.Aggregate.AdmittedCount; n != 100 && n != 99 || report.Aggregate.RejectedCount == 0 || report.Aggregate.ErrorCount != 0 { // one may be on its way at the end
		t.Errorf("%d admitted, %d rejected, %d errors", n, report.Aggregate.RejectedCount, report.Aggregate.ErrorCount)
	}
	for _, e := range report.Expectations {
		if e.OK != nil {
			t.Errorf("%s is judged, though the limit is another", e.Expr)
		}
	}
}

func TestAStoreThatCannotBeIsWrongUsage(t *testing.T) {
	t.Parallel()
	file := profile(t, "name: mine\nlimiter:\n  algorithm: sliding-log\n  store: redis://127.0.0.1:1\nclients: [{name: web}]\n")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--store: redis://127.0.0.1:1 keeps a clock of its own", []string{"simulate", "--store", "redis://127.0.0.1:1"}},
		{"limiter.store: redis://127.0.0.1:1 keeps a clock of its own", []string{"simulate", file}},
		{"limiter.store: redis://127.0.0.1:1 keeps a clock of its own", []string{"compare", file}},
		{"limiter.store: redis://127.0.0.1:1 keeps a clock of its own", []string{"run", file, "--speed", "2", "--algorithm", "gcra"}},
		{":3:14: limiter.algorithm: a sliding-log would keep every admission", []string{"run", file}},
		{":3:14: limiter.algorithm: a sliding-log would keep every admission", []string{"serve", file, "--listen", "127.0.0.1:0"}},
		{"--policy: fair-queue keeps what waits", []string{"run", "--store", "redis://127.0.0.1:1", "--policy", "fair-queue"}},
		{`--store: "127.0.0.1:1" is no store`, []string{"run", "--store", "127.0.0.1:1"}},
		{`--store: names no host`, []string{"serve", "--store", "redis://"}},
	} {
		got := fairgate(t, c.args...)
		if got.code != exitUsage || !strings.Contains(got.err, c.says) {
			t.Errorf("%s: exit code %d, %q; want %q", strings.Join(c.args, " "), got.code, got.err, c.says)
		}
	}
	// In memory the same profile runs.
	if got := fairgate(t, "simulate", file, "--store", "memory", "--duration", "1s"); got.code != exitDone {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}
