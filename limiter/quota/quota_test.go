package quota

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairgate/limiter"
)

// A desk is a limit named "it", and a clock that goes when told.
type desk struct {
	*testing.T
	*Limits
	at time.Duration
}

func opened(t *testing.T, rate string, change ...func(*Limit)) *desk {
	t.Helper()
	r, err := limiter.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	limit := Limit{Rate: r}
	for _, c := range change {
		c(&limit)
	}
	d := &desk{T: t}
	d.Limits, err = New(Config{Limits: map[string]Limit{"it": limit}, Now: func() time.Duration { return d.at }, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func capacity(n int64) func(*Limit) { return func(l *Limit) { l.Capacity = n } }
func reserved(n int64) func(*Limit) { return func(l *Limit) { l.MaxReserved = &n } }
func shards(n int) func(*Limit)     { return func(l *Limit) { l.Shards = n } }
func windows(start time.Duration) func(*Limit) {
	return func(l *Limit) { l.Algorithm, l.Start = limiter.AlgorithmFixedWindow, &start }
}

// asks checks first, which must say the same, then takes.
func (d *desk) asks(at time.Duration, r Request, want Verdict) {
	d.Helper()
	d.at = at
	if got, err := d.Check("it", r); err != nil || got != want {
		d.Errorf("at %v %+v is checked as %+v %v, want %+v", at, r, got, err, want)
	}
	if got, err := d.Take("it", r); err != nil || got != want {
		d.Errorf("at %v %+v is answered %+v %v, want %+v", at, r, got, err, want)
	}
}

func (d *desk) holds(at time.Duration, key string, want int64) {
	d.Helper()
	d.at = at
	if got, err := d.Level("it", key); err != nil || got != want {
		d.Errorf("at %v %q holds %d %v, want %d", at, key, got, err, want)
	}
}

var yes = Verdict{OK: true}

func TestTakingAndTheExactWait(t *testing.T) {
	d := opened(t, "10/m", capacity(20))
	d.asks(0, Request{Count: 15}, yes)
	d.holds(30*time.Second, "", 10)
	d.asks(30*time.Second, Request{Count: 15}, Verdict{RetryAfter: 30 * time.Second})
	d.asks(30*time.Second, Request{Count: 8}, yes)
	d.holds(30*time.Second, "", 2)
	d.asks(30*time.Second, Request{}, yes) // a count of 1
	d.holds(30*time.Second, "", 1)
	d.asks(30*time.Second, Request{Count: 21}, Verdict{RetryAfter: limiter.Never})
	d.asks(30*time.Second, Request{Key: "another", Count: 20}, yes)
}

func TestCapacityIsTheRateUnlessSaid(t *testing.T) {
	for rate, want := range map[string]int64{"10/m": 10, "17/30s": 17, "1.39/s": 1, "0.5/s": 1} {
		opened(t, rate).holds(0, "", want)
	}
	opened(t, "10/m", capacity(3)).holds(time.Hour, "", 3)
}

func TestReserving(t *testing.T) {
	d := opened(t, "10/m", capacity(20), reserved(10))
	d.asks(0, Request{Count: 15}, yes) // holding 5
	d.asks(6*time.Second, Request{Count: 16, Reserve: true}, Verdict{OK: true, RetryAfter: time.Minute})
	d.holds(6*time.Second, "", -10)
	d.asks(6*time.Second, Request{Reserve: true}, Verdict{RetryAfter: 6 * time.Second})
	d.asks(6*time.Second, Request{}, Verdict{RetryAfter: 66 * time.Second})
	d.asks(36*time.Second, Request{Count: 5, Reserve: true}, Verdict{OK: true, RetryAfter: time.Minute})
	d.holds(36*time.Second, "", -10)

	d = opened(t, "10/m", capacity(20)) // as far as one likes
	d.asks(0, Request{Count: 1020, Reserve: true}, Verdict{OK: true, RetryAfter: 100 * time.Minute})

	d = opened(t, "10/m", capacity(20), reserved(0)) // not at all
	d.asks(0, Request{Count: 20, Reserve: true}, yes)
	d.asks(0, Request{Count: 1, Reserve: true}, Verdict{RetryAfter: 6 * time.Second})
	d.holds(0, "", 0)
}

// A refused reservation is told when it passes as a reservation, which is sooner than when as many could be taken, and
// possible up to the capacity and the reserve together.
func TestRefusedReservationsWaitForRoomToReserve(t *testing.T) {
	d := opened(t, "10/s", reserved(5))
	d.asks(0, Request{Count: 15, Reserve: true}, Verdict{OK: true, RetryAfter: 500 * time.Millisecond})
	d.holds(0, "", -5)
	for count, wait := range map[int64]time.Duration{
		1: 100 * time.Millisecond, 5: 500 * time.Millisecond, 8: 800 * time.Millisecond, 12: 1200 * time.Millisecond,
		15: 1500 * time.Millisecond, 16: limiter.Never,
	} {
		d.asks(0, Request{Count: count, Reserve: true}, Verdict{RetryAfter: wait})
	}
	d.asks(0, Request{Count: 8}, Verdict{RetryAfter: 1300 * time.Millisecond})
	d.asks(800*time.Millisecond, Request{Count: 8, Reserve: true}, Verdict{OK: true, RetryAfter: 500 * time.Millisecond})

	d = opened(t, "1/24h", capacity(100_000)) // a debt of 292 years can be said, no longer one
	d.asks(0, Request{Count: 206_000, Reserve: true}, Verdict{OK: true, RetryAfter: 106_000 * 24 * time.Hour})
	d.asks(0, Request{Count: 1000, Reserve: true}, Verdict{RetryAfter: limiter.Never})
}

// What is asked of other keys does not change what a key is answered, and looking does not change anything.
func TestLookingAheadSeesTheShardsThatAnswer(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 10} {
		d := opened(t, "8/m", shards(n))
		refused := 0
		for i := range 400 {
			r := Request{Key: "ada", Count: int64(i%3 + 1), Reserve: i%7 == 0}
			checked, err := d.Check("it", r)
			if err != nil {
				t.Fatal(err)
			}
			for range i % 3 {
				if _, err := d.Take("it", Request{Key: "bob"}); err != nil {
					t.Fatal(err)
				}
				if again, _ := d.Check("it", r); again != checked {
					t.Fatalf("%d shards: %+v is checked as %+v, then as %+v", n, r, checked, again)
				}
			}
			d.asks(d.at, r, checked)
			if !checked.OK {
				refused++
			}
			d.at += 5 * time.Second
		}
		if refused == 0 || refused == 400 {
			t.Errorf("%d shards: %d of 400 refused, which says little", n, refused)
		}
	}
}

func TestFixedWindow(t *testing.T) {
	d := opened(t, "10/m", windows(20*time.Second))
	d.asks(0, Request{Count: 5}, yes)
	d.asks(6*time.Second, Request{Count: 16, Reserve: true}, Verdict{OK: true, RetryAfter: 74 * time.Second})
	d.holds(6*time.Second, "", -11)
	d.holds(20*time.Second, "", -1)
	d.asks(20*time.Second, Request{Count: 1}, Verdict{RetryAfter: time.Minute})
	d.holds(80*time.Second, "", 9)
	d.holds(140*time.Second, "", 10) // what was not used is lost, as the capacity is the rate

	d = opened(t, "10/m", windows(0), capacity(25)) // and here rolls over
	d.asks(0, Request{Count: 25}, yes)
	d.holds(time.Minute-1, "", 0)
	d.holds(time.Minute, "", 10)
	d.holds(2*time.Minute, "", 20)
	d.holds(3*time.Minute, "", 25)
}

func TestKeysHaveWindowsOfTheirOwn(t *testing.T) {
	d := opened(t, "10/m", func(l *Limit) { l.Algorithm = limiter.AlgorithmFixedWindow })
	ends := map[time.Duration]bool{}
	for i := range 50 {
		r := Request{Key: fmt.Sprint(i), Count: 10}
		d.asks(0, r, yes)
		v, err := d.Check("it", r)
		if err != nil || v.RetryAfter <= 0 || v.RetryAfter > time.Minute {
			t.Fatalf("told to come again after %v %v", v.RetryAfter, err)
		}
		ends[v.RetryAfter] = true
		d.asks(v.RetryAfter-1, r, Verdict{RetryAfter: 1})
		d.asks(v.RetryAfter, r, yes)
	}
	if len(ends) < 45 {
		t.Errorf("50 keys share %d moments to come back at", len(ends))
	}
}

func TestTwoShardsPayTogether(t *testing.T) {
	d := opened(t, "1/m", shards(2), reserved(0)) // half a token each
	d.asks(0, Request{}, yes)
	a := d.account("")
	for i, b := range a.shards() {
		if level := b.Level(0); level != 0 {
			t.Errorf("shard %d ends at %d halves, want 0", i, level)
		}
	}
	d.asks(0, Request{}, Verdict{RetryAfter: time.Minute})
	d.asks(time.Minute, Request{}, yes)

	// Four shards of half a token: any two of them can pay for one, until they meet an empty one.
	d = opened(t, "2/m", shards(4))
	d.asks(0, Request{}, yes)
	d.holds(0, "", 1)
}

func (d *desk) account(key string) (a account) {
	d.named["it"].keys.Peek(d.at, key, func(kept *account) { a = *kept })
	return a
}

// The wait of two shards is exact: with nobody else it then passes, and 1 ns before it does not.
func TestTwoShardsKeepTheirWord(t *testing.T) {
	d := opened(t, "7/s", shards(2), capacity(9))
	for i := range 2000 {
		r := Request{Count: int64(i%9 + 1)}
		v, err := d.Take("it", r)
		if err != nil {
			t.Fatal(err)
		}
		if !v.OK {
			d.at += v.RetryAfter - 1
			if v, _ := d.Check("it", r); v.RetryAfter != 1 {
				t.Fatalf("1 ns early %d tokens are answered %+v", r.Count, v)
			}
			d.at++
			d.asks(d.at, r, yes)
		}
		d.at += time.Duration(i*7919%1000) * time.Millisecond
	}
}

// However requests are spread, shards admit no more than the undivided limit would, and with the better of two
// nearly as much of what it could take.
func TestShardsStayWithinTheLimit(t *testing.T) {
	for n := 1; n <= 12; n++ {
		d := opened(t, "100/s", shards(n), capacity(50))
		admitted, asked := 0, 0
		for ; d.at < 10*time.Second; d.at += 12500 * time.Microsecond { // 80/s
			v, err := d.Take("it", Request{})
			if err != nil {
				t.Fatal(err)
			}
			asked++
			if v.OK {
				admitted++
			}
		}
		if admitted < asked*999/1000 {
			t.Errorf("%d shards: %d of %d admitted at 80%% of the limit", n, admitted, asked)
		}
		for range 5000 {
			if v, _ := d.Take("it", Request{}); v.OK {
				admitted++
			}
		}
		if bound := 50 + 1000; admitted > bound {
			t.Errorf("%d shards: %d admitted, above the bound of %d", n, admitted, bound)
		}
	}
}

func TestShardsDivideWhatMayBeReserved(t *testing.T) {
	d := opened(t, "10/m", shards(2), capacity(20), reserved(10))
	for range 2 { // each shard: 10 held, 5 to reserve
		d.asks(0, Request{Count: 15, Reserve: true}, Verdict{OK: true, RetryAfter: time.Minute})
	}
	d.holds(0, "", -10)
	d.asks(0, Request{Reserve: true}, Verdict{RetryAfter: 12 * time.Second}) // one of 5 a minute
	d.asks(0, Request{}, Verdict{RetryAfter: 66 * time.Second})
}

func TestResetGivesAFullLimit(t *testing.T) {
	d := opened(t, "10/h")
	d.asks(0, Request{Key: "ada", Count: 10}, yes)
	d.asks(0, Request{Key: "ada"}, Verdict{RetryAfter: 6 * time.Minute})
	if err := d.Reset("it", "ada"); err != nil {
		t.Fatal(err)
	}
	d.asks(0, Request{Key: "ada", Count: 10}, yes)
}

func TestRequireGivesAnError(t *testing.T) {
	d := opened(t, "10/m", reserved(5))
	if wait, err := d.Require("it", Request{Key: "ada", Count: 10}); wait != 0 || err != nil {
		t.Errorf("admitted, but %v %v", wait, err)
	}
	wait, err := d.Require("it", Request{Key: "ada", Count: 2, Reserve: true})
	if wait != 12*time.Second || err != nil {
		t.Errorf("reserved, but %v %v", wait, err)
	}
	_, err = d.Require("it", Request{Key: "ada", Count: 4})
	var exceeded *Exceeded
	if !errors.As(err, &exceeded) || *exceeded != (Exceeded{"it", "ada", 36 * time.Second}) {
		t.Errorf("refused with %v", err)
	}
	if got, want := err.Error(), `limit "it" of "ada" exceeded: retry after 36s`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err = d.Require("it", Request{Count: 11}); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("above the capacity: %v", err)
	}
}

func TestWrongUseIsAnError(t *testing.T) {
	d := opened(t, "10/m")
	for text, call := range map[string]func() error{
		`there is no limit "that": the limits are it`: func() error { _, err := d.Take("that", Request{}); return err },
		`there is no limit "this"`:                    func() error { _, err := d.Check("this", Request{}); return err },
		`there is no limit "those"`:                   func() error { return d.Reset("those", "") },
		`limit "it": count -3 must not be negative`:   func() error { _, err := d.Take("it", Request{Count: -3}); return err },
		`count -1`: func() error { _, err := d.Check("it", Request{Count: -1}); return err },
		`count -2`: func() error { _, err := d.Require("it", Request{Count: -2}); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
	}
	d.holds(0, "", 10)
}

func TestLimitsThatAreRefused(t *testing.T) {
	minus, start := int64(-1), time.Second
	for text, limit := range map[string]Limit{
		"a rate is missing":         {},
		"burst -5":                  {Rate: limiter.PerSecond(1), Capacity: -5},
		"max reserved -1":           {Rate: limiter.PerSecond(1), MaxReserved: &minus},
		"shards -2":                 {Rate: limiter.PerSecond(1), Shards: -2},
		"shards 100000":             {Rate: limiter.PerSecond(1), Shards: 100_000},
		"start 1s is for":           {Rate: limiter.PerSecond(1), Start: &start},
		`algorithm "gcra"`:          {Rate: limiter.PerSecond(1), Algorithm: limiter.AlgorithmGCRA},
		"is too much for 10 shards": {Rate: limiter.PerSecond(1), Capacity: 1 << 62, Shards: 10},
	} {
		_, err := New(Config{Limits: map[string]Limit{"odd": limit}})
		if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), `limit "odd"`) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
	}
}

