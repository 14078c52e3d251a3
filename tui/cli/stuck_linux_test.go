package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// flow stops the terminal's output as Ctrl-S does, or a line that is dead, or lets it go on.
func (s *screenTest) flow(t *testing.T, on bool) {
	t.Helper()
	action := unix.TCOOFF
	if on {
		action = unix.TCOON
	}
	if err := unix.IoctlSetInt(int(s.slave.Fd()), unix.TCXONC, action); err != nil {
		t.Fatal(err)
	}
}

// A signal is obeyed although the terminal takes nothing, and the report is in its file.
func TestASignalNeedsNoTerminal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "report.json")
			s := onTerminal(t, program, nil, "run", "starvation", "--duration", "1h", "--output", out)
			s.out.await(t, "batch")
			s.flow(t, false)
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(t, s.cmd); code != codeOfSignal(sig) {
				t.Errorf("exit code %d, want %d", code, codeOfSignal(sig))
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			conserved(t, reportOf(t, string(b)))
			left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".fairgate-*"))
			if len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// At the planned end the file does not wait for the terminal either. The terminal is given back when it takes output again.
func TestTheFileNeedsNoTerminal(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "report.json")
	s := onTerminal(t, program, nil, "run", "starvation", "--duration", "3s", "--output", out)
	s.out.await(t, "batch")
	s.flow(t, false)
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		b, err := os.ReadFile(out)
		if err == nil {
			conserved(t, reportOf(t, string(b)))
			break
		}
		if time.Since(begun) > patience {
			t.Fatal("the report is not there")
		}
	}
	s.flow(t, true)
	if code, _ := s.ended(t); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}
