package attack

import (
	"runtime"
	"time"
)

func goroutines() int { return runtime.NumGoroutine() }

// yield lets others come to their end.
func yield() { time.Sleep(time.Millisecond) }

func stacks() []byte {
	b := make([]byte, 1<<20)
	return b[:runtime.Stack(b, true)]
}
