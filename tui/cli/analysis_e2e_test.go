package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairgate/fairness"
)

func TestCompareNamesTheCure(t *testing.T) {
	t.Parallel()
	got := fairgate(t, "compare", "starvation", "--duration", "10s", "--format", "json")
	if got.code != exitDone {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	var doc struct {
		Schema  int
		Names   []string
		Runs    []*fairness.Report
		Skipped []struct{ Name, Why string }
		Best    string
		Why     string
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Runs)+len(doc.Skipped) != 6 || len(doc.Names) != len(doc.Runs) || doc.Schema != 1 {
		t.Fatalf("%d runs, %d skipped, names %v", len(doc.Runs), len(doc.Skipped), doc.Names)
	}
	for i, r := range doc.Runs {
		conserved(t, r)
		if r.Limiter.Policy != doc.Names[i] {
			t.Errorf("%s is under %s", doc.Names[i], r.Limiter.Policy)
		}
		for _, e := range r.Expectations {
			if e.OK != nil {
				t.Errorf("%s: %q was judged, though it is about the profile as it is", doc.Names[i], e.Expr)
			}
		}
		for _, c := range r.Clients {
			if r.Limiter.Policy == doc.Best && c.Name != "batch" && c.Satisfaction < 0.95 {
				t.Errorf("%s is taken for the best, and %s gets %v of its due", doc.Best, c.Name, c.Satisfaction)
			}
		}
	}
	text := fairgate(t, "compare", "starvation", "--duration", "2s", "--policies", "global,fair-queue", "--expect", "jain > 0.9")
	if text.code != exitExpectation || !strings.Contains(text.err, "global: jain > 0.9") || strings.Contains(text.err, "fair-queue") {
		t.Errorf("exit code %d, %q", text.code, text.err)
	}
	vary := fairgate(t, "compare", "starvation", "--duration", "2s", "--vary", "burst=10,100")
	if vary.code != exitDone || !strings.Contains(vary.out, "burst=10 ") || !strings.Contains(vary.out, "burst=100") {
		t.Errorf("exit code %d, %s%s", vary.code, vary.out, vary.err)
	}
}

func TestManySeeds(t *testing.T) {
	t.Parallel()
	got := fairgate(t, "simulate", "agent", "--duration", "5s", "--runs", "4", "--seed", "10", "--rate", "11/s", "--format", "json")
	if got.code != exitDone {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	var doc struct {
		Seeds []uint64
		Jain  struct{ Mean, SD float64 }
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatal(err)
	}
	var mean float64
	for _, seed := range []string{"10", "11", "12", "13"} {
		one := fairgate(t, "simulate", "agent", "--duration", "5s", "--seed", seed, "--rate", "11/s", "--format", "json")
		mean += float64(reportOf(t, one.out).Fairness.Jain) / 4
	}
	if len(doc.Seeds) != 4 || doc.Seeds[3] != 13 || math.Abs(doc.Jain.Mean-mean) > 1e-6 || !(doc.Jain.SD > 0) {
		t.Errorf("%+v, want a mean of %v", doc, mean)
	}
	for format, file := range map[string]string{formatText: "runs.txt", formatMarkdown: "runs.md"} {
		text := fairgate(t, "simulate", here(t, "lesson.yaml"), "--runs", "3", "--expect", "jain > 2", "--format", format)
		if text.code != exitExpectation || !strings.Contains(text.err, "seed 3: jain > 2") {
			t.Errorf("%s: exit code %d, %q", format, text.code, text.err)
		}
		golden(t, file, text.out)
	}
}

// Each expectation is judged in each run, and one run that does not meet it is enough for the exit code.
func TestManySeedsAreExpectedOf(t *testing.T) {
	t.Parallel()
	var doc struct{ Expectations []repeated }
	run := func(args ...string) ran {
		t.Helper()
		got := fairgate(t, append([]string{"simulate", here(t, "lesson.yaml"), "--runs", "3", "--format", "json", "--expect", "jain > 0.55"}, args...)...)
		if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
			t.Fatalf("%v: exit code %d, %s", err, got.code, got.err)
		}
		return got
	}
	got := run()
	if n := len(doc.Expectations); n != 2 || doc.Expectations[0].Judged != 3 || doc.Expectations[0].Met != 3 {
		t.Errorf("%+v", doc.Expectations)
	}
	mine := doc.Expectations[1]
	if mine.Expr != "jain > 0.55" || mine.Judged != 3 || mine.Met == 0 || mine.Met == 3 || !(mine.Least < 0.55 && mine.Most > 0.55) {
		t.Errorf("%+v", mine)
	}
	if got.code != exitExpectation || strings.Count(got.err, "seed ") != 3-mine.Met {
		t.Errorf("exit code %d, %q", got.code, got.err)
	}
	// With flags that alter the limiter, only what the command line expects is judged.
	if run("--rate", "11/s"); doc.Expectations[0].Judged != 0 || doc.Expectations[0].Least.Exists() || doc.Expectations[1].Judged != 3 {
		t.Errorf("%+v", doc.Expectations)
	}
	if text := fairgate(t, "simulate", "herd", "--runs", "2"); !strings.Contains(text.out, "and 80 clients who fare no worse") || strings.Count(text.out, "\n") > 40 {
		t.Errorf("%s", text.out)
	}
}

// Shadows decide on what was sent, and change nothing of the run itself.
func TestShadowsChangeNothing(t *testing.T) {
	t.Parallel()
	read := func(args ...string) (*fairness.Report, []*fairness.Report) {
		t.Helper()
		got := fairgate(t, append(args, "--format", "json", "--rate", "999/s")...)
		if got.code != exitDone {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.err)
		}
		var doc struct{ Shadow []*fairness.Report }
		if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
			t.Fatal(err)
		}
		return reportOf(t, got.out), doc.Shadow
	}
	alone, none := read("simulate", "starvation", "--duration", "3s")
	r, shadows := read("simulate", "starvation", "--duration", "3s", "--shadow", "per-client,fair-queue")
	if r.Aggregate != alone.Aggregate || none != nil {
		t.Errorf("with shadows %+v, without %+v", r.Aggregate, alone.Aggregate)
	}
	_, live := read("run", "starvation", "--headless", "--duration", "1s", "--shadow", "per-client,fair-queue")
	// Played back, it is what it is simulated, to the byte.
	_, played := read("run", "starvation", "--headless", "--speed", "10", "--duration", "3s", "--shadow", "per-client,fair-queue")
	if len(played) != 2 || played[0].Aggregate != shadows[0].Aggregate || played[1].Aggregate != shadows[1].Aggregate {
		t.Errorf("played back %+v, simulated %+v", played, shadows)
	}
	for _, list := range [][]*fairness.Report{shadows, live} {
		if len(list) != 2 || list[0].Limiter.Policy != "per-client" || list[1].Limiter.Policy != "fair-queue" {
			t.Fatalf("shadows: %+v", list)
		}
		for _, s := range list {
			for _, c := range s.Clients {
				if c.Name == "web" && !(c.Satisfaction > 0.5) {
					t.Errorf("under %s web would have got %v of its due", s.Limiter.Policy, c.Satisfaction)
				}
			}
		}
	}
	if text := fairgate(t, "simulate", "starvation", "--duration", "1s", "--shadow", "fair-queue"); !strings.Contains(text.out, "had other policies decided") {
		t.Errorf("no shadow in\n%s", text.out)
	}
}

