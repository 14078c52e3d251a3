package redislimit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairgate/limiter"
)

func perSecond(rate, burst int64) limiter.Config {
	return limiter.Config{Rate: limiter.PerSecond(rate), Burst: burst}
}

func TestKeysOfADecisionLieInOneSlot(t *testing.T) {
	server := newServer(t, "--cluster-enabled", "yes")
	raw := server.raw(t)
	cfg := perSecond(10, 10)
	cfg.Policy, cfg.Client.Rate = limiter.PerClient, limiter.PerSecond(1)
	cfg.Bandwidths = []limiter.Bandwidth{{ID: "minute", Rate: limiter.PerSecond(5), Burst: 100}}
	p, err := newPlan(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"web", "", "{other}", "}{x}", "a:{b}", "*", "%2A", "naïve\n"} {
		for _, endpoint := range []string{"", "/orders", "{}", "}", "a}b"} {
			keys := p.keys("rate-limit", who, endpoint)
			if len(keys) != 3 || slices.Contains(keys[:2], keys[2]) || keys[0] == keys[1] {
				t.Errorf("%q at %q: keys %q are not three", who, endpoint, keys)
			}
			first := raw.ClusterKeySlot(t.Context(), keys[0]).Val()
			for _, k := range keys {
				slot, err := raw.ClusterKeySlot(t.Context(), k).Result()
				if err != nil || slot != first {
					t.Errorf("%q at %q: key %q lies in slot %d, another of the decision in %d (%v)", who, endpoint, k, slot, first, err)
				}
			}
		}
	}
}

func TestDifferentNamesHaveDifferentKeys(t *testing.T) {
	names := []string{"", "%", "*", "%2A", "a", "a:b", "a%3Ab", "{a}", "é", "%C3%A9", " ", "a b"}
	seen := map[string]string{}
	for _, n := range names {
		e := escape(n)
		if was, ok := seen[e]; ok {
			t.Errorf("%q and %q are both written %q", was, n, e)
		}
		if seen[e] = n; strings.ContainsAny(e, "*:{} \n") {
			t.Errorf("%q is written %q", n, e)
		}
	}
	if got := escape("web-1@example.org/x"); got != "web-1@example.org/x" {
		t.Errorf("a plain name is written %q", got)
	}
}

func TestALeakyBucketIsTheHashThatOthersRead(t *testing.T) {
	server := newServer(t)
	cfg := perSecond(50, 50)
	cfg.Policy, cfg.Algorithm = limiter.PerClient, limiter.AlgorithmLeakyBucket
	cfg.Client = limiter.ClientLimit{Rate: limiter.PerSecond(3), Burst: 5}
	s, now := server.story(t, cfg)
	raw := server.raw(t)
	key := t.Name() + ":web:{/orders}"
	is := func(queued, leakTime string) {
		t.Helper()
		got := raw.HMGet(t.Context(), key, "queue_size", "last_leak_time").Val()
		if got[0] != queued || got[1] != leakTime {
			t.Errorf("at %d µs: queue_size %v, last_leak_time %v; want %s, %s", *now, got[0], got[1], queued, leakTime)
		}
	}
	take := func(cost int64) {
		t.Helper()
		if d, _, err := s.Decide(t.Context(), "web", "/orders", cost); err != nil || d.Verdict != limiter.Admitted {
			t.Fatalf("at %d µs: %+v, %v", *now, d, err)
		}
	}
	// A slot takes 333⅓ ms.
	take(3)
	is("3", "1800000000000")
	*now = 700_000 // two have leaked, at 333⅓ and 666⅔: the last leak is then, not now
	take(1)
	is("2", "1800000000666")
	// Asking every 100 ms keeps nothing from leaking: the next leak is at 1000 ms.
	for *now = 800_000; *now < 1_000_000; *now += 100_000 {
		take(1)
	}
	is("4", "1800000000666")
	*now = 1_000_000
	take(1)
	is("4", "1800000001000")
	// Somebody who knows but the two fields has written them.
	raw.Del(t.Context(), key)
	raw.HSet(t.Context(), key, "queue_size", 5, "last_leak_time", "1800000001000")
	d, _, err := s.Decide(t.Context(), "web", "/orders", 1)
	if err != nil || d.By != limiter.ByClient || d.Wait != 333334*time.Microsecond {
		t.Errorf("a full queue: %s, %v; want client 333.334ms", brief(d), err)
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	server := newServer(t)
	for _, algorithm := range algorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			cfg := perSecond(10, 10)
			cfg.Algorithm = algorithm
			s, now := server.story(t, cfg)
			*now = 900_000_000
			if d, _ := ask(t, s, "web", 10); d.Verdict != limiter.Admitted {
				t.Fatal(brief(d))
			}
			first, _ := ask(t, s, "web", 1)
			*now = 0 // the server's clock is set back by a quarter of an hour
			for range 20 {
				if d, _ := ask(t, s, "web", 1); d != first {
					t.Fatalf("after the clock went back: %s, before %s", brief(d), brief(first))
				}
			}
			*now = 900_000_000
			*now += moment(first.Wait / time.Microsecond)
			if d, _ := ask(t, s, "web", 1); d.Verdict != limiter.Admitted {
				t.Errorf("at the promised moment: %s", brief(d))
			}
		})
	}
}

