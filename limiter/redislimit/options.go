package redislimit

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"fairgate/limiter"
)

// OnError says what answers an attempt when the store does not.
type OnError string

// The answers. The zero value means closed: a limit that cannot be counted is not exceeded.
const (
	Open   OnError = "open"   // admit: the service is worth more than the limit
	Closed OnError = "closed" // reject: the limit is worth more than the service
)

// DefaultTimeout is how long a decision waits for the store at most, unless Options say otherwise.
const DefaultTimeout = 250 * time.Millisecond

// DefaultPrefix begins the keys, unless Options say otherwise.
const DefaultPrefix = "rate-limit"

// Options of a Store. All but URL and Config may be left out.
type Options struct {
	// URL of the server: redis://[user:password@]host:port[/db], rediss:// with TLS, or unix:///path.
	URL string

	// Config is the limit. What a store cannot count is refused by Check.
	Config limiter.Config

	// OnError answers when the store does not. "": closed.
	OnError OnError

	// Timeout bounds each decision. 0: what the URL says, as in redis://host?read_timeout=1s, or else DefaultTimeout.
	Timeout time.Duration

	// TTL is how long a key lives after its last admission. 0: a second more than the limit needs to be as good as new. What is shorter than that
	// need would hand out full buckets early, and is raised.
	TTL time.Duration

	// Prefix begins the keys. "": DefaultPrefix.
	Prefix string

	// Notice is told, in a sentence, what somebody should know: that a TTL was raised, that the store went away, that it is back. It must be
	// quick, safe for concurrent use, and not call the Store. Nil: nobody is told.
	Notice func(string)
}

// withDefaults fills in what was left out, and checks what is not the limit's own.
func (o Options) withDefaults() (Options, *redis.Options, error) {
	switch o.OnError {
	case "":
		o.OnError = Closed
	case Open, Closed:
	default:
		return o, nil, &limiter.ConfigError{Field: "on_store_error", Msg: fmt.Sprintf("%q is unknown: write open or closed", string(o.OnError))}
	}
	switch {
	case o.Timeout < 0:
		return o, nil, fmt.Errorf("a time-out of %s for the store must be above zero", o.Timeout)
	case o.TTL < 0:
		return o, nil, &limiter.ConfigError{Field: "ttl", Msg: fmt.Sprintf("%s must be above zero", o.TTL)}
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	to, err := redis.ParseURL(o.URL)
	if err != nil {
		// The URL is not shown: it may hold a password.
		return o, nil, &limiter.ConfigError{Field: "store", Msg: "is no address of a Redis server: write redis://host:port/db, as in redis://127.0.0.1:6379/0"}
	}
	if o.Timeout == 0 {
		o.Timeout = max(0, to.ReadTimeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	to.DialTimeout, to.ReadTimeout, to.WriteTimeout, to.PoolTimeout = o.Timeout, o.Timeout, o.Timeout, o.Timeout
	to.ContextTimeoutEnabled = true
	to.MaxRetries = -1 // what has timed out may have been charged: asking again would charge twice
	to.DialerRetries = 1
	to.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return o, to, nil
}
