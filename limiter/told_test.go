package limiter

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestToldWaitsAreWholeSecondsRoundedUp(t *testing.T) {
	for needed, want := range map[time.Duration]time.Duration{
		1: time.Second, time.Second: time.Second, time.Second + 1: 2 * time.Second, 2500 * time.Millisecond: 3 * time.Second,
		Never: 0, Never - 1: Never / time.Second * time.Second,
	} {
		if got := (exact{}).tell(0, needed, nil); got != want {
			t.Errorf("a needed wait of %v is told as %v, want %v", needed, got, want)
		}
	}
}

func TestTheAdaptiveWaitDoublesAndFalls(t *testing.T) {
	a := newTeller(Config{RetryAfter: RetryAdaptive})
	for _, step := range []struct{ second, drops, told int64 }{
		{0, 5, 1}, {1, 11, 2}, {2, 1, 2}, {3, 11, 4}, {4, 1, 4}, {7, 1, 8}, {11, 1, 8}, {15, 1, 7}, {17, 1, 6}, {21, 14, 5}, {22, 1, 10},
	} {
		for i := range step.drops {
			now := time.Duration(step.second)*time.Second + time.Duration(i)
			if got := a.tell(now, 1, nil); got != time.Duration(step.told)*time.Second {
				t.Errorf("in second %d told %v, want %d s", step.second, got, step.told)
				break
			}
		}
	}
	for second := range int64(1000) {
		for range 200 {
			a.tell(time.Duration(100+second)*time.Second, 1, nil)
		}
	}
	if got := a.tell(2000*time.Second, 1, nil); got != 31*time.Second {
		t.Errorf("after a thousand seconds of refusals, and then quiet, told %v, want one less than the most", got)
	}
}

// A hundred clients want one request each, ten pass in each window of ten seconds, and all come back when they are told.
func TestAHerdAndHowSlotsDisperseIt(t *testing.T) {
	for _, c := range []struct {
		told              RetryAfter
		attempts, largest int
	}{{RetryExact, 550, 90}, {RetrySlot, 190, 1}} {
		s := play(t, Config{Algorithm: AlgorithmFixedWindow, Rate: rate("10/10s"), RetryAfter: c.told})
		come := map[time.Duration][]string{}
		for i := range 100 {
			come[0] = append(come[0], fmt.Sprint(i))
		}
		attempts, largest := 0, 0
		for len(come) > 0 {
			now := Never
			for at := range come {
				now = min(now, at)
			}
			if now > 0 {
				largest = max(largest, len(come[now]))
			}
			for _, name := range come[now] {
				attempts++
				if d := s.send(now, name, 1); d.Verdict == Rejected {
					come[now+d.Told] = append(come[now+d.Told], name)
				}
			}
			delete(come, now)
		}
		if attempts != c.attempts || largest != c.largest {
			t.Errorf("%s: %d attempts, %d retries in the largest instant; want %d and %d", c.told, attempts, largest, c.attempts, c.largest)
		}
	}
}

func TestASlotIsKeptForWhoComesTooEarly(t *testing.T) {
	s := play(t, Config{Rate: rate("1/s"), Burst: 1, RetryAfter: RetrySlot})
	s.admits(0, "a", 1)
	var told []time.Duration
	for _, name := range []string{"a", "b", "c", "b", "b"} {
		told = append(told, s.send(0, name, 1).Told)
	}
	if want := []time.Duration{1e9, 2e9, 3e9, 2e9, 2e9}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if got := s.send(500*time.Millisecond, "c", 1).Told; got != 3*time.Second {
		t.Errorf("c is told %v with its place 2.5 s away, want that rounded up", got)
	}
	s.admits(time.Second, "a", 1)
	if got := s.send(1600*time.Millisecond, "b", 1).Told; got != time.Second {
		t.Errorf("b is told %v with its place 0.4 s away, want a whole second", got)
	}
}

// However many come at once, no told second has more clients than the limit admits in it.
func TestNoSecondIsPromisedToMoreThanItHasPlacesFor(t *testing.T) {
	s := play(t, Config{Rate: rate("7/2s"), Burst: 1, RetryAfter: RetrySlot})
	promised := map[time.Duration]int{}
	for i := range 16_000 {
		d := s.send(time.Duration(i)*time.Millisecond/4, fmt.Sprint(i), 1)
		if back := time.Duration(i)*time.Millisecond/4 + d.Told; d.Verdict == Rejected && back < 4000*time.Second {
			promised[back/time.Second]++
		}
	}
	for second, n := range promised {
		if n > 4 {
			t.Fatalf("second %d is promised to %d clients, want at most 4", second, n)
		}
	}
	if len(promised) < 3900 {
		t.Errorf("only %d seconds are used", len(promised))
	}
}
