package limiter

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// crowd is a limiter with n clients under heavy traffic: a call is one attempt, with all that a driver does about it.
func crowd(tb testing.TB, cfg Config, n int) func() {
	cfg.Rate, cfg.Burst = rate("1000000/s"), 1000
	cfg.Client = ClientLimit{Rate: rate("100/s"), Burst: 10, MaxInFlight: 2}
	l, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		l.Join(0, Client{Name: strconv.Itoa(i)})
	}
	g, now, id := generator{1}, time.Duration(0), uint64(0)
	return func() {
		now += 500 // twice the limit
		id++
		a := Attempt{Client: g.below(n), ID: id, Cost: 1}
		if l.Arrive(now, a).Verdict == Admitted {
			l.Release(now, a)
		}
		if at, ok := l.Due(); ok && at <= now {
			for {
				a, d, ok := l.Settle(now)
				if !ok {
					break
				}
				if d.Verdict == Admitted {
					l.Release(now, a)
				}
			}
		}
	}
}

func BenchmarkDecision(b *testing.B) {
	for _, p := range Policies {
		for _, n := range []int{10, 1000, 100_000} {
			b.Run(fmt.Sprintf("policy=%s/clients=%d", p, n), func(b *testing.B) {
				step := crowd(b, Config{Policy: p, Shards: 4}, n)
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	}
	for _, a := range Algorithms {
		b.Run(fmt.Sprintf("algorithm=%s", a), func(b *testing.B) {
			step := crowd(b, Config{Algorithm: a}, 10)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// Once queues and logs have been as long as they get, a decision allocates nothing.
func TestADecisionAllocatesNothing(t *testing.T) {
	for _, p := range Policies {
		for _, a := range Algorithms {
			if Compatible(p, a) != nil {
				continue
			}
			for _, told := range []RetryAfter{RetryExact, RetryAdaptive, RetrySlot} {
				if told != RetryExact && a != AlgorithmTokenBucket {
					continue
				}
				step := crowd(t, Config{Policy: p, Algorithm: a, Shards: 4, RetryAfter: told, Window: time.Millisecond}, 100)
				for range 20_000 {
					step()
				}
				if got := testing.AllocsPerRun(1000, step); got != 0 {
					t.Errorf("%s with %s, %s: %v allocations per decision", p, a, told, got)
				}
			}
		}
	}
}

// An idle client costs few bytes beside its name, whatever the policy.
func TestAnIdleClientIsCheap(t *testing.T) {
	const n = 50_000
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	for _, p := range Policies {
		cfg := Config{Policy: p, Rate: rate("1000000/s"), Burst: 1000, Client: ClientLimit{Rate: rate("100/s"), Burst: 10, MaxInFlight: 2}}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		l, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			l.Join(0, Client{Name: name})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		bytes := float64(after.HeapAlloc-before.HeapAlloc) / n
		t.Logf("%s: %.0f bytes", p, bytes)
		if bytes > 170 {
			t.Errorf("%s: %.0f bytes for each client", p, bytes)
		}
		runtime.KeepAlive(l)
	}
	runtime.KeepAlive(names)
}