func TestRedefine(t *testing.T) {
	d := opened(t, "100/m", shards(2))
	for range 2 {
		d.asks(0, Request{Key: "ada", Count: 30}, yes)
	}
	wider := Limit{Rate: limiter.Rate{Tokens: 200, Per: time.Minute}, Shards: 2}
	if err := d.Redefine("it", wider, limiter.Proportional); err != nil {
		t.Fatal(err)
	}
	d.holds(0, "ada", 80)
	d.holds(0, "bob", 200)
	for text, call := range map[string]func() error{
		"shards 2 cannot become 3": func() error { return d.Redefine("it", Limit{Rate: wider.Rate, Shards: 3}, limiter.AsIs) },
		`inherit "generously"`:     func() error { return d.Redefine("it", wider, "generously") },
		"a rate is missing":        func() error { return d.Redefine("it", Limit{Shards: 2}, limiter.AsIs) },
		`there is no limit "that"`: func() error { return d.Redefine("that", wider, limiter.AsIs) },
		"cannot change in length, begin or end": func() error {
			return d.Redefine("it", Limit{Rate: wider.Rate, Shards: 2, Algorithm: limiter.AlgorithmFixedWindow}, limiter.AsIs)
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
	}
	d.holds(0, "ada", 80)
}

// Whether a key that rests was dropped before a change, or not yet, cannot be seen after it.
func TestRedefineTreatsFreshKeysAsForgotten(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		d := opened(t, "100/s")
		d.asks(0, Request{Key: "ada"}, yes)
		d.at = time.Hour
		if sweep {
			d.Sweep()
		}
		if err := d.Redefine("it", Limit{Rate: limiter.PerSecond(200)}, limiter.AsIs); err != nil {
			t.Fatal(err)
		}
		d.holds(d.at, "ada", 200)
	}
}