func TestARefusalWritesNothing(t *testing.T) {
	server := newServer(t)
	cfg := perSecond(10, 10)
	cfg.Policy, cfg.Client.Rate, cfg.Client.Burst = limiter.PerClient, limiter.PerSecond(5), 5
	s, _ := server.story(t, cfg)
	raw := server.raw(t)
	ask(t, s, "web", 5)
	ask(t, s, "batch", 5) // nothing is left for anybody
	all := t.Name() + ":*:{all}"
	was := raw.HGetAll(t.Context(), all).Val()
	for _, who := range []string{"web", "stranger-1", "stranger-2", "stranger-3"} {
		if d, _ := ask(t, s, who, 1); d.Verdict != limiter.Rejected {
			t.Fatalf("%s: %s", who, brief(d))
		}
	}
	if is := raw.HGetAll(t.Context(), all).Val(); is["last"] != was["last"] || is["tokens"] != "0" {
		t.Errorf("the shared limit was %v and is %v", was, is)
	}
	if n := raw.DBSize(t.Context()).Val(); n != 3 {
		t.Errorf("%d keys, want those of the limit and of two clients", n)
	}
}

func TestALookWritesNothing(t *testing.T) {
	server := newServer(t)
	for _, algorithm := range algorithms {
		cfg := perSecond(10, 10)
		cfg.Algorithm = algorithm
		s, _ := server.story(t, cfg)
		if d, q := ask(t, s, "web", 0); d.Verdict != limiter.Admitted || q[0].Remaining != 10 || q[0].Reset != 0 {
			t.Errorf("%s: %s, %+v", algorithm, brief(d), q)
		}
		if n := server.raw(t).DBSize(t.Context()).Val(); n != 0 {
			t.Errorf("%s: %d keys", algorithm, n)
		}
	}
}

// What was counted under a larger limit counts under a smaller one as all of it, not as more.
func TestASmallerLimitIsFull(t *testing.T) {
	server := newServer(t)
	for _, c := range []struct {
		algorithm limiter.Algorithm
		want      string
	}{
		{limiter.AlgorithmTokenBucket, "global 100ms"},
		{limiter.AlgorithmGCRA, "global 100ms"},
		{limiter.AlgorithmLeakyBucket, "global 100ms"},
		{limiter.AlgorithmFixedWindow, "global 1s"},
		{limiter.AlgorithmSlidingWindow, "global 1.1s"}, // a tenth of the next window
	} {
		t.Run(string(c.algorithm), func(t *testing.T) {
			cfg := perSecond(1000, 1000)
			cfg.Algorithm = c.algorithm
			s, _ := server.story(t, cfg)
			for range 100 { // a fixed share: neither empty nor full
				ask(t, s, "web", 8)
			}
			cfg.Rate, cfg.Burst = limiter.PerSecond(10), 10
			if err := s.Reconfigure(cfg); err != nil {
				t.Fatal(err)
			}
			d, q := ask(t, s, "web", 1)
			if c.algorithm == limiter.AlgorithmTokenBucket {
				// It keeps what it has: 200 tokens, of which 10 fit.
				if brief(d) != "ok" || q[0].Remaining != 9 {
					t.Errorf("%s, %+v", brief(d), q)
				}
				ask(t, s, "web", 9)
				d, q = ask(t, s, "web", 1)
			}
			if brief(d) != c.want || q[0].Remaining != 0 {
				t.Errorf("%s, %+v; want %s", brief(d), q, c.want)
			}
		})
	}
}

