package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (go test -update writes it anew): -want +got\n%s", name, diff)
	}
}

// renderer is a colour renderer that asks no terminal.
func renderer(profile termenv.Profile, dark bool) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(&bytes.Buffer{})
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(dark)
	return r
}

// starving is ten seconds in which a batch client holds nearly all of a global limit.
func starving() *fairness.Report {
	no, yes := false, true
	started := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	r := &fairness.Report{
		Schema: 1, Profile: "starvation", Title: "A global bucket lets one client starve the rest", Mode: "live", Seed: 1,
		Started: &started, Duration: 10, Source: "built-in",
		Limiter: fairness.Limit{Policy: "global", Algorithm: "token-bucket", RatePerS: 1000, RateText: "1000/s", Burst: 100,
			ClientRatePerS: fairness.None, Shards: 1, RetryAfter: "exact"},
		Generator: fairness.Generator{Lateness: fairness.LatenessQuantiles{P50: 0.084, P99: 1.31, Max: 7.9}, Missed: 3, Achieved: 0.99994},
		Timeline: []fairness.Point{
			{T: 0.1, Offered: 16900, Admitted: 1980, Jain: 0.52, Clients: []fairness.PointClient{{Admitted: 1900, Rejected: 14800}, {Admitted: 30, Rejected: 70}}},
			{T: 0.2, Offered: 16850, Admitted: 1000, Jain: fairness.None, Clients: []fairness.PointClient{{Admitted: 962, Rejected: 15038}, {Admitted: 10, Rejected: 90}}},
		},
		Changes: []fairness.Change{{T: 6.24, What: "rate 1000/s → 500/s"}},
		Expectations: []fairness.Expectation{
			{Expr: "web.satisfaction < 0.5", Value: 0.1012, OK: &yes},
			{Expr: "jain >= 0.9", Value: 0.4137, OK: &no},
			{Expr: "utilization > 0.99", Value: 1.0091},
		},
	}
	r.Aggregate = fairness.Aggregate{Offered: 16182, Demand: 5200, Admitted: 1009.1, Rejected: 15172.9, Errors: 0, Limit: 1000, Utilization: 1.0091,
		AdmittedCount: 10091, RejectedCount: 151729, ErrorCount: 0, InFlight: 4, Attempts: 161824, Requests: 52000}
	r.Fairness = fairness.Judgement{Jain: 0.4137, MinSatisfaction: 0.0914, Starved: []string{"web", "mobile", "sync"}, Verdict: fairness.Starved,
		Why:   "batch holds 96.4% of all admissions while it is entitled to 80%; web gets 10.1/s of the 100/s that it is entitled to",
		Worst: "mobile", Active: 4, Advice: "Give each client a bucket of its own (--policy per-client), or let refused attempts wait in a fair queue."}
	r.Diagnosis = fairness.Diagnosis{Verdict: fairness.Starved, Cause: fairness.ArrivalOrder, Culprit: "batch", Victims: []string{"mobile", "web"},
		Cure: fairness.Cure{Policy: "fair-queue", Text: "a fair queue would give web all it asks"}, Certain: true,
		Text: []string{"aggregate 1009.1/s of 1000/s: monitoring is green", "web was refused 899 times in 1000 attempts", "a fair queue would give web all it asks"}}
	r.Stretches = []fairness.Stretch{
		{From: 0, To: 6.24, Limiter: fairness.Limit{Policy: "global"}, Measures: r.Measures},
		{From: 6.24, To: 10, Limiter: fairness.Limit{Policy: "global"}, Measures: fairness.Measures{
			Aggregate: fairness.Aggregate{Admitted: 500, Attempts: 1},
			Fairness:  fairness.Judgement{Jain: 0.99, MinSatisfaction: 0.97, Worst: "web", Active: 4, Verdict: fairness.Fair}}},
	}
	add := func(name, kind string, demand, gets, entitled, share float64, attempts, admitted int64, told int64) {
		c := fairness.ClientMeasures{Name: name, Kind: kind, Weight: 1, Requests: int64(demand * 10), Attempts: attempts, Admitted: admitted,
			Rejected: attempts - admitted - 1, InFlight: 1, Demand: fairness.Number(demand), AdmittedRate: fairness.Number(gets),
			Entitled: fairness.Number(entitled), Satisfaction: fairness.Number(gets / entitled), Share: fairness.Number(share),
			RejectRatio: fairness.Number(1 - float64(admitted)/float64(attempts)), Amplification: fairness.Number(float64(attempts) / demand / 10),
			LongestGap: 0.31, Active: true}
		c.RejectedBy = map[string]int64{"global": c.Rejected, "client": 0, "in-flight": 0, "queue-full": 0, "wait": 0}
		c.RetryAfter.Told = []fairness.Told{{Seconds: told, Count: c.Rejected}}
		c.RetryAfter.Needed = fairness.Quantiles{P50: 0.5, P90: 0.91, P99: 1, Max: 1}
		c.Latency.Admitted = fairness.Quantiles{P50: 3, P90: 3.1, P99: 3.6, Max: 5}
		c.Latency.Rejected = fairness.Quantiles{P50: 1, P90: 1.1, P99: 1.4, Max: 4}
		c.QueueWait = fairness.Quantiles{P50: fairness.None, P90: fairness.None, P99: fairness.None, Max: fairness.None}
		c.Starved = name != "batch"
		r.Clients = append(r.Clients, c)
	}
	add("batch", "batch", 5000, 972.9, 800, 0.9641, 160000, 9729, 1)
	add("web", "interactive", 100, 10.12, 100, 0.01, 1000, 101, 1)
	add("mobile", "interactive", 50, 4.57, 50, 0.0045, 500, 46, 1)
	add("sync", "retrying", 50, 21.5, 50, 0.0213, 324, 215, 1)
	r.Clients[3].RejectedBy["client"] = 12
	return r
}

