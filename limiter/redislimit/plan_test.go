package redislimit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
)

func TestWhatAStoreCannotCountIsRefused(t *testing.T) {
	five := int64(5)
	for _, c := range []struct {
		name, field, msg string
		change           func(*limiter.Config)
	}{
		{"no rate", "rate", "missing", func(c *limiter.Config) { c.Rate = limiter.Rate{} }},
		{"queues", "policy", "write global or per-client", func(c *limiter.Config) { c.Policy = limiter.FairQueue }},
		{"slots", "policy", "write global or per-client", func(c *limiter.Config) { c.Policy, c.Client.MaxInFlight = limiter.Concurrency, 2 }},
		{"loans", "policy", "write global or per-client", func(c *limiter.Config) { c.Policy = limiter.Hierarchical }},
		{"shards", "policy", "write global or per-client", func(c *limiter.Config) { c.Policy, c.Shards = limiter.Sharded, 2 }},
		{"log", "algorithm", "write sliding-window", func(c *limiter.Config) { c.Algorithm = limiter.AlgorithmSlidingLog }},
		{"shape", "shape", "leave shape out", func(c *limiter.Config) { c.Algorithm, c.Shape = limiter.AlgorithmLeakyBucket, true }},
		{"interval", "refill", "write greedy", func(c *limiter.Config) { c.Refill = limiter.Interval }},
		{"interval of a bandwidth", "bandwidths[0].refill", "write greedy", func(c *limiter.Config) {
			c.Bandwidths = []limiter.Bandwidth{{Rate: limiter.PerSecond(1), Refill: limiter.Aligned}}
		}},
		{"initial", "initial", "leave initial out", func(c *limiter.Config) { c.Initial = &five }},
		{"start", "start", "leave start out", func(c *limiter.Config) { c.Start = time.Second }},
		{"forgetting", "forget_after", "leave forget_after out", func(c *limiter.Config) { c.ForgetAfter = time.Second }},
		{"adaptive", "retry_after", "write exact", func(c *limiter.Config) { c.RetryAfter = limiter.RetryAdaptive }},
		{"too many parts", "burst", "2⁵³", func(c *limiter.Config) {
			c.Rate, c.Burst = limiter.Rate{Tokens: 1_000_003, Per: 24 * time.Hour}, 100_000
		}},
		{"too many parts of a client", "client.burst", "2⁵³", func(c *limiter.Config) {
			c.Policy, c.Client.Rate, c.Client.Burst = limiter.PerClient, limiter.Rate{Tokens: 1_000_003, Per: 24 * time.Hour}, 100_000
		}},
		{"too fine", "rate", "fewer digits", func(c *limiter.Config) {
			c.Rate, c.Burst = limiter.Rate{Tokens: 1_000_000_000_000_007, Per: 12 * 24 * time.Hour}, 10
		}},
		{"a window too short", "rate", "finest time of Redis", func(c *limiter.Config) {
			c.Algorithm, c.Rate, c.Window = limiter.AlgorithmFixedWindow, limiter.Rate{Tokens: 1, Per: 500}, 500
		}},
		{"a window too full", "rate", "shorter window", func(c *limiter.Config) {
			c.Algorithm, c.Rate = limiter.AlgorithmSlidingWindow, limiter.Rate{Tokens: 1_000_000, Per: 24 * time.Hour}
		}},
	} {
		cfg := limiter.Config{Rate: limiter.PerSecond(100), Burst: 10}
		c.change(&cfg)
		err := Check(cfg)
		var at *limiter.ConfigError
		if !errors.As(err, &at) || at.Field != c.field || !strings.Contains(at.Msg, c.msg) {
			t.Errorf("%s: %v; want %s: …%s…", c.name, err, c.field, c.msg)
		}
		if _, err2 := New(Options{URL: "redis://127.0.0.1", Config: cfg}); err2 == nil || err2.Error() != err.Error() {
			t.Errorf("%s: New says %v", c.name, err2)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := Options{URL: "redis://127.0.0.1:6379/0", Config: limiter.Config{Rate: limiter.PerSecond(1)}}
	for _, c := range []struct {
		name, want string
		change     func(*Options)
	}{
		{"good", "", func(*Options) {}},
		{"socket", "", func(o *Options) { o.URL = "unix:///tmp/s" }},
		{"no address", "store: is no address of a Redis server", func(o *Options) { o.URL = "" }},
		{"another scheme", "store: is no address of a Redis server", func(o *Options) { o.URL = "http://:hunter2@127.0.0.1" }},
		{"a database that is none", "store: is no address of a Redis server", func(o *Options) { o.URL = "redis://127.0.0.1/x" }},
		{"neither", `on_store_error: "ajar" is unknown: write open or closed`, func(o *Options) { o.OnError = "ajar" }},
		{"ttl", "ttl: -1s must be above zero", func(o *Options) { o.TTL = -time.Second }},
		{"time-out", "a time-out of -1s for the store must be above zero", func(o *Options) { o.Timeout = -time.Second }},
	} {
		o := good
		c.change(&o)
		s, err := New(o)
		switch {
		case c.want == "" && err == nil:
			s.Close()
		case c.want == "" || err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestTheTimeOutComesFromTheURLToo(t *testing.T) {
	for _, c := range []struct {
		url   string
		given time.Duration
		want  time.Duration
	}{
		{"redis://127.0.0.1", 0, DefaultTimeout},
		{"redis://127.0.0.1?read_timeout=2s", 0, 2 * time.Second},
		{"redis://127.0.0.1?read_timeout=-1", 0, DefaultTimeout},
		{"redis://127.0.0.1?read_timeout=2s", time.Second, time.Second},
	} {
		s, err := New(Options{URL: c.url, Timeout: c.given, Config: perSecond(1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Close(); s.options.Timeout != c.want || s.bus.timeout != c.want || s.client.Options().DialTimeout != c.want {
			t.Errorf("%s, %s given: %s, dialling %s; want %s", c.url, c.given, s.options.Timeout, s.client.Options().DialTimeout, c.want)
		}
	}
}

// TestTheScaleIsExact holds the scaled numbers of odd rates to what the script can count.
func TestTheScaleIsExact(t *testing.T) {
	for _, c := range []struct {
		rate  limiter.Rate
		burst int64
		n, d  uint64
		fill  time.Duration
	}{
		{limiter.PerSecond(1000), 100, 1, 1000, 100 * time.Millisecond},
		{limiter.PerSecond(3), 10, 3, 1_000_000, 3_333_334 * time.Microsecond},
		{limiter.PerSecond(1_000_000_000), 5, 1000, 1, time.Microsecond},
		{limiter.Rate{Tokens: 17, Per: 30 * time.Second}, 17, 17, 30_000_000, 30 * time.Second},
		{limiter.Rate{Tokens: 139, Per: 100 * time.Second, Decimals: 2}, 2, 139, 100_000_000, 1_438_849 * time.Microsecond},
		{limiter.Rate{Tokens: 1, Per: 1500}, 4, 2, 3, 6 * time.Microsecond},
	} {
		p, err := newPlan(limiter.Config{Rate: c.rate, Burst: c.burst}, 0)
		if err != nil {
			t.Errorf("%s: %v", c.rate, err)
			continue
		}
		if l := p.limits[0]; l.n != c.n || l.d != c.d || l.fill != c.fill {
			t.Errorf("%s, burst %d: n %d, d %d, full after %s; want %d, %d, %s", c.rate, c.burst, l.n, l.d, l.fill, c.n, c.d, c.fill)
		}
	}
}

func TestTheLargestLimitsAreStillExact(t *testing.T) {
	server := newServer(t)
	// Just below 2⁵³/2 parts: 52,124 tokens of a day each.
	cfg := limiter.Config{Rate: limiter.Rate{Tokens: 1, Per: 24 * time.Hour}, Burst: 52_124}
	for _, algorithm := range algorithms[:3] {
		cfg.Algorithm = algorithm
		s, now := server.story(t, cfg)
		s.options.Prefix += string(algorithm)
		engine, err := limiter.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		engine.Join(0, limiter.Client{Name: "web"})
		for i, step := range []int64{0, 1, 86_399_999_999, 1, 1, 0, 86_400_000_001, 500 * 86_400_000_003} {
			*now += moment(step)
			at := time.Duration(*now) * time.Microsecond
			for _, cost := range []int64{52_124, 1, 2, 52_000} {
				want := engine.Arrive(at, limiter.Attempt{Cost: cost})
				want.Wait = upToMicro(want.Wait)
				if got, _ := ask(t, s, "web", cost); got != want {
					t.Fatalf("%s, step %d, cost %d: %+v, the engine %+v", algorithm, i, cost, got, want)
				}
			}
		}
	}
}

func TestThePulse(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	var told []string
	p := pulse{pause: 100 * time.Millisecond, notice: func(up bool, gone time.Duration, err error) {
		told = append(told, fmt.Sprintf("up %v, gone %s, %v", up, gone, err))
	}}
	broken := errors.New("broken")
	p.observe(at(0), 5, nil)
	p.observe(at(1), 0, broken) // an accident
	p.observe(at(2), 0, broken)
	p.observe(at(3), 1, broken) // some of a round trip came
	if h := p.state(); !p.tries(at(3)) || len(told) > 0 || !h.Up || h.Decisions != 6 || h.Outages != 0 || h.Err != broken {
		t.Errorf("after two failures: told %q, %+v", told, h)
	}
	for i := range patience {
		if !p.tries(at(10 + i)) {
			t.Errorf("failure %d: not tried", i)
		}
		p.observe(at(10+i), 0, broken)
	}
	if h := p.state(); h.Up || h.Outages != 1 || !h.Since.Equal(at(10)) || len(told) != 1 || told[0] != "up false, gone 0s, broken" {
		t.Errorf("after three: told %q, %+v", told, h)
	}
	for _, c := range []struct {
		ms   int
		want bool
	}{{13, false}, {111, false}, {112, true}, {113, false}, {211, false}, {212, true}} {
		if got := p.tries(at(c.ms)); got != c.want {
			t.Errorf("at %d ms: tries %v", c.ms, got)
		}
	}
	p.observe(at(310), 0, broken)
	if p.tries(at(409)) || !p.tries(at(410)) {
		t.Error("a failure puts off the next try")
	}
	p.observe(at(450), 1, nil)
	if len(told) != 2 || told[1] != "up true, gone 440ms, <nil>" || !p.tries(at(450)) || !p.tries(at(450)) || !p.state().Up {
		t.Errorf("back: told %q", told)
	}
}

func TestAPulseThatNeverWas(t *testing.T) {
	p := pulse{}
	for i := range patience {
		if h := p.state(); h.Up || h.Outages != 0 || (h.String() == "the store has not been asked yet") != (i == 0) {
			t.Errorf("after %d failures: %+v, %s", i, h, h)
		}
		p.observe(time.UnixMilli(1), 0, errors.New("refused"))
	}
	if h := p.state(); h.Outages != 1 || !strings.Contains(h.String(), "does not answer since 1970-01-01T00:00:00Z (refused)") {
		t.Errorf("%+v: %s", h, h)
	}
}

// A part of a token that goes to the store and back is the same part: 29 thirty-millionths are less than that in floating point.
func TestPartsComeBackWhole(t *testing.T) {
	server := newServer(t)
	for _, algorithm := range algorithms[:3] {
		t.Run(string(algorithm), func(t *testing.T) {
			s, now := server.story(t, limiter.Config{Algorithm: algorithm, Rate: limiter.Rate{Tokens: 1, Per: 30 * time.Second}, Burst: 2})
			ask(t, s, "web", 1)
			*now = 29
			ask(t, s, "web", 1)
			if d, _ := ask(t, s, "web", 1); brief(d) != "global 29.999971s" {
				t.Errorf("%s, want 30 s less 29 µs", brief(d))
			}
		})
	}
}