func TestEndpointsHaveLimitsOfTheirOwn(t *testing.T) {
	s, _ := newServer(t).story(t, perSecond(1, 1))
	for _, endpoint := range []string{"/a", "/b", ""} {
		for i, want := range []string{"ok", "global 1s"} {
			d, _, err := s.Decide(t.Context(), "web", endpoint, 1)
			if err != nil || brief(d) != want {
				t.Errorf("%q, attempt %d: %s, %v; want %s", endpoint, i, brief(d), err, want)
			}
		}
	}
	if d, _, _ := s.Decide(t.Context(), "web", Everywhere, 1); brief(d) != "global 1s" {
		t.Errorf("no endpoint and %q are not the same: %s", Everywhere, brief(d))
	}
}

func TestTTLIsRaisedToTheTimeToFill(t *testing.T) {
	server := newServer(t)
	raw := server.raw(t)
	for _, c := range []struct {
		algorithm limiter.Algorithm
		ttl       time.Duration
		want      time.Duration // of a key
		raised    bool
	}{
		{limiter.AlgorithmTokenBucket, 5 * time.Second, 10001 * time.Millisecond, true},
		{limiter.AlgorithmLeakyBucket, time.Millisecond, 10001 * time.Millisecond, true},
		{limiter.AlgorithmGCRA, time.Minute, time.Minute, false},
		{limiter.AlgorithmGCRA, 0, 11001 * time.Millisecond, false},
		{limiter.AlgorithmFixedWindow, time.Second, 1001 * time.Millisecond, true},
		{limiter.AlgorithmSlidingWindow, time.Second, 2001 * time.Millisecond, true},
	} {
		cfg := perSecond(10, 100)
		cfg.Algorithm = c.algorithm
		var told []string
		prefix := t.Name() + string(c.algorithm) + c.ttl.String()
		s := server.open(t, Options{Config: cfg, TTL: c.ttl, Prefix: prefix, Notice: func(n string) { told = append(told, n) }})
		if s.TTL() != c.want || (len(told) == 1) != c.raised {
			t.Errorf("%s, ttl %s: %s, told %q; want %s, raised %v", c.algorithm, c.ttl, s.TTL(), told, c.want, c.raised)
		}
		if c.raised && (len(told) != 1 || !strings.Contains(told[0], "raised to "+c.want.String())) {
			t.Errorf("%s: told %q", c.algorithm, told)
		}
		before := raw.Time(t.Context()).Val()
		ask(t, s, "web", 1)
		after := raw.Time(t.Context()).Val()
		ends := time.UnixMilli(raw.PExpireTime(t.Context(), prefix+":*:{all}").Val().Milliseconds())
		if ends.Before(before.Add(c.want).Truncate(time.Millisecond)) || ends.After(after.Add(c.want)) {
			t.Errorf("%s: the key ends %s after the admission, want %s", c.algorithm, ends.Sub(after), c.want)
		}
	}
}

func TestAScriptThatTheServerForgotIsSentAgain(t *testing.T) {
	server := newServer(t)
	s, now := server.story(t, perSecond(1, 3))
	raw := server.raw(t)
	for i, want := range []string{"ok", "ok", "ok", "global 700ms", "global 600ms", "global 500ms", "global 400ms", "global 300ms", "global 200ms", "global 100ms", "ok", "global 900ms"} {
		if err := raw.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if d, _ := ask(t, s, "web", 1); brief(d) != want {
			t.Errorf("attempt %d: %s, want %s", i, brief(d), want)
		}
		*now += 100_000
	}
	if h := s.Health(); !h.Up || h.Outages != 0 || h.Decisions != 12 {
		t.Errorf("health %+v", h)
	}
}

func TestAStoreThatLosesItsDataBeginsFull(t *testing.T) {
	server := newServer(t)
	s, _ := server.story(t, perSecond(1, 3))
	ask(t, s, "web", 3)
	if d, _ := ask(t, s, "web", 1); brief(d) != "global 1s" {
		t.Fatal(brief(d))
	}
	if err := server.raw(t).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if d, q := ask(t, s, "web", 3); brief(d) != "ok" || q[0].Remaining != 0 {
		t.Errorf("%s, %+v", brief(d), q)
	}
}

