package bucket

import (
	"sync"
	"sync/atomic"
	"time"
)

// Sync is how a bucket keeps goroutines apart.
type Sync uint8

// The strategies.
const (
	// LockFree never makes a goroutine wait for another. With one greedy bandwidth and the built-in clock it takes
	// tokens without allocating; otherwise each taking allocates the next state.
	LockFree Sync = iota

	// Mutex never allocates, but a goroutine that is descheduled in the lock holds up the others.
	Mutex

	// None is for a bucket that one goroutine uses, or that is locked from outside. Shared, it breaks.
	None
)

// core is what all views of a bucket share.
type core struct {
	clock    Clock // nil: steady
	steady   steadyClock
	sync     Sync
	mu       sync.Mutex // of Mutex
	changing sync.Mutex // one change of configuration at a time; takings do not ask for it
	current  atomic.Pointer[state]
}

func (c *core) now() time.Duration {
	if c.clock == nil {
		return c.steady.Now()
	}
	return c.clock.Now()
}

func (c *core) wallClock() bool { return c.clock != nil && c.clock.IsWallClock() }

// do makes o one indivisible step.
func (c *core) do(o op) outcome { return c.doAt(c.now(), o) }

func (c *core) doAt(now time.Duration, o op) outcome {
	switch c.sync {
	case Mutex:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.inPlace(now, &o)
	case None:
		return c.inPlace(now, &o)
	}
	for {
		s := c.current.Load()
		if s.cell != nil {
			if r, done := s.cell.do(now, &o); done {
				return r
			}
			c.succeed(s)
			continue
		}
		r, changes := s.decide(now, &o)
		if changes {
			next := s.clone()
			next.commit(now, &o, r.taken)
			if !c.current.CompareAndSwap(s, next) {
				continue
			}
			s = next
		}
		s.describe(now, &o, &r)
		return r
	}
}

// tryTake is do for the most frequent operation, when nobody wants to know more than whether it took.
func (c *core) tryTake(tokens int64) bool {
	s := c.current.Load()
	if s.cell != nil {
		if ok, done := s.cell.tryTake(c.steady.Now(), tokens); done {
			return ok
		}
		return c.do(op{kind: tryTake, tokens: tokens}).taken > 0
	}
	now := c.now()
	switch c.sync {
	case Mutex:
		c.mu.Lock()
		ok := c.current.Load().tryTake(now, tokens)
		c.mu.Unlock()
		return ok
	case None:
		return s.tryTake(now, tokens)
	}
	for ; s.cell == nil; s = c.current.Load() {
		if !s.holds(now, tokens) {
			return false // seen in one state, of one moment
		}
		next := s.clone()
		next.tryTake(now, tokens)
		if c.current.CompareAndSwap(s, next) {
			return true
		}
	}
	return c.do(op{kind: tryTake, tokens: tokens}).taken > 0
}

func (c *core) inPlace(now time.Duration, o *op) outcome {
	s := c.current.Load()
	r, changes := s.decide(now, o)
	if changes {
		s.commit(now, o, r.taken)
	}
	s.describe(now, o, &r)
	return r
}

// change replaces the state by its successor, which it returns as it was then. The caller holds c.changing.
func (c *core) change(ch change) *state {
	if c.sync != LockFree {
		if c.sync == Mutex {
			c.mu.Lock()
			defer c.mu.Unlock()
		}
		next := c.current.Load().successor(ch)
		c.current.Store(next)
		return next.clone()
	}
	for {
		s := c.current.Load()
		if s.cell != nil {
			mine := s.cell.propose(ch)
			after := c.succeed(s)
			if mine {
				return after
			}
			continue
		}
		after := s.successor(ch)
		if c.current.CompareAndSwap(s, c.settle(after, ch)) {
			return after
		}
	}
}

// succeed finishes the change that the state's cell was frozen for, or is about to be. It returns the
// successor in full.
func (c *core) succeed(s *state) *state {
	ch := s.cell.next.Load()
	after := s.cell.freeze(ch).successor(*ch)
	c.current.CompareAndSwap(s, c.settle(after, *ch))
	return after
}

// settle is s in the form in which takings from it are cheapest.
func (c *core) settle(s *state, ch change) *state {
	if c.clock == nil && c.sync == LockFree && !ch.roomy {
		if cell := newCell(s, ch.at); cell != nil {
			return &state{config: s.config, cell: cell}
		}
	}
	return s
}

// snapshot is the outcome of a change that led to s.
func (c *core) snapshot(now time.Duration, s *state, verbose bool) outcome {
	r := outcome{at: now, config: s.config}
	s.describe(now, &op{detail: verbose, verbose: verbose}, &r)
	return r
}
