package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairgate/fairness"
)

// scarce is a profile whose limit, once its burst of 3 is used up, admits nobody for the rest of a test.
const scarce = `
name: scarce
limiter: {rate: 60/h, burst: 3}
service: {time: 0s}
clients: [{name: web, kind: interactive}, {name: batch, kind: batch}]
`

// served starts the program as a server, and returns where.
func served(t *testing.T, args ...string) (r *running, at string) {
	t.Helper()
	r = start(t, program, nil, append([]string{"serve", "--listen", "127.0.0.1:0", "--headless"}, args...)...)
	return r, address(t, r.err)
}

// address is what the program says of where it serves.
func address(t *testing.T, said *collector) string {
	t.Helper()
	said.await(t, "clients are told apart")
	m := regexp.MustCompile(`served at (http://[^,]+),`).FindStringSubmatch(said.String())
	if m == nil {
		t.Fatalf("it does not say where it serves: %q", said.String())
	}
	return m[1]
}

// ask sends a request with a header and returns the status.
func ask(t *testing.T, at, field, value string) int {
	t.Helper()
	r, err := http.NewRequest("GET", at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if field != "" {
		r.Header.Set(field, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// clientOf is a client of a report.
func clientOf(t *testing.T, r *fairness.Report, name string) fairness.ClientMeasures {
	t.Helper()
	for _, c := range r.Clients {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("the report has no client %s", name)
	return fairness.ClientMeasures{}
}

func TestServeUntilASignal(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			r, at := served(t, profile(t, scarce), "--format", "json", "--metrics", "--expect", "web.satisfaction >= 0")
			for _, name := range []string{"web", "zoe", "batch"} {
				if got := ask(t, at, "X-Client-Id", name); got != 200 {
					t.Errorf("%s is answered %d", name, got)
				}
			}
			if got := ask(t, at, "", ""); got != 400 {
				t.Errorf("nobody is answered %d", got)
			}
			if got := ask(t, at+"metrics", "", ""); got != 200 {
				t.Errorf("the metrics are answered %d", got)
			}
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
			if report.Mode != "served" || report.Profile != "scarce" || report.Aggregate.Attempts != 3 || clientOf(t, report, "zoe").Admitted != 1 {
				t.Errorf("mode %q, profile %q, %d attempts", report.Mode, report.Profile, report.Aggregate.Attempts)
			}
			if e := report.Expectations; len(e) != 1 || e[0].OK == nil || !*e[0].OK {
				t.Errorf("expectations: %+v", e)
			}
			if !strings.Contains(got.err, "1 requests did not say who was asking (the header X-Client-Id)") {
				t.Errorf("nothing is said of the request without a name: %q", got.err)
			}
			if c, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(at, "http://"), "/")); err == nil {
				c.Close()
				t.Error("somebody still listens")
			}
		})
	}
}

// What is on its way when the signal comes is answered before the report is printed.
func TestServeLetsNobodyStandInTheDoor(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(inside)
		<-leave
		io.WriteString(w, "hello")
	}))
	defer behind.Close()
	r, at := served(t, profile(t, scarce), "--upstream", behind.URL, "--client-by", "basic-auth", "--format", "json")
	status := make(chan int)
	go func() {
		status <- ask(t, strings.Replace(at, "://", "://web:secret@", 1), "Authorization", "Basic d2ViOng=")
	}()
	<-inside
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // until the listener is closed
		c, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(at, "http://"), "/"))
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	close(leave)
	if got := <-status; got != 200 {
		t.Errorf("it is answered %d", got)
	}
	got := finish(t, r)
	if got.code != 143 {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
	if c := clientOf(t, reportOf(t, got.out), "web"); c.Admitted != 1 || c.InFlight != 0 || c.Errors != 0 {
		t.Errorf("web: %d admitted, %d in flight, %d errors", c.Admitted, c.InFlight, c.Errors)
	}
}

// The profile's duration counts for nothing, and that of the flag does.
func TestServeForATime(t *testing.T) {
	t.Parallel()
	got := fairgate(t, "serve", profile(t, "duration: 1ms\n"+scarce), "--listen", "127.0.0.1:0", "--headless", "--duration", "300ms", "--client-by", "address")
	if got.code != exitDone || !strings.Contains(got.out, "nobody sent anything") || !strings.Contains(got.err, "told apart by address") {
		t.Errorf("exit code %d, %q, %q", got.code, got.out, got.err)
	}
}

func TestServeAtAnAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := fairgate(t, "serve", profile(t, scarce), "--listen", l.Addr().String())
	if got.code != exitUsage || !strings.Contains(got.err, l.Addr().String()+" cannot be listened at") || !strings.Contains(got.err, "in use") {
		t.Errorf("exit code %d, %q", got.code, got.err)
	}
}