// TestTwoStoresAdmitWhatOneLimitAllows has several goroutines ask two stores, as two processes would, five times as often as the limit allows.
func TestTwoStoresAdmitWhatOneLimitAllows(t *testing.T) {
	server := newServer(t)
	for _, algorithm := range algorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			const rate, burst, each, clients = 200, 20, 500, 4
			cfg := perSecond(rate, burst)
			cfg.Algorithm = algorithm
			var clock, admitted atomic.Int64
			var wg sync.WaitGroup
			for range 2 {
				s := server.open(t, Options{Config: cfg, TTL: time.Hour, Prefix: t.Name()})
				s.clock = func() int64 { return epoch + clock.Add(1_000_000/(5*rate)) }
				for range clients / 2 {
					wg.Go(func() {
						for range each {
							d, _, err := s.Decide(context.Background(), "web", "", 1)
							if err != nil {
								t.Error(err)
							} else if d.Verdict == limiter.Admitted {
								admitted.Add(1)
							}
						}
					})
				}
			}
			wg.Wait()
			seconds := float64(clock.Load()) / 1e6 // 2
			most := seconds*rate + burst
			if strings.HasSuffix(string(algorithm), "window") {
				most = rate * 3 // two whole windows, and the first moment of another
			}
			if n := float64(admitted.Load()); n > most || n < 0.97*rate*seconds {
				t.Errorf("%v admitted in %v s, want %v to %v", n, seconds, 0.97*rate*seconds, most)
			}
		})
	}
}

