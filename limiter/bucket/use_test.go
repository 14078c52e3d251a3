package bucket

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"fairgate/limiter"
)

// By the moments of use, which are later than those of taking, the bound of the invariant holds as long as no
// reservation is cancelled; what was cancelled may come on top, and not more.
func TestUseStaysWithinTheBoundAndWhatWasCancelled(t *testing.T) {
	type use struct {
		at     time.Duration
		tokens int64
	}
	rapid.Check(t, func(t *rapid.T) {
		const rate, per = 1, time.Second
		burst := rapid.Int64Range(1, 8).Draw(t, "burst")
		clock := new(manualClock)
		b, err := New(Config{Clock: clock, Bandwidths: []Bandwidth{{Rate: limiter.Rate{Tokens: rate, Per: per}, Burst: burst}}})
		if err != nil {
			t.Fatal(err)
		}
		var uses []use
		var waiting []*Reservation
		cancelled := int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			tokens := rapid.Int64Range(1, 12).Draw(t, "tokens")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if r, ok := b.Reserve(tokens, limiter.Never); ok {
					waiting = append(waiting, r)
				}
			case 1:
				if len(waiting) > 0 {
					i := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
					if r := waiting[i]; r.Cancel() {
						cancelled += r.tokens
						waiting = append(waiting[:i], waiting[i+1:]...)
					}
				}
			case 2:
				clock.advance(time.Duration(rapid.Int64Range(0, 10_000).Draw(t, "passed")) * time.Millisecond)
			default:
				if n := b.TakeUpTo(tokens); n > 0 {
					uses = append(uses, use{clock.Now(), n})
				}
			}
		}
		for _, r := range waiting {
			uses = append(uses, use{r.ready, r.tokens})
		}
		for _, first := range uses {
			for _, last := range uses {
				used := int64(0)
				for _, u := range uses {
					if u.at >= first.at && u.at <= last.at {
						used += u.tokens
					}
				}
				// Reserved at once, more than a burst is used at once too: it was paid for before.
				if most := burst + max(0, largest(waiting)-burst) + cancelled; (used-most)*int64(per) > rate*int64(max(0, last.at-first.at)) {
					t.Fatalf("%d used from %v to %v, where %d + rate × T is the most (%d cancelled)", used, first.at, last.at, most, cancelled)
				}
			}
		}
	})
}

func largest(rs []*Reservation) (tokens int64) {
	for _, r := range rs {
		tokens = max(tokens, r.tokens)
	}
	return tokens
}
