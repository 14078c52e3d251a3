package bucket

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/limiter"
)

// manualClock shows what it is set to.
type manualClock struct {
	now  atomic.Int64
	wall bool
}

func (c *manualClock) Now() time.Duration      { return time.Duration(c.now.Load()) }
func (c *manualClock) IsWallClock() bool       { return c.wall }
func (c *manualClock) advance(d time.Duration) { c.now.Add(int64(d)) }

// A story tells what happens to one bucket.
type story struct {
	*testing.T
	*Bucket
	pass func(time.Duration) // lets time pass
}

// tell tells the story with every strategy: with a clock of the test's own, and on the built-in one in a bubble, where the
// lock-free strategy has its state in one word.
func tell(t *testing.T, bandwidths []Bandwidth, tale func(s story)) {
	t.Helper()
	for name, sync := range map[string]Sync{"lock-free": LockFree, "mutex": Mutex, "none": None} {
		t.Run(name, func(t *testing.T) {
			clock := &manualClock{}
			clock.advance(3 * time.Hour)
			tale(story{t, mustNew(t, Config{Bandwidths: bandwidths, Sync: sync, Clock: clock}), clock.advance})
		})
		t.Run(name+" on the built-in clock", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tale(story{t, mustNew(t, Config{Bandwidths: bandwidths, Sync: sync}), time.Sleep})
			})
		})
	}
}

func mustNew(t *testing.T, cfg Config) *Bucket {
	t.Helper()
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// greedy is a bandwidth like "20/m" with a burst.
func greedy(rate string, burst int64) Bandwidth {
	r, err := limiter.ParseRate(rate)
	if err != nil {
		panic(err)
	}
	return Bandwidth{Rate: r, Burst: burst}
}

func (b Bandwidth) with(id string) Bandwidth  { b.ID = id; return b }
func (b Bandwidth) holding(n int64) Bandwidth { b.Initial = Tokens(n); return b }
func (b Bandwidth) byPeriods() Bandwidth      { b.Refill = limiter.Interval; return b }

func only(b Bandwidth) []Bandwidth { return []Bandwidth{b} }

func (s story) available(want int64) {
	s.Helper()
	if got := s.Available(); got != want {
		s.Errorf("%d available, want %d", got, want)
	}
}

func (s story) takes(n int64, want bool) {
	s.Helper()
	if got := s.TryTake(n); got != want {
		s.Errorf("TryTake(%d) = %v, want %v", n, got, want)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
