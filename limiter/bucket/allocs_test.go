package bucket

import "testing"

func TestTakingDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	two := []Bandwidth{greedy("1000/s", 1000).with("s"), greedy("9000/h", 9000).with("h")}
	for name, c := range map[string]struct {
		cfg  Config
		want float64 // allocations of an admission
	}{
		"word":                      {Config{Bandwidths: two[:1]}, 0},
		"mutex":                     {Config{Bandwidths: two, Sync: Mutex}, 0},
		"none":                      {Config{Bandwidths: two, Sync: None}, 0},
		"lock-free":                 {Config{Bandwidths: two[:1], Clock: &manualClock{}}, 1},
		"lock-free, two bandwidths": {Config{Bandwidths: two}, 2},
	} {
		b := mustNew(t, c.cfg)
		if got := testing.AllocsPerRun(500, func() { b.TryTake(1) }); got != c.want {
			t.Errorf("%s: %v allocations to admit, want %v", name, got, c.want)
		}
		b.TakeAnyway(100_000)
		if got := testing.AllocsPerRun(500, func() { b.TryTake(1) }); got != 0 {
			t.Errorf("%s: %v allocations to refuse, want none", name, got)
		}
		if got := testing.AllocsPerRun(500, func() { b.Probe(1) }); got != 0 {
			t.Errorf("%s: %v allocations to refuse and tell why, want none", name, got)
		}
	}
}