// Played back, the simulation is the simulation: the same figures, only slower.
func TestPlaybackIsTheSimulation(t *testing.T) {
	t.Parallel()
	played := reportOf(t, fairgate(t, "run", "starvation", "--speed", "10", "--headless", "--duration", "5s", "--format", "json").out)
	simulated := reportOf(t, fairgate(t, "simulate", "starvation", "--duration", "5s", "--format", "json").out)
	if played.Aggregate != simulated.Aggregate || played.Mode != "simulated" {
		t.Errorf("mode %q, %+v, want %+v", played.Mode, played.Aggregate, simulated.Aggregate)
	}
}

func TestReportsBesideEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, args ...string) string {
		path := filepath.Join(dir, name)
		if got := fairgate(t, append([]string{"simulate", "starvation", "--duration", "2s", "--output", path}, args...)...); got.code != exitDone && got.code != exitExpectation {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.err)
		}
		return path
	}
	a, b := write("a.json"), write("b.json", "--policy", "fair-queue")
	both := fairgate(t, "report", a, b)
	for _, s := range []string{"a.json", "b.json", "what differs", "global", "fair-queue", "starved", "fair", "mobile"} {
		if !strings.Contains(both.out, s) {
			t.Errorf("no %q in\n%s", s, both.out)
		}
	}
	// One report, read and written again, is the same.
	again := fairgate(t, "report", a, "--format", "json")
	text, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	if again.out != string(text) {
		t.Errorf("read and written again it differs:\n%.2000s\n%.2000s", again.out, text)
	}
}

