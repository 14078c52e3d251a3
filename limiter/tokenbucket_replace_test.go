package limiter

import (
	"testing"
	"time"
)

func (s bucketStory) replaced(now time.Duration, rate string, burst int64, inherit Inherit, change ...func(*BucketConfig)) bucketStory {
	s.t.Helper()
	next := newStory(s.t, rate, burst, change...)
	b := *s.b
	if err := b.Replace(now, next.b.Plan().Config(), inherit); err != nil {
		s.t.Fatal(err)
	}
	return bucketStory{s.t, &b}
}

func TestReplacingCarriesTokensOver(t *testing.T) {
	s := newStory(t, "100/m", 100, holding(40))
	for inherit, want := range map[Inherit][2]int64{
		Proportional: {80, 8}, "": {80, 8}, AsIs: {40, 20}, Additive: {140, 20}, Reset: {200, 20},
	} {
		s.replaced(0, "100/m", 200, inherit).exactly(0, want[0], 0, 1)
		s.replaced(0, "100/m", 20, inherit).exactly(0, want[1], 0, 1)
	}
	s.replaced(0, "100/m", 200, Reset, holding(7)).exactly(0, 7, 0, 1)
}

func TestReplacingCarriesFractionsOver(t *testing.T) {
	s := newStory(t, "3/5ns", 3, holding(0))
	s.exactly(3, 1, 4, 5)

	as := s.replaced(3, "60/1000ns", 60, AsIs)
	as.exactly(3, 1, 4, 5)
	as.exactly(7, 2, 4, 100)

	proportional := s.replaced(3, "60/1000ns", 60, Proportional)
	proportional.exactly(3, 36, 0, 1)
	proportional.exactly(7, 36, 24, 100)
	proportional.exactly(20, 37, 2, 100)

	additive := s.replaced(3, "60/1000ns", 60, Additive)
	additive.exactly(3, 58, 4, 5)
	additive.exactly(7, 59, 4, 100)

	s.replaced(3, "60/1000ns", 60, Reset).exactly(3, 60, 0, 1)

	// By periods there are no fractions.
	s.replaced(3, "60/1000ns", 60, AsIs, refilled(Interval)).exactly(3, 1, 0, 1)
	s.replaced(3, "7/9ns", 7, Proportional, refilled(Interval)).exactly(3, 4, 0, 1)
}

func TestReplacingCarriesDebtOver(t *testing.T) {
	s := newStory(t, "1/4ns", 6, holding(0))
	s.b.Take(1, 3)
	s.exactly(1, -3, 1, 4)
	s.replaced(1, "1/8ns", 3, Proportional).exactly(1, -2, 5, 8)
	s.replaced(1, "1/8ns", 3, AsIs).exactly(1, -3, 2, 8)
	s.replaced(1, "1/3ns", 3, AsIs).exactly(1, -3, 0, 3) // a quarter of a token is no whole third: rounded down
	s.replaced(1, "1/4ns", 8, Additive).exactly(1, -1, 1, 4)
}

func TestReplacingNeverExceedsTheNewBurst(t *testing.T) {
	s := newStory(t, "10/s", 10)
	s.b.ForceAdd(0, 10)
	for _, inherit := range []Inherit{Proportional, AsIs, Additive, Reset} {
		s.replaced(0, "10/s", 15, inherit).exactly(0, 15, 0, 1)
		s.replaced(0, "10/s", 5, inherit).exactly(0, 5, 0, 1)
	}
	s = newStory(t, "10/s", 20, holding(15))
	s.replaced(0, "10/s", 40, Proportional).exactly(0, 30, 0, 1)
}

func TestReplacingAndTime(t *testing.T) {
	// 50 s into a minute, a shorter period does not pay for the time gone by.
	s := newStory(t, "10/m", 100, holding(0), refilled(Interval))
	r := s.replaced(50*time.Second, "10/20s", 100, AsIs, refilled(Interval))
	r.exactly(50*time.Second, 0, 0, 1)
	r.exactly(60*time.Second, 10, 0, 1)

	// An earlier now does not turn the bucket's time back.
	s = newStory(t, "1/s", 10, holding(0))
	s.b.Take(5*time.Second, 5)
	r = s.replaced(time.Second, "2/s", 10, AsIs)
	r.exactly(5*time.Second, 0, 0, 1)
	r.exactly(6*time.Second, 2, 0, 1)

	// A bucket whose first refill lies ahead has no time of its own yet.
	s = newStory(t, "10/m", 10, holding(0), refilled(Aligned), func(c *BucketConfig) { c.Start = time.Hour })
	r = s.replaced(time.Second, "1/s", 10, AsIs)
	r.exactly(3*time.Second, 2, 0, 1)
}
