package limiter

import (
	"math"
	"math/bits"
	"time"
)

// hierarchical guarantees each client a rate and lends the rest by weight; see rain for how the water falls. Beside its two buckets an
// attempt must pass the global limit, so that all together never exceed it, and the client's ceiling if it has one.
//
// The two buckets of all clients share the global burst: a client's guarantee bucket has the part of it that its guarantee has of
// the rate, and the rest is divided by weight; but each holds the largest cost that its client announced. While the buckets of all fit into
// the global burst, whoever has water of its own is not refused by the global limit, however the others press. What costs more than
// both buckets hold passes when they are full, and leaves the client in debt to itself.
//
// Guarantees that add up to more than the rate are all scaled down alike.
type hierarchical struct {
	immediate
	*gate
	rain
	cfg      Config
	roster   *roster
	weight   uint64        // of all clients
	promised uint64        // drops per ns: all guarantees, unscaled
	ceilings []TokenBucket // by client, as far as anybody has one; without a plan: none
	plans    map[Rate]*BucketPlan
}

func newHierarchical(now time.Duration, c Config, r *roster) (rule, error) {
	g, err := newGate(now, c, false)
	if err != nil {
		return nil, err
	}
	rain, ok := newRain(now, c.Rate, c.Burst)
	if !ok {
		return nil, wrong("burst", "%d at %s is too finely divided to be lent exactly: write a rounder rate or a smaller burst", c.Burst, c.Rate)
	}
	h := &hierarchical{gate: g, rain: rain, cfg: c, roster: r, plans: map[Rate]*BucketPlan{}}
	for i := range r.members {
		if !r.gone(i) {
			h.join(now, i, true)
		}
	}
	return h, nil
}

// join takes on a client, or its new terms. A known client's terms neither give nor take: what it has at hand stays, cut to the
// new sizes, and whoever lacks nothing is as full as a newcomer.
func (h *hierarchical) join(now time.Duration, client int, added bool) {
	h.advance(now)
	h.rain.open(client)
	b := &h.buckets[client]
	full, held := true, int64(0)
	if added {
		h.dry(client)
		*b, h.rain.weight[client] = buckets{}, 1
	} else {
		spareLack, ownLack := h.lacks(client)
		full, held = spareLack == 0 && ownLack == 0, h.held(client)
		h.weight -= uint64(h.rain.weight[client])
		h.promised -= b.guarantee
	}
	guarantee, ceiling := h.roster.termsOf(client, h.cfg)
	h.terms(client, uint32(h.roster.members[client].weight), h.drops(guarantee))
	h.rain.dearest[client] = uint32(min(h.roster.members[client].maxCost, math.MaxUint32))
	h.weight += uint64(h.rain.weight[client])
	h.promised += b.guarantee
	h.rescale()
	if !full {
		h.hold(client, held)
	}
	h.setCeiling(now, client, ceiling, full)
}

// held is the drops that the client has at hand; negative: it is in debt, or its buckets shrank below what they lack.
func (h *hierarchical) held(client int) int64 {
	spareSize, ownSize := h.sizes(client)
	spareLack, ownLack := h.lacks(client)
	return int64(spareSize+ownSize) - int64(spareLack+ownLack)
}

// hold makes the client have so many drops, at most what its buckets hold; each bucket lacks its part.
func (h *hierarchical) hold(client int, drops int64) {
	spareSize, ownSize := h.sizes(client)
	all := int64(spareSize + ownSize)
	lack := uint64(min(all-min(drops, all), mostLacking))
	own := min(ownSize, part(lack, ownSize, uint64(all)))
	h.dry(client)
	h.lack(client, lack-own, own)
}

// mostLacking bounds a debt, in drops, so that its sums never wrap.
const mostLacking = 1 << 62

func (h *hierarchical) leave(_ time.Duration, client int) {
	b := &h.buckets[client]
	h.dry(client)
	h.weight -= uint64(h.rain.weight[client])
	h.promised -= b.guarantee
	*b, h.rain.weight[client] = buckets{}, 1
	h.rescale()
	if c := h.ceiling(client); c != nil {
		*c = TokenBucket{}
	}
}

// rescale fits the guarantees to the rate.
func (h *hierarchical) rescale() {
	h.scale = whole
	if h.promised > h.rate {
		hi, lo := h.rate>>32, h.rate<<32
		h.scale = max(1, div128(hi, lo, h.promised))
	}
}

