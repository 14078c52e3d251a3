package limiter

import (
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// sharded is a fleet: instances that each count apart, and a router before them.
//
//	        ┌─► shard 0: 1/n of the limit
//	arrive ─┼─► shard 1: 1/n
//	        └─► shard 2: 1/n
//
// A refusal comes from one shard while another may have tokens left: that is what sharding costs. The needed wait is that of the shard that the
// attempt would meet if it came again and nobody else came between: pinned the same one, in turn the next, which may have what it asks for at
// once. Where the routing is at random nobody knows which that will be, and the wait is a documented estimate: that of the shard that refused.
//
// Divided, admissions of all stay within the limit. An exchange divides it anew, by what each shard was asked since the last
// one; levels stay as they are, cut to the new bursts, so that dividing never mints. It counts for the moment at which it is due, whoever comes after
// that first. What a shard will have after the next exchange hangs on what others ask of theirs until then, so that waits that reach beyond it
// are a documented estimate too: with what the division is now, and where a shard has too small a part of the burst for an attempt, until the next exchange, which
// may give it a larger one.
type sharded struct {
	immediate
	shards   []*gate
	cfg      Config
	roster   *roster
	random   generator
	turn     int
	home     []int32       // by client: the shard of pinned routing
	demand   []int64       // attempts since the last exchange
	exchange time.Duration // when the next one is due
}

func newSharded(now time.Duration, c Config, r *roster) (rule, error) {
	var shares []int64
	if c.Exchange > 0 {
		shares = equal(1, int64(c.Shards))
	}
	each, err := c.shardConfigs(shares)
	if err != nil {
		return nil, err
	}
	s := &sharded{cfg: c, roster: r, random: generator{c.Seed}, demand: make([]int64, c.Shards), exchange: timeUp(now, c.Exchange)}
	for _, cfg := range each {
		g, err := newGate(now, cfg, false)
		if err != nil {
			return nil, err
		}
		s.shards = append(s.shards, g)
	}
	for i := range r.members {
		s.join(now, i, true)
	}
	return s, nil
}

func (s *sharded) join(_ time.Duration, client int, _ bool) {
	for len(s.home) <= client {
		s.home = append(s.home, 0)
	}
	h := fnv.New64a()
	h.Write([]byte(s.roster.members[client].name))
	s.home[client] = int32(h.Sum64() % uint64(len(s.shards)))
}

func (s *sharded) arrive(now time.Duration, a Attempt) Decision {
	if s.cfg.Exchange > 0 && now >= s.exchange {
		s.divideAnew(now)
	}
	i, other := s.route(now, a.Client)
	s.demand[i]++
	g := s.shards[i]
	wait, by := g.wait(now, a.Client, a.Cost)
	if wait == 0 {
		return Decision{Wait: g.take(now, a.Client, a.Cost)}.delayed()
	}
	if s.cfg.Routing == TwoChoicesCombine && other != i {
		if TakeTogether(now, g.global[0].(*TokenBucket), s.shards[other].global[0].(*TokenBucket), a.Cost) {
			return Decision{}
		}
	}
	if s.cfg.Routing == RoundRobin {
		wait, _ = s.shards[s.turn].wait(now, a.Client, a.Cost)
		wait = max(1, wait)
	}
	if wait == Never && s.cfg.Exchange > 0 && s.mayGrow(a.Cost) {
		wait = s.exchange - now
	}
	return Decision{Verdict: Rejected, By: by, Wait: wait}
}

// mayGrow reports whether some division of the limit gives one shard enough for an attempt of that cost.
func (s *sharded) mayGrow(cost int64) bool {
	rest := int64(len(s.shards)) - 1 // each other shard keeps a token
	most := s.cfg.Burst - rest
	if s.cfg.Algorithm.windowed() {
		most = s.cfg.windowRate().Tokens - rest
	}
	for _, b := range s.cfg.Bandwidths { // which are divided evenly for good
		share := b.Burst
		if s.cfg.Algorithm.windowed() {
			share = b.Rate.Tokens
		}
		most = min(most, share/int64(len(s.shards)))
	}
	return cost <= most
}

// route is the shard that the attempt goes to, and the second choice where there is one.
func (s *sharded) route(now time.Duration, client int) (first, second int) {
	n := len(s.shards)
	switch s.cfg.Routing {
	case RoundRobin:
		first = s.turn
		s.turn = (s.turn + 1) % n
		return first, first
	case Pinned:
		return int(s.home[client]), int(s.home[client])
	case TwoChoices, TwoChoicesCombine:
		if n == 1 {
			return 0, 0
		}
		first = s.random.below(n)
		if second = s.random.below(n - 1); second >= first {
			second++
		}
		if s.shards[second].fuller(now, s.shards[first]) {
			first, second = second, first
		}
		return first, second
	}
	first = s.random.below(n)
	return first, first
}

// fuller reports whether more is left in g than in o; parts of a token count where the algorithm has them.
func (g *gate) fuller(now time.Duration, o *gate) bool {
	a, aBucket := g.global[0].(*TokenBucket)
	b, bBucket := o.global[0].(*TokenBucket)
	if !aBucket || !bBucket {
		return g.global[0].Remaining(now) > o.global[0].Remaining(now)
	}
	aWhole, aPart, aOf := a.Exact(now)
	bWhole, bPart, bOf := b.Exact(now)
	return aWhole > bWhole || aWhole == bWhole && Rate{Tokens: int64(aPart), Per: time.Duration(aOf)}.compare(
		Rate{Tokens: int64(bPart), Per: time.Duration(bOf)}) > 0
}

// divideAnew divides the limit by what each shard was asked. Several exchanges that fell due while nobody came are one. A shard that
// nobody asked keeps a small part, to be there when somebody comes.
func (s *sharded) divideAnew(now time.Duration) {
	due := s.exchange
	passed := (now - s.exchange) / s.cfg.Exchange
	s.exchange = timeUp(s.exchange, (passed+1)*s.cfg.Exchange)
	shares, asked := make([]int64, len(s.demand)), int64(0)
	for i, d := range s.demand {
		asked += d
		shares[i] = min(d, math.MaxInt64/int64(2*len(s.demand))) + 1
	}
	if asked == 0 {
		return
	}
	clear(s.demand)
	each, err := s.cfg.shardConfigs(shares)
	if err != nil {
		return // cannot be: equal shares passed
	}
	for i, cfg := range each {
		g, err := newGate(due, cfg, false)
		if err != nil {
			return
		}
		g.inheritGate(due, s.shards[i], AsIs)
		s.shards[i] = g
	}
}

func (s *sharded) quotas(now time.Duration, _ int, to []Quota) []Quota {
	l := s.sum(now, 0)
	return append(to, Quota{Name: "global", Rate: l.Rate, Burst: l.Capacity, Remaining: l.Remaining, Reset: l.Reset})
}

// sum is the limit i of all shards as one level: 0 is the first, then come the further bandwidths.
func (s *sharded) sum(now time.Duration, i int) Level {
	sum := Level{Name: "global", Rate: s.cfg.Enforced()}
	if i > 0 {
		b := s.cfg.Bandwidths[i-1]
		sum.Name, sum.Rate = bandwidthName(b.ID, b.Rate), b.Rate
	}
	for _, g := range s.shards {
		l := g.forms[i].level(now, "", g.global[i])
		sum.Capacity = saturated(sum.Capacity, l.Capacity)
		sum.Remaining = saturated(sum.Remaining, l.Remaining)
		sum.Reset = max(sum.Reset, l.Reset)
	}
	return sum
}

func (s *sharded) holds(now time.Duration, id string) (remaining, capacity int64, ok bool) {
	i, ok := s.shards[0].limit(id)
	if !ok {
		return 0, 0, false
	}
	l := s.sum(now, i)
	return l.Remaining, l.Capacity, true
}

// inherit goes on with the very shards where the limit did not change, and takes over shard by shard where both divide it evenly among
// as many; otherwise what all held together is shared out.
func (s *sharded) inherit(now time.Duration, old rule, how Inherit) {
	if how == Reset {
		return
	}
	if o, ok := old.(*sharded); ok && len(o.shards) == len(s.shards) {
		s.random, s.turn = o.random, o.turn
		if s.cfg.sameShards(o.cfg) {
			s.shards, s.demand, s.exchange = o.shards, o.demand, o.exchange
			return
		}
		if s.cfg.Exchange == 0 && o.cfg.Exchange == 0 {
			s.demand = o.demand
			for i, g := range s.shards {
				g.inheritGate(now, o.shards[i], how)
			}
			return
		}
	}
	o, ok := old.(holder)
	if !ok {
		return
	}
	for i, id := range s.shards[0].ids {
		held, capacity, ok := o.holds(now, id)
		if !ok {
			continue
		}
		all := s.sum(now, i).Capacity
		target := grant(how, held, capacity, all)
		for _, g := range s.shards {
			g.forms[i].fill(now, g.global[i], muldiv(target, g.forms[i].capacity, all))
		}
	}
}

// sameShards reports whether two configurations of as many shards limit each alike.
func (c Config) sameShards(o Config) bool {
	return c.globalSpec() == o.globalSpec() && slices.Equal(c.Bandwidths, o.Bandwidths) && c.Keep == o.Keep && c.Exchange == o.Exchange
}

func (s *sharded) forget(now time.Duration, client int) {
	if client == everybody {
		for _, g := range s.shards {
			g.renewGlobal(now)
		}
	}
}

func (s *sharded) fresh(time.Duration, int) bool { return true }

func (s *sharded) inspect(now time.Duration, st *State) {
	for i := range s.shards[0].forms {
		st.Global = append(st.Global, s.sum(now, i))
	}
	for i, g := range s.shards {
		l := g.forms[0].level(now, "", g.global[0])
		l.Name, l.Demand = shardName(i), s.demand[i]
		st.Shards = append(st.Shards, l)
	}
}
