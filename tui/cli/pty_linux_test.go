package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A screenTest is a program on a pseudo-terminal that answers no query, as some real ones do.
type screenTest struct {
	*running
	master *os.File
	slave  *os.File
	before *unix.Termios
}

// onTerminal starts a program on a terminal of 100 by 30.
func onTerminal(t *testing.T, path string, env []string, args ...string) *screenTest {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	master := os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &screenTest{running: &running{cmd: exec.Command(path, args...), out: newCollector()}, master: master, slave: slave}
	s.before = s.termios(t)
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "NO_COLOR=", "COLORTERM=", "CI="}, env...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			s.out.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		slave.Close()
		master.Close()
		<-read
	})
	return s
}

func (s *screenTest) termios(t *testing.T) *unix.Termios {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// press types keys.
func (s *screenTest) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

const (
	enterAlternate = "\x1b[?1049h"
	leaveAlternate = "\x1b[?1049l"
)

// ended waits for the end and checks that the terminal is whole: as it was before, back on its main screen, the cursor visible. It returns the
// exit code and what was printed after the screen was left.
func (s *screenTest) ended(t *testing.T) (code int, after string) {
	t.Helper()
	code = exitCode(t, s.cmd)
	// What the program wrote is in the terminal's buffer; a sign of our own behind it tells when all of it has been read.
	const sign = "\x1b[0mEND-OF-TEST"
	if _, err := s.slave.WriteString(sign); err != nil {
		t.Fatal(err)
	}
	s.out.await(t, sign)
	all, _, _ := strings.Cut(s.out.String(), sign)
	if state := s.termios(t); !reflect.DeepEqual(state, s.before) {
		t.Errorf("the terminal is not as it was:\n%+v\n%+v", state, s.before)
	}
	if strings.Count(all, enterAlternate) == 0 {
		t.Fatalf("there was no screen: %q", all)
	}
	at := strings.LastIndex(all, leaveAlternate)
	if at < strings.LastIndex(all, enterAlternate) {
		t.Fatalf("the alternate screen was not left: %q", all)
	}
	if strings.LastIndex(all, "\x1b[?25h") < strings.LastIndex(all, "\x1b[?25l") {
		t.Errorf("the cursor was left hidden")
	}
	return code, all[at+len(leaveAlternate):]
}

// reported checks that the report stands on the terminal, as text.
func reported(t *testing.T, after string) {
	t.Helper()
	for _, s := range []string{"monitoring sees", "the clients see", "verdict"} {
		if !strings.Contains(after, s) {
			t.Errorf("no %q after the screen: %q", s, after)
		}
	}
}

// The screen is left in each way that there is; each time the terminal is whole and the report is there.
func TestTheScreenIsLeftWhole(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kill := func(sig syscall.Signal) func(*testing.T, *screenTest) {
		return func(t *testing.T, s *screenTest) {
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
	}
	keys := func(keys string) func(*testing.T, *screenTest) {
		return func(t *testing.T, s *screenTest) { s.press(t, keys) }
	}
	for _, c := range []struct {
		name  string
		env   string
		leave func(*testing.T, *screenTest)
		code  int
	}{
		{name: "q", leave: keys("q"), code: exitDone},
		{name: "ctrl-c", leave: keys("\x03"), code: 130},
		{name: "SIGINT", leave: kill(syscall.SIGINT), code: 130},
		{name: "SIGTERM", leave: kill(syscall.SIGTERM), code: 143},
		{name: "SIGHUP", leave: kill(syscall.SIGHUP), code: 129},
		{name: "SIGQUIT", leave: kill(syscall.SIGQUIT), code: 131},
		{name: "panic", env: faulty + "=panic", leave: func(*testing.T, *screenTest) {}, code: exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, env := program, []string(nil)
			if c.env != "" {
				path, env = self, []string{c.env}
			}
			s := onTerminal(t, path, env, "run", "agent", "--duration", "1h")
			s.out.await(t, enterAlternate)
			if c.env == "" {
				s.out.await(t, "inventory") // the picture is there, and keys are heard
			}
			c.leave(t, s)
			code, after := s.ended(t)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			reported(t, after)
			if c.env != "" && !(strings.Contains(after, "injected by the test") && strings.Contains(after, "goroutine ")) {
				t.Errorf("the panic is not told: %q", after)
			}
		})
	}
}

// When the run is over the screen goes by itself; the profile's expectations count, as without a screen.
func TestTheScreenLeavesAtTheEnd(t *testing.T) {
	t.Parallel()
	mine := profile(t, "name: mine\nduration: 1s\nlimiter: {rate: 100/s}\nclients: [{name: web, arrivals: {process: constant, rate: 50/s}}]\nexpect: [jain > 2]\n")
	s := onTerminal(t, program, nil, mine)
	code, after := s.ended(t)
	if code != exitExpectation || !strings.Contains(after, "jain > 2: not met") {
		t.Errorf("exit code %d, %q", code, after)
	}
	reported(t, after)
}

// A live change is in the report, and makes the profile's expectations void.
func TestALiveChangeIsReported(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, program, nil, "run", "starvation", "--duration", "1h")
	s.out.await(t, "batch")
	s.press(t, "p")
	s.out.await(t, "per-client")
	s.press(t, "q")
	code, after := s.ended(t)
	if code != exitDone {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"policy global → per-client", "not judged"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q in %q", want, after)
		}
	}
}

