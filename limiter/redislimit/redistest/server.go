// Package redistest runs a real redis-server for tests.
package redistest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A Server is a redis-server on a socket of its own, without persistence. It ends with the test.
type Server struct {
	dir  string
	args []string
	cmd  *exec.Cmd     // nil while it does not run
	out  chan struct{} // closed when it has written its last
}

// Start returns when the server is ready. Without redis-server the test is skipped and says so; with CI=true in the environment it fails, for a check that skips what it
// was made for checks nothing.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is missing")
		}
		t.Skip("redis-server is missing: install it to run this test")
	}
	dir, err := os.MkdirTemp("", "fg") // short, for the path of a socket has about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{dir: dir, args: args}
	t.Cleanup(func() {
		s.Kill()
		os.RemoveAll(dir)
	})
	s.Again(t)
	return s
}

// Socket is where the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// URL is its address as a store's.
func (s *Server) URL() string { return "unix://" + s.Socket() }

// Again starts the server after Kill, at the same address. What it held is gone.
func (s *Server) Again(t testing.TB) {
	t.Helper()
	args := append([]string{"--port", "0", "--unixsocket", s.Socket(), "--dir", s.dir, "--save", "", "--appendonly", "no"}, s.args...)
	cmd := exec.Command("redis-server", args...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.cmd, s.out = cmd, make(chan struct{})
	ready := make(chan bool, 2)
	go func() {
		defer close(s.out)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "ready to accept connections at") {
				ready <- true
			}
		}
		ready <- false
	}()
	if !<-ready {
		t.Fatalf("redis-server ended before it was ready: %v", s.cmd.Wait())
	}
}

// Kill ends the server at once, as a crash would.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.out
	_ = s.cmd.Wait() // it was killed, and says so
	s.cmd = nil
}

// Halt keeps the server from doing anything, as a machine that hangs would; Resume lets it go on.
func (s *Server) Halt() { s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume is the end of Halt.
func (s *Server) Resume() { s.cmd.Process.Signal(syscall.SIGCONT) }
