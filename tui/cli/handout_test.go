package cli

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairgate/profiles"
	"fairgate/tui/report"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what was printed with testdata/name.
func golden(t *testing.T, name, got string) {
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

// here is a file of testdata as the program finds it from anywhere.
func here(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALessonIsAHandout(t *testing.T) {
	t.Parallel()
	for format, file := range map[string]string{formatText: "lesson.txt", formatMarkdown: "lesson.md"} {
		got := fairgate(t, "simulate", here(t, "lesson.yaml"), "--lesson", "--format", format)
		if got.code != exitDone || got.err != "" {
			t.Errorf("%s: exit code %d, %s", format, got.code, got.err)
		}
		golden(t, file, got.out)
	}
	got := fairgate(t, "simulate", here(t, "lesson.yaml"), "--lesson", "--output", "lesson.json")
	if got.code != exitDone || got.out != "" {
		t.Errorf("to a file: exit code %d, %s%s", got.code, got.out, got.err)
	}
	got = fairgate(t, "simulate", here(t, "lesson.yaml"), "--lesson", "--format", "json", "--rate", "11/s")
	var doc struct {
		Steps []struct {
			Reveal string
			Report json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Steps) != 2 || !strings.Contains(got.err, "without these flags") {
		t.Errorf("%d steps, %q", len(doc.Steps), got.err)
	}
	for _, s := range doc.Steps {
		conserved(t, reportOf(t, string(s.Report)))
	}
}

func TestWhatALessonCannotBe(t *testing.T) {
	t.Parallel()
	plain := profile(t, "clients: [{name: web}]\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{plain}, "profile mine has no lesson"},
		{[]string{"agent", "--shadow", "fair-queue"}, "--shadow scores one run"},
		{[]string{"agent", "--runs", "2"}, "--runs averages"},
		{[]string{"agent", "--expect", "jain > 0"}, "--expect judges one run"},
		{[]string{"four-algorithms", "--policy", "fair-queue"}, "cannot be walked through: "},
		{[]string{"agent", "--output", "no/such/folder/x.md"}, "no/such/folder"},
		{[]string{"nonsense"}, "nonsense"},
	} {
		got := fairgate(t, append([]string{"simulate", "--lesson"}, c.args...)...)
		if got.code != exitUsage || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("%v: exit code %d, %q, %q", c.args, got.code, got.err, got.out)
		}
	}
}

// Each built-in lesson is complete: every text has its numbers, every change its words, and it fits on paper.
func TestEveryLessonIsComplete(t *testing.T) {
	tables := regexp.MustCompile(`(?m)^\|.*\|$(\n^\|.*\|$)+`)
	infos := profiles.Builtins()
	if len(infos) != 19 {
		t.Errorf("%d built-in profiles", len(infos))
	}
	for _, info := range infos {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			if raceEnabled && slices.Contains([]string{"starvation", "phase-lock", "newcomers", "storm"}, info.Name) {
				t.Skip("long under the race detector, and no other path")
			}
			p, err := profiles.Load(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			lesson, err := walk(context.Background(), p, func(float64) {})
			if err != nil {
				t.Fatal(err)
			}
			if len(lesson.Steps) < 2 || len(lesson.Steps) != lesson.Planned {
				t.Errorf("%d steps of %d", len(lesson.Steps), lesson.Planned)
			}
			for i, s := range lesson.Steps {
				if s.Say == "" || s.Ask == "" || len(s.Choices) < 2 || s.Reveal == "" || s.Report.Aggregate.Attempts == 0 {
					t.Errorf("step %d lacks something: %+v", i+1, s)
				}
				if strings.ContainsAny(s.Reveal, "{}") || strings.Contains(s.Reveal, "n/a") {
					t.Errorf("step %d: not filled in: %q", i+1, s.Reveal)
				}
				if (len(s.Set) > 0) != (len(p.Lesson[i].Set) > 0) {
					t.Errorf("step %d sets %q, and it is said as %q", i+1, p.Lesson[i].Set, s.Set)
				}
			}
			text := report.LessonText(lesson, report.Options{})
			for _, line := range strings.Split(text, "\n") {
				if w := ansi.StringWidth(line); w > 80 {
					t.Errorf("%d columns: %q", w, line)
				}
			}
			markdown := report.LessonMarkdown(lesson)
			found := tables.FindAllString(markdown, -1)
			if len(found) != 2*len(lesson.Steps) {
				t.Errorf("%d tables in %d steps", len(found), len(lesson.Steps))
			}
			for _, table := range found {
				rows := strings.Split(table, "\n")
				for _, row := range rows {
					if strings.Count(row, "|") != strings.Count(rows[0], "|") {
						t.Errorf("a row of another width than its head:\n%s\n%s", rows[0], row)
					}
				}
			}
		})
	}
}

func TestAnInterruptedLessonKeepsItsSteps(t *testing.T) {
	t.Parallel()
	p, err := profiles.Load("agent")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	lesson, err := walk(ctx, p, func(done float64) {
		if done >= 0.5 {
			cancel()
		}
	})
	if err != context.Canceled || len(lesson.Steps) != 1 || lesson.Planned != 2 {
		t.Errorf("%v, %d steps of %d", err, len(lesson.Steps), lesson.Planned)
	}
}

func TestChangesInWords(t *testing.T) {
	t.Parallel()
	base := `
limiter: {rate: 10/s}
clients:
  - {name: a, kind: batch, arrivals: {rate: 7/s}}
  - {name: b, kind: retrying}
lesson:
`
	for set, want := range map[string][]string{
		"{}":                      nil,
		"{limiter: {rate: 10/s}}": nil,
		"{limiter: {rate: 20/s}}": {"rate 10/s → 20/s"},
		"{limiter: {policy: sharded, shards: 4, divide: false}}":                {"policy global → sharded", "shards 1 → 4", "divide on → off"},
		"{limiter: {algorithm: leaky-bucket, shape: true}}":                     {"algorithm token-bucket → leaky-bucket", "shape off → on"},
		"{limiter: {policy: per-client, client: {rate: 3/s, burst: 5}}}":        {"policy global → per-client", "client rate none → 3/s", "client burst none → 5"},
		"{service: {time: 3ms}, duration: 1m}":                                  {"duration 30s → 1m", "service time 2ms → 3ms"},
		"{clients: [{name: a, weight: 3}], without: [b]}":                       {"a: weight 1 → 3", "without b"},
		"{clients: [{name: b, retry: {budget: 0.1, on: [429]}}]}":               {"b: retry on 429, 503 → 429", "b: retry budget none → 0.1"},
		"{clients: [{name: c, kind: batch, arrivals: {rate: 9/s}, start: 3s}]}": {"with c: batch, constant, 9/s, from 3s on"},
		"{clients: [{name: a, arrivals: {process: trace, at: [1s, 2s, 3s, 4s, 5s, 6s, 7s]}}]}": {
			"a: arrivals process constant → trace", "a: arrivals rate 7/s → none", "a: arrivals jitter 0.1 → none", "a: arrivals at none → 7 of them"},
	} {
		p, err := profiles.Parse("p.yaml", []byte(base+"- {say: x, set: "+set+"}\n"))
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		next, err := p.Lesson[0].Apply(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := changes(p, next)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", set, diff)
		}
	}
}
