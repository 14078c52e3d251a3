package bucket

import "testing"

// BenchmarkTryTake is one decision with the real clock, by strategy, alone and by two goroutines at a time.
func BenchmarkTryTake(b *testing.B) {
	for name, cfg := range map[string]Config{
		"word":                 {Bandwidths: only(greedy("1000000/s", 1000))},
		"lock-free, own clock": {Bandwidths: only(greedy("1000000/s", 1000)), Clock: WallClock},
		"mutex":                {Bandwidths: only(greedy("1000000/s", 1000)), Sync: Mutex},
		"none":                 {Bandwidths: only(greedy("1000000/s", 1000)), Sync: None},
	} {
		bucket, err := New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/alone", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bucket.TryTake(1)
			}
		})
		if cfg.Sync != None {
			b.Run(name+"/contended", func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						bucket.TryTake(1)
					}
				})
			})
		}
	}
}
