package redislimit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"fairgate/limiter"
)

//go:embed decide.lua
var source string

// decide is sent by its SHA, and in full only where the server does not know it: after a restart or a SCRIPT FLUSH.
var decide = redis.NewScript(source)

// The client would write to standard error, across whatever screen there is; what it has to say comes back as an error too.
func init() { logging.Disable() }

// A Store decides by counters in Redis. It may be used from any number of goroutines, and any number of processes may have one on
// the same server.
type Store struct {
	options Options
	client  *redis.Client
	bus     bus
	plan    atomic.Pointer[planned]
	pulse   pulse
	clock   func() int64 // tests: µs since 1970, instead of the server's own; nil
}

// planned is a plan and the arguments that follow from it.
type planned struct {
	*plan
	args []any
}

// New checks everything and connects to nothing: a server that is away is no error, but Decide's concern. Use Ping to ask.
func New(o Options) (*Store, error) {
	o, to, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, pulse: pulse{pause: min(o.Timeout, DefaultTimeout)}}
	if err := s.Reconfigure(o.Config); err != nil {
		return nil, err
	}
	s.client = redis.NewClient(to)
	s.bus.client, s.bus.timeout, s.bus.pulse = s.client, o.Timeout, &s.pulse
	s.pulse.notice = s.notice
	return s, nil
}

// notice says in words that the store went away, or that it is back.
func (s *Store) notice(up bool, gone time.Duration, err error) {
	if up {
		s.options.Notice(fmt.Sprintf("the store is back after %s", gone.Round(time.Millisecond)))
		return
	}
	how := "rejecting everything"
	if s.options.OnError == Open {
		how = "admitting everything"
	}
	s.options.Notice(fmt.Sprintf("the store does not answer: %s until it does (%v)", how, s.words(err)))
}

// words is an error of the store, with a time-out in plain words.
func (s *Store) words(err error) error {
	if late := net.Error(nil); errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout() {
		return fmt.Errorf("no answer within %s", s.options.Timeout)
	}
	return err
}

// Reconfigure counts by another limit from now on. What was counted stays: levels are cut to the new capacity where they are above it. Every process
// must be told; while they differ, each counts the same tokens by its own rate.
func (s *Store) Reconfigure(cfg limiter.Config) error {
	p, err := newPlan(cfg, s.options.TTL)
	if err != nil {
		return err
	}
	if old := s.plan.Load(); s.options.TTL > 0 && p.ttl > s.options.TTL && (old == nil || old.ttl != p.ttl) {
		s.options.Notice(fmt.Sprintf("ttl %s is shorter than the limit needs to be as good as new, and would hand out full buckets early: raised to %s", s.options.TTL, p.ttl))
	}
	s.plan.Store(&planned{p, p.fixed()})
	return nil
}

// Config is the limit in force, with the defaults filled in.
func (s *Store) Config() limiter.Config { return s.plan.Load().config }

// TTL is how long a key lives after its last admission.
func (s *Store) TTL() time.Duration { return s.plan.Load().ttl }

// Health is how the store has answered so far.
func (s *Store) Health() Health { return s.pulse.state() }

// Ping asks whether the server is there, within the time-out of a decision.
func (s *Store) Ping(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, s.options.Timeout)
	defer done()
	if err := s.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("the store does not answer: %w", err)
	}
	return nil
}

// Close closes the connections. Decide then answers as if the server were gone.
func (s *Store) Close() error { return s.client.Close() }

// Gone is the error of a decision that was made without the store.
type Gone struct {
	OnError OnError
	Err     error // what the store, or the way to it, said
}

func (g *Gone) Error() string {
	how := "rejected"
	if g.OnError == Open {
		how = "admitted"
	}
	return fmt.Sprintf("%s without the store, which does not answer: %v", how, g.Err)
}

// Unwrap is what the store said.
func (g *Gone) Unwrap() error { return g.Err }

