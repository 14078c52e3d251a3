package attack

import (
	"testing"
	"testing/synctest"
	"time"

	"fairgate/profiles"
)

// builtin is a built-in profile with a duration of its own.
func builtin(t testing.TB, name string, d time.Duration) *profiles.Profile {
	t.Helper()
	p, err := profiles.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	p.Duration = d
	return p
}

// live starts a run.
func live(t testing.TB, p *profiles.Profile, o Options) *Run {
	t.Helper()
	r, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryAttemptIsAccountedFor(t *testing.T) {
	for _, name := range []string{"starvation", "agent", "polite"} {
		synctest.Test(t, func(t *testing.T) {
			r := live(t, builtin(t, name, 2*time.Second), Options{})
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
			report := r.Report()
			for _, c := range report.Clients {
				if c.Attempts == 0 || c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight {
					t.Errorf("%s, %s: %d attempts, but %d admitted, %d rejected, %d errors, %d in flight",
						name, c.Name, c.Attempts, c.Admitted, c.Rejected, c.Errors, c.InFlight)
				}
			}
			if g := report.Generator; g.Achieved != 1 || g.Missed != 0 || g.Lateness.Max != 0 {
				t.Errorf("%s: where time stands still while we work nothing is late: %+v", name, g)
			}
		})
	}
}
