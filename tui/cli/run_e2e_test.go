package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairgate/fairness"
)

func TestHeadlessRunReportsInEveryFormat(t *testing.T) {
	for _, transport := range []string{"memory", "loopback"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			got := fairgate(t, "run", "agent", "--headless", "--duration", "1500ms", "--seed", "42", "--transport", transport, "--format", "json")
			if got.code != exitDone && got.code != exitExpectation { // a second is too short for the profile's own expectations
				t.Fatalf("exit code %d: %s", got.code, got.err)
			}
			r := reportOf(t, got.out)
			conserved(t, r)
			if r.Profile != "agent" || r.Mode != "live" || r.Seed != 42 || r.Source != "built-in" || r.Duration != 1.5 || r.Started == nil {
				t.Errorf("profile %q mode %q seed %d source %q duration %v started %v", r.Profile, r.Mode, r.Seed, r.Source, r.Duration, r.Started)
			}
			if r.Aggregate.ErrorCount != 0 {
				t.Errorf("%d errors", r.Aggregate.ErrorCount)
			}
			if !strings.Contains(got.err, "00:01  admitted ") {
				t.Errorf("no line a second on standard error: %q", got.err)
			}
		})
	}
	text := fairgate(t, "run", "agent", "--headless", "--duration", "300ms")
	for _, s := range []string{"monitoring sees", "the clients see", "inventory", "agent", "verdict", "generator"} {
		if !strings.Contains(text.out, s) {
			t.Errorf("the text lacks %q:\n%s", s, text.out)
		}
	}
	if strings.Contains(text.out, "\x1b") {
		t.Errorf("escapes in a pipe: %q", text.out)
	}
	coloured := fairgate(t, "run", "agent", "--headless", "--duration", "300ms", "--color", "always")
	if !strings.Contains(coloured.out, "\x1b[") {
		t.Errorf("--color always does not colour: %q", coloured.out)
	}
	markdown := fairgate(t, "run", "agent", "--headless", "--duration", "300ms", "--format", "markdown")
	if !strings.HasPrefix(markdown.out, "# fairgate: agent\n") {
		t.Errorf("no Markdown: %q", markdown.out)
	}
}

func TestFlagsChangeTheRun(t *testing.T) {
	t.Parallel()
	sim := func(args ...string) *fairness.Report {
		t.Helper()
		got := fairgate(t, append([]string{"simulate", "starvation", "--format", "json", "--duration", "3s"}, args...)...)
		if got.code != exitDone && got.code != exitExpectation {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.err)
		}
		r := reportOf(t, got.out)
		conserved(t, r)
		return r
	}
	if r := sim("--rate", "500/s", "--burst", "7"); r.Limiter.RatePerS != 500 || r.Limiter.Burst != 7 || r.Aggregate.AdmittedCount > 500*3+7 {
		t.Errorf("--rate 500/s --burst 7: %+v, %d admitted", r.Limiter, r.Aggregate.AdmittedCount)
	}
	r := sim("--policy", "per-client", "--client-rate", "100/s", "--client-burst", "1")
	if r.Limiter.Policy != "per-client" || r.Limiter.ClientRatePerS != 100 || r.Clients[0].Admitted > 301 {
		t.Errorf("--client-rate 100/s: %+v, %d admitted of batch", r.Limiter, r.Clients[0].Admitted)
	}
	if r := sim("--retry-after", "adaptive"); r.Limiter.RetryAfter != "adaptive" {
		t.Errorf("--retry-after adaptive: %+v", r.Limiter)
	}
	warm := sim("--warm-up", "2s")
	if all := sim(); warm.Aggregate.Attempts >= all.Aggregate.Attempts/2 {
		t.Errorf("--warm-up 2s of 3s leaves %d of %d attempts", warm.Aggregate.Attempts, all.Aggregate.Attempts)
	}
	if a, b := sim("--seed", "5"), sim("--seed", "6"); a.Aggregate == b.Aggregate || a.Seed != 5 || b.Seed != 6 {
		t.Errorf("seeds 5 and 6 give the same")
	}
}