// setCeiling gives the client a ceiling, or takes it away. Another ceiling holds what the former held; the first one of a client that has spent
// something begins empty, for what it spent before was not counted.
func (h *hierarchical) setCeiling(now time.Duration, client int, ceiling Rate, full bool) {
	old := h.ceiling(client)
	switch {
	case ceiling.IsZero():
		if old != nil {
			*old = TokenBucket{}
		}
		return
	case old != nil && old.plan.config.Rate == ceiling:
		return
	}
	plan := h.plans[ceiling]
	if plan == nil {
		var err error
		if plan, err = (BucketConfig{Rate: ceiling, Burst: min(oneSecond(ceiling), h.cfg.Burst)}).Plan(); err != nil {
			return // a ceiling that nobody could count by is none
		}
		h.plans[ceiling] = plan
	}
	for len(h.ceilings) <= client {
		h.ceilings = append(h.ceilings, TokenBucket{})
	}
	next := plan.New(now)
	switch {
	case old != nil && !old.Fresh(now):
		next = *old
		if err := next.ReplacePlan(now, plan, AsIs); err != nil {
			next = plan.New(now)
		}
	case old == nil && !full:
		next.Take(now, plan.burst)
	}
	h.ceilings[client] = next
}

// ceiling is the client's, nil when it has none.
func (h *hierarchical) ceiling(client int) *TokenBucket {
	if client >= len(h.ceilings) || h.ceilings[client].plan == nil {
		return nil
	}
	return &h.ceilings[client]
}

// sizes is how many drops the client's two buckets hold when full.
func (h *hierarchical) sizes(client int) (spare, own uint64) {
	b, least := &h.buckets[client], uint64(min(int64(h.rain.dearest[client]), h.cfg.Burst))*h.token
	all := uint64(h.cfg.Burst) * h.token // fits: newRain saw to it
	granted := min(h.promised, h.rate)
	guaranteed := part(all, granted, h.rate)
	spare = part(all-guaranteed, uint64(h.rain.weight[client]), h.weight)
	if b.guarantee > 0 {
		own = max(part(guaranteed, b.guarantee, h.promised), least)
	}
	return max(spare, least), own
}

// part is a·b/c for b at most c.
func part(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return a
	}
	return div128(hi, lo, c)
}

// arrive looks into the client's two buckets, the guarantee first, then at its ceiling and the global limit.
func (h *hierarchical) arrive(now time.Duration, a Attempt) Decision {
	wait, by := h.gate.wait(now, a.Client, a.Cost)
	if wait == Never {
		return Decision{Verdict: Rejected, By: by, Wait: Never}
	}
	h.advance(now)
	need := uint64(a.Cost) * h.token
	spareSize, ownSize := h.sizes(a.Client)
	spareLack, ownLack := h.lacks(a.Client)
	// Signed: when clients join, sizes shrink, and a bucket may lack more than it holds.
	short := int64(min(need, spareSize+ownSize)) - (int64(spareSize) - int64(spareLack)) - (int64(ownSize) - int64(ownLack))
	if short > 0 {
		if w := h.fill(a.Client, uint64(short)); w >= wait {
			wait, by = w, ByClient
		}
	}
	ceiling := h.ceiling(a.Client)
	if ceiling != nil {
		// What costs more than the ceiling's burst passes when that is full, on credit.
		if w := ceiling.Wait(now, min(a.Cost, ceiling.plan.burst)); w > 0 && w >= wait {
			wait, by = w, ByClient
		}
	}
	if wait > 0 {
		return Decision{Verdict: Rejected, By: by, Wait: wait}
	}
	h.gate.take(now, a.Client, a.Cost)
	if ceiling != nil {
		ceiling.Take(now, a.Cost)
	}
	own := min(need, ownSize-min(ownLack, ownSize))
	h.dry(a.Client)
	h.lack(a.Client, spareLack+need-own, ownLack+own)
	return Decision{}
}

func (h *hierarchical) quotas(now time.Duration, client int, to []Quota) []Quota {
	h.advance(now)
	first := len(to)
	l := h.ownLevel(now, client)
	to = append(to, Quota{Name: "client", Rate: l.Rate, Burst: l.Capacity, Remaining: l.Remaining, Reset: l.Reset})
	to = h.gate.quotas(now, client, to)
	tightestFirst(to[first:])
	return to
}