func TestByTheServersClockTwoStoresAdmitExactlyTheBurst(t *testing.T) {
	server := newServer(t)
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		s := server.open(t, Options{Config: limiter.Config{Rate: limiter.Rate{Tokens: 1, Per: 24 * time.Hour}, Burst: 100}, Prefix: t.Name()})
		for range 4 {
			wg.Go(func() {
				for range 50 {
					if d, _ := ask(t, s, "web", 1); d.Verdict == limiter.Admitted {
						admitted.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	if n := admitted.Load(); n != 100 {
		t.Errorf("%d admitted, want 100", n)
	}
}

func TestWithoutTheStore(t *testing.T) {
	for _, c := range []struct {
		how  OnError
		want limiter.Decision
	}{
		{"", limiter.Decision{Verdict: limiter.Rejected, Wait: time.Second, Told: time.Second}},
		{Closed, limiter.Decision{Verdict: limiter.Rejected, Wait: time.Second, Told: time.Second}},
		{Open, limiter.Decision{}},
	} {
		t.Run(string(c.how), func(t *testing.T) {
			server := newServer(t)
			var notices struct {
				sync.Mutex
				all []string
			}
			s := server.open(t, Options{Config: perSecond(1, 1), OnError: c.how, Notice: func(n string) {
				notices.Lock()
				defer notices.Unlock()
				notices.all = append(notices.all, n)
			}})
			s.pulse.pause = time.Millisecond
			if h := s.Health(); h.Up || h.String() != "the store has not been asked yet" {
				t.Errorf("before: %+v, %s", h, h)
			}
			if d, _ := ask(t, s, "web", 1); d.Verdict != limiter.Admitted {
				t.Fatal(brief(d))
			}
			server.Kill()
			for range 10 {
				d, quotas, err := s.Decide(t.Context(), "web", "", 1)
				var gone *Gone
				if d != c.want || quotas != nil || !errors.As(err, &gone) || gone.Err == nil {
					t.Fatalf("without the store: %+v, %v, %v", d, quotas, err)
				}
			}
			h := s.Health()
			if h.Up || h.Admitted+h.Rejected != 10 || (h.Admitted == 10) != (c.how == Open) || h.Outages != 1 || !strings.Contains(h.String(), "does not answer since") {
				t.Errorf("health %+v: %s", h, h)
			}
			server.Again(t)
			deadline := time.Now().Add(20 * time.Second)
			for !s.Health().Up {
				if time.Now().After(deadline) {
					t.Fatalf("it never came back: %s", s.Health())
				}
				time.Sleep(time.Millisecond) // between tries, not for a time
				s.Decide(t.Context(), "web", "", 1)
			}
			if h := s.Health(); h.Outages != 1 || h.Decisions < 2 || !strings.Contains(h.String(), " decisions so far; ") {
				t.Errorf("back: %+v", h)
			}
			notices.Lock()
			defer notices.Unlock()
			if n := notices.all; len(n) != 2 || !strings.Contains(n[0], "does not answer") || !strings.Contains(n[1], "is back after") {
				t.Errorf("notices %q", n)
			}
		})
	}
}

func TestAServerThatHangsCostsATimeOutAndThenNothing(t *testing.T) {
	server := newServer(t)
	s := server.open(t, Options{Config: limiter.Config{Rate: limiter.Rate{Tokens: 1000, Per: time.Hour}, Burst: 1000}, OnError: Open})
	ask(t, s, "web", 1)
	s.options.Timeout, s.bus.timeout, s.pulse.pause = 20*time.Millisecond, 20*time.Millisecond, time.Hour
	server.Halt()
	for i := range 50 {
		d, _, err := s.Decide(t.Context(), "web", "", 1)
		if err == nil || d.Verdict != limiter.Admitted || !strings.Contains(err.Error(), "admitted without the store, which does not answer: no answer within 20ms") {
			t.Fatalf("attempt %d: %+v, %v", i, d, err)
		}
	}
	// All but the first few were not even asked: the server would know of them once it goes on.
	server.Resume()
	other := server.open(t, Options{Config: s.Config()})
	if _, quotas := ask(t, other, "web", 0); quotas[0].Remaining < 1000-1-(patience+mostCarriers) {
		t.Errorf("%d tokens left", quotas[0].Remaining)
	}
}

func TestACallerThatLeavesSaysNothingAboutTheStore(t *testing.T) {
	s := newServer(t).open(t, Options{Config: perSecond(1, 1), OnError: Open})
	left, leave := context.WithCancel(t.Context())
	leave()
	d, _, err := s.Decide(left, "web", "", 1)
	if !errors.Is(err, context.Canceled) || d.Verdict != limiter.Rejected {
		t.Errorf("%+v, %v", d, err)
	}
	if h := s.Health(); h.Outages != 0 || h.Admitted != 0 {
		t.Errorf("health %+v", h)
	}
}

func TestAKeyOfSomebodyElseIsAnErrorOfTheStore(t *testing.T) {
	server := newServer(t)
	s, _ := server.story(t, perSecond(1, 1))
	server.raw(t).Set(t.Context(), t.Name()+":*:{all}", "mine", 0)
	d, _, err := s.Decide(t.Context(), "web", "", 1)
	if err == nil || d.Verdict != limiter.Rejected || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestAChangeOfTheLimitMintsNothing(t *testing.T) {
	server := newServer(t)
	for _, algorithm := range algorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			cfg := perSecond(10, 10)
			cfg.Algorithm = algorithm
			s, now := server.story(t, cfg)
			ask(t, s, "web", 10)
			*now += 50_000 // half a token
			for _, rate := range []limiter.Rate{limiter.PerSecond(7), {Tokens: 9, Per: 30 * time.Second}, limiter.PerSecond(10)} {
				next := cfg
				next.Rate = rate
				if err := s.Reconfigure(next); err != nil {
					t.Fatal(err)
				}
				if d, _ := ask(t, s, "web", 1); d.Verdict != limiter.Rejected {
					t.Errorf("at %s: %s", rate, brief(d))
				}
			}
			if s.Config().Rate != limiter.PerSecond(10) {
				t.Errorf("config %+v", s.Config())
			}
			if err := s.Reconfigure(limiter.Config{}); err == nil || s.Config().Rate != limiter.PerSecond(10) {
				t.Errorf("a configuration that makes no sense: %v", err)
			}
		})
	}
}

func TestPing(t *testing.T) {
	server := newServer(t)
	s := server.open(t, Options{Config: perSecond(1, 1)})
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	server.Kill()
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "the store does not answer") {
		t.Error(err)
	}
}

// What has waited for half of its time, or was left, is not sent and so never charged.
func TestWhatHasWaitedTooLongIsNotSent(t *testing.T) {
	server := newServer(t)
	s := server.open(t, Options{Config: limiter.Config{Rate: limiter.Rate{Tokens: 1000, Per: time.Hour}, Burst: 1000}, OnError: Open})
	late := &call{asked: time.Now().Add(-6 * time.Second), done: make(chan struct{})} // of 10 s
	gone := &call{asked: time.Now(), done: make(chan struct{})}
	gone.left.Store(true)
	s.bus.trip([]*call{late, gone})
	<-late.done
	if late.err != errBusy || gone.err != nil {
		t.Errorf("late: %v, gone: %v", late.err, gone.err)
	}
	if h := s.Health(); h.Decisions != 0 || h.Outages != 0 {
		t.Errorf("health %+v", h)
	}
	if _, quotas := ask(t, s, "web", 1); quotas[0].Remaining != 999 {
		t.Errorf("%d left, want 999", quotas[0].Remaining)
	}
}