// Decide answers an attempt of a client at an endpoint, and tells the state of the limits that count for it, the tightest first. Each endpoint has limits
// of its own; where one limit is for all of them, pass the same, or "". Never pass what a client can make up, such as a path: it would
// choose its own limit.
//
// The decision is always to be obeyed. An error beside it is a *Gone when Options.OnError decided in the store's place; there are no quotas then, and a
// rejection names a wait of a second, for want of a better. It is ctx's error when the caller left before the store had answered; the decision is then
// a rejection, and may have been charged.
func (s *Store) Decide(ctx context.Context, client, endpoint string, cost int64) (limiter.Decision, []limiter.Quota, error) {
	if !s.pulse.tries(time.Now()) {
		return s.blind(nil)
	}
	p := s.plan.Load()
	args := make([]any, 2, 2+len(p.args))
	args[0], args[1] = "", strconv.FormatInt(min(max(cost, 0), exact/4), 10) // no limit holds so many
	if s.clock != nil {
		args[0] = strconv.FormatInt(s.clock(), 10)
	}
	bounded, done := context.WithTimeout(ctx, s.options.Timeout)
	defer done()
	answer, err := s.bus.ask(bounded, p.keys(s.options.Prefix, client, endpoint), append(args, p.args...))
	if err == nil && len(answer) != 2+3*len(p.limits) {
		err = fmt.Errorf("an answer of %d numbers, and %d are expected", len(answer), 2+3*len(p.limits))
	}
	switch {
	case err == nil:
		d, quotas := p.read(answer)
		if cost < 0 { // it would mint; the store was only asked to look
			d = limiter.Decision{Verdict: limiter.Rejected, Wait: limiter.Never}
		}
		return d, quotas, nil
	case ctx.Err() != nil: // says nothing about the store
		return refusal(limiter.ByGlobal, time.Second), nil, ctx.Err()
	}
	return s.blind(err)
}

// blind is the answer without the store; because of err, or nil when the store was not even asked.
func (s *Store) blind(err error) (limiter.Decision, []limiter.Quota, error) {
	if err != nil {
		err = s.words(err)
	}
	gone := &Gone{OnError: s.options.OnError, Err: s.words(s.pulse.blind(s.options.OnError, err))}
	if s.options.OnError == Open {
		return limiter.Decision{Verdict: limiter.Admitted}, nil, gone
	}
	return refusal(limiter.ByGlobal, time.Second), nil, gone
}

// refusal is a rejection and what its Retry-After says: whole seconds, at least one, nothing where waiting does not help.
func refusal(by limiter.Reason, wait time.Duration) limiter.Decision {
	d := limiter.Decision{Verdict: limiter.Rejected, By: by, Wait: wait}
	if wait < limiter.Never {
		d.Told = max(1, (wait-1)/time.Second+1) * time.Second
	}
	return d
}

// read translates the script's answer: by the longest wait of all limits, of equal ones the client's own.
func (p *plan) read(answer []int64) (limiter.Decision, []limiter.Quota) {
	var longest time.Duration
	by := limiter.ByGlobal
	quotas := make([]limiter.Quota, 0, len(p.limits))
	for i, l := range p.limits {
		of := answer[2+3*i:]
		wait := limiter.Never
		if of[0] >= 0 {
			wait = micro(of[0])
		}
		if wait > longest || l.own() && wait == longest && wait > 0 {
			longest, by = wait, l.by
		}
		quotas = tighter(quotas, limiter.Quota{Name: l.by.String(), Rate: l.rate, Burst: l.capacity, Remaining: of[1], Reset: micro(of[2])}, l.own())
	}
	if answer[0] == 1 {
		return limiter.Decision{Verdict: limiter.Admitted}, quotas
	}
	return refusal(by, longest), quotas
}

// own reports whether the limit is the client's.
func (l *limit) own() bool { return l.by == limiter.ByClient }

// tighter puts a quota where it belongs, the tightest first; one that is first among equals goes before them.
func tighter(to []limiter.Quota, q limiter.Quota, first bool) []limiter.Quota {
	to = append(to, q)
	for j := len(to) - 1; j > 0 && (q.Remaining < to[j-1].Remaining || first && q.Remaining == to[j-1].Remaining); j-- {
		to[j], to[j-1] = to[j-1], to[j]
	}
	return to
}

// micro is a wait that the script told. Limits need less than what a time.Duration can say.
func micro(us int64) time.Duration {
	if us > int64(limiter.Never/time.Microsecond) {
		return limiter.Never
	}
	return time.Duration(us) * time.Microsecond
}
