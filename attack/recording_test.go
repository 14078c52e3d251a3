package attack

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// recorded runs a profile live, on synctest's clock, and writes what it recorded to a file.
func recorded(t *testing.T, p *profiles.Profile, file string) (path string, report *fairness.Report) {
	t.Helper()
	path = filepath.Join(t.TempDir(), file)
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		recorder, err := NewRecorder(&out, file)
		if err != nil {
			t.Fatal(err)
		}
		r := live(t, p, Options{Record: recorder.Record})
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		report = r.Report()
	})
	return path, report
}

// TestARecordingGivesTheReportOfItsRun: what is counted from a recording is what was counted live, but for the attempts that the end cut, which nobody
// recorded.
func TestARecordingGivesTheReportOfItsRun(t *testing.T) {
	for _, file := range []string{"a.gob", "a.json", "a.csv"} {
		path, want := recorded(t, builtin(t, "starvation", 2*time.Second), file)
		rec, files, err := ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		if files[0].Fault != nil || files[0].Results != rec.Attempts() || !rec.Marked {
			t.Fatalf("%s: %+v, marked %v", file, files[0], rec.Marked)
		}
		got := rec.Report(RecordedOptions{Rate: limiter.PerSecond(1000), Burst: 100})
		if got.Mode != "recorded" || len(got.Clients) != len(want.Clients) {
			t.Fatalf("%s: mode %s, %d clients", file, got.Mode, len(got.Clients))
		}
		for i := range want.Clients {
			w := &want.Clients[i]
			g := clientOf(t, got, w.Name)
			type counts struct {
				Attempts, Admitted, Rejected, Retries, GaveUp int64
				By                                            map[string]int64
				Needed                                        fairness.Quantiles
			}
			by := map[string]int64{"unknown": 0}
			for name, n := range w.RejectedBy {
				by[name] = n
			}
			a := counts{g.Attempts, g.Admitted, g.Rejected, g.Retries, g.GaveUp, g.RejectedBy, g.RetryAfter.Needed}
			b := counts{w.Attempts - w.InFlight, w.Admitted, w.Rejected, a.Retries, w.GaveUp, by, w.RetryAfter.Needed}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Errorf("%s, %s: live is −, recorded +\n%s", file, w.Name, diff)
			}
			if cut := w.Retries - g.Retries; cut < 0 || cut > w.InFlight {
				t.Errorf("%s, %s: %d retries recorded of %d", file, w.Name, g.Retries, w.Retries)
			}
			if d := g.Satisfaction - w.Satisfaction; d < -0.02 || d > 0.02 {
				t.Errorf("%s, %s: satisfaction %v recorded and %v live", file, w.Name, g.Satisfaction, w.Satisfaction)
			}
		}
		if got.Fairness.Verdict != want.Fairness.Verdict {
			t.Errorf("%s: verdict %s, live %s", file, got.Fairness.Verdict, want.Fairness.Verdict)
		}
	}
}

func clientOf(t *testing.T, r *fairness.Report, name string) *fairness.ClientMeasures {
	t.Helper()
	for i := range r.Clients {
		if r.Clients[i].Name == name {
			return &r.Clients[i]
		}
	}
	t.Fatalf("client %s is not in the report", name)
	return nil
}

// foreign are results as vegeta alone would make them: two attacks, one of them without a name.
func foreign() []vegeta.Result {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []vegeta.Result
	for i := range 100 {
		at := began.Add(time.Duration(i) * 10 * time.Millisecond)
		ok := vegeta.Result{Attack: "hog", Seq: uint64(i), Code: 200, Timestamp: at, Latency: 2 * time.Millisecond, Method: "GET", URL: "http://127.0.0.1/"}
		all = append(all, ok)
		shy := vegeta.Result{Seq: uint64(i), Code: 429, Timestamp: at.Add(time.Millisecond), Latency: time.Millisecond, Method: "GET", URL: "http://127.0.0.1/",
			Headers: http.Header{"Retry-After": {"2"}}, Error: "429 Too Many Requests"}
		switch {
		case i == 50:
			shy = vegeta.Result{Timestamp: shy.Timestamp, Latency: shy.Latency, Error: "Get \"http://127.0.0.1/\": dial tcp 127.0.0.1:80: connect: connection refused"}
		case i%10 == 0:
			shy.Code, shy.Error, shy.Headers = 200, "", nil
		}
		all = append(all, shy)
	}
	return all
}

