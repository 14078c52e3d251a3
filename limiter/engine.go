package limiter

import "time"

// A rule is a policy at work. The engine keeps the clock, the clients and what they are told; the rule
// decides. It is given a now that never goes back.
type rule interface {
	// join is told of a client that is new, or whose settings changed.
	join(now time.Duration, client int, added bool)
	// arrive answers an attempt; Told is not its concern. Queued with a Wait means admitted, to be handed
	// out after that wait; Queued without one means that the rule will hand it out itself.
	arrive(now time.Duration, a Attempt) Decision
	// release is told of an admitted attempt's end.
	release(now time.Duration, client int)
	// due is when settle has something to hand out.
	due(now time.Duration) (time.Duration, bool)
	settle(now time.Duration) (Attempt, Decision, bool)
	cancel(now time.Duration, a Attempt) bool
	// evict takes out the attempt that has waited longest; false when none waits.
	evict(now time.Duration) (waiting, bool)
	quotas(now time.Duration, client int, to []Quota) []Quota
	// forget makes the client's state as good as new, or with Everybody that of the global limits.
	forget(now time.Duration, client int)
	// fresh reports whether the client's state equals a new one's.
	fresh(now time.Duration, client int) bool
	// leave is told that a client is gone; its handle may come back as another's.
	leave(now time.Duration, client int)
	// inherit carries over what old knew.
	inherit(now time.Duration, old rule, how Inherit)
	inspect(now time.Duration, s *State)
}

// immediate is the part of a rule that answers every attempt at once: nothing ever waits, and when attempts end does not matter.
type immediate struct{}

func (immediate) release(time.Duration, int)                            {}
func (immediate) leave(time.Duration, int)                              {}
func (immediate) due(time.Duration) (time.Duration, bool)               { return 0, false }
func (immediate) settle(time.Duration) (a Attempt, d Decision, ok bool) { return }
func (immediate) cancel(time.Duration, Attempt) bool                    { return false }
func (immediate) evict(time.Duration) (w waiting, ok bool)              { return }

// everybody stands for the limits that all share.
const everybody = -1

// The engine is the Limiter: a clock that cannot go back, the roster of clients, a rule that decides, and what it
// takes to tell the refused when to come again.
type engine struct {
	cfg  Config
	now  time.Duration
	rule rule
	*roster
	teller  teller
	leaving departures
	// orphans waited under a policy that is no more, and the new one does not queue.
	orphans []waiting
	lastUse time.Duration
	// aside are rules that were replaced by one that does not ask all the limits of each client that they asked: at most one of
	// per-client and one of hierarchical. They are taken up again when such a rule comes back.
	aside []rule
}

// A waiting attempt and when it began to wait.
type waiting struct {
	Attempt
	since time.Duration
}

// New builds a limiter at the start of a run. An invalid configuration is a *ConfigError.
func New(cfg Config) (Limiter, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	e := &engine{cfg: cfg.WithDefaults(), roster: &roster{handles: map[string]int{}, largest: 1}}
	var err error
	if e.rule, err = newRule(0, e.cfg, e.roster); err != nil {
		return nil, err
	}
	e.teller = newTeller(e.cfg)
	return e, nil
}

// newRule makes the rule of a policy.
func newRule(now time.Duration, c Config, r *roster) (rule, error) {
	switch c.Policy {
	case FairQueue:
		return newFairQueue(now, c, r)
	case Hierarchical:
		return newHierarchical(now, c, r)
	case Sharded:
		return newSharded(now, c, r)
	case Concurrency:
		if c.Queue.ForSlot {
			return newFairQueue(now, c, r)
		}
		fallthrough
	case Global, PerClient:
		return newCapped(now, c, r)
	}
	return nil, wrong("policy", "%q is unknown", c.Policy)
}

// delayed is an admission whose Wait is the delay of a shaping limit.
func (d Decision) delayed() Decision {
	if d.Wait > 0 {
		d.Verdict = Queued
	}
	return d
}

// clock is now, or the latest moment seen when that is later.
func (e *engine) clock(now time.Duration) time.Duration {
	if now > e.now {
		e.now = now
	}
	return e.now
}

func (e *engine) Join(now time.Duration, c Client) int {
	now = e.clock(now)
	handle, added := e.join(now, c)
	e.rule.join(now, handle, added)
	for _, r := range e.aside {
		r.join(now, handle, added)
	}
	return handle
}

