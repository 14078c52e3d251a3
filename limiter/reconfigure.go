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
	for {
		w, ok := e.rule.evict(now)
		if !ok {
			break
		}
		if q, queues := next.(interface{ enqueue(time.Duration, waiting) }); queues {
			q.enqueue(now, w)
		} else {
			e.orphans = append(e.orphans, w)
		}
	}
	if cfg.RetryAfter != e.cfg.RetryAfter {
		e.teller = newTeller(cfg)
	}
	e.cfg, e.rule = cfg, next
	return nil
}

// gated is a rule that keeps its limits in a gate.
type gated interface{ limits() *gate }

func (g *gate) limits() *gate { return g }

// inherit takes over the levels of another rule's limits: the global limit, the bandwidths by their ids, and each
// client's own.
func (g *gate) inherit(now time.Duration, old rule, how Inherit) {
	from, ok := old.(gated)
	if !ok || how == Reset {
		return
	}
	o := from.limits()
	g.global[0] = g.forms[0].carry(now, g.global[0], &o.forms[0], o.global[0], how)
	for i := 1; i < len(g.forms); i++ {
		for j := 1; j < len(o.forms); j++ {
			if g.ids[i] == o.ids[j] {
				g.global[i] = g.forms[i].carry(now, g.global[i], &o.forms[j], o.global[j], how)
				break
			}
		}
	}
	if g.own == nil || o.own == nil {
		return
	}
	if g.client.spec == o.client.spec {
		g.own = o.own
		return
	}
	if n, ok := g.own.(interface{ len() int }); ok {
		for i := range n.len() {
			g.client.carry(now, g.own.at(i), &o.client, o.own.at(i), how)
		}
	}
}

func (c *cells[T, P]) len() int { return len(c.state) }

// carry makes the new counter fresh hold what inherit grants of the old one's level, and returns it; a limit that
// did not change keeps its very counter. Between different algorithms only whole tokens are carried: no
// strategy ever grants more than it says.
func (f *form) carry(now time.Duration, fresh Counter, was *form, old Counter, how Inherit) Counter {
	if how == Reset {
		return fresh
	}
	if f.spec == was.spec {
		return old
	}
	if a, ok := old.(*TokenBucket); ok {
		if b, ok := fresh.(*TokenBucket); ok {
			plan := b.plan
			*b = *a
			if err := b.ReplacePlan(now, plan, how); err == nil {
				return b
			}
			*b = plan.New(now)
			return b
		}
	}
	holds := min(old.Remaining(now), was.capacity)
	switch how {
	case Proportional:
		holds = muldiv(holds, f.capacity, was.capacity)
	case Additive:
		holds += max(0, f.capacity-was.capacity)
	}
	if b, ok := fresh.(*TokenBucket); ok {
		b.Refill(now) // it may begin with less
	}
	if missing := f.capacity - min(holds, f.capacity); missing > 0 {
		fresh.Take(now, missing)
	}
	return fresh
}
