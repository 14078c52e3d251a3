package profiles

import (
	"fmt"
	"slices"
	"time"

	"fairgate/limiter"
)

// limiterKeys are the keys of a limiter: what it is, and where it counts.
var limiterKeys = slices.Concat(
	part(configKeys, func(p *Profile) *limiter.Config { return &p.Limiter }),
	part(storeKeys, func(p *Profile) *Store { return &p.Store }),
)

var configKeys = object[limiter.Config]{
	word("policy", func(c *limiter.Config) *limiter.Policy { return &c.Policy }, limiter.Policies...),
	word("algorithm", func(c *limiter.Config) *limiter.Algorithm { return &c.Algorithm }, limiter.Algorithms...),
	rate("rate", func(c *limiter.Config) *limiter.Rate { return &c.Rate }),
	sparse(whole("burst", 1, maxWhole, func(c *limiter.Config) *int64 { return &c.Burst })),
	{key: "bandwidths", read: readBandwidths, write: writeBandwidths},
	word("refill", func(c *limiter.Config) *limiter.Refill { return &c.Refill }, refills...),
	optional("initial", 0, maxWhole, func(c *limiter.Config) **int64 { return &c.Initial }),
	sparse(duration("window", above, func(c *limiter.Config) *time.Duration { return &c.Window })),
	sparse(duration("start", 0, func(c *limiter.Config) *time.Duration { return &c.Start })),
	in("client", clientLimitKeys, func(c *limiter.Config) *limiter.ClientLimit { return &c.Client }),
	in("queue", queueKeys, func(c *limiter.Config) *limiter.Queue { return &c.Queue }),
	word("order", func(c *limiter.Config) *limiter.Discipline { return &c.Order }, limiter.FIFO, limiter.StartTime, limiter.DeficitRound),
	sparse(whole("quantum", 1, maxWhole, func(c *limiter.Config) *int64 { return &c.Quantum })),
	rate("guarantee", func(c *limiter.Config) *limiter.Rate { return &c.Guarantee }),
	rate("ceiling", func(c *limiter.Config) *limiter.Rate { return &c.Ceiling }),
	sparse(whole("shards", 1, 1000, func(c *limiter.Config) *int { return &c.Shards })),
	word("routing", func(c *limiter.Config) *limiter.Routing { return &c.Routing }, routings...),
	{key: "divide", read: readDivide, write: func(c *limiter.Config) *node {
		if !c.Keep {
			return nil
		}
		return plainNode("false")
	}},
	sparse(duration("exchange", above, func(c *limiter.Config) *time.Duration { return &c.Exchange })),
	optional("max_reserved", 0, maxWhole, func(c *limiter.Config) **int64 { return &c.MaxReserved }),
	sparse(yesNo("shape", func(c *limiter.Config) *bool { return &c.Shape })),
	sparse(whole("delay", 0, maxWhole, func(c *limiter.Config) *int64 { return &c.Delay })),
	sparse(duration("forget_after", above, func(c *limiter.Config) *time.Duration { return &c.ForgetAfter })),
	word("inherit", func(c *limiter.Config) *limiter.Inherit { return &c.Inherit }, inherits...),
	word("retry_after", func(c *limiter.Config) *limiter.RetryAfter { return &c.RetryAfter }, retryAfters...),
}

var clientLimitKeys = object[limiter.ClientLimit]{
	rate("rate", func(c *limiter.ClientLimit) *limiter.Rate { return &c.Rate }),
	sparse(whole("burst", 1, maxWhole, func(c *limiter.ClientLimit) *int64 { return &c.Burst })),
	sparse(whole("max_in_flight", 1, 1_000_000, func(c *limiter.ClientLimit) *int { return &c.MaxInFlight })),
}

var queueKeys = object[limiter.Queue]{
	sparse(whole("per_client", 1, 1_000_000, func(q *limiter.Queue) *int { return &q.PerClient })),
	sparse(duration("max_wait", above, func(q *limiter.Queue) *time.Duration { return &q.MaxWait })),
	sparse(yesNo("for_slot", func(q *limiter.Queue) *bool { return &q.ForSlot })),
}

var bandwidthKeys = object[limiter.Bandwidth]{
	text("id", func(b *limiter.Bandwidth) *string { return &b.ID }),
	rate("rate", func(b *limiter.Bandwidth) *limiter.Rate { return &b.Rate }),
	sparse(whole("burst", 1, maxWhole, func(b *limiter.Bandwidth) *int64 { return &b.Burst })),
	word("refill", func(b *limiter.Bandwidth) *limiter.Refill { return &b.Refill }, refills...),
}

func readDivide(r *reader, n *node, path string, c *limiter.Config) {
	if !r.isScalar(n, path, "true or false") {
		return
	}
	divide, err := readYesNo(n.text, n.plain)
	if err != nil {
		r.fail(n.at, path, "%s", err)
		return
	}
	c.Keep = !divide
}

func readBandwidths(r *reader, n *node, path string, c *limiter.Config) {
	if !r.isList(n, path, "[{id: minute, rate: 600/m, burst: 100}]") {
		return
	}
	if len(n.items) > 16 {
		r.fail(n.at, path, "has %d limits: at most 16 are counted at once", len(n.items))
		return
	}
	r.forget(path)
	list := make([]limiter.Bandwidth, len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		list[i].Refill = limiter.Greedy
		r.places[at] = item.at
		bandwidthKeys.read(r, item, at, &list[i])
	}
	c.Bandwidths = list
}

func writeBandwidths(c *limiter.Config) *node {
	if len(c.Bandwidths) == 0 {
		return nil
	}
	n := &node{kind: sequenceNode}
	for i := range c.Bandwidths {
		n.items = append(n.items, bandwidthKeys.write(&c.Bandwidths[i]))
	}
	return n
}