func TestSimulationsRepeatByteForByte(t *testing.T) {
	t.Parallel()
	a := fairgate(t, "simulate", "starvation", "--duration", "5s", "--format", "json")
	b := fairgate(t, "simulate", "starvation", "--duration", "5s", "--format", "json")
	if a.out != b.out {
		t.Error("two simulations of one seed differ")
	}
	if r := reportOf(t, a.out); r.Mode != "simulated" || r.Started != nil || len(r.Timeline) == 0 {
		t.Errorf("mode %q started %v, %d steps of the timeline", r.Mode, r.Started, len(r.Timeline))
	}
	if strings.Contains(a.out, "NaN") || strings.Contains(a.out, "Inf") {
		t.Error("a quantity that does not exist was written as a number")
	}
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	mine := profile(t, `
name: mine
duration: 2s
limiter: {rate: 100/s, burst: 10}
clients:
  - {name: hog, kind: batch, arrivals: {process: constant, rate: 1000/s}}
  - {name: small, kind: interactive, arrivals: {process: poisson, rate: 10/s}}
expect: ["utilization > 0.5", "jain > 2"]
`)
	ok := func(r *fairness.Report) string { // of each expectation: t, f, or - where it was not judged
		s := ""
		for _, e := range r.Expectations {
			switch {
			case e.OK == nil:
				s += "-"
			case *e.OK:
				s += "t"
			default:
				s += "f"
			}
		}
		return s
	}
	for _, c := range []struct {
		args string
		code int
		ok   string
	}{
		{"", exitExpectation, "tf"},
		{"--seed 9", exitExpectation, "tf"},
		{"--rate 100/s", exitExpectation, "tf"}, // as the profile says
		{"--rate 200/s", exitDone, "--"},
		{"--burst 11", exitDone, "--"},
		{"--retry-after slot", exitDone, "--"},
		{"--rate 200/s --expect jain<=1", exitDone, "--t"},
		{"--rate 200/s --expect jain>1", exitExpectation, "--f"},
		{"--expect small.admit_ratio>=0 --expect errors==0", exitExpectation, "tftt"},
	} {
		got := fairgate(t, append([]string{"simulate", mine, "--format", "json"}, strings.Fields(c.args)...)...)
		if got.code != c.code {
			t.Errorf("%q: exit code %d, want %d: %s", c.args, got.code, c.code, got.err)
		}
		if s := ok(reportOf(t, got.out)); s != c.ok {
			t.Errorf("%q: %s, want %s", c.args, s, c.ok)
		}
		if failed := strings.Contains(got.err, "not met: "); failed != (c.code == exitExpectation) {
			t.Errorf("%q: on standard error %q", c.args, got.err)
		}
	}
}

func TestOutputFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, args ...string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		got := fairgate(t, append([]string{"simulate", "agent", "--duration", "1s", "--rate", "11/s", "--output", path}, args...)...)
		if got.code != exitDone || got.out != "" {
			t.Fatalf("%s: exit code %d, on standard output %q, on standard error %q", name, got.code, got.out, got.err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	conserved(t, reportOf(t, write("a.json")))
	if s := write("a.md"); !strings.HasPrefix(s, "# fairgate") {
		t.Errorf("a.md holds %q", s)
	}
	if s := write("a.txt"); !strings.HasPrefix(s, "fairgate agent") {
		t.Errorf("a.txt holds %q", s)
	}
	if s := write("b.json", "--format", "text"); !strings.HasPrefix(s, "fairgate agent") {
		t.Errorf("--format text in b.json holds %q", s)
	}

	// An older file is replaced and keeps its mode; a link stays a link.
	old, link := filepath.Join(dir, "old.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(old, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	conserved(t, reportOf(t, write("link.json")))
	info, err := os.Lstat(old)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link has become %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".fairgate") }) {
		t.Errorf("a temporary file was left: %v", entries)
	}

	// A device is written, not replaced.
	if got := fairgate(t, "simulate", "agent", "--duration", "1s", "--rate", "11/s", "--output", "/dev/null"); got.code != exitDone {
		t.Errorf("/dev/null: exit code %d: %s", got.code, got.err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatal("/dev/null was replaced")
	}
}

