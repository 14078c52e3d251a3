package limiter

import (
	"math"
	"time"
)

// capped answers every attempt at once: the rule of global, of per-client and of concurrency, which differ only in
// what limits they have beside the global one.
//
//	global        one limit for all, first come, first served
//	per-client    and a limit of each client's own: no client can take more than that
//	concurrency   and at most so many attempts of a client in flight
type capped struct {
	immediate
	*gate
	roster   *roster
	perFlow  int32     // attempts of a client in flight; 0: any number
	releases []cadence // of concurrency: by client
}

func newCapped(now time.Duration, c Config, r *roster) (rule, error) {
	g, err := newGate(now, c, c.Policy == PerClient)
	if err != nil {
		return nil, err
	}
	rule := &capped{gate: g, roster: r}
	if c.Policy == Concurrency {
		rule.perFlow = int32(c.Client.MaxInFlight)
	}
	for i := range r.members {
		rule.join(now, i, true)
	}
	return rule, nil
}

func (c *capped) join(now time.Duration, client int, added bool) {
	if !added {
		return
	}
	if c.own != nil {
		c.own.renew(client, now)
	}
	if c.perFlow > 0 {
		for len(c.releases) <= client {
			c.releases = append(c.releases, cadence{})
		}
		c.releases[client] = cadence{}
	}
}

func (c *capped) arrive(now time.Duration, a Attempt) Decision {
	wait, by := c.wait(now, a.Client, a.Cost)
	if c.perFlow > 0 && c.roster.members[a.Client].inFlight+c.roster.delayed(a.Client) >= c.perFlow {
		if estimate := c.releases[a.Client].next(now); estimate >= wait {
			wait, by = estimate, ByInFlight
		}
	}
	if wait > 0 {
		return Decision{Verdict: Rejected, By: by, Wait: wait}
	}
	return Decision{Wait: c.take(now, a.Client, a.Cost)}.delayed()
}

func (c *capped) release(now time.Duration, client int) {
	if c.perFlow > 0 {
		c.releases[client].observe(now)
	}
}

func (c *capped) forget(now time.Duration, client int) {
	if client == everybody {
		c.renewGlobal(now)
	} else if c.own != nil {
		c.own.renew(client, now)
	}
}

func (c *capped) fresh(now time.Duration, client int) bool {
	return (c.own == nil || c.own.at(client).Fresh(now)) && (c.perFlow == 0 || c.releases[client].forgotten(now))
}

// recall takes over the clients' own limits from a rule that was set aside.
func (c *capped) recall(now time.Duration, old rule, how Inherit) {
	if o, ok := old.(*capped); ok && how != Reset {
		c.inheritOwn(now, o.gate, how)
	}
}

// A cadence is how often attempts of a client end, which is how often a place in flight comes free. What an attempt in
// flight needs cannot be known, so the wait for a place is an estimate: the smoothed time between two ends, counted
// from the last one, and at least a nanosecond. With no end seen yet, or none for a long time, it is one second.
type cadence struct {
	last time.Duration
	gap  time.Duration // 0: unknown
	seen bool
}

// forgotten reports whether what was seen says nothing any more: the last end is ten usual gaps and ten seconds past.
func (c *cadence) forgotten(now time.Duration) bool {
	return !c.seen || (now-c.last-10*time.Second)/10 >= c.gap
}

func (c *cadence) observe(now time.Duration) {
	if c.forgotten(now) {
		*c = cadence{}
	}
	if c.seen {
		gap := max(1, now-c.last)
		if c.gap == 0 {
			c.gap = gap
		} else {
			c.gap += (gap - c.gap) / 8
		}
	}
	c.last, c.seen = now, true
}

func (c *cadence) next(now time.Duration) time.Duration {
	if c.gap == 0 || c.forgotten(now) {
		return time.Second
	}
	if c.gap > math.MaxInt64-c.last {
		return c.gap
	}
	return max(1, c.last+c.gap-now)
}
