package keyed

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairgate/limiter"
)

func mustBuckets(t testing.TB, rate string, burst int64) *Buckets {
	t.Helper()
	r, err := limiter.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuckets(limiter.BucketConfig{Rate: r, Burst: burst})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestKeysAreLimitedApart(t *testing.T) {
	b := mustBuckets(t, "1/s", 2)
	for _, key := range []string{"ada", "bob"} {
		for i := range 3 {
			if got, want := b.TryTake(0, key, 1), i < 2; got != want {
				t.Errorf("take %d of %s: %v, want %v", i+1, key, got, want)
			}
		}
	}
	want := Answer{Wait: 2 * time.Second, Reset: 2 * time.Second}
	if got := b.Take(0, "ada", 2); got != want {
		t.Errorf("ada: %+v, want %+v", got, want)
	}
	b.Add(0, "ada", 1)
	want = Answer{Taken: true, Reset: 2 * time.Second}
	if got := b.Take(0, "ada", 1); got != want {
		t.Errorf("ada: %+v, want %+v", got, want)
	}
	if got := b.Take(0, "cyd", 3).Wait; got != limiter.Never {
		t.Errorf("above the burst: wait %v, want never", got)
	}
	b.Forget("bob")
	if !b.TryTake(0, "bob", 2) {
		t.Error("a forgotten key does not begin anew")
	}
}

// One per minute with a burst of 20, and 20 calls at once every 301 s, ten rounds, among crowds of passers-by that make
// the store forget: as if nothing were ever forgotten, 65 are admitted.
func TestForgettingCannotBeSeen(t *testing.T) {
	b := mustBuckets(t, "1/m", 20)
	admitted := 0
	for round := range 10 {
		now := time.Duration(round) * 301 * time.Second
		for i := range 2000 {
			b.TryTake(now-time.Second, fmt.Sprint(round, "/", i), 1)
		}
		b.Sweep(now)
		for range 20 {
			if b.TryTake(now, "the caller", 1) {
				admitted++
			}
		}
	}
	if admitted != 65 {
		t.Errorf("%d admitted, want 65", admitted)
	}
}

func TestStoreOfPassersByStaysSmall(t *testing.T) {
	b := mustBuckets(t, "10/s", 10)
	most := 0
	for i := range 100_000 { // a new client every 10 ms, which is fresh again 100 ms later
		now := time.Duration(i) * 10 * time.Millisecond
		b.TryTake(now, strconv.Itoa(i), 1)
		if i%1000 == 0 {
			most = max(most, b.Len())
		}
	}
	if most > 9000 {
		t.Errorf("up to %d keys are kept, where 6010 came or rested within the last minute", most)
	}
	b.Sweep(time.Hour)
	if n := b.Len(); n != 0 {
		t.Errorf("%d keys are left an hour later, want none", n)
	}
}

// Clients that come round within a minute are not dropped and made anew each time, though they are fresh in between.
func TestKeysInUseStay(t *testing.T) {
	b := mustBuckets(t, "1000/s", 10)
	for i := range 50_000 {
		b.TryTake(time.Duration(i)*time.Millisecond, strconv.Itoa(i), 1)
	}
	if n := b.Len(); n != 50_000 {
		t.Errorf("%d of 50000 keys are kept within the minute", n)
	}
}

func TestReplaceReachesEveryKey(t *testing.T) {
	b := mustBuckets(t, "100/h", 100)
	for i := range 1000 {
		b.TryTake(0, strconv.Itoa(i), 60)
	}
	r, _ := limiter.ParseRate("200/h")
	if err := b.Replace(0, limiter.BucketConfig{Rate: r, Burst: 200}, limiter.Proportional); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if got := b.Take(0, strconv.Itoa(i), 1).Remaining; got != 79 {
			t.Fatalf("key %d holds %d, want 79 after one more of 80", i, got)
		}
	}
	if got := b.Take(0, "newcomer", 1).Remaining; got != 199 {
		t.Errorf("a new key holds %d, want 199", got)
	}
	if err := b.Replace(0, limiter.BucketConfig{Rate: r}, limiter.AsIs); err == nil {
		t.Error("a burst of 0 is accepted")
	}
	if err := b.Replace(0, limiter.BucketConfig{Rate: r, Burst: 1}, "generously"); err == nil {
		t.Error("an unknown strategy is accepted")
	}
	if got := b.Take(0, "0", 1).Remaining; got != 78 {
		t.Errorf("the refused changes left %d, want 78", got)
	}
}

