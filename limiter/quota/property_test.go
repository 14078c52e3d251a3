package quota

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"fairgate/limiter"
)

// Whatever is asked of it, a limit keeps its promises: a check is what taking would answer, a refusal charges
// nothing and its wait is exact (up to two shards), reservations leave no more debt than is allowed, and what is charged stays within
// capacity + reserve + rate × T (one period's tokens more with windows).
func TestLimitsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := Limit{
			Rate: limiter.Rate{
				Tokens: rapid.Int64Range(1, 40).Draw(t, "tokens"),
				Per:    time.Duration(rapid.Int64Range(40, 10_000).Draw(t, "per")),
			},
			Capacity:  rapid.Int64Range(1, 30).Draw(t, "capacity"),
			Shards:    rapid.IntRange(1, 4).Draw(t, "shards"),
			Algorithm: rapid.SampledFrom([]limiter.Algorithm{limiter.AlgorithmTokenBucket, limiter.AlgorithmFixedWindow}).Draw(t, "algorithm"),
		}
		most := rapid.Int64Range(0, 20).Draw(t, "max reserved")
		limit.MaxReserved = &most
		if start := time.Duration(rapid.Int64Range(0, 20_000).Draw(t, "start")); limit.Algorithm == limiter.AlgorithmFixedWindow && rapid.Bool().Draw(t, "shared windows") {
			limit.Start = &start
		}
		now := time.Duration(0)
		l, err := New(Config{
			Limits: map[string]Limit{"it": limit}, Now: func() time.Duration { return now }, Seed: rapid.Uint64().Draw(t, "seed"),
		})
		if err != nil {
			t.Fatal(err)
		}
		charged := int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			r := Request{
				Key: "ada", Count: rapid.Int64Range(1, 35).Draw(t, "count"), Reserve: rapid.IntRange(0, 3).Draw(t, "reserve") == 0,
			}
			before, _ := l.Level("it", "ada")
			checked, _ := l.Check("it", r)
			v, err := l.Take("it", r)
			after, _ := l.Level("it", "ada")
			switch {
			case err != nil:
				t.Fatal(err)
			case v != checked:
				t.Fatalf("%+v was checked as %+v and answered %+v", r, checked, v)
			case after < -most:
				t.Fatalf("%d reserved, where %d is the most", -after, most)
			case v.OK:
				if charged += r.Count; after != before-r.Count {
					t.Fatalf("%d charged to %d leaves %d", r.Count, before, after)
				}
				if v.RetryAfter > 0 && !r.Reserve {
					t.Fatalf("%+v is answered %+v", r, v)
				}
			case after != before:
				t.Fatalf("a refusal changed %d to %d", before, after)
			case limit.Shards > 2:
			case v.RetryAfter == limiter.Never:
				since := now
				now += 1_000_000 // by then every limit that is drawn here is full
				if late, _ := l.Check("it", r); late != v {
					t.Fatalf("told never, and when full: %+v", late)
				}
				now = since
			default:
				now += v.RetryAfter - 1
				if early, _ := l.Check("it", r); early.OK || early.RetryAfter != 1 {
					t.Fatalf("1 ns before the wait of %v was over: %+v", v.RetryAfter, early)
				}
				now++
				if then, _ := l.Check("it", r); !then.OK {
					t.Fatalf("after the wait of %v: %+v", v.RetryAfter, then)
				}
			}
			now += time.Duration(rapid.Int64Range(0, int64(limit.Rate.Per)).Draw(t, "passed"))
		}
		per := int64(limit.Rate.Per)
		bound := (limit.Capacity+most)*per + limit.Rate.Tokens*int64(now)
		if limit.Algorithm == limiter.AlgorithmFixedWindow {
			bound += limit.Rate.Tokens * per
		}
		if charged*per > bound {
			t.Fatalf("%d charged within %v", charged, now)
		}
	})
}
