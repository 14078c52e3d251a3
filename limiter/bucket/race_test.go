package bucket

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairgate/limiter"
)

// safe are the buckets that goroutines may share; the word is the lock-free one with the built-in clock.
func safe(bandwidths ...Bandwidth) map[string]Config {
	return map[string]Config{
		"word":      {Bandwidths: bandwidths},
		"lock-free": {Bandwidths: bandwidths, Clock: &manualClock{}},
		"mutex":     {Bandwidths: bandwidths, Clock: &manualClock{}, Sync: Mutex},
	}
}

// crowd runs act in 8 goroutines at once, so many times each.
func crowd(times int, act func(goroutine, i int)) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range times {
				act(g, i)
			}
		})
	}
	wg.Wait()
}

func TestEightGoroutinesTakeExactlyWhatIsThere(t *testing.T) {
	for name, cfg := range safe(greedy("1/h", 1000)) {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, cfg)
			var taken atomic.Int64
			crowd(500, func(int, int) {
				if b.TryTake(1) {
					taken.Add(1)
				}
			})
			equal(t, "taken", taken.Load(), 1000)
		})
	}
}

// A million tries each, by all the ways of taking.
func TestEightGoroutinesNeverTakeOneTooMany(t *testing.T) {
	times := 1_000_000
	if testing.Short() || raceEnabled {
		times = 20_000
	}
	const burst = 3_000_000
	for name, cfg := range safe(greedy("1/h", burst)) {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, cfg)
			var sums [8]struct {
				taken int64
				_     [56]byte
			}
			some := int64(min(burst, times))
			b.TakeAnyway(burst - some)
			crowd(times, func(g, i int) {
				switch n := int64(i%3 + 1); i % 16 {
				case 0:
					if b.Probe(n).Taken {
						sums[g].taken += n
					}
				case 1:
					sums[g].taken += b.TakeUpTo(n)
				default:
					if b.TryTake(n) {
						sums[g].taken += n
					}
				}
			})
			taken := int64(0)
			for i := range sums {
				taken += sums[i].taken
			}
			equal(t, "taken", taken, some)
			equal(t, "left", b.Available(), 0)
		})
	}
}

// While it is changed again and again, no token is lost or made: AsIs keeps what is there, and what was
// taken and given back adds up.
func TestTakingWhileTheConfigurationChanges(t *testing.T) {
	for name, cfg := range safe(greedy("1/d", 1000)) {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, cfg)
			var taken atomic.Int64
			crowd(400, func(g, i int) {
				switch {
				case g == 0 && i%4 == 0:
					if err := b.Replace(only(greedy("1/d", int64(1000+i))), limiter.AsIs); err != nil {
						t.Error(err)
					}
				case g == 1:
					if r, ok := b.Reserve(2, time.Hour); ok && !r.Cancel() {
						taken.Add(2) // its time has gone by: it may be used
					}
				case b.TryTake(1):
					taken.Add(1)
				}
			})
			equal(t, "taken and left", taken.Load()+b.Available(), 1000)
		})
	}
}

func TestForcedTokensUnderConcurrency(t *testing.T) {
	for name, cfg := range safe(greedy("1/d", 10)) {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, cfg)
			crowd(200, func(g, _ int) {
				if g%2 == 0 {
					b.ForceAdd(3)
				} else {
					b.TakeAnyway(3)
				}
			})
			equal(t, "available", b.Available(), 10)
		})
	}
}

// The last part of a word's range, and what lies beyond.
func TestWordGivesWayAtItsHorizon(t *testing.T) {
	b := mustNew(t, Config{Bandwidths: only(greedy("37999981/s", 1000))})
	first := b.core.current.Load().cell
	if first == nil {
		t.Fatal("not kept in a word")
	}
	equal(t, "drained", b.core.doAt(first.base, op{kind: takeUpTo, tokens: math.MaxInt64}).taken, 1000)
	before, after := first.base+first.horizon-1, first.base+first.horizon
	equal(t, "just before", b.core.doAt(before, op{kind: tryTake, tokens: 999}).taken, 999)
	equal(t, "the same word", b.core.current.Load().cell, first)
	if _, done := first.tryTake(after, 1); done {
		t.Error("a word answers beyond its horizon")
	}
	equal(t, "just after", b.core.doAt(after, op{kind: look, detail: true}).available, 1)
	if next := b.core.current.Load().cell; next == nil || next == first || next.base != after {
		t.Errorf("beyond its horizon the word was not renewed: %+v", next)
	}
	equal(t, "years later", b.core.doAt(200*365*24*time.Hour, op{kind: look, detail: true}).available, 1000)
}
