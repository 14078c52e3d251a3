package profiles

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// memory is the store that every profile has which says nothing.
const memory = "memory"

var storeKeys = object[Store]{
	scalar("store", "memory, or the address of a Redis server", func(s *Store) *string { return &s.URL }, readStore, func(url string) *node {
		if url == "" {
			return nil
		}
		return quotedNode(url)
	}),
	sparse(duration("ttl", above, func(s *Store) *time.Duration { return &s.TTL })),
	onStoreErrorKey,
}

// onStoreErrorKey is written only where there is a store that may err.
var onStoreErrorKey = func() field[Store] {
	f := word("on_store_error", func(s *Store) *OnStoreError { return &s.OnError }, ClosedWithoutStore, OpenWithoutStore)
	write := f.write
	f.write = func(s *Store) *node {
		if s.URL == "" && s.OnError == ClosedWithoutStore {
			return nil
		}
		return write(s)
	}
	return f
}()

// check checks a store that may not have been read from a file.
func (s Store) check() *Error {
	if s.URL != "" {
		if _, err := readStore(s.URL, false); err != nil {
			return wrong("limiter.store", "%s", err)
		}
	}
	switch {
	case s.OnError != "" && s.OnError != OpenWithoutStore && s.OnError != ClosedWithoutStore:
		return wrong("limiter.on_store_error", "%s", noSuch(string(s.OnError), words([]OnStoreError{ClosedWithoutStore, OpenWithoutStore})))
	case s.TTL < 0 || s.TTL > maxTime:
		return wrong("limiter.ttl", "%s is out of range: write for example 1m, or leave it out", s.TTL)
	}
	return nil
}

const storeRemedy = "write memory, or the address of a Redis server as in redis://127.0.0.1:6379/0"

// readStore reads memory or an address. What is wrong with an address is said without showing it, for it may hold a password.
func readStore(s string, _ bool) (string, error) {
	if s == memory {
		return "", nil
	}
	u, err := url.Parse(s)
	switch {
	case len(s) > maxText || strings.ContainsFunc(s, func(c rune) bool { return isControl(c) || c == ' ' }):
		return "", errors.New("is no address: " + storeRemedy)
	case err == nil && u.Scheme == "" || !strings.Contains(s, "://"):
		return "", errors.New(quote(s) + " is no store: " + storeRemedy)
	case err != nil:
		return "", errors.New("is no address: " + storeRemedy)
	case u.Scheme == "unix" && u.Path != "":
		return s, nil
	case u.Scheme != "redis" && u.Scheme != "rediss":
		return "", errors.New("begins with " + quote(u.Scheme) + "://, which is no store: " + storeRemedy)
	case u.Hostname() == "":
		return "", errors.New("names no host: " + storeRemedy)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", errors.New("has port " + quote(port) + ", which is none: write a number from 1 to 65535, or leave it out for 6379")
		}
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if n, err := strconv.Atoi(db); err != nil || n < 0 {
			return "", errors.New("has database " + quote(db) + ", which is none: write a number, as in redis://127.0.0.1:6379/0")
		}
	}
	return s, nil
}

// Name is the store without what is secret of its address, for people: "memory", "redis://127.0.0.1:6379/0".
func (s Store) Name() string {
	if s.URL == "" {
		return memory
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "redis"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// Far reports whether the server stands elsewhere than on this machine or in a private network, so that every decision takes a way through
// networks of others: by its address, or a name that only one's own network knows (without a dot, or ending in .local, .internal or .localhost).
func (s Store) Far() bool {
	u, err := url.Parse(s.URL)
	if err != nil || s.URL == "" || u.Scheme == "unix" {
		return false
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if ip := net.ParseIP(host); ip != nil {
		return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast()
	}
	for _, near := range []string{".local", ".internal", ".localhost"} {
		if strings.HasSuffix(host, near) {
			return false
		}
	}
	return strings.Contains(host, ".")
}
