package bucket_test

import (
	"context"
	"fmt"
	"time"

	"fairgate/limiter"
	"fairgate/limiter/bucket"
)

// A free plan: 20 a minute, and searches cost five.
func Example() {
	b, err := bucket.New(bucket.Config{Bandwidths: []bucket.Bandwidth{
		{Rate: limiter.Rate{Tokens: 20, Per: time.Minute}, Burst: 20},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	searches := 0
	for b.TryTake(5) {
		searches++
	}
	fmt.Println(searches, "searches; then", b.Probe(5).Wait.Round(time.Second))
	// Output: 4 searches; then 15s
}

// A sender of messages that waits for its turn: a second's and a day's limit at once.
func ExampleBucket_Blocking() {
	b, err := bucket.New(bucket.Config{Bandwidths: []bucket.Bandwidth{
		{ID: "second", Rate: limiter.PerSecond(1000), Burst: 1},
		{ID: "day", Rate: limiter.Rate{Tokens: 2, Per: 24 * time.Hour}, Burst: 2},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		sent, err := b.Blocking().TryTake(context.Background(), 1, time.Minute)
		fmt.Println(i, sent, err)
	}
	// Output:
	// 0 true <nil>
	// 1 true <nil>
	// 2 false <nil>
}

// A client moves to a larger plan and keeps the part of it that it has not used.
func ExampleBucket_Replace() {
	plan := func(n int64) []bucket.Bandwidth {
		return []bucket.Bandwidth{{ID: "plan", Rate: limiter.Rate{Tokens: n, Per: time.Hour}, Burst: n}}
	}
	b, err := bucket.New(bucket.Config{Bandwidths: plan(100)})
	if err != nil {
		fmt.Println(err)
		return
	}
	b.TakeUpTo(60)
	if err := b.Replace(plan(200), limiter.Proportional); err != nil {
		fmt.Println(err)
	}
	fmt.Println(b.Available())
	// Output: 80
}