func TestKeysAreForgottenWhenFresh(t *testing.T) {
	for _, d := range []*desk{
		opened(t, "10/m"), opened(t, "10/m", shards(3)), opened(t, "10/m", windows(time.Second)),
		opened(t, "10/m", func(l *Limit) { l.Algorithm = limiter.AlgorithmFixedWindow }),
	} {
		for i := range 20 {
			d.asks(0, Request{Key: fmt.Sprint(i)}, yes)
		}
		if n := d.Sweep(); n != 0 || d.Keys("it") != 20 {
			t.Errorf("%d of 20 keys swept that are not fresh", n)
		}
		d.at = time.Hour
		if n := d.Sweep(); n != 20 || d.Keys("it") != 0 {
			t.Errorf("%d of 20 fresh keys swept", n)
		}
	}
}

func TestGoroutinesShareLimits(t *testing.T) {
	d := opened(t, "100/h", shards(4), capacity(1000))
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				if v, err := d.Take("it", Request{Key: "shared"}); err != nil {
					t.Error(err)
				} else if v.OK {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 1000 {
		t.Errorf("%d admitted, want exactly 1000", admitted.Load())
	}
}

func BenchmarkTake(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprint(n, " shards"), func(b *testing.B) {
			l, err := New(Config{Limits: map[string]Limit{"it": {Rate: limiter.PerSecond(1_000_000), Shards: n}}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Take("it", Request{Key: "ada"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// 80 requests a second, evenly spaced, at ten shards that make 100/s together: what the better of two that pay
// together still refuses depends on what each shard can save up.
func TestRefusalsOfTenShards(t *testing.T) {
	for perShard, want := range map[int64]float64{1: 16.1, 2: 0.3, 5: 0, 10: 0} {
		d := opened(t, "100/s", shards(10), capacity(10*perShard))
		refused, asked := 0, 0
		for ; d.at < 200*time.Second; d.at += 12500 * time.Microsecond {
			v, err := d.Take("it", Request{})
			if err != nil {
				t.Fatal(err)
			}
			if asked++; !v.OK {
				refused++
			}
		}
		if got := 100 * float64(refused) / float64(asked); got < want-1 || got > want+1 {
			t.Errorf("capacity %d a shard: %.1f%% refused, want %.1f%% ± 1", perShard, got, want)
		}
	}
}
