package redislimit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fairgate/limiter"
	"fairgate/limiter/redislimit/redistest"
)

// A server is a real redis-server and what the tests do with it.
type server struct{ *redistest.Server }

func newServer(t testing.TB, args ...string) server {
	t.Helper()
	return server{redistest.Start(t, args...)}
}

// open is a store on the server that ends with the test.
func (s server) open(t testing.TB, o Options) *Store {
	t.Helper()
	o.URL = s.URL()
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
func (s server) raw(t *testing.T) *redis.Client {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket()})
	t.Cleanup(func() { c.Close() })
	return c
}

// A moment is where a test's clock stands, in µs since 1970; it begins where windows of all the lengths used here begin.
type moment int64

const epoch = 1_800_000_000_000_000

func (m *moment) clock() int64 { return epoch + int64(*m) }

// story is a store whose clock the test moves.
func (s server) story(t *testing.T, cfg limiter.Config) (*Store, *moment) {
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
