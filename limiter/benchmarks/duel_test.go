package main

import "testing"

func TestMedianIsTheMiddleByTimeWithTheMostAllocations(t *testing.T) {
	got := median([]result{{5, 0}, {1, 2}, {9, 0}, {3, 1}, {7, 0}})
	if want := (result{5, 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Each side of each duel must do what its name says, or the comparison is worth nothing.
func TestBothSidesDecideAlike(t *testing.T) {
	for name, decide := range map[string]func() bool{"ours": ours(scarce), "x/time/rate": xtime(scarce)} {
		if !decide() || decide() {
			t.Errorf("%s: of a burst of 1 not exactly the first is admitted", name)
		}
	}
	for name, decide := range map[string]func(string) bool{"ours": ourKeys(scarce), "go-limiter": goLimiterKeys(scarce)} {
		if !decide("ada") || decide("ada") || !decide("bob") {
			t.Errorf("%s: keys are not limited to 1 each", name)
		}
	}
	for name, decide := range map[string]func() bool{"ours": ours(plenty), "x/time/rate": xtime(plenty)} {
		for range 1000 {
			if !decide() {
				t.Fatalf("%s: refused, where there is plenty", name)
			}
		}
	}
}
