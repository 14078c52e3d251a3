package importer

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

var update = flag.Bool("update", false, "write the golden files anew")

// show is a result as the command prints it: the profile, then the notes.
func show(r *Result) string {
	var b strings.Builder
	b.Write(r.YAML)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "# note %d: %s\n", n.Line, n.Text)
	}
	return b.String()
}

// TestGolden imports every example, by its content alone, and compares what is printed.
func TestGolden(t *testing.T) {
	want := map[string]string{
		"nginx-delay.conf": Nginx, "nginx-nodelay.conf": Nginx, "envoy.yaml": Envoy, "spring.yml": Spring, "spring.properties": Spring,
		"bucket4j.yml": Bucket4j, "fallback.yml": Fallback,
	}
	for file, format := range want {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			r, err := Import(file, data, "")
			if err != nil {
				t.Fatal(err)
			}
			if r.Format != format {
				t.Errorf("read as %s, and it is %s", r.Format, format)
			}
			golden := filepath.Join("testdata", file+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(show(r)), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(r); got != string(text) {
				t.Errorf("got\n%s\nwant\n%s", got, text)
			}
		})
	}
}

// atOnce lets n attempts of one client arrive at one moment at the imported limiter, and says how many passed at once, how many
// waited, with the first and the last wait, and how many were refused.
func atOnce(t *testing.T, p *profiles.Profile, n int) (passed, waited, refused int, first, last time.Duration) {
	t.Helper()
	l, err := limiter.New(p.Limiter)
	if err != nil {
		t.Fatal(err)
	}
	other := l.Join(0, limiter.Client{Name: "other"})
	who := l.Join(0, limiter.Client{Name: "who"})
	for i := range n {
		switch l.Arrive(0, limiter.Attempt{Client: who, ID: uint64(i), Cost: 1}).Verdict {
		case limiter.Admitted:
			passed++
		case limiter.Rejected:
			refused++
		}
	}
	// Whatever one client has waiting, another one passes at once, but for the nanoseconds of the limit for all.
	if d := l.Arrive(0, limiter.Attempt{Client: other, ID: uint64(n), Cost: 1}); d.Verdict == limiter.Rejected {
		t.Errorf("another client's first attempt: %+v", d)
	}
	for {
		due, ok := l.Due()
		if !ok {
			return
		}
		a, d, ok := l.Settle(due)
		switch {
		case ok && a.Client == other:
			if due > time.Microsecond {
				t.Errorf("another client's first attempt waited %s", due)
			}
		case ok && d.Verdict == limiter.Admitted:
			if waited++; waited == 1 {
				first = due
			}
			last = due
		}
	}
}

// TestNginxTwentyFiveAtOnce: what nginx does with 25 requests in one moment at 10 r/s and a burst of 20.
func TestNginxTwentyFiveAtOnce(t *testing.T) {
	for _, c := range []struct {
		parameters              string
		passed, waited, refused int
		first, last             time.Duration
	}{
		{"burst=20 delay=8", 9, 12, 4, 100 * time.Millisecond, 1200 * time.Millisecond},
		{"burst=20", 1, 20, 4, 100 * time.Millisecond, 2 * time.Second},
		{"burst=20 nodelay", 21, 0, 4, 0, 0},
		{"burst=20 delay=20", 21, 0, 4, 0, 0},
		{"burst=20 delay=19", 20, 1, 4, 100 * time.Millisecond, 100 * time.Millisecond},
		{"", 1, 0, 24, 0, 0},
	} {
		conf := "limit_req_zone $http_x_client_id zone=one:1m rate=10r/s; limit_req zone=one " + c.parameters + ";"
		r, err := Import("nginx.conf", []byte(conf), "")
		if err != nil {
			t.Fatal(err)
		}
		passed, waited, refused, first, last := atOnce(t, r.Profile, 25)
		if passed != c.passed || waited != c.waited || refused != c.refused || first != c.first || last != c.last {
			t.Errorf("%q: %d passed, %d waited %s to %s, %d were refused; nginx: %d, %d %s to %s, %d",
				c.parameters, passed, waited, first, last, refused, c.passed, c.waited, c.first, c.last, c.refused)
		}
	}
}

// TestNginxCountsThousandths: a rate that is no whole number of thousandths per second is cut off, as nginx does.
func TestNginxCountsThousandths(t *testing.T) {
	for text, want := range map[string]string{
		"10r/s": "10/s", "30r/m": "30/m", "60r/m": "60/m", "10r/m": "0.166/s", "1r/m": "0.016/s", "1000r/m": "16.666/s", "100r/m": "1.666/s",
	} {
		r, exact, err := nginxRate(text)
		if err != nil || r.String() != want || exact != !strings.Contains(want, ".") {
			t.Errorf("%s: %s, exact %v, %v; want %s", text, r, exact, err, want)
		}
	}
	for _, text := range []string{"", "10", "r/s", "0r/s", "-1r/s", "1.5r/s", "10r/h", "10r/", "99999999999999999999r/s", "10r/s "} {
		if r, _, err := nginxRate(text); err == nil {
			t.Errorf("%q was read as %s", text, r)
		}
	}
}

