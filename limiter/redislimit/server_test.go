package redislimit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fairgate/limiter"
)

// A server is a real redis-server on a socket of its own.
type server struct {
	dir  string
	args []string
	cmd  *exec.Cmd
	out  chan struct{} // closed when it has written its last
}

func (s *server) socket() string { return filepath.Join(s.dir, "s") }
func (s *server) url() string    { return "unix://" + s.socket() }

// newServer starts a server that ends with the test. Without redis-server the test is skipped, but not in a check that everything hangs on.
func newServer(t testing.TB, args ...string) *server {
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
	s := &server{dir: dir, args: args}
	t.Cleanup(func() {
		if s.cmd != nil {
			s.kill()
		}
		os.RemoveAll(dir)
	})
	s.start(t)
	return s
}

// start returns when the server says that it is ready.
func (s *server) start(t testing.TB) {
	t.Helper()
	args := append([]string{"--port", "0", "--unixsocket", s.socket(), "--dir", s.dir, "--save", "", "--appendonly", "no"}, s.args...)
	s.cmd = exec.Command("redis-server", args...)
	s.out = make(chan struct{})
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		defer close(s.out)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "ready to accept connections at") {
				ready <- true
			}
		}
		close(ready)
	}()
	if !<-ready {
		t.Fatalf("redis-server ended before it was ready: %v", s.cmd.Wait())
	}
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Process.Signal(syscall.SIGCONT)
	<-s.out
	s.cmd.Wait() // an error: it was killed
	s.cmd = nil
}

// open is a store on the server that ends with the test.
func (s *server) open(t testing.TB, o Options) *Store {
	t.Helper()
	o.URL = s.url()
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second // nothing here depends on the machine's speed
	}
	store, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// raw is a client of the server.
func (s *server) raw(t *testing.T) *redis.Client {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.socket()})
	t.Cleanup(func() { c.Close() })
	return c
}

// A moment is where a test's clock stands, in µs since 1970; it begins where windows of all the lengths used here begin.
type moment int64

const epoch = 1_800_000_000_000_000

func (m *moment) clock() int64 { return epoch + int64(*m) }

// story is a store whose clock the test moves.
func (s *server) story(t *testing.T, cfg limiter.Config) (*Store, *moment) {
	t.Helper()
	store := s.open(t, Options{Config: cfg, TTL: time.Hour, Prefix: t.Name()})
	m := new(moment)
	store.clock = m.clock
	return store, m
}

// ask is a decision that must come from the store.
func ask(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *Store, client string, cost int64) (limiter.Decision, []limiter.Quota) {
	t.Helper()
	d, q, err := s.Decide(context.Background(), client, "", cost)
	if err != nil {
		t.Fatalf("%s: %v", client, err)
	}
	return d, q
}

// brief is a decision in few letters.
func brief(d limiter.Decision) string {
	switch {
	case d.Verdict == limiter.Admitted:
		return "ok"
	case d.Wait == limiter.Never:
		return fmt.Sprintf("%s never", d.By)
	}
	return fmt.Sprintf("%s %s", d.By, d.Wait)
}
