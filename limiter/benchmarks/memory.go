package main

import (
	"context"
	"runtime"

	"fairgate/limiter"
	"fairgate/limiter/keyed"
)

// idleTarget is the most that an idle client may cost, its name not counted.
const idleTarget = 160

// bytesPerClient is the heap that fill's result occupies, over the names given to it.
func bytesPerClient(n int, fill func(names []string) any) float64 {
	names := names(n)
	before := heap()
	kept := fill(names)
	after := heap()
	runtime.KeepAlive(kept)
	runtime.KeepAlive(names)
	return float64(after-before) / float64(n)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func fillOurs(names []string) any {
	b := must(keyed.NewBuckets(limiter.BucketConfig{Rate: limiter.PerSecond(1), Burst: 10}))
	for _, name := range names {
		b.TryTake(0, name, 1)
	}
	return b
}

func fillGoLimiter(names []string) any {
	store := must(goLimiter(limiter.PerSecond(10)))
	for _, name := range names {
		store.Take(context.Background(), name)
	}
	return store
}