// idle is a run in which nobody sent anything.
func idle() *fairness.Report {
	none := fairness.None
	r := &fairness.Report{Schema: 1, Profile: "empty", Title: "Nobody comes", Mode: "simulated", Seed: 7, Duration: 5,
		Limiter:   fairness.Limit{Policy: "per-client", Algorithm: "gcra", RatePerS: 2, Burst: 2, ClientRatePerS: 1.5, Shards: 3, RetryAfter: "slot"},
		Generator: fairness.Generator{Lateness: fairness.LatenessQuantiles{P50: none, P99: none, Max: none}, Achieved: none}}
	r.Aggregate = fairness.Aggregate{Limit: 2}
	r.Fairness = fairness.Judgement{Jain: none, MinSatisfaction: none, Verdict: fairness.Idle, Why: "no client sent an attempt"}
	q := fairness.Quantiles{P50: none, P90: none, P99: none, Max: none}
	c := fairness.ClientMeasures{Name: "night", Kind: "batch", Weight: 2, Entitled: 0, Share: none, Satisfaction: none, RejectRatio: none,
		Amplification: none, LongestGap: 5, QueueWait: q}
	c.Latency.Admitted, c.Latency.Rejected, c.RetryAfter.Needed = q, q, q
	r.Clients = []fairness.ClientMeasures{c}
	return r
}

func TestTextIsWhatPeopleShallRead(t *testing.T) {
	golden(t, "starving.txt", Text(starving(), Options{}))
	golden(t, "starving.ascii.txt", Text(starving(), Options{ASCII: true}))
	golden(t, "starving.wide.txt", Text(starving(), Options{Width: 120}))
	golden(t, "starving.dark.ansi", Text(starving(), Options{Renderer: renderer(termenv.TrueColor, true)}))
	golden(t, "starving.light.ansi", Text(starving(), Options{Renderer: renderer(termenv.ANSI, false)}))
	golden(t, "starving.shadow.txt", Text(starving(), Options{}, cured()))
	golden(t, "starving.shadow.md", Markdown(starving(), cured()))
	golden(t, "idle.txt", Text(idle(), Options{}))
}

func TestJSONAndMarkdownAreWhatProgramsShallRead(t *testing.T) {
	for name, r := range map[string]*fairness.Report{"starving": starving(), "idle": idle()} {
		b, err := JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", string(b))
		golden(t, name+".md", Markdown(r))
	}
}

