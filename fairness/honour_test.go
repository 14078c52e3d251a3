package fairness

import (
	"strings"
	"testing"
	"time"
)

// Retries that fall on the told moment by chance, or because the machine stood still, break no promise and make no herd.
func TestOnlyWhoHonoursIsTakenAtItsWord(t *testing.T) {
	for _, c := range []struct {
		name                   string
		honor                  Honor
		early                  int // retries before the moment that they were told, for each at it
		late                   time.Duration
		kept, broken, returned int64
	}{
		{"it honours", Honors, 0, 0, 0, 100, 100},
		{"it ignores", Ignores, 0, 0, 0, 0, 0},
		{"nobody knows, and it waits", HonorUnknown, 0, 0, 0, 100, 100},
		{"nobody knows, and it does not wait", HonorUnknown, 1, 0, 0, 0, 0},
		{"the machine stood still", Honors, 0, punctual + 1, 0, 0, 0},
	} {
		tally := NewTally([]Client{{Name: "batch", RetryAfter: c.honor}}, global(1, 1), Options{Reasons: reasons})
		send := func(sent, promised time.Duration) {
			tally.Sent(sent, c.late, 0, false)
			tally.Observe(Outcome{Kind: Rejected, Sent: sent, Decided: sent, Seen: sent, Retry: true, Promised: promised, Told: second, Late: c.late})
		}
		for range 100 {
			for range c.early {
				send(4*second, 5*second)
			}
			send(5*second, 5*second)
		}
		r := tally.Report(10 * second)
		if p := r.Honesty[0]; p.Kept != c.kept || p.Broken != c.broken || p.Early != int64(100*c.early) || r.Herd.Returns != c.returned {
			t.Errorf("%s: %+v, %+v", c.name, p, r.Herd)
		}
		if says := strings.Contains(strings.Join(r.Diagnosis.Text, "\n"), "Retry-After had told"); says && c.broken == 0 {
			t.Errorf("%s: says %v", c.name, r.Diagnosis.Text)
		}
	}
}

// Answers come in another order than attempts were sent: a client is counted once all the same.
func TestHerdCountsEachClientOnce(t *testing.T) {
	tally := NewTally(make([]Client, 4), global(1, 1), Options{})
	for i := range 81 {
		for _, at := range []time.Duration{5 * second, 5*second + slot, 5 * second} {
			tally.Observe(Outcome{Client: i % 4, Kind: Rejected, Sent: at, Decided: at, Seen: 6 * second, Retry: true, Promised: at, Told: second})
		}
	}
	if h := tally.Report(6 * second).Herd; h.Clients != 4 || h.Largest != 162 {
		t.Errorf("%+v", h)
	}
	for _, at := range []time.Duration{5*second + herdSlots*slot, 5*second + 2*herdSlots*slot} { // the same place in the ring
		for range 500 {
			tally.Observe(Outcome{Client: 1, Kind: Rejected, Sent: at, Decided: at, Seen: at, Retry: true, Promised: at, Told: second})
		}
		if h := tally.Report(at + second).Herd; h.Clients != 1 || h.Largest != 500 {
			t.Errorf("at %v: %+v", at, h)
		}
	}
}
