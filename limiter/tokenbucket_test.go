package limiter

import (
	"math"
	"strings"
	"testing"
	"time"
)

var _ interface {
	Wait(now time.Duration, cost int64) time.Duration
	Take(now time.Duration, cost int64)
	Remaining(now time.Duration) int64
	Reset(now time.Duration) time.Duration
	Fresh(now time.Duration) bool
} = (*TokenBucket)(nil)

// A bucketStory is one bucket and what happens to it in order.
type bucketStory struct {
	t *testing.T
	b *TokenBucket
}

func newStory(t *testing.T, rate string, burst int64, change ...func(*BucketConfig)) bucketStory {
	t.Helper()
	r, err := ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	cfg := BucketConfig{Rate: r, Burst: burst}
	for _, c := range change {
		c(&cfg)
	}
	b, err := NewTokenBucket(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	return bucketStory{t, b}
}

func holding(n int64) func(*BucketConfig)   { return func(c *BucketConfig) { c.Initial = &n } }
func refilled(r Refill) func(*BucketConfig) { return func(c *BucketConfig) { c.Refill = r } }

func (s bucketStory) exactly(now time.Duration, whole int64, part, of uint64) {
	s.t.Helper()
	w, p, o := s.b.Exact(now)
	if w != whole || p*of != part*o {
		s.t.Errorf("at %v: holds %d + %d/%d tokens, want %d + %d/%d", now, w, p, o, whole, part, of)
	}
}

func (s bucketStory) try(now time.Duration, cost int64) bool {
	if s.b.Wait(now, cost) > 0 {
		return false
	}
	s.b.Take(now, cost)
	return true
}

func (s bucketStory) admits(now time.Duration, cost, left int64) {
	s.t.Helper()
	if !s.try(now, cost) {
		s.t.Fatalf("at %v: a cost of %d is refused for %v", now, cost, s.b.Wait(now, cost))
	}
	if got := s.b.Level(now); got != left {
		s.t.Errorf("at %v: %d tokens left, want %d", now, got, left)
	}
}

func (s bucketStory) refuses(now time.Duration, cost int64, wait time.Duration) {
	s.t.Helper()
	before := *s.b
	if got := s.b.Wait(now, cost); got != wait {
		s.t.Errorf("at %v: a cost of %d waits %v, want %v", now, cost, got, wait)
	}
	if *s.b != before {
		s.t.Errorf("at %v: asking changed the bucket from %+v to %+v", now, before, *s.b)
	}
}

func (s bucketStory) fullIn(now, want time.Duration) {
	s.t.Helper()
	if got := s.b.Reset(now); got != want {
		s.t.Errorf("at %v: full in %v, want %v", now, got, want)
	}
}

func TestTokenBucketRegainsContinuously(t *testing.T) {
	s := newStory(t, "10/m", 20)
	s.admits(1*time.Second, 5, 15)
	s.exactly(5*time.Second, 15, 2, 3)
	s.exactly(10*time.Second, 16, 1, 2)
	s.fullIn(1*time.Second, 30*time.Second)
	s.fullIn(31*time.Second, 0)
	s.fullIn(31*time.Second-1, 1)
}

func TestTokenBucketTellsTheExactWait(t *testing.T) {
	s := newStory(t, "10/m", 20, holding(5))
	s.refuses(30*time.Second, 15, 30*time.Second)
	s.admits(30*time.Second, 8, 2)

	s = newStory(t, "10/m", 20, holding(5))
	s.refuses(0, 21, Never)
	s.refuses(0, math.MaxInt64, Never)
	s.refuses(0, 0, 0)
	s.refuses(0, -3, 0)

	// 3 tokens in 10 ns: the first whole one after 3⅓ ns, told as 4.
	s = newStory(t, "3/10ns", 3, holding(0))
	s.refuses(0, 1, 4)
	s.refuses(3, 1, 1)
	s.admits(4, 1, 0)
	s.exactly(4, 0, 1, 5)
}

func TestTokenBucketGoesIntoDebt(t *testing.T) {
	s := newStory(t, "10/m", 20, holding(5))
	s.b.Take(6*time.Second, 16)
	s.exactly(6*time.Second, -10, 0, 1)
	if got := s.b.Repaid(6 * time.Second); got != time.Minute {
		t.Errorf("ready in %v, want 1m", got)
	}
	if got := s.b.Remaining(6 * time.Second); got != 0 {
		t.Errorf("remaining %d, want 0 while in debt", got)
	}
	s.b.Take(36*time.Second, 5)
	s.exactly(36*time.Second, -10, 0, 1)
	if got := s.b.Repaid(36 * time.Second); got != time.Minute {
		t.Errorf("ready in %v, want 1m", got)
	}
	if got := s.b.Repaid(96 * time.Second); got != 0 {
		t.Errorf("ready in %v, want at once", got)
	}
}

func TestTokenBucketAndTimeThatGoesBack(t *testing.T) {
	s := newStory(t, "10/s", 10)
	admitted := 0
	for i := range 1000 {
		if s.try(time.Hour+time.Duration(i%2)*100*time.Millisecond, 1) {
			admitted++
		}
	}
	if admitted != 11 {
		t.Errorf("%d admitted by a clock that swings by one token's time, want 11", admitted)
	}

	// An empty bucket asked by a clock that is 1 s behind: told the wait on that clock.
	s = newStory(t, "1/s", 10)
	s.b.Take(5*time.Second, 10)
	s.refuses(4*time.Second, 1, 2*time.Second)
	s.b.Take(4*time.Second, 0)
	s.refuses(5*time.Second, 1, time.Second)
}

func TestTokenBucketGreedyRefillKeepsTheRemainder(t *testing.T) {
	s := newStory(t, "100/1000ns", 100, holding(0))
	s.exactly(3, 0, 300, 1000)
	s = newStory(t, "100/1000ns", 100, holding(90))
	s.exactly(17, 91, 700, 1000)

	// Asked at every single nanosecond it comes to the same as asked once.
	s = newStory(t, "7/1000ns", 50, holding(0))
	for now := range time.Duration(5000) {
		s.b.Take(now, 0)
	}
	s.exactly(5000, 35, 0, 1)
}

func TestTokenBucketFillsWhenDeepInDebt(t *testing.T) {
	for _, c := range []struct {
		refill Refill
		want   time.Duration
	}{{Greedy, 1650}, {Interval, 1700}} {
		s := newStory(t, "2/100ns", 10, holding(0), refilled(c.refill))
		s.b.Take(0, 23)
		s.fullIn(0, c.want)
		s.fullIn(c.want-1, 1)
		s.fullIn(c.want, 0)
	}
}

func TestTokenBucketRefillsByPeriods(t *testing.T) {
	s := newStory(t, "10/m", 10, holding(0), refilled(Interval))
	for _, cost := range []int64{1, 10} {
		s.refuses(0, cost, time.Minute)
		s.refuses(15*time.Second, cost, 45*time.Second)
	}
	s.refuses(0, 15, Never)
	s.exactly(time.Minute-1, 0, 0, 1)
	s.exactly(time.Minute, 10, 0, 1)

	// Waiting for more than one period's tokens.
	s = newStory(t, "10/m", 30, holding(0), refilled(Interval))
	s.refuses(15*time.Second, 11, 105*time.Second)
	s.refuses(61*time.Second, 11, 59*time.Second)
}

func TestTokenBucketsTogether(t *testing.T) {
	fast := newStory(t, "5/6ns", 9, holding(0), refilled(Interval))
	slow := newStory(t, "4/5ns", 12, holding(0), refilled(Interval))
	for i, now := range []time.Duration{4, 5, 6, 10, 12, 15} {
		want := []int64{0, 0, 4, 5, 8, 9}[i]
		if got := min(fast.b.Level(now), slow.b.Level(now)); got != want {
			t.Errorf("at %d ns: %d available to both, want %d", now, got, want)
		}
	}
}

func TestTokenBucketAlignedAndAdaptive(t *testing.T) {
	for tokens, want := range map[string]int64{"400/m": 266, "300/m": 300, "200/m": 333, "100/m": 366} {
		s := newStory(t, tokens, 400, refilled(Aligned), func(c *BucketConfig) {
			c.Adaptive, c.Start = true, 40*time.Second
		})
		s.exactly(0, want, 0, 1)
		s.b.Take(0, want)
		s.exactly(40*time.Second-1, 0, 0, 1)
		s.refuses(0, 1, 40*time.Second)
		s.exactly(40*time.Second, int64(s.b.Plan().tokens), 0, 1)
		// Built after the first refill: the grid goes on from there.
		late := s.b.Plan().New(80 * time.Second)
		if got, want := late.Level(80*time.Second), lateLevel(s.b.Plan(), 20); got != want {
			t.Errorf("%s built 20 s before a refill holds %d, want %d", tokens, got, want)
		}
	}
	// Nothing before the start, however many periods it is away.
	s := newStory(t, "10/m", 10, holding(0), refilled(Aligned), func(c *BucketConfig) { c.Start = time.Hour })
	s.refuses(0, 1, time.Hour)
	s.exactly(time.Hour-1, 0, 0, 1)
	s.exactly(time.Hour, 10, 0, 1)
}

// lateLevel is the burst without one period's tokens, and as many of those as belong to the seconds left of a minute.
func lateLevel(p *BucketPlan, seconds int64) int64 {
	return p.burst - int64(p.tokens) + int64(p.tokens)*seconds/60
}

func TestTokenBucketAddsAndRefills(t *testing.T) {
	s := newStory(t, "1/h", 10)
	s.b.Add(0, 5)
	s.exactly(0, 10, 0, 1)
	s.b.ForceAdd(0, 5)
	s.exactly(0, 15, 0, 1)
	s.exactly(100*time.Hour, 15, 0, 1) // nothing comes in above the burst, and nothing leaks
	s.admits(0, 12, 3)                 // what is there may be taken, also more than the burst
	s.refuses(0, 11, Never)
	s.b.Take(0, 7)
	s.exactly(0, -4, 0, 1)
	s.b.Add(0, 6)
	s.exactly(0, 2, 0, 1)
	s.b.Refill(0)
	s.exactly(0, 10, 0, 1)
	s.b.Add(0, -4)
	s.b.ForceAdd(0, -4)
	s.exactly(0, 10, 0, 1)
	s.b.ForceAdd(0, math.MaxInt64)
	s.exactly(0, math.MaxInt64, 0, 1)
	s.b.Refill(0)
	s.exactly(0, 10, 0, 1)
}

func TestTokenBucketIsFreshOnlyWhenNothingTellsItApart(t *testing.T) {
	s := newStory(t, "1/s", 5)
	if !s.b.Fresh(0) || !s.b.Fresh(time.Hour) {
		t.Error("an untouched bucket is not fresh")
	}
	s.b.Take(time.Second, 2)
	for now, want := range map[time.Duration]bool{
		time.Second: false, 3*time.Second - 1: false, 3 * time.Second: true, time.Hour: true,
	} {
		if s.b.Fresh(now) != want {
			t.Errorf("2 tokens taken at 1 s: fresh at %v is %v", now, !want)
		}
	}
	s.b.ForceAdd(time.Hour, 1)
	if s.b.Fresh(time.Hour) {
		t.Error("a bucket above its burst counts as fresh")
	}
	// A grid is the same for all buckets of a plan, so a full one is fresh in the middle of a period.
	s = newStory(t, "5/s", 5, refilled(Interval), func(c *BucketConfig) { c.Start = 300 * time.Millisecond })
	s.b.Take(0, 1)
	if s.b.Fresh(299*time.Millisecond) || !s.b.Fresh(300*time.Millisecond) || !s.b.Fresh(777*time.Millisecond) {
		t.Error("a bucket on a grid is fresh from its refill on, and not before")
	}
	// One that began with less than its burst would lose by being forgotten.
	s = newStory(t, "1/s", 5, holding(2))
	if !s.b.Fresh(0) || s.b.Fresh(time.Minute) {
		t.Error("a full bucket whose new ones hold 2 counts as fresh")
	}
}

func TestTokenBucketRefusesConfigurations(t *testing.T) {
	minus, many := int64(-1), int64(11)
	ok := BucketConfig{Rate: PerSecond(10), Burst: 10}
	for text, change := range map[string]func(*BucketConfig){
		"rate is missing":      func(c *BucketConfig) { c.Rate = Rate{} },
		"above zero":           func(c *BucketConfig) { c.Rate = PerSecond(-1) },
		"above 1000000000/s":   func(c *BucketConfig) { c.Rate = PerSecond(2_000_000_000) },
		"burst 0":              func(c *BucketConfig) { c.Burst = 0 },
		"burst -5":             func(c *BucketConfig) { c.Burst = -5 },
		`refill "drip"`:        func(c *BucketConfig) { c.Refill = "drip" },
		"initial tokens -1":    func(c *BucketConfig) { c.Initial = &minus },
		"initial tokens 11":    func(c *BucketConfig) { c.Initial = &many },
		"need aligned refill":  func(c *BucketConfig) { c.Adaptive = true },
		"exclude each other":   func(c *BucketConfig) { c.Adaptive, c.Refill, c.Initial = true, Aligned, &c.Burst },
		"is too far":           func(c *BucketConfig) { c.Start = Never },
		`inherit "generously"`: nil,
	} {
		cfg, inherit := ok, AsIs
		if change != nil {
			change(&cfg)
		} else {
			inherit = "generously"
		}
		b, _ := NewTokenBucket(ok, 0)
		before := *b
		err := b.Replace(time.Second, cfg, inherit)
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want an error with %q, got %v", text, err)
		}
		if at := b.Level(time.Second); at != 10 || b.plan != before.plan {
			t.Errorf("%s: the refused configuration changed the bucket", text)
		}
	}
}

// A burst is what comes on top: 17 every 30 s with a burst of 17 admits 33 of 60 tries within 30 s, at two a second.
// By periods it is the 17 of the start.
func TestTokenBucketBurstComesOnTop(t *testing.T) {
	for refill, want := range map[Refill]int{Greedy: 33, Interval: 17} {
		s := newStory(t, "17/30s", 17, refilled(refill))
		admitted := 0
		for i := range time.Duration(60) {
			if s.try(i*500*time.Millisecond, 1) {
				admitted++
			}
		}
		if admitted != want {
			t.Errorf("%s: %d admitted, want %d", refill, admitted, want)
		}
	}
}

// Who counted refusals too would lock this client out for ever: it tries twice as often as it may.
func TestTokenBucketDoesNotCountRefusals(t *testing.T) {
	s := newStory(t, "10/10m", 10, refilled(Interval))
	for round := range time.Duration(5) {
		admitted := 0
		for i := range time.Duration(20) {
			if s.try(round*10*time.Minute+i*30*time.Second, 1) {
				admitted++
			}
		}
		if admitted != 10 {
			t.Errorf("round %d: %d of 20 admitted, want 10", round, admitted)
		}
	}
}
