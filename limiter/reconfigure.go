package limiter

import "time"

// Reconfigure builds the new rule beside the old one, lets it take over what the old one knew, and only then puts it in
// its place: an invalid configuration changes nothing.
func (e *engine) Reconfigure(now time.Duration, cfg Config) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	now = e.clock(now)
	cfg = cfg.WithDefaults()
	next, err := newRule(now, cfg, e.roster)
	if err != nil {
		return err
	}
	next.inherit(now, e.rule, cfg.Inherit)
	e.setAside(now, next, cfg.Inherit)
	if cfg.Inherit == Reset {
		e.chargeDelayed(now, next)
	}
	for {
		w, ok := e.rule.evict(now)
		if !ok {
			break
		}
		e.orphans = append(e.orphans, w)
	}
	if q, queues := next.(*fairQueue); queues { // also those from a queue before the last
		for _, w := range e.orphans {
			q.enqueue(now, w)
		}
		e.orphans = e.orphans[:0]
	}
	if s, ok := e.teller.(*slots); ok && cfg.RetryAfter == RetrySlot {
		s.each = perSecondUp(cfg.Enforced()) // places that were promised stay promised
	} else if cfg.RetryAfter != e.cfg.RetryAfter {
		e.teller = newTeller(cfg)
	}
	e.cfg, e.rule = cfg, next
	return nil
}

// A keeper is a rule that holds tokens of each client.
type keeper interface {
	rule
	// recall takes over what clients hold from a rule of its kind that was set aside.
	recall(now time.Duration, old rule, how Inherit)
}

// keeperOf is the policy whose clients hold tokens of their own by a rule; "": by none.
func keeperOf(r rule) Policy {
	switch r := r.(type) {
	case *capped:
		if r.own != nil {
			return PerClient
		}
	case *hierarchical:
		return Hierarchical
	}
	return ""
}

// setAside keeps what clients hold under the present rule while the next does not ask for it, and gives the next what was kept for it:
// walking through the policies and back fills no client's bucket.
func (e *engine) setAside(now time.Duration, next rule, how Inherit) {
	was, is := keeperOf(e.rule), keeperOf(next)
	var kept []rule
	for _, r := range e.aside {
		switch keeperOf(r) {
		case is:
			if is != was {
				next.(keeper).recall(now, r, how)
			}
		case was:
		default:
			kept = append(kept, r)
		}
	}
	if was != "" && was != is {
		kept = append(kept, e.rule)
	}
	if e.aside = kept; how == Reset {
		e.aside = nil
	}
}

// chargeDelayed lets a shaping rule that begins anew count what was delayed by the one before and has still to leave, for it leaves at the
// same rate.
func (e *engine) chargeDelayed(now time.Duration, next rule) {
	switch r := next.(type) {
	case gated:
		if g := r.limits(); g.shapes {
			for _, d := range e.leaving.heap {
				g.take(now, d.Client, d.Cost)
			}
		}
	case *sharded:
		if r.shards[0].shapes {
			for i, d := range e.leaving.heap {
				r.shards[i%len(r.shards)].take(now, d.Client, d.Cost)
			}
		}
	}
}

// grant is the whole tokens that a strategy gives to a limit of capacity is, when the one before held so many of was.
func grant(how Inherit, held, was, is int64) int64 {
	held = min(held, was)
	switch how {
	case Reset:
		return is
	case AsIs:
	case Additive:
		held += max(0, is-was)
	default:
		held = muldiv(held, is, was)
	}
	return min(held, is)
}

// gated is a rule that keeps its limits in one gate.
type gated interface{ limits() *gate }

func (g *gate) limits() *gate { return g }

// A holder tells what its limit of an id holds and may hold; the first limit's id is firstLimit.
type holder interface {
	holds(now time.Duration, id string) (remaining, capacity int64, ok bool)
}

// firstLimit pairs the configuration's own limit with its successor; no bandwidth can have this id.
const firstLimit = "\x00first"