// A terminal that is closed takes nothing with it: the report is in its file.
func TestAClosedTerminal(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "report.json")
	s := onTerminal(t, program, nil, "run", "starvation", "--duration", "1h", "--output", out)
	s.out.await(t, "batch")
	s.slave.Close()
	s.master.Close()
	if code := exitCode(t, s.cmd); code != exitHungUp {
		t.Errorf("exit code %d, want %d", code, exitHungUp)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, reportOf(t, string(b)))
}

// A terminal that answers no query does not hold the program up. Asking it would take 5 seconds; a tenth of one is what it takes
// here, and no test shall hang on a slow machine's tenths.
func TestASilentTerminalIsNotAsked(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"--help"}, {"profiles"}, {"--rate", "1"}} {
		begun := time.Now()
		s := onTerminal(t, program, nil, args...)
		exitCode(t, s.cmd)
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("%v took %v", args, took)
		}
		if all := s.out.String(); strings.Contains(all, "\x1b]") || strings.Contains(all, "\x1b[6n") {
			t.Errorf("%v asked the terminal: %q", args, all)
		}
	}
	s := onTerminal(t, program, nil, "run", "agent", "--duration", "1h")
	s.out.await(t, "inventory")
	s.press(t, "q")
	exitCode(t, s.cmd)
	if all := s.out.String(); strings.Contains(all, "\x1b]10;?") || strings.Contains(all, "\x1b]11;?") {
		t.Errorf("the screen asked the terminal for its colours: %q", all)
	}
}

// Where there is no terminal for a screen there is none, and no escape gets into a file.
func TestNoScreenWithoutATerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, program, []string{"TERM=dumb"}, "run", "agent", "--duration", "1200ms", "--rate", "11/s")
	if code := exitCode(t, s.cmd); code != exitDone {
		t.Errorf("TERM=dumb: exit code %d", code)
	}
	s.out.await(t, "verdict")
	if all := s.out.String(); strings.Contains(all, "\x1b") || !strings.Contains(all, "00:01  admitted") {
		t.Errorf("TERM=dumb: %q", all)
	}

	s = onTerminal(t, program, nil, "run", "agent", "--headless", "--duration", "300ms", "--rate", "11/s")
	s.out.await(t, "verdict")
	exitCode(t, s.cmd)
	if all := s.out.String(); strings.Contains(all, enterAlternate) || !strings.Contains(all, "\x1b[") {
		t.Errorf("--headless on a terminal has a coloured report and no screen: %q", all)
	}

	s = onTerminal(t, program, []string{"NO_COLOR=1"}, "run", "agent", "--headless", "--duration", "300ms", "--rate", "11/s")
	s.out.await(t, "verdict")
	exitCode(t, s.cmd)
	if all := s.out.String(); strings.Contains(all, "\x1b[3") {
		t.Errorf("NO_COLOR is not obeyed: %q", all)
	}
}

// A long simulation on a terminal tells how far it is, and an interrupted one what it has measured so far.
func TestALongSimulationTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{
		{"simulate", "starvation", "--duration", "100h"},
		{"simulate", "starvation", "--duration", "100h", "--shadow", "fair-queue"},
		{"simulate", "starvation", "--duration", "100h", "--runs", "3"},
		{"simulate", "starvation", "--duration", "100h", "--lesson"},
		{"compare", "starvation", "--duration", "100h"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, program, nil, command...)
			s.out.await(t, "simulating [")
			s.press(t, "\x03")
			if code := exitCode(t, s.cmd); code != exitInterrupted {
				t.Errorf("exit code %d", code)
			}
			s.out.await(t, "starvation: ")
		})
	}
}

// A simulation is interrupted as a live run is, and its report is in its file.
func TestAnInterruptedSimulationReports(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "report.json")
	s := onTerminal(t, program, nil, "simulate", "starvation", "--duration", "100h", "--output", out)
	s.out.await(t, "simulating [")
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, s.cmd); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(t, string(b))
	conserved(t, r)
	if r.Duration <= 0 || r.Duration >= 100*3600 {
		t.Errorf("duration_s %v", r.Duration)
	}
}
