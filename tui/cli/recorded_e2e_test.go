package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fairgate/fairness"
)

// vegetaProgram is its own program, of the version that this module needs, built once.
var vegetaProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(program), "vegeta")
	out, err := exec.Command("go", "build", "-o", path, "github.com/tsenart/vegeta/v12").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("vegeta cannot be built: %w\n%s", err, out)
	}
	return path, nil
})

// ranVegeta runs vegeta to its end and returns what it wrote.
func ranVegeta(t *testing.T, in string, args ...string) string {
	t.Helper()
	path, err := vegetaProgram()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(in)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("vegeta %s: %v\n%s", args, err, said.String())
	}
	return string(out)
}

// twoClients is a profile that expects nothing and is soon over.
func twoClients(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "two.yaml")
	text := "duration: 300ms\nlimiter: {rate: 200/s, burst: 10}\nclients: [{name: web, kind: interactive, arrivals: {process: poisson, rate: 300/s}}, {name: batch, kind: batch}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// fromRecordings is the report of recordings.
func fromRecordings(t *testing.T, files ...string) *fairness.Report {
	t.Helper()
	got := fairgate(t, append([]string{"report", "--format", "json"}, files...)...)
	if got.code != exitDone {
		t.Fatalf("report %v: exit code %d: %s", files, got.code, got.err)
	}
	var r fairness.Report
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// What run records, vegeta's own program reports, and encodes in another way; and the report from either is the report of the run.
func TestVegetaReadsWhatRunRecords(t *testing.T) {
	dir := t.TempDir()
	for _, ending := range []string{"gob", "json", "csv"} {
		file := filepath.Join(dir, "attempts."+ending)
		got := fairgate(t, "run", twoClients(t), "--headless", "--format", "json", "--record", file)
		if got.code != exitDone || !strings.Contains(got.err, "the attempts are in "+file) {
			t.Fatalf("exit code %d: %s", got.code, got.err)
		}
		var live fairness.Report
		if err := json.Unmarshal([]byte(got.out), &live); err != nil {
			t.Fatal(err)
		}
		var metrics struct {
			Requests    int64            `json:"requests"`
			StatusCodes map[string]int64 `json:"status_codes"`
		}
		if err := json.Unmarshal([]byte(ranVegeta(t, "", "report", "-type=json", file)), &metrics); err != nil {
			t.Fatal(err)
		}
		if a := live.Aggregate; metrics.Requests != a.Attempts-a.InFlight || metrics.StatusCodes["200"] != a.AdmittedCount || metrics.StatusCodes["429"] != a.RejectedCount {
			t.Errorf("%s: vegeta counts %+v, the run %+v", ending, metrics, a)
		}
		for _, to := range []string{"gob", "json", "csv"} {
			other := filepath.Join(dir, "encoded."+to)
			ranVegeta(t, "", "encode", "-to", to, "-output", other, file)
			r := fromRecordings(t, other)
			if r.Mode != "recorded" || r.Aggregate.AdmittedCount != live.Aggregate.AdmittedCount || r.Aggregate.RejectedCount != live.Aggregate.RejectedCount {
				t.Errorf("%s as %s: %+v, the run %+v", ending, to, r.Aggregate, live.Aggregate)
			}
			for _, c := range r.Clients {
				for _, l := range live.Clients {
					if c.Name == l.Name && (c.Admitted != l.Admitted || c.Rejected != l.Rejected || c.GaveUp != l.GaveUp) {
						t.Errorf("%s as %s: %s %d admitted, %d rejected, %d gave up; in the run %d, %d, %d", ending, to, c.Name,
							c.Admitted, c.Rejected, c.GaveUp, l.Admitted, l.Rejected, l.GaveUp)
					}
				}
			}
		}
	}
}

// What vegeta's own program records, of two attacks on two machines, makes one report.
func TestReportOfWhatVegetaRecords(t *testing.T) {
	var n atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Client-Id") == "shy" && n.Add(1)%4 != 0 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer service.Close()
	dir := t.TempDir()
	hog, shy := filepath.Join(dir, "hog.bin"), filepath.Join(dir, "shy.bin")
	ranVegeta(t, "GET "+service.URL+"\n", "attack", "-rate=200", "-duration=1s", "-name=batch", "-header=X-Client-Id: batch", "-output="+hog)
	ranVegeta(t, "GET "+service.URL+"\n", "attack", "-rate=100", "-duration=1s", "-header=X-Client-Id: shy", "-output="+shy)
	csv := filepath.Join(dir, "shy.csv")
	ranVegeta(t, "", "encode", "-to=csv", "-output="+csv, shy)
	r := fromRecordings(t, hog, csv)
	want := map[string][2]int64{"batch": {200, 0}, "shy": {25, 75}} // the second has no name but its file's
	for _, c := range r.Clients {
		if got := [2]int64{c.Admitted, c.Rejected}; got != want[c.Name] {
			t.Errorf("%s: %v admitted and rejected, want %v", c.Name, got, want[c.Name])
		}
		if c.Name == "shy" && (len(c.RetryAfter.Told) != 1 || c.RetryAfter.Told[0].Seconds != 7) {
			t.Errorf("%s was told %v", c.Name, c.RetryAfter.Told)
		}
	}
	if len(r.Clients) != 2 || r.Target.Entitlement != fairness.FromAdmitted || r.Target.URL != service.URL {
		t.Errorf("%d clients, %+v", len(r.Clients), r.Target)
	}
	stated := fairgate(t, "report", hog, shy, "--rate", "300/s", "--expect", "shy.satisfaction > 0.9")
	if stated.code != exitExpectation || !strings.Contains(stated.out, "stated as 300/s") || !strings.Contains(stated.err, "shy.satisfaction > 0.9") {
		t.Errorf("exit code %d, %s%s", stated.code, stated.out, stated.err)
	}
}

// A file that is cut gives the report of what was read, says where it is cut, and ends with 1.
func TestReportOfACutRecording(t *testing.T) {
	dir := t.TempDir()
	for _, ending := range []string{"gob", "json", "csv"} {
		file := filepath.Join(dir, "a."+ending)
		if got := fairgate(t, "run", twoClients(t), "--headless", "--record", file); got.code != exitDone {
			t.Fatal(got.err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data[:len(data)-len(data)/3-5], 0o600); err != nil {
			t.Fatal(err)
		}
		got := fairgate(t, "report", file)
		if got.code != exitFailed || !strings.Contains(got.out, "verdict") || !strings.Contains(got.err, file) || !strings.Contains(got.err, "results were read, and then") {
			t.Errorf("%s: exit code %d, %q", ending, got.code, got.err)
		}
	}
}

// A recording's arrivals come again, in virtual time under other policies, and live.
func TestReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.gob")
	if got := fairgate(t, "run", "starvation", "--duration", "1s", "--headless", "--record", file); got.code != exitDone {
		t.Fatal(got.err)
	}
	recorded := fromRecordings(t, file)
	for _, args := range [][]string{
		{"simulate", "starvation", "--replay", file}, {"simulate", "starvation", "--replay", file, "--policy", "fair-queue"},
		{"run", "starvation", "--replay", file, "--headless"},
	} {
		got := fairgate(t, append(args, "--format", "json")...)
		if got.code != exitDone {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.err)
		}
		var r fairness.Report
		if err := json.Unmarshal([]byte(got.out), &r); err != nil {
			t.Fatal(err)
		}
		if want := recorded.Aggregate.Requests; r.Aggregate.Requests < want-5 || r.Aggregate.Requests > want {
			t.Errorf("%v: %d requests, recorded were %d", args, r.Aggregate.Requests, want)
		}
		if fair := r.Fairness.Verdict == fairness.Fair; fair != (r.Limiter.Policy == "fair-queue") {
			t.Errorf("%v: %s under %s", args, r.Fairness.Verdict, r.Limiter.Policy)
		}
		for _, e := range r.Expectations {
			if e.OK != nil {
				t.Errorf("%v: %q was judged, though other clients came", args, e.Expr)
			}
		}
	}
}

