package httplimit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
)

// ask sends one request of a client.
func ask(h http.Handler, name string) *http.Response {
	r := httptest.NewRequest("GET", "/", nil)
	if name != "" {
		r.Header.Set(DefaultHeader, name)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestRetryAfterIsWholeSecondsAndNeverZero(t *testing.T) {
	for _, c := range []struct {
		told, wait time.Duration
		want       string
	}{
		{time.Second, time.Millisecond, "1"},
		{time.Millisecond, time.Millisecond, "1"}, // a limiter that forgot to round
		{1001 * time.Millisecond, 1001 * time.Millisecond, "2"},
		{90 * time.Second, 90 * time.Second, "90"},
		{5000 * time.Second, 5000 * time.Second, "5000"},
		{0, limiter.Never, ""},
	} {
		h := New(&turnstile{every: time.Hour, refusal: limiter.Decision{Told: c.told, Wait: c.wait}}, Options{Strangers: 1})
		ask(h, "web")
		resp := ask(h, "web")
		if got := resp.Header.Get("Retry-After"); resp.StatusCode != 429 || got != c.want {
			t.Errorf("told %v: status %d, Retry-After %q; want 429, %q", c.told, resp.StatusCode, got, c.want)
		}
	}
}

func TestRefusalNamesTheLimit(t *testing.T) {
	for reason, name := range limiter.Reasons {
		for _, wait := range []time.Duration{time.Second, limiter.Never} {
			h := New(&turnstile{every: time.Hour, refusal: limiter.Decision{By: limiter.Reason(reason), Wait: wait}}, Options{Strangers: 1})
			ask(h, "web")
			resp := ask(h, "web")
			var body struct {
				Type, Title, Detail, Limit string
				Status                     int
			}
			text, _ := io.ReadAll(resp.Body)
			if err := json.Unmarshal(text, &body); err != nil {
				t.Fatal(err)
			}
			if by, ok := RefusedBy(text); !ok || by != limiter.Reason(reason) {
				t.Errorf("%s is read back as %v, %v", name, by, ok)
			}
			if by, ok := RefusedBy(append(text, ' ')); ok {
				t.Errorf("somebody else's body is read as %v", by)
			}
			if resp.Header.Get("Content-Type") != "application/problem+json" || body.Status != 429 || body.Limit != name || body.Type == "" || body.Detail == "" {
				t.Errorf("%s: %+v as %s", name, body, resp.Header.Get("Content-Type"))
			}
			if helps := !strings.Contains(body.Detail, "does not help"); helps != (wait != limiter.Never) {
				t.Errorf("%s with wait %v says %q", name, wait, body.Detail)
			}
		}
	}
}

func TestHeadersTellTheQuotas(t *testing.T) {
	rate := func(s string) limiter.Rate {
		r, err := limiter.ParseRate(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		name          string
		quotas        []limiter.Quota
		policy, state string
		limit         string
		remaining     string
		reset         string
	}{
		{"one limit, exhausted", []limiter.Quota{{Name: "global", Rate: rate("1000/s"), Burst: 100, Reset: 100 * time.Millisecond}},
			`"global";q=1000;w=1`, `"global";r=0;t=1`, "1000", "0", "1"},
		{"as written", []limiter.Quota{{Name: "global", Rate: rate("17/30s"), Remaining: 3, Reset: 30*time.Second + 1}},
			`"global";q=17;w=30`, `"global";r=3;t=31`, "17", "3", "31"},
		{"the tightest first", []limiter.Quota{
			{Name: "client", Rate: rate("250/s"), Remaining: 2, Reset: time.Second}, {Name: "global", Rate: rate("60/m"), Remaining: 4000}},
			`"client";q=250;w=1, "global";q=60;w=60`, `"client";r=2;t=1, "global";r=4000;t=0`, "250", "2", "1"},
		{"below a second", []limiter.Quota{{Name: "global", Rate: rate("1/250ms")}}, `"global";q=4;w=1`, `"global";r=0;t=0`, "4", "0", "0"},
		{"a second and a half", []limiter.Quota{{Name: "global", Rate: rate("5/1500ms")}}, `"global";q=10;w=3`, `"global";r=0;t=0`, "10", "0", "0"},
		{"a fraction", []limiter.Quota{{Name: "global", Rate: rate("1.39/s")}}, `"global";q=139;w=100`, `"global";r=0;t=0`, "139", "0", "0"},
		{"too fine for the field", []limiter.Quota{{Name: "global", Rate: limiter.Rate{Tokens: 1<<40 + 1, Per: 1<<41 + 1}}},
			`"global";q=500000000;w=1`, `"global";r=0;t=0`, "500000000", "0", "0"},
		{"full at an unknown time", []limiter.Quota{{Name: "global", Rate: rate("1/s"), Reset: limiter.Never}},
			`"global";q=1;w=1`, `"global";r=0;t=9223372036`, "1", "0", "9223372036"},
		{"no limit counts", nil, "", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := New(&turnstile{quotas: c.quotas}, Options{Strangers: 1})
			for range 2 { // the second time from what is remembered
				got := ask(h, "web").Header
				for field, want := range map[string]string{
					"RateLimit-Policy": c.policy, "RateLimit": c.state,
					"X-RateLimit-Limit": c.limit, "X-RateLimit-Remaining": c.remaining, "X-RateLimit-Reset": c.reset,
				} {
					if got.Get(field) != want {
						t.Errorf("%s: %q, want %q", field, got.Get(field), want)
					}
				}
			}
		})
	}
}

func TestRememberedHeadersFollowEveryChange(t *testing.T) {
	lim := &turnstile{quotas: []limiter.Quota{{Name: "client", Rate: limiter.PerSecond(10), Remaining: 5}, {Name: "global", Rate: limiter.PerSecond(100), Remaining: 50}}}
	h := New(lim, Options{Strangers: 1})
	for _, step := range []struct {
		change func()
		want   string
	}{
		{func() {}, `"client";q=10;w=1, "global";q=100;w=1 "client";r=5;t=0, "global";r=50;t=0`},
		{func() { lim.quotas[1].Remaining = 49 }, `"client";q=10;w=1, "global";q=100;w=1 "client";r=5;t=0, "global";r=49;t=0`},
		{func() { lim.quotas[0].Rate = limiter.PerSecond(11) }, `"client";q=11;w=1, "global";q=100;w=1 "client";r=5;t=0, "global";r=49;t=0`},
		{func() { lim.quotas[0].Reset = 1 }, `"client";q=11;w=1, "global";q=100;w=1 "client";r=5;t=1, "global";r=49;t=0`},
		{func() { lim.quotas = lim.quotas[1:] }, `"global";q=100;w=1 "global";r=49;t=0`},
		{func() { lim.quotas[0].Name = "client" }, `"client";q=100;w=1 "client";r=49;t=0`},
		{func() { lim.quotas = nil }, ` `},
		{func() { lim.quotas = []limiter.Quota{{Name: "global", Rate: limiter.PerSecond(7)}} }, `"global";q=7;w=1 "global";r=0;t=0`},
	} {
		step.change()
		got := ask(h, "web").Header
		if s := got.Get("RateLimit-Policy") + " " + got.Get("RateLimit"); s != step.want {
			t.Errorf("got  %s\nwant %s", s, step.want)
		}
	}
}

func TestNamesAndCostsReachTheLimiter(t *testing.T) {
	lim := &turnstile{}
	h := New(lim, Options{Identify: func(r *http.Request) (string, int64, error) {
		var cost int64
		_, _ = fmt.Sscan(r.Header.Get("X-Cost"), &cost)
		return r.Header.Get("X-Who"), cost, nil
	}})
	h.Join(limiter.Client{Name: "web"})
	h.Join(limiter.Client{Name: "dear", MaxCost: 10})
	for _, c := range []struct {
		who, cost string
		want      limiter.Attempt
	}{
		{"web", "", limiter.Attempt{Client: 0, ID: 1, Cost: 1}},
		{"dear", "", limiter.Attempt{Client: 1, ID: 2, Cost: 10}},
		{"dear", "3", limiter.Attempt{Client: 1, ID: 3, Cost: 3}},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Who", c.who)
		r.Header.Set("X-Cost", c.cost)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got := lim.asked[len(lim.asked)-1]; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.who, got, c.want)
		}
	}
	if resp := ask(h, "web"); resp.StatusCode != http.StatusForbidden { // no X-Who: the name is empty, and nobody
		t.Errorf("a stranger got %d, want 403", resp.StatusCode)
	}
}

