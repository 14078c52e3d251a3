package fairness

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s:\n%s", path, got)
	}
}

func TestReportAsJSON(t *testing.T) {
	tenants := []tenant{{name: "batch", rate: 100, retries: 1}, {name: "web", rate: 10, poisson: true}, {name: "quiet", rate: 1, from: time.Hour}}
	tally := NewTally(clientsOf(tenants), global(50, 10), Options{Reasons: []string{"global", "client", "in-flight", "queue-full", "wait"}})
	drive(tally, tenants, lottery(tenants, 50, 10), 300*time.Millisecond, 1, nil)
	tally.Change(300*time.Millisecond, "limit 50/s → 40/s", global(40, 10), clientsOf(tenants))
	r := tally.Report(400 * time.Millisecond)
	r.Profile, r.Title, r.Mode, r.Seed = "golden", "A test", "simulated", 1
	c, err := ParseExpectation("web.satisfaction >= 0.9", []string{"batch", "web"})
	if err != nil {
		t.Fatal(err)
	}
	r.Expectations = append(r.Expectations, c.Judge(r), c.Skip())
	out, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", append(out, '\n'))

	var back Report
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(&back, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, again) {
		t.Errorf("reads back as\n%s", again)
	}
}

// Whatever happened, nothing that is no number may be printed.
func TestEmptyReportsHoldNullsOnly(t *testing.T) {
	wrong := regexp.MustCompile(`NaN|Inf|-0[,}\]]|"(clients|timeline|changes|expectations|starved|told_s)":null`)
	for name, tally := range map[string]*Tally{
		"nobody":             NewTally(nil, global(10, 1), Options{Live: true}),
		"silent":             NewTally([]Client{{Name: "a"}}, global(10, 1), Options{Live: true, Reasons: reasons}),
		"no limit":           NewTally([]Client{{Name: "a"}}, Limit{}, Options{Live: true}),
		"warm-up never over": NewTally([]Client{{Name: "a"}}, global(10, 1), Options{Live: true, WarmUp: time.Hour}),
	} {
		for _, now := range []time.Duration{0, 1, time.Second, time.Minute} {
			snapshot, err := json.Marshal(tally.Snapshot(now).Measures)
			if err != nil {
				t.Fatal(err)
			}
			report, err := json.Marshal(tally.Report(now))
			if err != nil {
				t.Fatal(err)
			}
			for _, out := range [][]byte{snapshot, report} {
				if bad := wrong.Find(out); bad != nil {
					t.Errorf("%s at %v holds %s: %s", name, now, bad, out)
				}
			}
		}
	}
}

func TestNumbersPrintPlainly(t *testing.T) {
	zero := Number(0)
	for n, want := range map[Number]string{None: "null", -zero: "0", -1e-300: "-1e-300", 1.0 / 3: "0.333333333", 1e6: "1000000", Number(1) / zero: "null", -1 / zero: "null"} {
		got, err := json.Marshal(n)
		if err != nil || string(got) != want {
			t.Errorf("%v prints as %s (%v), want %s", float64(n), got, err, want)
		}
	}
	for n, want := range map[Number]string{None: "n/a", -0.001: "0.00", 0.125: "0.12", -2: "-2.00"} {
		if got := n.Format(2); got != want {
			t.Errorf("%v is written %s, want %s", float64(n), got, want)
		}
	}
}