// encoded is results in an encoding.
func encoded(t *testing.T, ending string, all []vegeta.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	encode := encodings[ending](&b)
	for i := range all {
		if err := encode(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestForeignResults: results that vegeta wrote alone, in any order, in any encoding and under any name, in one file or several.
func TestForeignResults(t *testing.T) {
	all := foreign()
	rand.New(rand.NewSource(1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	half := len(all) / 2
	for name, paths := range map[string][]string{
		"gob":             {write(t, "shy.results", encoded(t, ".gob", all))},
		"JSON":            {write(t, "shy.txt", encoded(t, ".json", all))},
		"JSON, cut line":  {write(t, "shy.txt", bytes.TrimSuffix(encoded(t, ".json", all), []byte("\n")))},
		"CSV":             {write(t, "shy", encoded(t, ".csv", all))},
		"several, mixed":  {write(t, "shy.gob", encoded(t, ".gob", all[:half])), write(t, "shy.csv", encoded(t, ".csv", all[half:]))},
		"several, nearly": {write(t, "shy.json", encoded(t, ".json", all[:1])), write(t, "shy.csv", encoded(t, ".csv", all[1:]))},
	} {
		rec, files, err := ReadRecording(paths...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range files {
			if f.Fault != nil {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if rec.Attempts() != 200 || rec.Marked || fmt.Sprint(rec.Clients) != "[hog shy]" || rec.Length != 992*time.Millisecond {
			t.Errorf("%s: %d attempts of %v in %s, marked %v", name, rec.Attempts(), rec.Clients, rec.Length, rec.Marked)
		}
		r := rec.Report(RecordedOptions{})
		hog, shy := clientOf(t, r, "hog"), clientOf(t, r, "shy")
		if hog.Admitted != 100 || shy.Admitted != 9 || shy.Rejected != 90 || shy.Errors != 1 || shy.Requests != 100 || shy.GaveUp != 91 {
			t.Errorf("%s: hog %d; shy %d admitted, %d rejected, %d errors of %d requests, %d gave up", name,
				hog.Admitted, shy.Admitted, shy.Rejected, shy.Errors, shy.Requests, shy.GaveUp)
		}
		if len(shy.RetryAfter.Told) != 1 || shy.RetryAfter.Told[0] != (fairness.Told{Seconds: 2, Count: 90}) || shy.RejectedBy["unknown"] != 90 {
			t.Errorf("%s: told %v, refused by %v", name, shy.RetryAfter.Told, shy.RejectedBy)
		}
		if r.Fairness.Verdict != fairness.Starved || r.Target.Entitlement != fairness.FromAdmitted || r.ErrorsBy["refused"] != 1 {
			t.Errorf("%s: %s, entitled by what was %s, errors %v", name, r.Fairness.Verdict, r.Target.Entitlement, r.ErrorsBy)
		}
	}
}

// TestTruncatedFiles give what stands before the cut, and say where it is.
func TestTruncatedFiles(t *testing.T) {
	for _, ending := range []string{".gob", ".json", ".csv"} {
		data := encoded(t, ending, foreign())
		whole := 0
		for cut := len(data) - 1; cut > 0; cut -= 1 + len(data)/50 {
			_, files, err := ReadRecording(write(t, "cut"+ending, data[:cut]))
			if err != nil {
				continue // nothing is left of it, and the error says so
			}
			f := files[0]
			if f.Fault == nil {
				whole++ // cut between two results, which nobody can tell
			} else if !strings.Contains(f.Fault.Error(), fmt.Sprintf("result %d", f.Results+1)) {
				t.Errorf("%s at %d: %d results and %v", ending, cut, f.Results, f.Fault)
			}
			if want := 200 * cut / len(data); f.Results > want+40 || f.Results < want-60 {
				t.Errorf("%s at %d of %d: %d results", ending, cut, len(data), f.Results)
			}
		}
		if whole > 4 {
			t.Errorf("%s: %d of about 50 cuts went unnoticed", ending, whole)
		}
	}
}

// TestWhatIsNoRecording is refused with what would be right.
func TestWhatIsNoRecording(t *testing.T) {
	for text, says := range map[string]string{
		"":                           "is empty",
		"  \n":                       "is empty",
		"hello":                      "no results of vegeta",
		`{"schema":1,"mode":"live"}`: "no results of vegeta",
		"time,code\n1,200\n":         "no results of vegeta",
		"1,2,3\n":                    "holds no result that can be read",
		`{"attack":"a","timestamp":"never","latency":1}`: "holds no result that can be read",
	} {
		_, _, err := ReadRecording(write(t, "x", []byte(text)))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v; want %q", text, err, says)
		}
	}
	years := foreign()[:2]
	years[1].Timestamp = years[1].Timestamp.AddDate(3, 0, 0)
	if _, _, err := ReadRecording(write(t, "x", encoded(t, ".gob", years))); err == nil || !strings.Contains(err.Error(), "(2026-03-01) and the last answer lie 1096 days") {
		t.Errorf("three years: %v", err)
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Unix(1<<60, 0), time.Unix(1<<55+3, 5)} {
		years[1].Timestamp = at // as a damaged file may have it, so far away that nanoseconds cannot count it
		_, files, err := ReadRecording(write(t, "x", encoded(t, ".gob", years)))
		if err != nil || files[0].Results != 1 || files[0].Fault == nil || files[0].Fault.Error() != "result 2 has no time" {
			t.Errorf("%v: %+v, %v", at, files, err)
		}
	}
	if _, _, err := ReadRecording("/nowhere/at-all"); err == nil || !strings.Contains(err.Error(), "cannot be read: no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReplaySendsTheSame: the first attempts of a recording, sent again under the same policy, are admitted as they were.
func TestReplaySendsTheSame(t *testing.T) {
	p := builtin(t, "starvation", 2*time.Second)
	path, want := recorded(t, p, "a.gob")
	rec, _, err := ReadRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	replayed, notes, err := rec.Replay(p)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	got, err := Simulate(context.Background(), replayed, SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Clients {
		w := &want.Clients[i]
		g := clientOf(t, got, w.Name)
		if d := g.Requests - w.Requests; d < -w.InFlight-1 || d > 0 {
			t.Errorf("%s: %d requests replayed of %d", w.Name, g.Requests, w.Requests)
		}
		if d := float64(g.Admitted-w.Admitted) / float64(w.Admitted+20); d < -0.1 || d > 0.1 {
			t.Errorf("%s: %d admitted in the replay and %d live", w.Name, g.Admitted, w.Admitted)
		}
	}
	replayed.Limiter.Policy = limiter.PerClient
	cured, err := Simulate(context.Background(), replayed, SimulateOptions{})
	if err != nil || cured.Fairness.Verdict != fairness.Fair {
		t.Errorf("the same arrivals with a limit for each client: %v, %v", cured.Fairness, err)
	}
}

// TestReplayOfForeignNames: a recording's clients that the profile does not know, with names that a profile could not have.
func TestReplayOfForeignNames(t *testing.T) {
	all := foreign()
	for i := range all {
		if i%4 == 0 {
			all[i].Attack = "a b=\x1b[31m"
		}
	}
	rec, _, err := ReadRecording(write(t, "shy.gob", encoded(t, ".gob", all)))
	if err != nil {
		t.Fatal(err)
	}
	p, notes, err := rec.Replay(builtin(t, "starvation", time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range p.Clients {
		names = append(names, c.Name)
	}
	if got := fmt.Sprint(names); got != "[a-b--[31m shy hog]" {
		t.Errorf("clients %s", got)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "4 are not in the recording") {
		t.Errorf("notes %q", notes)
	}
}

// FuzzReadRecording: whatever a file holds, it is read as far as it goes or refused.
func FuzzReadRecording(f *testing.F) {
	for _, ending := range []string{".gob", ".json", ".csv"} {
		var b bytes.Buffer
		encode := encodings[ending](&b)
		for _, r := range foreign()[:6] {
			if err := encode(&r); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"attack":"a","timestamp":"2026-01-01T00:00:00Z","latency":5,"code":429,"headers":{"Fairgate-Attempt":["request=-1 try=x needed=9223372036854775807"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		encoding := RecordingEncoding(data)
		if encoding == "" {
			return
		}
		b := recordingBuilder{clients: map[string]int32{}}
		b.told = new(toldBook)
		n, _ := b.read(bufio.NewReader(bytes.NewReader(data)), encoding, "client")
		if n != len(b.hits) {
			t.Fatalf("%d results said and %d kept", n, len(b.hits))
		}
		if n > 0 {
			r := b.finish()
			if r.Length > mostLength {
				return
			}
			if report := r.Report(RecordedOptions{}); report.Aggregate.Attempts > int64(n) {
				t.Fatalf("%d attempts of %d results", report.Aggregate.Attempts, n)
			}
		}
	})
}