func TestAFloodOfStrangersSharesOneBucket(t *testing.T) {
	lim := &turnstile{}
	h := New(lim, Options{Strangers: 3})
	h.Join(limiter.Client{Name: "web"})
	for i := range 1000 {
		ask(h, fmt.Sprintf("made-up-%d", i))
	}
	ask(h, "web")
	ask(h, "made-up-0")
	if len(lim.clients) != 5 || lim.clients[4].Name != Rest {
		t.Errorf("the limiter knows %d clients, want web, three strangers and %s: %+v", len(lim.clients), Rest, lim.clients)
	}
	for i, want := range map[int]int{0: 1, 3: 4, 999: 4, 1000: 0, 1001: 1} {
		if got := lim.asked[i].Client; got != want {
			t.Errorf("request %d counted for client %d, want %d", i, got, want)
		}
	}
}

func TestEveryAdmissionIsReleasedOnce(t *testing.T) {
	for name, next := range map[string]http.HandlerFunc{
		"served":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
		"panicked": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		lim := &turnstile{}
		h := New(lim, Options{Next: next, Strangers: 1})
		func() {
			defer func() { _ = recover() }()
			ask(h, "web")
		}()
		if lim.admitted != 1 || lim.released != 1 {
			t.Errorf("%s: admitted %d, released %d", name, lim.admitted, lim.released)
		}
		ask2 := make(chan struct{})
		go func() { defer close(ask2); defer func() { _ = recover() }(); ask(h, "web") }()
		<-ask2 // the lock is free again
	}
}