// Each signal ends the run at once, with the report so far and the code that the signal has by custom.
func TestSignalsEndWithTheReport(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 131}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			r := start(t, program, nil, "run", "agent", "--headless", "--duration", "1h", "--format", "json", "--expect", "jain>2")
			r.err.await(t, "00:01")
			if err := r.cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			got := finish(t, r)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d: %s", got.code, c.code, got.err)
			}
			report := reportOf(t, got.out)
			conserved(t, report)
			if report.Duration <= 0.9 || report.Duration > fairness.Number(patience.Seconds()) {
				t.Errorf("duration_s %v", report.Duration)
			}
			for i, e := range report.Expectations {
				asked := i == len(report.Expectations)-1 // --expect counts also now, but the signal's code goes first
				if (e.OK != nil) != asked {
					t.Errorf("%s: ok %v", e.Expr, e.OK)
				}
			}
		})
	}
}

// A signal that the process was started to ignore stays ignored, as under nohup.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	r := start(t, "/bin/sh", nil, "-c", `trap "" HUP; exec "$0" "$@"`, program, "run", "agent", "--headless", "--duration", "2500ms", "--rate", "11/s")
	r.err.await(t, "00:01")
	r.cmd.Process.Signal(syscall.SIGHUP)
	if got := finish(t, r); got.code != exitDone {
		t.Errorf("exit code %d, want %d: %s", got.code, exitDone, got.err)
	}
}

// The reader of standard output or standard error may leave before the end.
func TestBrokenPipes(t *testing.T) {
	t.Parallel()
	closed := func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		t.Cleanup(func() { w.Close() })
		return w
	}
	out := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.Command(program, "run", "agent", "--headless", "--duration", "1200ms", "--rate", "11/s", "--output", out)
	cmd.Stdout, cmd.Stderr = closed(), closed()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd); code != exitDone {
		t.Errorf("without readers: exit code %d", code)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("the report is lost: %v", err)
	}
	conserved(t, reportOf(t, string(b)))

	var stderr bytes.Buffer
	cmd = exec.Command(program, "simulate", "agent", "--duration", "1s", "--rate", "11/s")
	cmd.Stdout, cmd.Stderr = closed(), io.Writer(&stderr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd); code != exitDone || stderr.Len() > 0 {
		t.Errorf("a reader that left early: exit code %d, %q", code, stderr.String())
	}
}

// A panic is told with its stack, after the report.
func TestAPanicLosesNoReport(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, self, []string{faulty + "=panic"}, "run", "agent", "--headless", "--duration", "1h", "--format", "json")
	got := finish(t, r)
	if got.code != exitFailed {
		t.Errorf("exit code %d, want %d", got.code, exitFailed)
	}
	conserved(t, reportOf(t, got.out))
	for _, s := range []string{"injected by the test", "goroutine ", "e2e_test.go"} {
		if !strings.Contains(got.err, s) {
			t.Errorf("no %q in %q", s, got.err)
		}
	}
}

// The second Ctrl-C waits for nothing, not even for a run that does not end.
func TestTheSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, self, []string{faulty + "=stuck"}, "run", "agent", "--headless", "--duration", "1h", "--output", "report.json")
	r.err.await(t, "stuck")
	end := make(chan struct{})
	go func() { // the second counts when the first has been taken in, which nobody outside can see
		for {
			r.cmd.Process.Signal(syscall.SIGINT)
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	got := finish(t, r)
	close(end)
	if got.code != exitInterrupted || got.out != "" {
		t.Errorf("exit code %d, want %d; on standard output %q", got.code, exitInterrupted, got.out)
	}
	if entries, err := os.ReadDir(r.cmd.Dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if got := fairgate(t, "--version"); got.code != exitDone || !strings.HasPrefix(got.out, "fairgate ") || !strings.Contains(got.out, "go1.") {
		t.Errorf("exit code %d, %q", got.code, got.out)
	}
}
