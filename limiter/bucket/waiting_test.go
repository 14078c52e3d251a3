package bucket

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/limiter"
)

// bubble tells a story in which time passes by waiting.
func bubble(t *testing.T, bandwidths []Bandwidth, tale func(s story, start time.Time)) {
	t.Helper()
	for name, strategy := range map[string]Sync{"lock-free": LockFree, "mutex": Mutex} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tale(story{t, mustNew(t, Config{Bandwidths: bandwidths, Sync: strategy}), time.Sleep}, time.Now())
			})
		})
	}
}

func everyFifth() []Bandwidth { return only(greedy("1/200ms", 1).byPeriods()) }

func TestBlockingWaitsAsLongAsItMust(t *testing.T) {
	bubble(t, everyFifth(), func(s story, start time.Time) {
		s.takes(1, true)
		if err := s.Blocking().Take(s.Context(), 1); err != nil {
			s.Fatal(err)
		}
		equal(s, "waited", time.Since(start), 200*time.Millisecond)

		ok, err := s.Blocking().TryTake(s.Context(), 1, 10*time.Millisecond)
		equal(s, "within 10ms", ok, false)
		equal(s, "error", err, nil)
		equal(s, "at once", time.Since(start), 200*time.Millisecond)
		s.available(0)

		ok, err = s.Blocking().TryTake(s.Context(), 1, time.Second)
		equal(s, "within 1s", ok, true)
		equal(s, "error", err, nil)
		equal(s, "waited", time.Since(start), 400*time.Millisecond)
	})
}

func TestThoseWhoWaitStandInLine(t *testing.T) {
	bubble(t, everyFifth(), func(s story, start time.Time) {
		s.takes(1, true)
		var mu sync.Mutex
		var order []string
		for i := range 4 {
			go func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if err := s.Blocking().Take(s.Context(), 1); err != nil {
					s.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, fmt.Sprint(i, " at ", time.Since(start)))
			}()
		}
		time.Sleep(500 * time.Microsecond)
		synctest.Wait()
		s.available(-1) // the first stands there
		s.takes(1, false)
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		s.available(-4)
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []string{"0 at 200ms", "1 at 400ms", "2 at 600ms", "3 at 800ms"}; !slices.Equal(order, want) {
			s.Errorf("served %v, want %v", order, want)
		}
	})
}

func TestBlockingForMoreThanABurst(t *testing.T) {
	bubble(t, only(greedy("20/m", 20)), func(s story, start time.Time) {
		s.takes(21, false)
		if err := s.Blocking().Take(s.Context(), 21); err != nil {
			s.Fatal(err)
		}
		equal(s, "waited until the debt was paid", time.Since(start), 3*time.Second)
		err := s.Blocking().Take(s.Context(), math.MaxInt64)
		equal(s, "for ever", errors.Is(err, ErrNever), true)
		s.available(0)
	})
}

func TestCancelledWaitLeavesNoDebt(t *testing.T) {
	bubble(t, only(greedy("1/s", 2)), func(s story, start time.Time) {
		s.takes(2, true)
		cause := errors.New("the client hung up")
		ctx, cancel := context.WithCancelCause(s.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(cause) })
		err := s.Blocking().Take(ctx, 4)
		equal(s, "error", err, cause)
		equal(s, "waited", time.Since(start), 1500*time.Millisecond)
		s.available(1)
		equal(s, "the half token too", s.Estimate(2).Wait, 500*time.Millisecond)

		// A context that is over already, or will be, does not begin.
		equal(s, "again", s.Blocking().Take(ctx, 1), cause)
		soon, cancel2 := context.WithTimeout(s.Context(), 100*time.Millisecond)
		defer cancel2()
		err = s.Blocking().Take(soon, 2)
		equal(s, "deadline", errors.Is(err, context.DeadlineExceeded), true)
		equal(s, "at once", time.Since(start), 1500*time.Millisecond)
		s.available(1)
	})
}

func TestWaitThatIgnoresCancellation(t *testing.T) {
	bubble(t, only(greedy("1/s", 1)), func(s story, start time.Time) {
		s.takes(1, true)
		ctx, cancel := context.WithTimeout(s.Context(), time.Millisecond)
		defer cancel()
		if err := s.Blocking().Uncancelled().Take(ctx, 3); err != nil {
			s.Fatal(err)
		}
		equal(s, "waited", time.Since(start), 3*time.Second)
		equal(s, "the context stays over", ctx.Err() != nil, true)
		ok, err := s.Blocking().Uncancelled().TryTake(ctx, 1, time.Second)
		equal(s, "within the longest wait", ok, true)
		equal(s, "error", err, nil)
	})
}

