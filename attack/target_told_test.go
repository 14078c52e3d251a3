package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// said writes limits as a test wants to read them.
func said(limits []toldLimit) string {
	var all []string
	for _, l := range limits {
		text := fmt.Sprintf("%s %q %d", l.field, l.name, l.quota)
		if l.window > 0 {
			text += " in " + l.window.String()
		}
		if l.remaining >= 0 {
			text += fmt.Sprintf(", %d left", l.remaining)
		}
		if l.reset >= 0 {
			text += ", reset in " + l.reset.String()
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// headers reads "Name: value" lines.
func headers(lines string) http.Header {
	h := http.Header{}
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		name, value, _ := strings.Cut(line, ":")
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h
}

func TestLimitsInTheirUsualShapes(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct{ lines, want string }{
		{"RateLimit-Policy: \"default\";q=100;w=10\nRateLimit: \"default\";r=50;t=30",
			`RateLimit-Policy "default" 100 in 10s, 50 left, reset in 30s`},
		{"ratelimit-policy: \"burst\";q=10;w=1, \"daily, all\";q=1000;w=86400;qu=\"requests\"\nratelimit: \"daily, all\";r=7",
			`RateLimit-Policy "burst" 10 in 1s; RateLimit-Policy "daily, all" 1000 in 24h0m0s, 7 left`},
		{"RateLimit-Policy: \"a\";q=1\nRateLimit-Policy: \"b\";q=2", `RateLimit-Policy "a" 1; RateLimit-Policy "b" 2`},
		{"RateLimit-Policy: \"a;b\";q=1;pk=:8J+Yuw==:", `RateLimit-Policy "a;b" 1`},
		{"RateLimit: limit=100, remaining=50, reset=30", `RateLimit "" 100, 50 left, reset in 30s`},
		{"RateLimit-Policy: 100;w=60\nRateLimit: limit=100, remaining=5", `RateLimit-Policy "" 100 in 1m0s`},
		{"RateLimit-Limit: 100\nRateLimit-Remaining: 0\nRateLimit-Reset: 7", `RateLimit-Limit "" 100, 0 left, reset in 7s`},
		{"RateLimit-Limit: 10, 10;w=1, 1000;w=3600", `RateLimit-Limit "" 10 in 1s`},
		{"X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 59\nX-RateLimit-Reset: 1800000090", `X-RateLimit-Limit "" 60, 59 left, reset in 1m30s`},
		{"X-RateLimit-Limit: 60\nX-RateLimit-Reset: 1800000090500", `X-RateLimit-Limit "" 60, reset in 1m30.5s`},
		{"X-RateLimit-Limit: 60\nX-RateLimit-Reset: 1799999999", `X-RateLimit-Limit "" 60, reset in 0s`},
		{"X-Rate-Limit-Limit: 15\nX-Rate-Limit-Remaining: 2.0", `X-Rate-Limit-Limit "" 15, 2 left`},
		{"X-RateLimit-Limit-Second: 5\nX-RateLimit-Remaining-Second: 4\nX-RateLimit-Limit-Hour: 100",
			`X-RateLimit-Limit-Second "" 5 in 1s, 4 left; X-RateLimit-Limit-Hour "" 100 in 1h0m0s`},
		{"RateLimit-Policy: \"x\";w=10\nX-RateLimit-Limit: many", ""},
		{"X-RateLimit-Limit: -1", ""},
		{"X-RateLimit-Limit: 99999999999999999999", ""},
		{"Content-Type: text/plain", ""},
	} {
		if got := said(limitsIn(headers(c.lines), func() time.Time { return now })); got != c.want {
			t.Errorf("%q:\n  %s\nwant\n  %s", c.lines, got, c.want)
		}
	}
}

func FuzzLimitsIn(f *testing.F) {
	f.Add(`"default";q=100;w=10`, `"default";r=50;t=30`, "100, 100;w=60", "30")
	f.Add(`"a\";q=1`, `limit=1, remaining=-1`, "", "1e9")
	f.Fuzz(func(t *testing.T, policy, state, limit, reset string) {
		for _, h := range []http.Header{
			{"Ratelimit-Policy": {policy}, "Ratelimit": {state}},
			{"Ratelimit": {state}, "Ratelimit-Limit": {limit}, "Ratelimit-Reset": {reset}},
			{"X-Ratelimit-Limit": {limit}, "X-Ratelimit-Remaining": {reset}, "X-Ratelimit-Reset": {reset}},
		} {
			for _, l := range limitsIn(h, time.Now) {
				if l.quota < 0 || l.window < 0 || l.window > mostTold || l.remaining < -1 || l.reset < -1 {
					t.Errorf("%v tells %+v", h, l)
				}
			}
		}
	})
}

// TestTheBookIsBounded: a service that says something else each time is remembered in part.
func TestTheBookIsBounded(t *testing.T) {
	var b toldBook
	for i := range 1000 {
		b.hear(http.Header{"X-Ratelimit-Limit": {fmt.Sprint(i % 100)}, "X-Ratelimit-Remaining": {fmt.Sprint(i)}})
	}
	limits := b.report()
	if len(limits) != mostToldLimits || limits[0].Quota != 0 || limits[0].Answers != 10 || limits[0].Remaining != 900 || limits[0].Window.Exists() {
		t.Errorf("%d limits, the first %+v", len(limits), limits[0])
	}
}
