package cli

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"

	"github.com/spf13/pflag"
)

// settings are the flags that are laid over a profile. Those that were not given leave it as it is.
type settings struct {
	sets []*pflag.FlagSet

	policy, algorithm, retryAfter string
	rate, clientRate              limiter.Rate
	burst, clientBurst            int64
	maxInFlight, shards           int64
	duration, warmUp              time.Duration
	seed                          uint64
	replay                        string // a recording whose arrivals take the place of the profile's
	store                         string
}

func (s *settings) flags(g *flagGroups) {
	fs := g.group("The limit, over what the profile says")
	s.sets = append(s.sets, fs)
	fs.Var(&choice{&s.policy, words(limiter.Policies)}, "policy", "who may have the capacity: "+oneOf(words(limiter.Policies)))
	fs.Var(&choice{&s.algorithm, words(limiter.Algorithms)}, "algorithm", "how a limit is counted: "+oneOf(words(limiter.Algorithms)))
	fs.Var(rateFlag{&s.rate}, "rate", "the limit, as 1000/s, 60/m or 17/30s")
	fs.Var(countFlag{&s.burst}, "burst", "tokens that may be taken at once")
	fs.Var(rateFlag{&s.clientRate}, "client-rate", "each client's own limit")
	fs.Var(countFlag{&s.clientBurst}, "client-burst", "tokens that one client may take at once")
	fs.Var(countFlag{&s.maxInFlight}, "max-in-flight", "concurrency: attempts that a client may have in flight")
	fs.Var(countFlag{&s.shards}, "shards", "sharded: instances that each count apart")
	retry := []string{string(limiter.RetryExact), string(limiter.RetryAdaptive), string(limiter.RetrySlot)}
	fs.Var(&choice{&s.retryAfter, retry}, "retry-after", "what a refused client is told: "+oneOf(retry))
	fs.StringVar(&s.store, "store", "", "where the limiter counts: memory, or the `URL` of a Redis server that several processes share, as redis://127.0.0.1:6379/0")

	fs = g.group("The run, over what the profile says")
	fs.Var(durationFlag{&s.duration, time.Millisecond}, "duration", "how long, as 30s or 2m")
	fs.Var(durationFlag{&s.warmUp, 0}, "warm-up", "how much of the beginning the report leaves out")
	fs.Var(seedFlag{&s.seed}, "seed", "seed of all that is drawn at random")
	s.sets = append(s.sets, fs)
}

// given reports whether a flag was on the command line.
func (s *settings) given(name string) bool {
	for _, fs := range s.sets {
		if fs.Changed(name) {
			return true
		}
	}
	return false
}

func words[T ~string](list []T) []string {
	var all []string
	for _, w := range list {
		all = append(all, string(w))
	}
	return all
}

// paths are the keys of a profile that flags stand for.
var paths = map[string]string{
	"limiter.policy": "policy", "limiter.algorithm": "algorithm", "limiter.rate": "rate", "limiter.burst": "burst",
	"limiter.client.rate": "client-rate", "limiter.client.burst": "client-burst", "limiter.client.max_in_flight": "max-in-flight",
	"limiter.shards": "shards", "limiter.retry_after": "retry-after", "limiter.store": "store", "duration": "duration", "warm_up": "warm-up",
}

// apply lays the flags over the profile and checks what comes of it. altered tells whether limiter or clients are no longer what
// the profile says, or the run is to end earlier, in which case its own expectations say nothing.
func (s *settings) apply(p *profiles.Profile) (altered bool, err error) {
	l := &p.Limiter
	before, kept := *l, p.Store
	if s.given("store") {
		p.Store.URL = s.store
		if s.store == storeInMemory {
			p.Store.URL = ""
		}
	}
	set(&l.Policy, limiter.Policy(s.policy))
	set(&l.Algorithm, limiter.Algorithm(s.algorithm))
	set(&l.RetryAfter, limiter.RetryAfter(s.retryAfter))
	set(&l.Rate, s.rate)
	set(&l.Client.Rate, s.clientRate)
	set(&l.Burst, s.burst)
	set(&l.Client.Burst, s.clientBurst)
	set(&l.Client.MaxInFlight, int(s.maxInFlight))
	set(&l.Shards, int(s.shards))
	ends := p.Duration
	set(&p.Duration, s.duration)
	if s.given("warm-up") {
		p.WarmUp = s.warmUp
	}
	if s.given("seed") {
		p.Seed = s.seed
	}
	early := p.Duration < ends // what a profile expects of its whole length, chance may deny in a part of it
	return early || !reflect.DeepEqual(before, *l) || kept != p.Store, s.explain(p.Check())
}

// set lays a flag's value over a setting, unless the flag was not given, which leaves it zero.
func set[T comparable](to *T, value T) {
	var zero T
	if value != zero {
		*to = value
	}
}

// explain turns what Check says of a key into what the user can do about it at the command line.
func (s *settings) explain(err error) error {
	var e *profiles.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &e):
		return wrong("%v", err)
	case paths[e.Path] == "":
		return wrong("with these flags the profile makes no sense: %v", err)
	case s.given(paths[e.Path]):
		return wrong("--%s: %s", paths[e.Path], e.Msg)
	}
	return wrong("with these flags the profile needs --%s too: %v", paths[e.Path], err)
}

// blame is err as one of the flag that it is about, where such a flag was given.
func (s *settings) blame(err error) error {
	var e *profiles.Error
	if errors.As(err, &e) && paths[e.Path] != "" && s.given(paths[e.Path]) {
		return wrong("--%s: %s", paths[e.Path], e.Msg)
	}
	return wrong("%v", err)
}

// idle are the flags that were given and count for nothing under the profile's policy, each with the remedy.
func (s *settings) idle(p *profiles.Profile) []string {
	var notes []string
	for _, f := range []struct {
		name   string
		policy limiter.Policy
	}{
		{"client-rate", limiter.PerClient}, {"client-burst", limiter.PerClient}, {"max-in-flight", limiter.Concurrency}, {"shards", limiter.Sharded},
	} {
		if s.given(f.name) && p.Limiter.WithDefaults().Policy != f.policy {
			notes = append(notes, fmt.Sprintf("--%s counts under --policy %s only", f.name, f.policy))
		}
	}
	return notes
}