func (e *engine) Arrive(now time.Duration, a Attempt) Decision {
	now = e.clock(now)
	if uint(a.Client) >= uint(len(e.members)) || a.Cost < 0 || e.gone(a.Client) {
		return Decision{Verdict: Rejected, Wait: Never} // a negative cost would mint, and a client that left is nobody
	}
	if e.cfg.ForgetAfter > 0 {
		e.forgetIdle(now, a.Client)
	}
	d := e.rule.arrive(now, a)
	switch d.Verdict {
	case Admitted:
		e.members[a.Client].inFlight++
	case Rejected:
		d.Told = e.teller.tell(now, d.Wait, &e.members[a.Client])
	case Queued:
		if d.Wait > 0 {
			e.leaving.add(timeUp(now, d.Wait), a)
			e.delay(a.Client, 1)
			d.Wait = 0
		}
	}
	return d
}

// forgetIdle drops state that nobody used for so long, as a store with a short time to live would.
func (e *engine) forgetIdle(now time.Duration, client int) {
	if now-e.lastUse >= e.cfg.ForgetAfter {
		e.rule.forget(now, everybody)
	}
	m := &e.members[client]
	if now-m.lastUse >= e.cfg.ForgetAfter {
		e.rule.forget(now, client)
		for _, r := range e.aside {
			r.forget(now, client)
		}
	}
	e.lastUse, m.lastUse = now, now
}

func (e *engine) Release(now time.Duration, a Attempt) {
	now = e.clock(now)
	if m := &e.members[a.Client]; m.inFlight > 0 {
		m.inFlight--
	}
	e.rule.release(now, a.Client)
}

func (e *engine) Due() (time.Duration, bool) {
	if len(e.orphans) > 0 {
		return e.now, true
	}
	at, ok := e.rule.due(e.now)
	if first, leaves := e.leaving.due(); leaves && (!ok || first < at) {
		return first, true
	}
	return at, ok
}

func (e *engine) Settle(now time.Duration) (Attempt, Decision, bool) {
	now = e.clock(now)
	for len(e.orphans) > 0 {
		a := e.orphans[0].Attempt
		e.orphans = e.orphans[1:]
		if d := e.Arrive(now, a); d.Verdict != Queued {
			return a, d, true
		}
	}
	if a, ok := e.leaving.take(now); ok {
		e.delay(a.Client, -1)
		e.members[a.Client].inFlight++
		return a, Decision{}, true
	}
	a, d, ok := e.rule.settle(now)
	switch {
	case !ok:
	case d.Verdict == Admitted:
		e.members[a.Client].inFlight++
	case d.Verdict == Rejected:
		d.Told = e.teller.tell(now, d.Wait, &e.members[a.Client])
	}
	return a, d, ok
}

func (e *engine) Cancel(now time.Duration, a Attempt) bool {
	now = e.clock(now)
	for i, w := range e.orphans {
		if w.ID == a.ID && w.Client == a.Client {
			e.orphans = append(e.orphans[:i], e.orphans[i+1:]...)
			return true
		}
	}
	if e.leaving.cancel(a) {
		e.delay(a.Client, -1)
		return true
	}
	return e.rule.cancel(now, a)
}

func (e *engine) Quotas(now time.Duration, client int, to []Quota) []Quota {
	return e.rule.quotas(e.clock(now), client, to)
}

func (e *engine) Config() Config { return e.cfg }

// A Leaver forgets clients that have nothing to remember. Every Limiter of this package is one; whoever serves names that anybody can make up
// calls Leave for those that have been quiet for a while, and the number of clients stays bounded.
type Leaver interface {
	// Leave drops a client whose state equals a fresh one's, so that it would meet the same limiter if it came back; its handle may
	// be given to another client from then on. It returns false, and drops nothing, when the client has something in flight or
	// waiting, or has not regained all that it took.
	Leave(now time.Duration, client int) bool
}

func (e *engine) Leave(now time.Duration, client int) bool {
	now = e.clock(now)
	if client < 0 || client >= len(e.members) || e.gone(client) {
		return false
	}
	if m := &e.members[client]; m.inFlight > 0 || e.delayed(client) > 0 || m.slot > now || !e.rule.fresh(now, client) {
		return false // a place that was promised is something to remember
	}
	for _, r := range e.aside {
		if !r.fresh(now, client) {
			return false
		}
	}
	for _, w := range e.orphans {
		if w.Client == client {
			return false
		}
	}
	e.rule.leave(now, client)
	for _, r := range e.aside {
		r.leave(now, client)
	}
	e.leave(client)
	return true
}