// A renderer without colours, and none, give the same bytes: nothing but colour may hang on it.
func TestColourIsOnlyAdded(t *testing.T) {
	bare := Text(starving(), Options{})
	if got := Text(starving(), Options{Renderer: renderer(termenv.Ascii, true)}); strings.Contains(got, "\x1b[3") {
		t.Errorf("a renderer without colour coloured:\n%q", got)
	}
	coloured := Text(starving(), Options{Renderer: renderer(termenv.ANSI256, true)})
	if stripped := stripANSI(coloured); stripped != bare {
		t.Errorf("without its colours the text differs:\n%s", cmp.Diff(bare, stripped))
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	name := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("客户端é\u0301🙂ab")), 0, 40, -1))
	rapid.Check(t, func(t *rapid.T) {
		r := starving()
		for i := range r.Clients {
			r.Clients[i].Name = name.Draw(t, "name")
		}
		r.Clients[0].Demand = fairness.Number(rapid.Float64Range(0, 1e9).Draw(t, "demand"))
		r.Clients[1].AdmittedRate = fairness.Number(rapid.Float64Range(0, 1e7).Draw(t, "rate"))
		r.Fairness.Worst = name.Draw(t, "worst")
		r.Fairness.Why = name.Draw(t, "why")
		r.Profile = name.Draw(t, "profile")
		width := rapid.IntRange(80, 200).Draw(t, "width")
		for _, line := range strings.Split(Text(r, Options{Width: width}), "\n") {
			if w := lipgloss.Width(line); w > width {
				t.Fatalf("%d columns of %d: %q", w, width, line)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("a control character came through: %q", line)
			}
		}
	})
}

func TestManyClientsAreCutToThoseThatMatter(t *testing.T) {
	r := starving()
	some := r.Clients[1]
	for i := range 500 {
		c := some
		c.Name = "tenant-" + count(int64(i))
		c.Satisfaction = fairness.Number(float64(i) / 500)
		c.AdmittedRate = fairness.Number(i % 250)
		r.Clients = append(r.Clients, c)
	}
	text := Text(r, Options{})
	if !strings.Contains(text, "and 480 clients more") {
		t.Errorf("it does not say how many are left out:\n%s", text)
	}
	for _, name := range []string{"batch ", "tenant-0 ", "tenant-249 ", "tenant-499 "} {
		if !strings.Contains(text, name) {
			t.Errorf("%q is not shown, though it is among the worst served or the largest:\n%s", name, text)
		}
	}
}

// Every key of the contract is in the JSON, also where there is nothing to say.
func TestJSONHasEveryKey(t *testing.T) {
	for _, r := range []*fairness.Report{starving(), idle()} {
		b, err := JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		for at, keys := range map[string]string{
			"":           "schema profile title mode seed started duration_s limiter aggregate fairness clients generator timeline changes expectations source",
			"limiter":    "policy algorithm rate_per_s burst client_rate_per_s shards retry_after",
			"aggregate":  "offered_rps demand_rps admitted_rps rejected_rps error_rps limit_rps utilization admitted rejected errors in_flight attempts requests",
			"fairness":   "jain min_satisfaction starved verdict why",
			"generator":  "lateness_ms missed achieved",
			"clients[0]": "name kind weight requests attempts admitted rejected errors in_flight retries gave_up unfinished demand_rps admitted_rps share entitled_rps satisfaction reject_ratio amplification longest_gap_s rejected_by latency_ms queue_wait_ms retry_after",
		} {
			object := doc
			switch {
			case at == "clients[0]":
				object = doc["clients"].([]any)[0].(map[string]any)
			case at != "":
				object = doc[at].(map[string]any)
			}
			for _, key := range strings.Fields(keys) {
				if _, ok := object[key]; !ok {
					t.Errorf("%s: %q has no key %q", r.Profile, at, key)
				}
			}
		}
		for _, key := range []string{"clients", "timeline", "changes", "expectations"} {
			if _, ok := doc[key].([]any); !ok {
				t.Errorf("%s: %s is %v, not a list", r.Profile, key, doc[key])
			}
		}
	}
}

// layout only adds blanks: compacted again, the JSON is what the encoder wrote.
func TestLayoutChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := starving()
		r.Title = rapid.String().Draw(t, "title")
		r.Changes[0].What = rapid.SampledFrom([]string{`{"a":[1,2]}`, `\"`, `\\`, "[],:{}", ""}).Draw(t, "what")
		b, err := JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		var a, back bytes.Buffer
		if err := json.Compact(&a, b); err != nil {
			t.Fatal(err)
		}
		enc := json.NewEncoder(&back)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(whole(r)); err != nil {
			t.Fatal(err)
		}
		if a.String() != strings.TrimSuffix(back.String(), "\n") {
			t.Fatalf("%s\n%s", a.String(), back.String())
		}
	})
}

