package limiter

import (
	"testing"
	"time"
)

// BenchmarkTokenBucket is one decision, the waiting asked and the token taken, at rates whose arithmetic differs.
func BenchmarkTokenBucket(b *testing.B) {
	for _, text := range []string{"1000000/s", "1000/s", "17/30s"} {
		b.Run(text, func(b *testing.B) {
			rate, err := ParseRate(text)
			if err != nil {
				b.Fatal(err)
			}
			bucket, err := NewTokenBucket(BucketConfig{Rate: rate, Burst: 1000}, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for now := time.Duration(0); b.Loop(); now += 900 {
				if bucket.Wait(now, 1) == 0 {
					bucket.Take(now, 1)
				}
			}
		})
	}
}
