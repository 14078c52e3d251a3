package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"fairgate/limiter"
	"fairgate/limiter/keyed"
)

// Config is what Limits are made from.
type Config struct {
	Limits map[string]Limit

	// Now is the clock, as an offset from any moment; nil: the time since New.
	Now func() time.Duration

	// Seed decides which shards are looked at, and where the windows begin that each key has for its own.
	Seed uint64
}

// Limits are named limits. They are safe for many goroutines.
type Limits struct {
	now   func() time.Duration
	seed  uint64
	named map[string]*named
}

// named is one limit and the state of its keys.
type named struct {
	terms atomic.Pointer[terms]
	keys  *keyed.Store[account]
}

// New checks the limits and makes them. A limit that makes no sense is an error that tells its name.
func New(cfg Config) (*Limits, error) {
	l := &Limits{now: cfg.Now, seed: cfg.Seed, named: make(map[string]*named, len(cfg.Limits))}
	if l.now == nil {
		start := time.Now()
		l.now = func() time.Duration { return time.Since(start) }
	}
	for name, limit := range cfg.Limits {
		terms, err := limit.terms()
		if err != nil {
			return nil, fmt.Errorf("limit %q: %w", name, err)
		}
		n := new(named)
		n.terms.Store(terms)
		n.keys = keyed.NewStore(
			func(now time.Duration, key string) account {
				t := n.terms.Load()
				return newAccount(t, l.own(t, now, key))
			},
			func(now time.Duration, key string, a *account) bool {
				return a.fresh(l.own(n.terms.Load(), now, key))
			},
		)
		l.named[name] = n
	}
	return l, nil
}

// own is a key's time at now. Windows that each key has for its own are the same for all in a time of its own.
func (l *Limits) own(t *terms, now time.Duration, key string) time.Duration {
	if t.spread {
		now += time.Duration(mix(hash(key)+l.seed) % uint64(t.Rate.Per))
	}
	return now
}

// hash is FNV-1a, which is the same in every process.
func hash(key string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return h
}

// A Request asks a limit.
type Request struct {
	Key     string // whose limit; "" is a key like any other, for limits that all share
	Count   int64  // tokens; 0: 1
	Reserve bool   // rather be charged now and carried out later than be refused
}

// A Verdict is the answer to a request.
type Verdict struct {
	OK bool

	// RetryAfter is, of a refusal, the exact wait until the same request would pass if nobody else came (from three
	// shards on: if it met the same two again); limiter.Never when it asks for more than the capacity and, if it
	// would reserve, what may be reserved, or for a debt that would outlast a time.Duration. Of a reservation, it is
	// the time until it may be carried out; else 0.
	RetryAfter time.Duration
}

// Take asks and, when the answer is yes, charges. It is an error to name a limit that does not exist, or
// to ask for a negative count; both are refused without charging.
func (l *Limits) Take(name string, r Request) (Verdict, error) {
	n, err := l.request(name, &r)
	if err != nil {
		return Verdict{}, err
	}
	now := l.now()
	a, lock := n.keys.Lock(now, r.Key)
	defer lock.Unlock()
	t := n.terms.Load()
	return a.decide(t, l.own(t, now, r.Key), r, l.pick(a, r.Key), true), nil
}

// Check is what Take would answer now, and changes nothing: a Take at the same moment, with nobody else's for the key in
// between, gives the same answer.
func (l *Limits) Check(name string, r Request) (v Verdict, err error) {
	n, err := l.request(name, &r)
	if err != nil {
		return Verdict{}, err
	}
	now := l.now()
	n.keys.Peek(now, r.Key, func(a *account) {
		t := n.terms.Load()
		v = a.decide(t, l.own(t, now, r.Key), r, l.pick(a, r.Key), false)
	})
	return v, nil
}

// request finds the limit that a request asks, and fills in the request's count.
func (l *Limits) request(name string, r *Request) (*named, error) {
	n, err := l.find(name)
	switch {
	case err != nil:
		return nil, err
	case r.Count < 0:
		return nil, fmt.Errorf("limit %q: count %d must not be negative", name, r.Count)
	case r.Count == 0:
		r.Count = 1
	}
	return n, nil
}