// What import prints is a profile that runs; its notes are on standard error.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	conf, profile := filepath.Join(dir, "nginx.conf"), filepath.Join(dir, "mine.yaml")
	text := "limit_req_zone $http_x_client_id zone=one:10m rate=10r/s;\nlimit_req zone=one burst=20 nodelay;\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := fairgate(t, "import", conf)
	if got.code != exitDone || !strings.Contains(got.err, conf+":2: without limit_req_status nginx refuses with 503") {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	if err := os.WriteFile(profile, []byte(got.out), 0o600); err != nil {
		t.Fatal(err)
	}
	simulated := fairgate(t, "simulate", profile, "--expect", "busy.admitted_rps < 10.8", "--expect", "busy.admitted_rps >= 10.6", "--expect", "calm.reject_ratio == 0")
	if simulated.code != exitDone {
		t.Errorf("exit code %d: %s%s", simulated.code, simulated.out, simulated.err)
	}
	stdin := start(t, "/bin/sh", nil, "-c", "printf 'bandwidths:\\n- capacity: many' | "+program+" import -")
	if got := finish(t, stdin); got.code != exitUsage || !strings.Contains(got.err, "standard input:2:1: capacity") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}

// Every report can be a page, by its format or by the ending of its file.
func TestHTMLReports(t *testing.T) {
	dir := t.TempDir()
	attempts, told := filepath.Join(dir, "a.gob"), filepath.Join(dir, "a.json")
	for i, args := range [][]string{
		{"run", twoClients(t), "--headless", "--record", attempts},
		{"simulate", twoClients(t)},
		{"compare", twoClients(t), "--policies", "global,fair-queue"},
		{"report", attempts},
	} {
		page := filepath.Join(dir, fmt.Sprintf("%d.html", i))
		if got := fairgate(t, append(args, "--output", page)...); got.code != exitDone {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.err)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, sign := range []string{"<!DOCTYPE html>", "Who got what", "batch", "</html>"} {
			if !strings.Contains(string(text), sign) {
				t.Errorf("%v: the page lacks %q", args, sign)
			}
		}
	}
	if got := fairgate(t, "simulate", twoClients(t), "--output", told); got.code != exitDone {
		t.Fatal(got.err)
	}
	if got := fairgate(t, "report", told, "--format", "html"); got.code != exitDone || !strings.HasPrefix(got.out, "<!DOCTYPE html>") {
		t.Errorf("exit code %d, %.100q %s", got.code, got.out, got.err)
	}
}

