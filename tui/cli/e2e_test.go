package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairgate/fairness"
)

// program is fairgate: the test binary itself, which the environment tells to be the program and not its tests. So nothing has to be built a second
// time, and under the race detector the program as a whole is searched for races too.
var program string

// patience is how long a test waits for something that must happen. It is far beyond what the slowest machine takes, so
// that running out of it means: it does not happen.
const patience = time.Minute

const (
	asProgram = "FAIRGATE_TEST_PROGRAM" // when set, the test binary is the program
	faulty    = "FAIRGATE_TEST_FAULT"   // when set too, it has a fault: at the third snapshot it panics, or it gets stuck
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		haveFault(os.Getenv(faulty))
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	var err error
	if program, err = os.Executable(); err != nil {
		panic(err)
	}
	os.Setenv(asProgram, "yes") // all that is started from here on
	// Most tests wait for a program far more than they compute, so more of them than processors may run at once.
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		flag.Set("test.parallel", "8")
	}
	os.Exit(m.Run())
}

// haveFault makes the program have a fault.
func haveFault(fault string) {
	if fault == "" {
		return
	}
	calls := 0
	snapshotOf = func(r attacker) *fairness.Snapshot {
		switch calls++; {
		case calls == 3 && fault == "panic":
			panic("injected by the test")
		case calls == 3:
			fmt.Fprintln(os.Stderr, "stuck")
			select {}
		}
		return r.Snapshot()
	}
}

// ran is what a program left behind.
type ran struct {
	code     int
	out, err string
}

// fairgate runs the program to its end, in a folder of its own.
func fairgate(t *testing.T, args ...string) ran {
	t.Helper()
	return finish(t, start(t, program, nil, args...))
}

// A running program; its output is collected.
type running struct {
	cmd      *exec.Cmd
	out, err *collector
}

// start begins a program with pipes for its streams.
func start(t *testing.T, path string, env []string, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.Command(path, args...), out: newCollector(), err: newCollector()}
	r.cmd.Dir = t.TempDir()
	r.cmd.Env = append(os.Environ(), env...)
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.err
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.cmd.Process.Kill() })
	return r
}

// finish waits for the end.
func finish(t *testing.T, r *running) ran {
	t.Helper()
	code := exitCode(t, r.cmd)
	return ran{code, r.out.String(), r.err.String()}
}

// exitCode waits for a program's end.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(patience):
		cmd.Process.Signal(syscall.SIGQUIT)
		<-done
		t.Fatalf("%v did not end", cmd.Args)
	}
	return cmd.ProcessState.ExitCode()
}

// A collector keeps what is written and wakes who waits for something to appear.
type collector struct {
	mu      sync.Mutex
	b       bytes.Buffer
	changed chan struct{} // closed and replaced at each write
}

func newCollector() *collector { return &collector{changed: make(chan struct{})} }

func (c *collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
	return c.b.Write(p)
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// await waits until text has appeared.
func (c *collector) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		found, changed := strings.Contains(c.b.String(), text), c.changed
		c.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%q did not appear in %q", text, c.String())
		}
	}
}

// reportOf reads a JSON report.
func reportOf(t *testing.T, text string) *fairness.Report {
	t.Helper()
	var r fairness.Report
	decoder := json.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if decoder.More() {
		t.Fatalf("more than one JSON value on standard output: %q", text)
	}
	return &r
}

// conserved checks that each attempt is accounted for, client by client and in sum.
func conserved(t *testing.T, r *fairness.Report) {
	t.Helper()
	var sum fairness.ClientMeasures
	for _, c := range r.Clients {
		if c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight {
			t.Errorf("%s: %d attempts are not %d admitted + %d rejected + %d errors + %d in flight", c.Name, c.Attempts, c.Admitted, c.Rejected, c.Errors, c.InFlight)
		}
		sum.Attempts += c.Attempts
		sum.Admitted += c.Admitted
		sum.Rejected += c.Rejected
		sum.Requests += c.Requests
	}
	a := r.Aggregate
	if a.Attempts != sum.Attempts || a.AdmittedCount != sum.Admitted || a.RejectedCount != sum.Rejected || a.Requests != sum.Requests {
		t.Errorf("the aggregate %+v is not the sum of the clients %+v", a, sum)
	}
	if a.Attempts == 0 {
		t.Error("nothing was sent")
	}
}

// profile writes a profile into a folder and returns its path.
func profile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