// Whether a key that rests was forgotten before a change, or not yet, cannot be seen after it.
func TestReplaceTreatsFreshKeysAsForgotten(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		b := mustBuckets(t, "100/s", 100)
		b.TryTake(0, "ada", 1)
		if sweep {
			b.Sweep(time.Hour)
		}
		if err := b.Replace(time.Hour, limiter.BucketConfig{Rate: limiter.PerSecond(200), Burst: 200}, limiter.AsIs); err != nil {
			t.Fatal(err)
		}
		if got := b.Take(time.Hour, "ada", 0).Remaining; got != 200 {
			t.Errorf("swept before %v: %d tokens, want the 200 of a new key", sweep, got)
		}
	}
}

// A negative count is never an admission, nor does it leave a lock or a key behind.
func TestNegativeCountsPanic(t *testing.T) {
	b := mustBuckets(t, "1/h", 1)
	for name, call := range map[string]func(){
		"TryTake": func() { b.TryTake(0, "ada", -5) },
		"Take":    func() { b.Take(0, "ada", -1) },
		"Add":     func() { b.Add(0, "ada", -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s accepts a negative count", name)
				}
			}()
			call()
		}()
	}
	if n := b.Len(); n != 0 {
		t.Errorf("%d keys are kept of calls that were wrong", n)
	}
	if !b.TryTake(0, "ada", 1) || b.TryTake(0, "ada", 1) || !b.TryTake(0, "ada", 0) {
		t.Error("the bucket of one token is not as it was")
	}
}

func TestGoroutinesShareTheStore(t *testing.T) {
	b := mustBuckets(t, "1/h", 100)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 4000 {
				if b.TryTake(0, strconv.Itoa(i%10), 1) {
					taken.Add(1)
				}
				if i%1000 == 0 {
					b.Sweep(0)
				}
			}
		})
	}
	wg.Wait()
	if taken.Load() != 1000 {
		t.Errorf("%d taken from 10 keys of 100, want 1000", taken.Load())
	}
}

func TestPeekKeepsNothing(t *testing.T) {
	s := NewStore(
		func(time.Duration, string) int { return 7 },
		func(_ time.Duration, _ string, n *int) bool { return *n == 7 },
	)
	seen := 0
	s.Peek(0, "a", func(n *int) { seen = *n; *n = 9 })
	if s.Len() != 0 || seen != 7 {
		t.Errorf("%d kept and %d seen, want 0 and 7", s.Len(), seen)
	}
	n, lock := s.Lock(0, "a")
	*n = 8
	lock.Unlock()
	s.Peek(0, "a", func(n *int) { seen = *n })
	if s.Len() != 1 || seen != 8 {
		t.Errorf("%d kept and %d seen, want 1 and 8", s.Len(), seen)
	}
}

func BenchmarkTryTake(b *testing.B) {
	for _, clients := range []int{1, 100_000} {
		b.Run(fmt.Sprint(clients, " keys"), func(b *testing.B) {
			buckets := mustBuckets(b, "1000/s", 1000)
			keys := make([]string, clients)
			for i := range keys {
				keys[i] = fmt.Sprintf("client-%d", i)
			}
			start := time.Now()
			for _, key := range keys {
				buckets.TryTake(0, key, 1)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				buckets.TryTake(time.Since(start), keys[i*7919%clients], 1)
			}
		})
	}
}