// A value that encodes itself escapes what only web pages need escaped; the layout takes that back, and nothing else.
func TestNothingIsEscapedForWebPages(t *testing.T) {
	r := starving()
	r.Gate = fairness.GateResult{Why: `cap 999 < 1000 & "a" > \u003c`}
	b := must(JSON(r))
	if !bytes.Contains(b, []byte(`cap 999 < 1000 & \"a\" > \\u003c`)) {
		t.Errorf("%s", b)
	}
	var back fairness.Report
	if err := json.Unmarshal(b, &back); err != nil || back.Gate.Why != r.Gate.Why {
		t.Errorf("read back: %q, %v", back.Gate.Why, err)
	}
}

// Whatever a name holds, each row of a Markdown table has as many cells as its head.
func TestMarkdownTablesKeepTheirCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := starving()
		r.Clients[0].Name = rapid.StringOf(rapid.RuneFrom([]rune("a|*_`\n\t<>[]\\"))).Draw(t, "name")
		r.Changes[0].What = rapid.StringOf(rapid.RuneFrom([]rune("a|*_`\n\\"))).Draw(t, "what")
		r.Expectations[0].Expr = rapid.StringOf(rapid.RuneFrom([]rune("a|*_`\n\\"))).Draw(t, "expr")
		cells := 0
		for _, line := range strings.Split(Markdown(r), "\n") {
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			// A bar is escaped by an odd number of backslashes before it.
			n := 0
			for i := range line {
				if line[i] == '|' {
					back := 0
					for j := i - 1; j >= 0 && line[j] == '\\'; j-- {
						back++
					}
					if back%2 == 0 {
						n++
					}
				}
			}
			if cells != 0 && n != cells {
				t.Fatalf("%d bars after %d: %q", n, cells, line)
			}
			cells = n
		}
	})
}

func TestLineSaysBothViews(t *testing.T) {
	r := starving()
	s := &fairness.Snapshot{Now: 7*time.Second + 900*time.Millisecond, Measures: r.Measures}
	want := "00:07  admitted 1009/s of 1000/s  rejected 15173/s  Jain 0.41  starved: web 0.10, mobile 0.09, sync 0.43"
	if got := Line(s, 0); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := Line(s, 40); lipgloss.Width(got) != 40 {
		t.Errorf("40 columns asked, got %q", got)
	}
	s = &fairness.Snapshot{Now: 3723 * time.Second, Measures: idle().Measures}
	want = "1:02:03  admitted 0/s of 2.00/s  rejected 0/s  Jain n/a  idle"
	if got := Line(s, 0); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{rate(5000), "5000/s"}, {rate(99.96), "100/s"}, {rate(10.12), "10.1/s"}, {rate(1.005), "1.00/s"}, {rate(0.031), "0.031/s"},
		{rate(0), "0/s"}, {rate(fairness.None), "n/a"},
		{percent(0.9641), "96%"}, {percent(0.01), "1.0%"}, {percent(1), "100%"}, {percent(0.9994), "99.9%"}, {percent(0.99), "99%"}, {percent(0), "0%"},
		{percent(0.0045), "0.4%"}, {percent(0.0002), "<0.1%"}, {percent(fairness.None), "n/a"},
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "-1,234,567"},
		{milliseconds(0), "0 ms"}, {milliseconds(0.004), "<0.01 ms"}, {milliseconds(0.25), "0.25 ms"}, {milliseconds(1.31), "1.3 ms"},
		{milliseconds(12.2), "12 ms"}, {milliseconds(2500), "2.5 s"}, {milliseconds(120000), "120 s"},
		{clock(0), "00:00"}, {clock(59 * time.Second), "00:59"}, {clock(time.Hour), "1:00:00"},
		{plural(1, "client"), "1 client"}, {plural(2000, "client"), "2,000 clients"},
		{clean("a\x1b[2Jb\n"), "a?[2Jb"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The same report gives the same bytes, though refusals are kept in maps.
func TestSameReportSameBytes(t *testing.T) {
	r := starving()
	r.Clients[0].RejectedBy = map[string]int64{"global": 5, "client": 5, "wait": 5, "in-flight": 5}
	first, text, md := must(JSON(r)), Text(r, Options{}), Markdown(r)
	for range 20 {
		if !bytes.Equal(must(JSON(r)), first) || Text(r, Options{}) != text || Markdown(r) != md {
			t.Fatal("the bytes differ from one time to the next")
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func stripANSI(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\x1b' {
			for i < len(s) && s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
