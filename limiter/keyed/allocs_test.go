package keyed

import (
	"strconv"
	"testing"
	"time"
	"unsafe"

	"fairgate/limiter"
)

func TestKnownKeysDoNotAllocate(t *testing.T) {
	b := mustBuckets(t, "1000/s", 10)
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
		b.TryTake(0, keys[i], 1)
	}
	i := 0
	if got := testing.AllocsPerRun(2000, func() {
		b.TryTake(time.Duration(i)*time.Microsecond, keys[i%len(keys)], 1)
		b.Take(time.Duration(i)*time.Microsecond, keys[i%len(keys)], 1)
		i++
	}); got != 0 {
		t.Errorf("%v allocations for a key that is known, want none", got)
	}
}

func TestSlotOfABucketIsACacheLine(t *testing.T) {
	if got := unsafe.Sizeof(slot[limiter.TokenBucket]{}); got != 64 {
		t.Errorf("a slot takes %d bytes, want 64", got)
	}
	if got := unsafe.Sizeof(stripe[limiter.TokenBucket]{}); got != 64 {
		t.Errorf("a stripe takes %d bytes, want 64", got)
	}
}
