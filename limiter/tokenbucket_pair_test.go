package limiter

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func (b *TokenBucket) rational(now time.Duration) *big.Rat {
	whole, part, of := b.Exact(now)
	r := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), new(big.Int).SetUint64(of))
	return r.Add(r, rational(whole))
}

// Two buckets that pay together lose exactly the cost, keep equal halves, and never go into debt; what
// they say of the wait is true to the nanosecond.
func TestTwoBucketsPayTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := BucketConfig{
			Rate:   Rate{Tokens: rapid.Int64Range(1, 50).Draw(t, "tokens"), Per: time.Duration(rapid.Int64Range(50, 5000).Draw(t, "per"))},
			Burst:  rapid.Int64Range(1, 30).Draw(t, "burst"),
			Refill: rapid.SampledFrom([]Refill{Greedy, Interval}).Draw(t, "refill"),
		}
		plan, err := cfg.Plan()
		if err != nil {
			t.Fatal(err)
		}
		a, b := plan.New(0), plan.New(0)
		now := time.Duration(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			cost := rapid.Int64Range(1, 2*cfg.Burst+1).Draw(t, "cost")
			wait := WaitTogether(now, &a, &b, cost)
			beforeA, beforeB := a, b
			sum := new(big.Rat).Add(a.rational(now), b.rational(now))
			took := TakeTogether(now, &a, &b, cost)
			left := new(big.Rat).Add(a.rational(now), b.rational(now))
			switch {
			case took != (wait == 0):
				t.Fatalf("told to wait %d ns, and took: %v", wait, took)
			case (wait == Never) != (cost > 2*cfg.Burst):
				t.Fatalf("a cost of %d of twice %d waits %d ns", cost, cfg.Burst, wait)
			case took:
				if sum.Sub(sum, rational(cost)).Cmp(left) != 0 {
					t.Fatalf("%d taken, and %v is left where %v should be", cost, left, sum)
				}
				if a.Level(now) < 0 || b.Level(now) < 0 {
					t.Fatalf("in debt: %v and %v", a.rational(now), b.rational(now))
				}
				if alone := max(beforeA.Level(now), beforeB.Level(now)) >= cost; !alone && cfg.Refill == Greedy {
					if d := new(big.Rat).Sub(a.rational(now), b.rational(now)); d.Sign() < 0 || d.Cmp(big.NewRat(1, int64(plan.per))) > 0 {
						t.Fatalf("not halved: %v and %v", a.rational(now), b.rational(now))
					}
				}
			case a != beforeA || b != beforeB:
				t.Fatal("a refusal changed a bucket")
			case wait != Never:
				if early := WaitTogether(now+wait-1, &a, &b, cost); early != 1 {
					t.Fatalf("told to wait %d ns, and 1 ns before that %d ns", wait, early)
				}
				if then := WaitTogether(now+wait, &a, &b, cost); then != 0 {
					t.Fatalf("told to wait %d ns, and then %d ns", wait, then)
				}
			}
			now += time.Duration(rapid.Int64Range(-10, int64(cfg.Rate.Per)).Draw(t, "passed"))
			now = max(0, now)
		}
	})
}

func TestTwoHalvesMakeOne(t *testing.T) {
	s := newStory(t, "1/10ns", 1, holding(0))
	a, b := *s.b, *s.b
	if wait := WaitTogether(0, &a, &b, 1); wait != 5 {
		t.Errorf("half a token each after %d ns, want 5", wait)
	}
	if TakeTogether(4, &a, &b, 1) {
		t.Error("two times 0.4 tokens paid for 1")
	}
	if !TakeTogether(5, &a, &b, 1) {
		t.Error("two halves did not pay for 1")
	}
	bucketStory{t, &a}.exactly(5, 0, 0, 1)
	bucketStory{t, &b}.exactly(5, 0, 0, 1)
}