func TestWhoIsAsking(t *testing.T) {
	header := func(values ...string) *http.Request {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header[DefaultHeader] = values
		return r
	}
	user := httptest.NewRequest("GET", "/", nil)
	user.SetBasicAuth("ann", "secret")
	odd := httptest.NewRequest("GET", "/", nil)
	odd.RemoteAddr = "@"
	for _, c := range []struct {
		how  Identify
		r    *http.Request
		want string
		ok   bool
	}{
		{ByHeader("x-client-id"), header("web"), "web", true},
		{ByHeader("X-Client-Id"), header("web", "web"), "web", true},
		{ByHeader("X-Client-Id"), header("web", "batch"), "", false},
		{ByHeader("X-Client-Id"), header(""), "", false},
		{ByHeader("X-Client-Id"), httptest.NewRequest("GET", "/", nil), "", false},
		{ByUser, user, "ann", true},
		{ByUser, header("web"), "", false},
		{ByAddress, header("web"), "192.0.2.1", true},
		{ByAddress, odd, "", false},
	} {
		name, cost, err := c.how(c.r)
		if name != c.want || cost != 0 || (err == nil) != c.ok {
			t.Errorf("%v: %q, %d, %v; want %q", c.r.Header, name, cost, err, c.want)
		}
	}
}

func FuzzHostileNames(f *testing.F) {
	for _, s := range []string{"web", "", " ", "a\x00b", "\xff\xfe", strings.Repeat("x", 129), "batch\r\nX: y", "(other)", "\u202egro", "名"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		lim := &turnstile{}
		h := New(lim, Options{Strangers: 2})
		h.Join(limiter.Client{Name: "web"})
		r := httptest.NewRequest("GET", "/", nil)
		r.Header[DefaultHeader] = []string{first, second}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch {
		case w.Code == http.StatusOK:
			if first != second || first == "" || lim.arrived != 1 || lim.released != 1 {
				t.Errorf("%q, %q was let in (%d arrived)", first, second, lim.arrived)
			}
		case w.Code != http.StatusBadRequest && w.Code != http.StatusForbidden:
			t.Errorf("%q, %q: status %d", first, second, w.Code)
		case lim.arrived != 0 || len(lim.clients) != 1:
			t.Errorf("%q, %q was refused and yet reached the limiter", first, second)
		case !json.Valid(w.Body.Bytes()):
			t.Errorf("%q: the answer is no JSON: %s", first, w.Body)
		}
		if w.Code != http.StatusOK {
			return
		}
		if name := lim.clients[lim.asked[0].Client].Name; len(name) > maxName || name != first {
			t.Errorf("%q counts as %q", first, name)
		}
	})
}