// ownLevel is a client's two buckets as one.
func (h *hierarchical) ownLevel(_ time.Duration, client int) Level {
	spareSize, ownSize := h.sizes(client)
	spareLack, ownLack := h.lacks(client)
	guarantee, ceiling := h.roster.termsOf(client, h.cfg)
	l := Level{Name: "client", Rate: guarantee, Capacity: int64((spareSize + ownSize) / h.token)}
	if l.Rate.IsZero() {
		if l.Rate = ceiling; l.Rate.IsZero() {
			l.Rate = h.cfg.Rate
		}
	}
	if left := int64(spareSize+ownSize) - int64(spareLack+ownLack); left > 0 {
		l.Remaining = left / int64(h.token)
	}
	if spareLack+ownLack > 0 {
		l.Reset = h.fill(client, spareLack+ownLack)
	}
	return l
}

func (h *hierarchical) forget(now time.Duration, client int) {
	if client == everybody {
		h.renewGlobal(now)
		return
	}
	h.advance(now)
	h.dry(client)
	if c := h.ceiling(client); c != nil {
		*c = c.plan.New(now)
	}
}

func (h *hierarchical) fresh(now time.Duration, client int) bool {
	h.advance(now)
	spare, own := h.lacks(client)
	c := h.ceiling(client)
	return spare == 0 && own == 0 && (c == nil || c.Fresh(now))
}

// inherit carries over the global level, and by the same strategy what each client has at hand, or owes.
func (h *hierarchical) inherit(now time.Duration, old rule, how Inherit) {
	h.gate.inherit(now, old, how)
	h.recall(now, old, how)
}

// recall takes over what clients have at hand from another hierarchical rule, be it the last one or one from before.
func (h *hierarchical) recall(now time.Duration, old rule, how Inherit) {
	o, ok := old.(*hierarchical)
	if !ok || how == Reset {
		return
	}
	o.advance(now)
	for i := range min(len(o.buckets), len(h.buckets)) {
		if h.roster.gone(i) {
			continue
		}
		h.take(i, o, how)
		if a, b := o.ceiling(i), h.ceiling(i); a != nil && b != nil {
			if a.Fresh(now) {
				continue
			}
			plan := b.plan
			*b = *a
			if err := b.ReplacePlan(now, plan, how); err != nil {
				*b = plan.New(now)
			}
		}
	}
}

// take gives the client what a strategy grants of what it held under another rule. A client that lacked nothing lacks nothing.
func (h *hierarchical) take(client int, o *hierarchical, how Inherit) {
	spareLack, ownLack := o.lacks(client)
	if spareLack == 0 && ownLack == 0 {
		return
	}
	wasSpare, wasOwn := o.sizes(client)
	spare, own := h.sizes(client)
	if h.token == o.token && wasSpare == spare && wasOwn == own { // what did not change goes on to the last drop
		h.dry(client)
		h.lack(client, spareLack, ownLack)
		return
	}
	was, is := o.converted(wasSpare+wasOwn, h.token), spare+own
	lack := o.convertedUp(spareLack+ownLack, h.token)
	switch how {
	case AsIs:
		h.hold(client, int64(was)-int64(min(lack, mostLacking)))
	case Additive:
		h.hold(client, int64(was)-int64(min(lack, mostLacking))+max(0, int64(is)-int64(was)))
	default:
		hi, lo := bits.Mul64(min(lack, mostLacking), is)
		lo, carry := bits.Add64(lo, max(was, 1)-1, 0)
		if hi += carry; hi >= max(was, 1) {
			h.hold(client, -mostLacking)
			return
		}
		h.hold(client, int64(is)-int64(min(div128(hi, lo, max(was, 1)), mostLacking)))
	}
}

// converted is so many drops of this rain in drops of which a token has so many, rounded down.
func (r *rain) converted(drops, token uint64) uint64 {
	hi, lo := bits.Mul64(drops, token)
	if hi >= r.token {
		return mostLacking
	}
	return min(div128(hi, lo, r.token), mostLacking)
}

// convertedUp is converted, rounded up.
func (r *rain) convertedUp(drops, token uint64) uint64 {
	d := r.converted(drops, token)
	backHi, backLo := bits.Mul64(d, r.token)
	if hi, lo := bits.Mul64(drops, token); d < mostLacking && (hi != backHi || lo != backLo) {
		d++
	}
	return d
}

func (h *hierarchical) inspect(now time.Duration, s *State) {
	h.gate.inspect(now, s)
	h.advance(now)
	s.VirtualTime = float64(h.v) / float64(h.token)
	for i := range s.Clients {
		if s.Clients[i].Name != "" {
			l := h.ownLevel(now, i)
			s.Clients[i].Own = &l
		}
	}
}
