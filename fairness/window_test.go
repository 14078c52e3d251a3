package fairness

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever comes when, with answers up to three seconds late and silences longer than the ring, the window counts
// what a list of everything would.
func TestWindowAgreesWithAListOfEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type happening struct {
			at   time.Duration
			o    Outcome
			seen bool
		}
		var all []happening
		at := time.Duration(0)
		for range rapid.IntRange(1, 120).Draw(t, "attempts") {
			at += time.Duration(rapid.IntRange(0, 700).Draw(t, "ms between")) * time.Millisecond
			if rapid.IntRange(0, 39).Draw(t, "silence") == 0 {
				at += time.Duration(rapid.IntRange(8, 30).Draw(t, "s of silence")) * time.Second
			}
			o := Outcome{Sent: at, Kind: Kind(rapid.IntRange(0, 2).Draw(t, "kind")), By: uint8(rapid.IntRange(0, 1).Draw(t, "by"))}
			o.Decided = o.Sent + time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms to the decision"))*time.Millisecond
			o.Seen = o.Decided + time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms back"))*time.Millisecond
			if o.Kind == Rejected {
				o.Told = time.Duration(rapid.IntRange(1, 4).Draw(t, "told")) * time.Second
			}
			all = append(all, happening{o.Sent, o, false}, happening{o.Seen, o, true})
		}
		slices.SortStableFunc(all, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
		tally := NewTally([]Client{{Name: "a"}}, global(10, 5), Options{Live: true, Reasons: reasons})
		for k, h := range all {
			if h.seen {
				tally.Observe(h.o)
				tally.Ended(h.at, 0, Served)
			} else {
				tally.Sent(h.at, 0, 0, true)
			}
			if rapid.IntRange(0, 4).Draw(t, "look") > 0 && k+1 < len(all) {
				continue
			}
			s := tally.Snapshot(h.at)
			conserved(t, "window", s.Measures)
			from := s.Now - s.Window
			var want ClientMeasures
			told := map[int64]int64{}
			latest, n := time.Duration(0), 0
			for _, p := range all[:k+1] {
				in := p.o.Decided
				if !p.seen {
					in = p.o.Sent
				}
				if p.seen && in >= s.Now.Truncate(time.Second)-10*time.Second {
					if p.o.Kind == Rejected {
						told[int64(p.o.Told/time.Second)]++
					}
					if p.o.Kind == Admitted {
						latest, n = max(latest, p.o.Seen-p.o.Sent), n+1
					}
				}
				if in < from || in >= (s.Now+slot-1).Truncate(slot) {
					continue // a moment on a slot's edge begins the next one
				}
				switch {
				case !p.seen:
					want.Retries++ // counted here as attempts sent
				case p.o.Kind == Admitted:
					want.Admitted++
				case p.o.Kind == Rejected:
					want.Rejected++
				default:
					want.Errors++
				}
			}
			c := s.Clients[0]
			sent := int64(float64(c.OfferedRate.Float(0))*s.Window.Seconds() + 0.5)
			if c.Admitted != want.Admitted || c.Rejected != want.Rejected || c.Errors != want.Errors || sent != want.Retries {
				t.Fatalf("at %v over %v: %d sent, %d admitted, %d rejected, %d failed; want %+v", s.Now, s.Window, sent, c.Admitted, c.Rejected, c.Errors, want)
			}
			if len(c.RetryAfter.Told) != len(told) {
				t.Fatalf("at %v: told %v, want %v", s.Now, c.RetryAfter.Told, told)
			}
			for _, e := range c.RetryAfter.Told {
				if told[e.Seconds] != e.Count {
					t.Fatalf("at %v: told %v, want %v", s.Now, c.RetryAfter.Told, told)
				}
			}
			if q := c.Latency.Admitted; q.Max.Exists() != (n > 0) || n > 0 && q.Max != milliseconds(latest) {
				t.Fatalf("at %v: longest latency %v, want %v of %d", s.Now, q.Max, latest, n)
			}
		}
	})
}
