package profiles

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairgate/limiter"
)

func parsed(t *testing.T, text string) *Profile {
	t.Helper()
	p, err := Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAStoreIsReadWrittenAndExplained(t *testing.T) {
	const client = "clients: [{name: web}]\n"
	for _, c := range []struct {
		keys    string
		want    Store
		written []string
	}{
		{"", Store{OnError: ClosedWithoutStore}, nil},
		{"store: memory", Store{OnError: ClosedWithoutStore}, nil},
		{"store: redis://127.0.0.1:6379/2", Store{URL: "redis://127.0.0.1:6379/2", OnError: ClosedWithoutStore}, []string{`store: "redis://127.0.0.1:6379/2"`, "on_store_error: closed"}},
		{"store: 'unix:///run/redis.sock?db=1'", Store{URL: "unix:///run/redis.sock?db=1", OnError: ClosedWithoutStore}, []string{`store: "unix:///run/redis.sock?db=1"`}},
		{"{store: 'rediss://me:secret@[::1]', on_store_error: open, ttl: 90s}", Store{URL: "rediss://me:secret@[::1]", OnError: OpenWithoutStore, TTL: 90 * time.Second},
			[]string{`store: "rediss://me:secret@[::1]"`, "on_store_error: open", "ttl: 1m30s"}},
		{"{on_store_error: open, ttl: 5ms}", Store{OnError: OpenWithoutStore, TTL: 5 * time.Millisecond}, []string{"on_store_error: open", "ttl: 5ms"}},
	} {
		text := client
		if c.keys != "" {
			text = "limiter:\n  " + c.keys + "\n" + client
		}
		p := parsed(t, text)
		if p.Store != c.want {
			t.Errorf("%s: %+v, want %+v", c.keys, p.Store, c.want)
		}
		out, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range c.written {
			if !strings.Contains(string(out), "\n  "+line+"\n") {
				t.Errorf("%s: %q is not in\n%s", c.keys, line, out)
			}
		}
		if n := strings.Count(string(out), "store"); c.written == nil && n > 0 {
			t.Errorf("%s: a store is written\n%s", c.keys, out)
		}
		if again := parsed(t, string(out)); again.Store != p.Store {
			t.Errorf("%s: read back as %+v", c.keys, again.Store)
		}
	}
	text := Explain(parsed(t, "limiter:\n  store: redis://localhost\n"+client))
	for _, line := range []string{"# f.yaml:2", "on_store_error: closed"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

func TestAnAddressThatIsWrongIsNotShown(t *testing.T) {
	for _, address := range []string{"redis://:hunter2@", "redis://:hunter2@host:99999", "redis://:hunter2@ho st", "redis://:hunter2@host/x", "http://:hunter2@host", "redis://:hunter2%zz@host"} {
		_, err := Parse("f.yaml", []byte("limiter:\n  store: '"+address+"'\nclients: [{name: web}]\n"))
		var at *Error
		if !errors.As(err, &at) || at.Path != "limiter.store" || strings.Contains(at.Msg, "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAStoreHasANameForPeopleAndAPlace(t *testing.T) {
	for _, c := range []struct {
		url, name string
		far       bool
	}{
		{"", "memory", false},
		{"redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0", false},
		{"redis://me:secret@localhost?pool_size=3", "redis://localhost", false},
		{"redis://[::1]:7000", "redis://[::1]:7000", false},
		{"redis://10.1.2.3", "redis://10.1.2.3", false},
		{"redis://192.168.0.9/1", "redis://192.168.0.9/1", false},
		{"redis://[fd00::1]", "redis://[fd00::1]", false},
		{"redis://redis", "redis://redis", false},
		{"redis://cache.internal", "redis://cache.internal", false},
		{"unix:///run/redis.sock", "unix:///run/redis.sock", false},
		{"redis://192.0.2.1", "redis://192.0.2.1", true},
		{"rediss://:secret@redis.example.org:6380/0", "rediss://redis.example.org:6380/0", true},
		{"redis://localhost.example.org", "redis://localhost.example.org", true},
	} {
		s := Store{URL: c.url}
		if s.Name() != c.name || s.Far() != c.far {
			t.Errorf("%s: %s, far %v; want %s, %v", c.url, s.Name(), s.Far(), c.name, c.far)
		}
	}
}

func TestErrorsOfWhoBuildsTheLimiterHaveAPlaceToo(t *testing.T) {
	p := parsed(t, "limiter:\n  store: redis://localhost\n  algorithm: sliding-log\n  rate: 10/s\nclients: [{name: web}]\n")
	var at *Error
	if err := p.Locate(&limiter.ConfigError{Field: "algorithm", Msg: "cannot be kept there"}); !errors.As(err, &at) || at.Line != 3 || at.Path != "limiter.algorithm" {
		t.Errorf("%v", err)
	}
	if err := p.Locate(errors.New("broken")); !errors.As(err, &at) || at.Path != "limiter" || at.Msg != "broken" {
		t.Errorf("%v", err)
	}
	if p.Locate(nil) != nil {
		t.Error("no error has become one")
	}
	p.Store.OnError = "ajar"
	if err := p.Check(); !errors.As(err, &at) || at.Path != "limiter.on_store_error" {
		t.Errorf("%v", err)
	}
}
