package limiter

import (
	"strconv"
	"time"
)

// A gate is the limits that an attempt has to pass at once: the global one with its further bandwidths and,
// where the policy gives each client one, the client's own. It first asks all and then takes from all, so that
// a refused attempt charges nothing anywhere.
type gate struct {
	forms  []form    // of global: the limit, then its further bandwidths
	global []Counter // as forms
	ids    []string  // as forms: what pairs a bandwidth with its successor when the configuration changes

	client form
	own    row // nil: clients have no limits of their own

	shapes bool // what is admitted may be delayed
}

// newGate makes the limits of a configuration, each client's own only where perClient.
func newGate(now time.Duration, c Config, perClient bool) (*gate, error) {
	g := &gate{shapes: c.Shape}
	add := func(id string, s spec) error {
		f, err := s.form()
		if err != nil {
			return err
		}
		g.forms, g.global, g.ids = append(g.forms, f), append(g.global, f.one(now)), append(g.ids, id)
		return nil
	}
	if err := add(firstLimit, c.globalSpec()); err != nil {
		return nil, pathed("rate", err)
	}
	unnamed := 0
	for _, b := range c.Bandwidths {
		id := b.ID
		if id == "" { // paired in their order
			id = "\x00" + strconv.Itoa(unnamed)
			unnamed++
		}
		if err := add(id, c.bandwidthSpec(b)); err != nil {
			return nil, pathed("bandwidths", err)
		}
	}
	if perClient {
		f, err := c.clientSpec().form()
		if err != nil {
			return nil, pathed("client.rate", err)
		}
		g.client, g.own = f, f.many()
	}
	return g, nil
}

// wait is the longest wait of all limits, and the limit that makes it; of equal ones the client's own.
func (g *gate) wait(now time.Duration, client int, cost int64) (time.Duration, Reason) {
	longest, by := g.global[0].Wait(now, cost), ByGlobal
	for _, c := range g.global[1:] {
		longest = max(longest, c.Wait(now, cost))
	}
	if g.own != nil {
		if w := g.own.at(client).Wait(now, cost); w >= longest && w > 0 {
			longest, by = w, ByClient
		}
	}
	return longest, by
}

// take charges every limit. It returns how long a shaping limit delays what it has admitted; 0 when it may go on.
func (g *gate) take(now time.Duration, client int, cost int64) (delay time.Duration) {
	if g.shapes {
		delay = g.delay(now, client)
	}
	for _, c := range g.global {
		c.Take(now, cost)
	}
	if g.own != nil {
		g.own.at(client).Take(now, cost)
	}
	return delay
}

// A shaper delays what it admits.
type shaper interface {
	// Delay is how long an attempt that is admitted now is kept back.
	Delay(now time.Duration) time.Duration
}

// delay is the longest delay of all limits.
func (g *gate) delay(now time.Duration, client int) time.Duration {
	longest := time.Duration(0)
	for _, c := range g.global {
		longest = max(longest, c.(shaper).Delay(now))
	}
	if g.own != nil {
		longest = max(longest, g.own.at(client).(shaper).Delay(now))
	}
	return longest
}

// backlog is how long the global limits need until tokens for all of cost have come, taken piece by piece as they come: so
// cost may be more than could ever be taken at once.
func (g *gate) backlog(now time.Duration, cost int64) time.Duration {
	longest := time.Duration(0)
	for i, c := range g.global {
		longest = max(longest, g.forms[i].backlog(now, c, cost))
	}
	return longest
}

func (f *form) backlog(now time.Duration, c Counter, cost int64) time.Duration {
	if cost <= f.capacity {
		return c.Wait(now, cost)
	}
	switch c := c.(type) {
	case *TokenBucket:
		if !c.plan.grid {
			return c.until(now, cost)
		}
	case interface {
		flow(time.Duration, int64) time.Duration
	}:
		return c.flow(now, cost)
	}
	// Whole fillings, and then the rest as it flows in.
	return timeUp(c.Wait(now, f.capacity), timeFor(f.rate, cost-f.capacity))
}

// capacity is the largest cost that the global limits ever let pass.
func (g *gate) capacity() int64 {
	least := g.forms[0].capacity
	for _, f := range g.forms[1:] {
		least = min(least, f.capacity)
	}
	return least
}

// renewGlobal forgets what the global limits have counted.
func (g *gate) renewGlobal(now time.Duration) {
	for i, f := range g.forms {
		g.global[i] = f.one(now)
	}
}

// quotas appends the state of each limit that counts for the client, the tightest first.
func (g *gate) quotas(now time.Duration, client int, to []Quota) []Quota {
	first := len(to)
	if g.own != nil {
		to = append(to, g.client.quota(now, "client", g.own.at(client)))
	}
	for i, f := range g.forms {
		to = append(to, f.quota(now, "global", g.global[i]))
	}
	tightestFirst(to[first:])
	return to
}

// tightestFirst sorts a handful of quotas by what they have left.
func tightestFirst(q []Quota) {
	for i := 1; i < len(q); i++ {
		for j := i; j > 0 && q[j].Remaining < q[j-1].Remaining; j-- {
			q[j], q[j-1] = q[j-1], q[j]
		}
	}
}

func (f *form) quota(now time.Duration, name string, c Counter) Quota {
	return Quota{Name: name, Rate: f.rate, Burst: f.capacity, Remaining: c.Remaining(now), Reset: c.Reset(now)}
}
