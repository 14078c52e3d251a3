package profiles_test

import (
	"testing"
	"testing/synctest"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/profiles"
)

// Every built-in profile runs through vegeta too, in virtual time, and comes to the
// verdict that its lesson begins with.
func TestBuiltinsRunLive(t *testing.T) {
	if underRace {
		t.Skip("hundreds of thousands of attempts; package attack looks for races with fewer")
	}
	for _, c := range []struct {
		profile  string
		verdict  fairness.Verdict
		duration time.Duration // 0: the profile's own
	}{
		{"starvation", fairness.Starved, 2 * time.Second},
		{"agent", fairness.Starved, 0},
		{"dear-calls", fairness.Starved, 0},
		{"heartbeat", fairness.Contended, 0},
		{"phase-lock", fairness.Starved, 2 * time.Second},
		{"oversubscribed", fairness.Starved, 0},
		{"newcomers", fairness.Contended, 30 * time.Second},
		{"polite", fairness.Starved, 0},
		{"storm", fairness.Fair, 0}, // one client, and it gets the whole limit
		{"herd", fairness.Unknown, 0},
		{"four-algorithms", fairness.Fair, 0},
		{"window-edge", fairness.Fair, 0},
		{"blackout", fairness.Fair, 0},
		{"forgetful", fairness.Fair, 0},
		{"shaper", fairness.Unknown, 0},
		{"slots", fairness.Contended, 0},
		{"shards", fairness.Contended, 0},
		{"fleet", fairness.Fair, 0},
		{"poisson", fairness.Fair, 60 * time.Second},
	} {
		t.Run(c.profile, func(t *testing.T) {
			p := builtin(t, c.profile)
			if c.duration > 0 {
				p.Duration = c.duration
			}
			live := runLive(t, p)
			if live.Fairness.Verdict != c.verdict {
				t.Errorf("is %s, want %s: %s", live.Fairness.Verdict, c.verdict, live.Fairness.Why)
			}
			a := live.Aggregate
			if a.Attempts == 0 || a.Attempts != a.AdmittedCount+a.RejectedCount+a.ErrorCount+a.InFlight || live.Generator.Missed != 0 {
				t.Errorf("%d attempts, %d admitted, %d rejected, %d errors, %d in flight; %d missed",
					a.Attempts, a.AdmittedCount, a.RejectedCount, a.ErrorCount, a.InFlight, live.Generator.Missed)
			}
		})
	}
}

// runLive runs a profile through vegeta in the memory transport; time is the bubble's.
func runLive(t *testing.T, p *profiles.Profile) (report *fairness.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, err := attack.New(p, attack.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		report = r.Report()
	})
	return report
}
