package attack

import (
	"testing"
	"time"

	"fairgate/limiter"
)

func TestConnectionsNeverUseUpTheFiles(t *testing.T) {
	for _, c := range []struct{ clients, files, want int }{
		{1, 1024, 400}, {4, 1024, 100}, {1, 1 << 20, 400}, {1, 256, 96}, {4, 256, 24}, {1000, 1 << 20, 1}, {1, 64, 1}, {1, 0, 1},
	} {
		if got := connectionsFor(c.clients, c.files); got != c.want {
			t.Errorf("%d clients with %d files: %d connections for each, want %d", c.clients, c.files, got, c.want)
		}
	}
}

// TestAskedForMoreThanTheMachineCan: real connections cannot carry a million a second, and the report says so; nothing else goes wrong.
func TestAskedForMoreThanTheMachineCan(t *testing.T) {
	p := constant(t, limiter.PerSecond(1_000_000), 1500*time.Millisecond)
	r := live(t, p, Options{Transport: TransportLoopback})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	report := r.Report()
	if g, a := report.Generator, report.Aggregate; g.Achieved > 0.9 || g.Missed == 0 || a.ErrorCount != 0 || a.AdmittedCount == 0 {
		t.Errorf("achieved %v, missed %d, admitted %d, errors %d", g.Achieved, g.Missed, a.AdmittedCount, a.ErrorCount)
	}
}

// TestLoopbackReadsTheAnswers: status, limit and Retry-After come over the wire.
func TestLoopbackReadsTheAnswers(t *testing.T) {
	p := builtin(t, "starvation", time.Minute)
	p.Expect, p.Lesson = nil, nil
	p.Clients = p.Clients[:1]
	p.Clients[0].Arrivals.Rate = limiter.PerSecond(100)
	p.Limiter = limiter.Config{
		Policy: limiter.PerClient, Rate: limiter.PerSecond(1000),
		Client: limiter.ClientLimit{Rate: limiter.Rate{Tokens: 1, Per: time.Minute}, Burst: 2},
	}
	r := live(t, p, Options{Transport: TransportLoopback})
	for r.Snapshot().Aggregate.RejectedCount < 5 { // however long that takes here
		time.Sleep(time.Millisecond)
	}
	r.Stop()
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	c := r.Report().Clients[0]
	if c.Admitted != 2 || c.Errors != 0 || c.RejectedBy["client"] != c.Rejected || c.RejectedBy["global"] != 0 {
		t.Errorf("admitted %d, rejected %d by %v, errors %d", c.Admitted, c.Rejected, c.RejectedBy, c.Errors)
	}
	var told int64
	for _, bin := range c.RetryAfter.Told {
		if bin.Seconds < 1 || bin.Seconds > 60 {
			t.Errorf("told to wait %d s", bin.Seconds)
		}
		told += bin.Count
	}
	if told != c.Rejected {
		t.Errorf("%d of %d were told", told, c.Rejected)
	}
}

// TestLoopbackCountsWhenItWasDecided: answers come back in bunches, and admissions are none the more for it: no stretch of the timeline has more
// than the limit allows. The needed wait, which no header tells, is known too.
func TestLoopbackCountsWhenItWasDecided(t *testing.T) {
	p := builtin(t, "starvation", 1500*time.Millisecond)
	p.Expect, p.Lesson = nil, nil
	r := live(t, p, Options{Transport: TransportLoopback})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	report := r.Report()
	burst, rate := float64(report.Limiter.Burst), float64(report.Limiter.RatePerS)
	for from := range report.Timeline {
		start, admitted := 0.0, 0.0
		if from > 0 {
			start = float64(report.Timeline[from-1].T)
		}
		last := start
		for _, step := range report.Timeline[from:] {
			admitted += float64(step.Admitted) * (float64(step.T) - last)
			last = float64(step.T)
			if most := burst + rate*(last-start); admitted > most+1e-6 {
				t.Fatalf("%.3f admitted between %.1f and %.1f s, where %.3f are allowed", admitted, start, last, most)
			}
		}
	}
	if c := report.Clients[0]; c.Rejected == 0 || !c.RetryAfter.Needed.P50.Exists() {
		t.Errorf("%d rejected, needed wait %v", c.Rejected, c.RetryAfter.Needed.P50)
	}
	r.server.witnesses.mu.Lock()
	defer r.server.witnesses.mu.Unlock()
	if left := len(r.server.witnesses.waiting); left != 0 {
		t.Errorf("%d attempts are still waited for", left)
	}
}
