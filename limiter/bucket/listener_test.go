package bucket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// diary writes down what it is told.
type diary []string

func (d *diary) Consumed(n int64)              { *d = append(*d, fmt.Sprint("consumed ", n)) }
func (d *diary) Rejected(n int64)              { *d = append(*d, fmt.Sprint("rejected ", n)) }
func (d *diary) Delayed(w time.Duration)       { *d = append(*d, fmt.Sprint("delayed ", w)) }
func (d *diary) BeforeParking(w time.Duration) { *d = append(*d, fmt.Sprint("before parking ", w)) }
func (d *diary) Parked(w time.Duration)        { *d = append(*d, fmt.Sprint("parked ", w)) }
func (d *diary) Interrupted(err error)         { *d = append(*d, fmt.Sprint("interrupted: ", err)) }
func (d *diary) says(t testing.TB, want ...string) {
	t.Helper()
	if !slices.Equal(*d, want) {
		t.Errorf("the listener heard %q, want %q", *d, want)
	}
	*d = nil
}

func TestOnlyTakingsNotify(t *testing.T) {
	tell(t, only(greedy("10/m", 10)), func(s story) {
		var d diary
		s.Bucket = s.Listening(&d)
		s.takes(3, true)
		s.takes(11, false)
		s.Probe(2)
		s.Probe(9)
		s.TakeUpTo(4)
		s.TakeAll()
		s.TakeAll() // of nothing
		s.TakeAnyway(2)
		d.says(s, "consumed 3", "rejected 11", "consumed 2", "rejected 9", "consumed 4", "consumed 1", "consumed 2")
		s.Estimate(1)
		s.Available()
		s.Add(1)
		s.ForceAdd(1)
		s.Reset()
		s.Verbose().Estimate(1)
		s.replaces("", greedy("20/m", 20))
		d.says(s)
	})
}

func TestOrderOfCallsWhenWaiting(t *testing.T) {
	bubble(t, only(greedy("1/s", 1)), func(s story, _ time.Time) {
		var d diary
		s.Bucket = s.Listening(&d)
		b := s.Blocking()
		ctx := s.Context()
		if err := b.Take(ctx, 1); err != nil {
			s.Fatal(err)
		}
		d.says(s, "consumed 1")
		if err := b.Take(ctx, 2); err != nil {
			s.Fatal(err)
		}
		d.says(s, "consumed 2", "before parking 2s", "parked 2s")
		if _, err := b.TryTake(ctx, 3, time.Second); err != nil {
			s.Fatal(err)
		}
		d.says(s, "rejected 3")
		cut, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Millisecond, func() { cancel(errors.New("enough")) })
		if err := b.Take(cut, 1); err == nil {
			s.Error("the cut wait is no error")
		}
		d.says(s, "consumed 1", "before parking 1s", "interrupted: enough")
		if err := b.Take(cut, 1); err == nil {
			s.Error("the wait that was not begun is no error")
		}
		d.says(s, "rejected 1")

		time.Sleep(time.Minute)
		<-s.Scheduled().TryTake(1, 0)
		d.says(s, "consumed 1")
		<-s.Scheduled().TryTake(1, 0)
		d.says(s, "rejected 1")
		<-s.Scheduled().TryTake(1, time.Second)
		d.says(s, "consumed 1", "delayed 1s")
	})
}

func TestListeningReplacesAndDoesNotChain(t *testing.T) {
	var first, second diary
	b := mustNew(t, Config{Bandwidths: only(greedy("2/m", 2)), Listener: &first})
	view := b.Listening(&second)
	view.TryTake(1)
	b.TryTake(1)
	view.TryTake(1)
	b.Listening(nil).TryTake(1)
	first.says(t, "consumed 1")
	second.says(t, "consumed 1", "rejected 1")
}

func TestCounterCountsTokens(t *testing.T) {
	bubble(t, only(greedy("2/m", 2)), func(s story, _ time.Time) {
		var c Counter
		s.Bucket = s.Listening(&c)
		s.takes(1, true)
		s.takes(1, true)
		s.takes(2, false)
		equal(s, "counts", c.Counts(), Counts{Consumed: 2, Rejected: 2})
		if err := s.Blocking().Take(s.Context(), 1); err != nil {
			s.Fatal(err)
		}
		<-s.Scheduled().TryTake(2, time.Hour)
		ctx, cancel := context.WithCancel(s.Context())
		time.AfterFunc(time.Second, cancel)
		if s.Blocking().Take(ctx, 1) == nil {
			s.Error("the cancelled wait succeeded")
		}
		equal(s, "counts", c.Counts(), Counts{
			Consumed: 6, Rejected: 2, Parked: 30 * time.Second, Delayed: time.Minute, Interrupted: 1,
		})
		var _ Listener = Silence{}
	})
}