// limit is where in forms the limit of an id is.
func (g *gate) limit(id string) (int, bool) {
	for i, known := range g.ids {
		if known == id {
			return i, true
		}
	}
	return 0, false
}

func (g *gate) holds(now time.Duration, id string) (remaining, capacity int64, ok bool) {
	i, ok := g.limit(id)
	if !ok {
		return 0, 0, false
	}
	return g.global[i].Remaining(now), g.forms[i].capacity, true
}

// inherit takes over the levels of another rule's limits.
func (g *gate) inherit(now time.Duration, old rule, how Inherit) {
	if how == Reset {
		return
	}
	if o, ok := old.(gated); ok {
		g.inheritGate(now, o.limits(), how)
		return
	}
	o, ok := old.(holder)
	if !ok {
		return
	}
	for i, id := range g.ids {
		if held, capacity, ok := o.holds(now, id); ok {
			g.forms[i].fill(now, g.global[i], grant(how, held, capacity, g.forms[i].capacity))
		}
	}
}

// inheritGate takes over the global limit, the further bandwidths by their ids, and each client's own limit.
func (g *gate) inheritGate(now time.Duration, o *gate, how Inherit) {
	g.global[0] = g.forms[0].carry(now, g.global[0], &o.forms[0], o.global[0], how)
	for i := 1; i < len(g.forms); i++ {
		for j := 1; j < len(o.forms); j++ {
			if g.ids[i] == o.ids[j] {
				g.global[i] = g.forms[i].carry(now, g.global[i], &o.forms[j], o.global[j], how)
				break
			}
		}
	}
	g.inheritOwn(now, o, how)
}

// inheritOwn takes over each client's own limit. A client that has all its tokens has all of the new ones: it is as good as one that left and came
// again, whatever the strategy.
func (g *gate) inheritOwn(now time.Duration, o *gate, how Inherit) {
	if g.own == nil || o.own == nil {
		return
	}
	if g.client.spec == o.client.spec {
		g.own = o.own
		return
	}
	for i := range min(g.own.len(), o.own.len()) {
		if old := o.own.at(i); !old.Fresh(now) {
			g.client.carry(now, g.own.at(i), &o.client, old, how)
		}
	}
}

// A relimiter keeps what it has counted under another limit, when that counts by the same windows; false when it cannot.
type relimiter interface {
	relimit(now time.Duration, to Counter) bool
}

// carry makes the counter fresh hold what a strategy grants of the old one's level, and returns it; a limit that
// did not change keeps its very counter. Token buckets carry parts of a token too. Windows keep what they counted, so that it leaves
// them when it would have. Between different algorithms only whole tokens are carried. No strategy
// ever grants more than it says.
func (f *form) carry(now time.Duration, fresh Counter, was *form, old Counter, how Inherit) Counter {
	if how == Reset {
		return fresh
	}
	if f.spec == was.spec {
		return old
	}
	if how != AsIs && how != Additive && f.initial == full && old.Fresh(now) {
		return fresh // the same part of all is all: spares the arithmetic where clients are many
	}
	if a, ok := old.(*TokenBucket); ok {
		if b, ok := fresh.(*TokenBucket); ok {
			plan := b.plan
			*b = *a
			if err := b.ReplacePlan(now, plan, how); err != nil {
				*b = plan.New(now)
			}
			return b
		}
	}
	target := grant(how, old.Remaining(now), was.capacity, f.capacity)
	if r, ok := old.(relimiter); ok && r.relimit(now, fresh) {
		if left := fresh.Remaining(now); left > target {
			fresh.Take(now, left-target)
		}
		return fresh
	}
	f.fill(now, fresh, target)
	return fresh
}

// fill makes a fresh counter hold so many tokens.
func (f *form) fill(now time.Duration, fresh Counter, tokens int64) {
	if b, ok := fresh.(*TokenBucket); ok {
		b.Refill(now) // it may begin with less
	}
	if missing := f.capacity - tokens; missing > 0 {
		fresh.Take(now, missing)
	}
}