func TestWaitingStrategyOfOnesOwn(t *testing.T) {
	clock := &manualClock{}
	b := mustNew(t, Config{Bandwidths: everyFifth(), Clock: clock})
	var waits []time.Duration
	own := b.Blocking().Waiting(func(_ context.Context, wait time.Duration) error {
		waits = append(waits, wait)
		clock.advance(wait)
		return nil
	})
	for range 3 {
		if err := own.Take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if want := []time.Duration{200 * time.Millisecond, 200 * time.Millisecond}; !slices.Equal(waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
}

func TestScheduled(t *testing.T) {
	bubble(t, everyFifth(), func(s story, start time.Time) {
		after := func(want time.Duration) {
			s.Helper()
			equal(s, "called after", time.Since(start), want)
		}
		done, err := s.Scheduled().Take(1)
		if err != nil {
			s.Fatal(err)
		}
		<-done
		after(0)
		equal(s, "within 5ms", <-s.Scheduled().TryTake(1, 5*time.Millisecond), false)
		after(0)
		s.available(0)
		answer := s.Scheduled().TryTake(1, time.Second)
		s.available(-1)
		equal(s, "within 1s", <-answer, true)
		after(200 * time.Millisecond)

		called := make(chan time.Duration, 1)
		if _, err := s.Scheduled().Call(2, func() { called <- time.Since(start) }); err != nil {
			s.Fatal(err)
		}
		equal(s, "called at", <-called, 600*time.Millisecond)

		cancel, err := s.Scheduled().Call(2, func() { s.Error("a cancelled call was called") })
		if err != nil {
			s.Fatal(err)
		}
		s.available(-2)
		equal(s, "cancelled", cancel(), true)
		equal(s, "cancelled twice", cancel(), false)
		s.available(0)
		time.Sleep(time.Hour)

		_, err = s.Scheduled().Take(math.MaxInt64)
		equal(s, "for ever", errors.Is(err, ErrNever), true)
		s.available(1)
	})
}

func TestScheduledByASchedulerOfOnesOwn(t *testing.T) {
	b := mustNew(t, Config{Bandwidths: everyFifth(), Clock: &manualClock{}})
	var due []time.Duration
	own := b.Scheduled().After(func(wait time.Duration, f func()) func() bool {
		due = append(due, wait)
		f()
		return func() bool { return false }
	})
	got := 0
	for range 3 {
		own.TryCall(1, time.Minute, func(taken bool) {
			if taken {
				got++
			}
		})
	}
	equal(t, "called", got, 3)
	if want := []time.Duration{200 * time.Millisecond, 400 * time.Millisecond}; !slices.Equal(due, want) {
		t.Errorf("due %v, want %v", due, want)
	}
}

func TestVerboseWaiting(t *testing.T) {
	bubble(t, everyFifth(), func(s story, start time.Time) {
		s.takes(1, true)
		blocked, err := s.Blocking().Verbose().Take(s.Context(), 1)
		if err != nil {
			s.Fatal(err)
		}
		equal(s, "wait", blocked.Value, 200*time.Millisecond)
		equal(s, "debt while it waited", blocked.Available, -1)
		refused, err := s.Blocking().Verbose().TryTake(s.Context(), 1, time.Millisecond)
		equal(s, "refused", refused.Value, false)
		equal(s, "error", err, nil)
		equal(s, "nothing taken", refused.Available, 0)
		answer := <-s.Scheduled().Verbose().TryTake(2, time.Second)
		equal(s, "scheduled", answer.Value, true)
		equal(s, "its debt", answer.Each[0], -2)
		equal(s, "its reset", answer.Reset, 600*time.Millisecond)
		equal(s, "refused too", (<-s.Scheduled().Verbose().TryTake(2, 0)).Value, false)
		later, err := s.Scheduled().Verbose().Take(1)
		if err != nil {
			s.Fatal(err)
		}
		equal(s, "wait", (<-later).Value, 200*time.Millisecond)
	})
}

func TestReservations(t *testing.T) {
	tell(t, only(greedy("10/m", 20).holding(5)), func(s story) {
		s.pass(6 * time.Second)
		r, ok := s.Reserve(16, limiter.Never)
		equal(s, "reserved", ok, true)
		s.available(-10)
		equal(s, "wait", r.Wait(), time.Minute)
		s.pass(30 * time.Second)
		equal(s, "left", r.Left(), 30*time.Second)
		if _, ok := s.Reserve(5, 59*time.Second); ok {
			s.Error("reserved beyond the longest wait")
		}
		second, ok := s.Reserve(5, time.Minute)
		equal(s, "reserved", ok, true)
		equal(s, "wait", second.Wait(), time.Minute)
		s.available(-10)

		equal(s, "cancelled", r.Cancel(), true)
		s.available(6)
		equal(s, "cancelled twice", r.Cancel(), false)
		s.available(6)
		s.pass(time.Minute)
		s.available(16)
		equal(s, "in time", second.Left(), 0)
		s.pass(1)
		equal(s, "too late", second.Cancel(), false)
		s.available(16)
	})
}

func TestCancelAfterTheConfigurationWasReplaced(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(s story)
		want   int64
	}{
		{"proportional", func(s story) { s.replaces(limiter.Proportional, greedy("1/h", 5)) }, 2},
		{"as it is", func(s story) { s.replaces(limiter.AsIs, greedy("1/h", 20)) }, 4},
		{"additive", func(s story) { s.replaces(limiter.Additive, greedy("1/h", 20)) }, 14},
		{"reset", func(s story) { s.replaces(limiter.Reset, greedy("1/h", 20).holding(3)) }, 3},
		{"another bandwidth", func(s story) { s.replaces(limiter.AsIs, greedy("1/h", 20).holding(3).with("new")) }, 3},
		{"filled, and emptied by others", func(s story) { s.Reset(); s.TakeAll() }, 0},
		{"halved and doubled", func(s story) {
			s.replaces(limiter.Proportional, greedy("1/h", 5))
			s.replaces(limiter.Proportional, greedy("1/h", 10))
		}, 4},
	} {
		tell(t, only(greedy("1/h", 10).holding(4)), func(s story) {
			r, _ := s.Reserve(12, limiter.Never)
			s.available(-8)
			c.change(s)
			equal(s, c.what+": cancelled", r.Cancel(), true)
			if s.available(c.want); s.Failed() {
				s.Log(c.what)
			}
		})
	}
}
