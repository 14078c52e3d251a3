package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
	"fairgate/tui"
)

// An adjustable is what the screen's form can set: its name there, its key in a profile, and its present value.
type adjustable[T any] struct {
	name, key string
	value     func(*T) string
}

var runSettings = []adjustable[profiles.Profile]{
	{"rate", "limiter.rate", func(p *profiles.Profile) string { return rateText(p.Limiter.Rate) }},
	{"burst", "limiter.burst", func(p *profiles.Profile) string { return fmt.Sprint(p.Limiter.Burst) }},
	{"policy", "limiter.policy", func(p *profiles.Profile) string { return string(p.Limiter.Policy) }},
	{"algorithm", "limiter.algorithm", func(p *profiles.Profile) string { return string(p.Limiter.Algorithm) }},
	{"client rate", "limiter.client.rate", func(p *profiles.Profile) string { return rateText(p.Limiter.Client.Rate) }},
	{"client burst", "limiter.client.burst", func(p *profiles.Profile) string { return fmt.Sprint(p.Limiter.Client.Burst) }},
	{"client max in flight", "limiter.client.max_in_flight", func(p *profiles.Profile) string { return fmt.Sprint(p.Limiter.Client.MaxInFlight) }},
	{"queue per client", "limiter.queue.per_client", func(p *profiles.Profile) string { return fmt.Sprint(p.Limiter.Queue.PerClient) }},
	{"longest wait", "limiter.queue.max_wait", func(p *profiles.Profile) string { return p.Limiter.Queue.MaxWait.String() }},
	{"shards", "limiter.shards", func(p *profiles.Profile) string { return fmt.Sprint(p.Limiter.Shards) }},
	{"way of telling", "limiter.retry_after", func(p *profiles.Profile) string { return string(p.Limiter.RetryAfter) }},
	{"service time", "service.time", func(p *profiles.Profile) string { return p.Service.Time.String() }},
	{"round trip", "service.round_trip", func(p *profiles.Profile) string { return p.Service.RoundTrip.String() }},
}

var clientSettings = []adjustable[profiles.Client]{
	{"asks", "arrivals.rate", func(c *profiles.Client) string { return rateText(c.Arrivals.Rate) }},
	{"weight", "weight", func(c *profiles.Client) string { return fmt.Sprint(c.Weight) }},
	{"cost", "cost", func(c *profiles.Client) string { return fmt.Sprint(c.Cost) }},
	{"retries", "retry.attempts", func(c *profiles.Client) string {
		if c.Retry.Attempts == profiles.Unlimited {
			return "unlimited"
		}
		return fmt.Sprint(c.Retry.Attempts)
	}},
	{"back-off", "retry.backoff", func(c *profiles.Client) string { return string(c.Retry.Backoff) }},
	{"honours Retry-After", "retry.honor_retry_after", func(c *profiles.Client) string { return strconv.FormatBool(c.Retry.HonorRetryAfter) }},
	{"deadline", "deadline", func(c *profiles.Client) string {
		if c.Deadline == 0 {
			return "none"
		}
		return c.Deadline.String()
	}},
	{"workers", "arrivals.workers", func(c *profiles.Client) string { return fmt.Sprint(c.Arrivals.Workers) }},
}

func rateText(r limiter.Rate) string {
	if r.IsZero() {
		return "none"
	}
	return r.String()
}

// Settings lists what can be set to an exact value. A client has a rate or workers, as its arrivals have.
func (t *tuner) Settings(client string) []tui.Setting {
	p := t.run.Profile()
	p.Limiter = p.Limiter.WithDefaults()
	var all []tui.Setting
	if i := clientCalled(p, client); i >= 0 {
		c := &p.Clients[i]
		for _, s := range clientSettings {
			if s.name == "asks" && c.Arrivals.Rate.IsZero() || s.name == "workers" && c.Arrivals.Process != profiles.Closed {
				continue
			}
			all = append(all, tui.Setting{Client: c.Name, Name: s.name, Value: s.value(c)})
		}
	}
	var run []tui.Setting
	for _, s := range runSettings {
		run = append(run, tui.Setting{Name: s.name, Value: s.value(p)})
	}
	return append(run, all...)
}

// set gives a setting a value, read as in a profile: as a step of a lesson that changes nothing else.
func (t *tuner) set(was *profiles.Profile, c tui.Set) error {
	key := ""
	for _, s := range runSettings {
		if c.Client == "" && s.name == c.Name {
			key = s.key
		}
	}
	for _, s := range clientSettings {
		if c.Client != "" && s.name == c.Name {
			key = s.key
		}
	}
	if key == "" {
		return fmt.Errorf("there is no setting %q", c.Name)
	}
	step := profiles.Step{Set: yamlOf(c.Client, key, c.Value)}
	is, err := step.Apply(was)
	if err != nil {
		var e *profiles.Error
		if errors.As(err, &e) {
			err = errors.New(e.Msg)
		}
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return t.run.Edit(func(p *profiles.Profile) { p.Limiter, p.Service, p.Clients = is.Limiter, is.Service, is.Clients })
}

// yamlOf is a change of one key in YAML.
func yamlOf(client, key, value string) []byte {
	var b strings.Builder
	indent := ""
	if client != "" {
		fmt.Fprintf(&b, "clients:\n  - name: %q\n", client)
		indent = "    "
	}
	parts := strings.Split(key, ".")
	for i, part := range parts {
		b.WriteString(indent + part + ":")
		if i < len(parts)-1 {
			b.WriteString("\n")
			indent += "  "
		}
	}
	b.WriteString(" " + strings.TrimSpace(value) + "\n")
	return []byte(b.String())
}

// present is the profile as it stands, its clients as they are when on.
func (t *tuner) present() *profiles.Profile {
	return t.asIfOn(t.run.Profile(), t.now())
}

func (t *tuner) now() time.Duration { return t.run.Snapshot().Now }