// Wrong uses of recordings are told before anything is sent.
func TestWrongUseOfRecordings(t *testing.T) {
	dir := t.TempDir()
	attempts, told, text := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.json"), filepath.Join(dir, "text")
	for _, args := range [][]string{{"run", twoClients(t), "--headless", "--record", attempts}, {"simulate", twoClients(t), "--output", told}} {
		if got := fairgate(t, args...); got.code != exitDone {
			t.Fatal(got.err)
		}
	}
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"report", attempts, told}, "give one kind"},
		{[]string{"report", attempts, "--burst", "5"}, "add --rate"},
		{[]string{"report", told, "--rate", "5/s"}, "--rate is for recorded attempts"},
		{[]string{"report", attempts, "--warm-up", "1h"}, "--warm-up 1h0m0s leaves nothing"},
		{[]string{"report", attempts, "--expect", "wbe.share > 1"}, "web"},
		{[]string{"run", "--record", filepath.Join(dir, "a.txt")}, "let it end in .gob, .json or .csv"},
		{[]string{"run", "--record", "/nope/a.gob"}, "no such file or directory"},
		{[]string{"run", "--record", filepath.Join(dir, "b.gob"), "--speed", "2"}, "--speed plays the simulation"},
		{[]string{"simulate", "--replay", text}, "no results of vegeta"},
		{[]string{"simulate", "--replay", "/nope"}, "no such file or directory"},
		{[]string{"simulate", "--runs", "2", "--duration", "50ms", "--format", "html"}, "--format html is for reports"},
		{[]string{"import"}, "takes one file"},
		{[]string{"import", text, "--from", "apache"}, `"apache"`},
		{[]string{"import", "/nope"}, "no such file or directory"},
		{[]string{"import", text}, "none of the rate limits"},
	} {
		got := fairgate(t, c.args...)
		if got.code != exitUsage || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("%v: exit code %d, %q; want %q", c.args, got.code, got.err, c.says)
		}
	}
}