// What is no report is told by file and by what is wrong with it, alone and beside a good one.
func TestWhatIsNoReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	good := path("good.json")
	if got := fairgate(t, "simulate", here(t, "lesson.yaml"), "--output", good); got.code != exitDone {
		t.Fatal(got.err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(old, new string) string {
		t.Helper()
		if !strings.Contains(string(text), old) {
			t.Fatalf("no %q in the report", old)
		}
		return strings.Replace(string(text), old, new, 1)
	}
	compared := fairgate(t, "compare", here(t, "lesson.yaml"), "--policies", "global,fair-queue", "--format", "json").out
	for _, c := range []struct{ name, text, says string }{
		{"missing.json", "", "missing.json cannot be read: no such file"},
		{"empty.json", "\n", "empty.json is empty"},
		{"text.json", "all is well\n", "text.json is no JSON report (line 1, column 2"},
		{"half.json", string(text[:len(text)/2]), "half.json is no JSON report (line "},
		{"list.json", "[]", "list.json is no JSON report (it is one array, and a report is an object)"},
		{"number.json", "7", "it is one number"},
		{"schema.json", changed(`"schema": 1`, `"schema": 2`), `its "schema" is 2`},
		{"none.json", "{}", `its "schema" is 0`},
		{"kind.json", changed(`"duration_s": 20`, `"duration_s": "20"`), "duration_s"},
		{"clients.json", changed(`"clients": [`, `"clients": 5, "other": [`), "clients cannot be a number"},
		{"bare.json", `{"schema": 1, "mode": "live"}`, `it has no "limiter"`},
		{"mode.json", changed(`"mode": "simulated"`, `"mode": "imagined"`), `its mode is "imagined", and should be live, simulated or recorded`},
		{"verdict.json", changed(`"verdict": "starved"`, `"verdict": "fine"`), `its verdict is "fine"`},
		{"twice.json", changed(`"name": "web"`, `"name": "job"`), `two clients of the name "job"`},
		{"nameless.json", changed(`"name": "web"`, `"name": ""`), "its client 2 has no name"},
		{"sums.json", changed(`"admitted": 1,`, `"admitted": 2,`), `attempts of "web"`},
		{"compared.json", compared, "it is a comparison of several"},
		{"lesson.json", fairgate(t, "simulate", here(t, "lesson.yaml"), "--lesson", "--format", "json").out, "it is a lesson"},
		{"runs.json", fairgate(t, "simulate", here(t, "lesson.yaml"), "--runs", "2", "--format", "json").out, "it is the means of several"},
	} {
		if c.text != "" {
			if err := os.WriteFile(path(c.name), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, files := range [][]string{{path(c.name)}, {good, path(c.name)}} {
			got := fairgate(t, append([]string{"report"}, files...)...)
			if got.code != exitUsage || !strings.Contains(got.err, c.says) || !strings.Contains(got.err, c.name) || got.out != "" {
				t.Errorf("%s: exit code %d, %q, want %q in it", c.name, got.code, got.err, c.says)
			}
		}
	}
	if got := fairgate(t, "report", dir); got.code != exitUsage || !strings.Contains(got.err, "is a directory") {
		t.Errorf("a folder: exit code %d, %q", got.code, got.err)
	}
}

func TestPredict(t *testing.T) {
	t.Parallel()
	var p struct {
		Schema           int
		Rejected         float64 `json:"rejected_per_s"`
		Naive            float64 `json:"rejected_per_s_naive_retries"`
		Full             float64 `json:"full_window_probability"`
		Enforced         float64 `json:"enforced_per_s"`
		ByShards         []any   `json:"by_shards"`
		WithRetries      float64 `json:"rejected_per_s_with_retries"`
		ArrivalsPerS     float64 `json:"arrivals_per_s"`
		Shards, Retries  int
		RejectRatio      float64 `json:"reject_ratio"`
		Rate             float64 `json:"rate_per_s"`
		Window           float64 `json:"window_s"`
		SmallestRatePerS float64 `json:"smallest_rate_per_s"`
	}
	got := fairgate(t, "predict", "--rate", "150/s", "--arrivals", "132.645/s", "--shards", "6", "--retries", "1", "--format", "json")
	if err := json.Unmarshal([]byte(got.out), &p); err != nil {
		t.Fatal(err)
	}
	if math.Abs(p.Rejected-4.8064) > 5e-5 || math.Abs(p.Naive-9.6129) > 5e-5 || math.Abs(p.WithRetries-7.10) > 0.005 || p.Schema != 1 {
		t.Errorf("%+v", p)
	}
	if text := fairgate(t, "predict", "--rate", "150/s", "--arrivals", "136.28/s"); !strings.Contains(text.out, "0.7261/s") || !strings.Contains(text.out, "11.279%") {
		t.Errorf("%s", text.out)
	}
	// The same question, measured in a simulation of five minutes. What is predicted lies within three standard deviations, about a fifth here.
	var m struct {
		Predicted float64 `json:"rejected_per_s_with_retries"`
		Shards    int
		Measured  struct {
			Rejected float64 `json:"rejected_per_s"`
		}
	}
	measured := fairgate(t, "predict", "--measured", "poisson", "--shards", "6", "--format", "json")
	if err := json.Unmarshal([]byte(measured.out), &m); err != nil {
		t.Fatal(err)
	}
	if m.Shards != 6 || math.Abs(m.Measured.Rejected/m.Predicted-1) > 0.2 {
		t.Errorf("predicted and measured: %+v", m)
	}
}

// The smallest good limit keeps to the part that was asked for, and with one place less in each shard it would not.
func TestTheSmallestGoodLimit(t *testing.T) {
	t.Parallel()
	type answer struct {
		RejectRatio float64 `json:"reject_ratio"`
		AtMost      float64 `json:"at_most"`
		Smallest    float64 `json:"smallest_rate_per_s"`
		Window      float64 `json:"window_s"`
	}
	ask := func(args ...string) (p answer) {
		t.Helper()
		got := fairgate(t, append([]string{"predict", "--format", "json", "--arrivals", "15/s", "--shards", "3", "--retries", "1"}, args...)...)
		if err := json.Unmarshal([]byte(got.out), &p); err != nil {
			t.Fatalf("%v: exit code %d, %s", args, got.code, got.err)
		}
		return p
	}
	last := 0.0
	for _, part := range []struct {
		flag string
		of   float64
	}{{"5%", 0.05}, {"0.001", 0.001}, {"0.01%", 0.0001}} {
		p := ask("--rate", "1000/m", "--window", "1m", "--at-most", part.flag)
		if math.Abs(p.AtMost-part.of) > 1e-12 || p.Window != 60 || p.Smallest <= last {
			t.Errorf("--at-most %s: %+v", part.flag, p)
		}
		last = p.Smallest
		perMinute := math.Round(p.Smallest * 60)
		if enough := ask("--rate", fmt.Sprintf("%v/m", perMinute), "--window", "1m"); enough.RejectRatio > part.of {
			t.Errorf("--at-most %s: at %v/m the part is %v", part.flag, perMinute, enough.RejectRatio)
		}
		if less := ask("--rate", fmt.Sprintf("%v/m", perMinute-3), "--window", "1m"); less.RejectRatio <= part.of {
			t.Errorf("--at-most %s: at %v/m the part is %v, so %v/m is not the smallest", part.flag, perMinute-3, less.RejectRatio, perMinute)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"--rate 150/s", "needs --rate and --arrivals"},
		{"--rate 150/s --arrivals 1/s --at-most 2", "--at-most"},
		{"--rate 150/s --arrivals 1/s --at-most 0", "--at-most"},
		{"--rate 150/s --arrivals 1/s --at-most 100%", "--at-most"},
		{"--rate 150/s --arrivals 1/s --window 0s", "--window"},
		{"--rate 150/s --arrivals 1/s --window 1", `"1" has no unit`},
		{"--rate 150/s --arrivals 1/s --shards 0", "--shards"},
		{"--rate 150/s --arrivals 1/s --retries -1", "--retries"},
		{"--rate 150 --arrivals 1/s", `"150" has no unit`},
		{"--rate 150/s --arrivals 1/s more", "takes flags only"},
		{"--measured nosuch", "--measured: "},
		{"--measured starvation --arrivals 5/s", "cannot be shared out among the 4 clients"},
		{"--measured poisson --rate 1/s --shards 5", "--measured: with these flags"},
	} {
		if got := fairgate(t, append([]string{"predict"}, strings.Fields(c.args)...)...); got.code != exitUsage || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("predict %s: exit code %d, %q, %q", c.args, got.code, got.err, got.out)
		}
	}
	// What the model does not assume is said.
	got := fairgate(t, "predict", "--measured", "agent")
	if !strings.Contains(got.err, "token-bucket does not") || !strings.Contains(got.out, "measured/predicted") {
		t.Errorf("%s%s", got.out, got.err)
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	const order = "global bucket only: allocation is arrival-order dependent"
	for _, c := range []struct {
		args     string
		fair     bool
		mode     fairness.Dispatch
		why      string // a part of it
		required string // "null": none
	}{
		{"--per-client 100 --active 10 --cap 1000 --buckets", true, fairness.PerClientBuckets, "global cap 1000 ≥ sum of per-client limits 1000", "1000"},
		{"--per-client 100 --active 10 --cap 999 --buckets", false, fairness.WeightedFairQueue, "global cap 999 < sum of per-client limits 1000", "1000"},
		{"--per-client 100 --active 10 --cap 1000", false, fairness.WeightedFairQueue, order, "1000"},
		{"--per-client 100/s --active 10 --cap 1000/s --buckets", true, fairness.PerClientBuckets, "sum of per-client limits 1000", "1000"},
		{"--per-client 6000/m --active 10 --cap 1000/s --buckets", true, fairness.PerClientBuckets, "sum of per-client limits 1000", "1000"},
		{"--per-client 100/s --active 10 --cap 999.5 --buckets", false, fairness.WeightedFairQueue, "global cap 999.5 <", "1000"},
		{"--active 10 --cap 1000", false, fairness.WeightedFairQueue, order, "null"},
		{"--active 10 --cap 1000 --max-in-flight 20 --service-time 10ms", false, fairness.WeightedFairQueue, "2000/s, above", "null"},
		{"--active 10 --cap 1000 --max-in-flight 1 --service-time 10ms", true, fairness.ConcurrencyCap, "100/s, within", "null"},
		{"starvation", false, fairness.WeightedFairQueue, order, "null"},
		{"starvation --per-client 250 --buckets", true, fairness.PerClientBuckets, "sum of per-client limits 1000", "1000"},
		{"newcomers", false, fairness.WeightedFairQueue, "sum of per-client limits 1200", "1200"},
		{"newcomers --cap 1200", true, fairness.PerClientBuckets, "global cap 1200", "1200"},
	} {
		code := map[bool]int{true: exitDone, false: exitExpectation}[c.fair]
		got := fairgate(t, append([]string{"gate", "--format", "json"}, strings.Fields(c.args)...)...)
		var doc map[string]json.RawMessage
		if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
			t.Fatalf("%s: %v in %q", c.args, err, got.out)
		}
		var r fairness.GateResult
		if err := json.Unmarshal([]byte(got.out), &r); err != nil {
			t.Fatal(err)
		}
		if got.code != code || r.Schema != 1 || r.Fair != c.fair || r.Mode != c.mode || !strings.Contains(r.Why, c.why) || string(doc["required_cap"]) != c.required || len(doc) != 5 {
			t.Errorf("gate %s: exit code %d, %s", c.args, got.code, got.out)
		}
		text := fairgate(t, append([]string{"gate"}, strings.Fields(c.args)...)...)
		if !strings.Contains(text.out, c.why) || !strings.Contains(text.out, "mode: "+string(c.mode)+"\n") || text.code != code {
			t.Errorf("gate %s: exit code %d, %s", c.args, text.code, text.out)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"", "gate needs --cap and --active"},
		{"--active 10", "gate needs --cap"},
		{"--active 10 --cap 1000 --buckets", "--per-client 100"},
		{"--active 10 --cap 1000 --max-in-flight 2", "--service-time"},
		{"--per-client 100 --active 10 --cap 60000/m --buckets", "--per-client 100 has no unit, and --cap 60000/m is per m: write --per-client 100/m, or 100/s"},
		{"--per-client 6000/m --active 10 --cap 1000 --buckets", "write --cap 1000/m, or 1000/s"},
		{"--per-client -1 --active 10 --cap 1000", "--per-client"},
		{"--per-client 1e3 --active 10 --cap 1000", "--per-client"},
		{"--per-client 0 --active 10 --cap 1000", "--per-client"},
		{"--per-client nan --active 10 --cap 1000", "--per-client"},
	} {
		if got := fairgate(t, append([]string{"gate"}, strings.Fields(c.args)...)...); got.code != exitUsage || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("gate %s: exit code %d, %q, %q", c.args, got.code, got.err, got.out)
		}
	}
}