// TestErrorsHaveTheirLine: what is wrong, where, and what would be right.
func TestErrorsHaveTheirLine(t *testing.T) {
	for _, c := range []struct {
		text, format string
		line         int
		says         string
	}{
		{"", "", 1, "is empty"},
		{"\n\n", "", 1, "is empty"},
		{"hello: world", "", 1, "none of the rate limits"},
		{"a\nb\x00", "", 2, "invisible character"},
		{"a\n\xff", "", 2, "not UTF-8"},
		{"x", "apache", 1, "write one of nginx, envoy"},
		{"\nlimit_req_zone $a zone=one:1m rate=10;", "", 2, "write a whole number and r/s or r/m"},
		{"limit_req_zone $a zone=one:1m rate=10r/s;\nlimit_req zone=two;", "", 2, `zone "two" is nowhere defined`},
		{"limit_req_zone $a zone=one:1m rate=10r/s;\n\nlimit_req zone=one brust=5;", "", 3, "it has zone=NAME, burst=N"},
		{"limit_req_zone $a zone=one:1m rate=10r/s;\nlimit_req zone=one burst=x;", "", 2, "is no count"},
		{"limit_req_zone $a zone=one:1m rate=10r/s;\nlimit_req_zone $b zone=one:1m rate=10r/s;", "", 2, "first in line 1"},
		{"limit_req_zone zone=one:1m rate=10r/s;", "", 1, "has no key"},
		{"limit_req_zone $a rate=10r/s;", "", 1, "has no zone"},
		{"server {\nlimit_req zone=one", "", 2, "put a ;"},
		{"server {\nlimit_req zone=one;", "", 2, "does not end"},
		{"limit_req zone=one;\n}", "", 2, "closes nothing"},
		{"limit_req 'zone=one;", "", 1, "quote does not end"},
		{"token_bucket:\n  tokens_per_fill: 1\n", Envoy, 2, "max_tokens is missing"},
		{"token_bucket:\n  max_tokens: 1\n  fill_interval: 10", Envoy, 3, "write for example 1s"},
		{"token_bucket:\n  max_tokens: 0\n  fill_interval: 1s", Envoy, 2, "whole number from 1"},
		{"args:\n  replenishRate: ten", "", 2, "is no count"},
		{"args:\n  replenishRate: 1\n  requestedTokens: 5", "", 3, "no request could ever pass"},
		{"bandwidths:\n- capacity: 5\n  time: 1\n  unit: fortnights", "", 4, "write seconds, minutes"},
		{"bandwidths: []", "", 1, "is empty"},
		{"fallback:\n  algorithm: MAGIC", "", 2, "LEAKY_BUCKET (capacity, flowRate)"},
		{"fallback:\n  algorithm: LEAKY_BUCKET\n  capacity: 5\n  flowRate: fast", "", 4, "requests per second"},
		{"a: 1\nbandwidths: [", "", 2, "no valid YAML"},
		{"bandwidths: *x", "", 1, "aliases"},
		{"bandwidths[200].capacity=5", "", 1, "at most [100]"},
		{"x.replenishRate=5\nx.replenishRate=6", "", 2, "second time (first in line 1)"},
	} {
		_, err := Import("file", []byte(c.text), c.format)
		var e *profiles.Error
		switch {
		case !errors.As(err, &e):
			t.Errorf("%q: %v", c.text, err)
		case e.Line != c.line || !strings.Contains(e.Msg, c.says):
			t.Errorf("%q: line %d: %s; want line %d and %q", c.text, e.Line, e.Msg, c.line, c.says)
		}
	}
}

// FuzzImport: whatever is read, it is a profile that parses and runs, or an error with a line.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 7 {
		f.Fatalf("the examples are gone: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := range len(Formats) + 1 {
			f.Add(data, uint8(i))
		}
	}
	for _, text := range []string{"limit_req_zone ${a} zone=one rate=1r/s;", "a[0][1].replenishRate=5", "replenishRate: 1e3", "? a\n: b", "bandwidths: {capacity: 9, time: 999999999}"} {
		f.Add([]byte(text), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, format uint8) {
		name := ""
		if i := int(format) % (len(Formats) + 1); i > 0 {
			name = Formats[i-1]
		}
		started := time.Now()
		r, err := Import("dir/fuzz.conf", data, name)
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("took %s for %d bytes", took, len(data))
		}
		if err != nil {
			var e *profiles.Error
			if !errors.As(err, &e) || e.Line < 1 || e.File != "dir/fuzz.conf" || e.Msg == "" {
				t.Fatalf("an error without its place: %#v", err)
			}
			if strings.ContainsFunc(strings.ReplaceAll(err.Error(), "\n", ""), invisible) {
				t.Fatalf("a message that a terminal would obey: %q", err)
			}
			return
		}
		if _, err := limiter.New(r.Profile.Limiter); err != nil {
			t.Fatalf("the limiter does not run: %v\n%s", err, r.YAML)
		}
		if len(r.Profile.Clients) == 0 {
			t.Fatalf("nobody comes:\n%s", r.YAML)
		}
		for _, n := range r.Notes {
			if n.Line < 1 || n.Text == "" || strings.ContainsFunc(n.Text, invisible) {
				t.Fatalf("a note without its place: %#v", n)
			}
		}
	})
}
