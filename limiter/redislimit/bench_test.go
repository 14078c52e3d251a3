package redislimit

import (
	"context"
	"testing"

	"fairgate/limiter"
)

// BenchmarkDecide is the time of a decision by many callers at once, over a socket on this machine.
func BenchmarkDecide(b *testing.B) {
	server := newServer(b)
	cfg := perSecond(1000, 1000)
	cfg.Policy, cfg.Client.Rate = limiter.PerClient, limiter.PerSecond(500)
	s := server.open(b, Options{Config: cfg})
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := s.Decide(context.Background(), "web", "", 1); err != nil {
				b.Error(err)
			}
		}
	})
}