// Require is Take for those who want an error instead of a verdict: *Exceeded when it was refused. After a
// reservation it returns how long to wait.
func (l *Limits) Require(name string, r Request) (wait time.Duration, err error) {
	v, err := l.Take(name, r)
	if err == nil && !v.OK {
		err = &Exceeded{Limit: name, Key: r.Key, RetryAfter: v.RetryAfter}
	}
	return v.RetryAfter, err
}

// Exceeded is the error of a request that was refused.
type Exceeded struct {
	Limit, Key string
	RetryAfter time.Duration // limiter.Never: it cannot pass
}

func (e *Exceeded) Error() string {
	if e.RetryAfter == limiter.Never {
		return fmt.Sprintf("limit %q of %q exceeded: it will never allow so much at once", e.Limit, e.Key)
	}
	return fmt.Sprintf("limit %q of %q exceeded: retry after %s", e.Limit, e.Key, e.RetryAfter)
}

// Reset gives the key a full limit again, as after a login that succeeded. It forgets reservations too.
func (l *Limits) Reset(name, key string) error {
	n, err := l.find(name)
	if err != nil {
		return err
	}
	n.keys.Forget(key)
	return nil
}

// Level is what the key holds, in whole tokens over all shards, rounded down; negative after reservations.
func (l *Limits) Level(name, key string) (level int64, err error) {
	n, err := l.find(name)
	if err != nil {
		return 0, err
	}
	now := l.now()
	n.keys.Peek(now, key, func(a *account) {
		level = a.level(l.own(n.terms.Load(), now, key))
	})
	return level, nil
}

// Redefine changes a limit while keys use it; each key's level is inherited as inherit says, except that a key that is
// as good as new begins anew. The number of shards, and
// whether keys have windows of their own, must stay. An error changes nothing.
func (l *Limits) Redefine(name string, limit Limit, inherit limiter.Inherit) error {
	n, err := l.find(name)
	if err != nil {
		return err
	}
	next, err := limit.terms()
	if err != nil {
		return fmt.Errorf("limit %q: %w", name, err)
	}
	old := n.terms.Load()
	switch {
	case old.Shards != next.Shards:
		return fmt.Errorf("limit %q: shards %d cannot become %d while keys use them: define a limit of another name", name, old.Shards, next.Shards)
	case old.spread != next.spread || old.spread && old.Rate.Per != next.Rate.Per:
		return fmt.Errorf("limit %q: windows that each key has for its own cannot change in length, begin or end: define a limit of another name", name)
	}
	now := l.now()
	trial := next.plan.New(now)
	if err := trial.ReplacePlan(now, next.plan, inherit); err != nil {
		return fmt.Errorf("limit %q: %w", name, err)
	}
	n.terms.Store(next)
	n.keys.Each(func(key string, a *account) bool {
		if a.fresh(l.own(next, now, key)) {
			return false // as if it had been dropped already: its next state is a new one of the next terms
		}
		for i := range a.shards() {
			if b := &a.shards()[i]; b.Plan() != next.plan {
				err = b.ReplacePlan(l.own(next, now, key), next.plan, inherit)
			}
		}
		return true
	})
	return err
}

// Sweep drops the keys that are as good as new, and returns how many. It is never necessary: keys that come drop those
// that have rested.
func (l *Limits) Sweep() (dropped int) {
	now := l.now()
	for _, n := range l.named {
		dropped += n.keys.Sweep(now)
	}
	return dropped
}

// Keys is the number of keys whose state is kept for the limit, 0 when there is no such limit.
func (l *Limits) Keys(name string) int {
	if n := l.named[name]; n != nil {
		return n.keys.Len()
	}
	return 0
}

func (l *Limits) find(name string) (*named, error) {
	if n := l.named[name]; n != nil {
		return n, nil
	}
	known := slices.Sorted(maps.Keys(l.named))
	return nil, fmt.Errorf("there is no limit %q: the limits are %s", name, strings.Join(known, ", "))
}
