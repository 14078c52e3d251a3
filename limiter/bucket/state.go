package bucket

import (
	"math"
	"time"

	"fairgate/limiter"
)

// state is all of a bucket that changes. With LockFree a published state never changes again; its successor is a clone.
// While cell is set, the state is in the cell's word, and the buckets mean nothing.
type state struct {
	config *configuration
	cell   *cell
	one    [1]limiter.TokenBucket // of the only bandwidth,
	more   []limiter.TokenBucket  // or of several, in order
}

func (s *state) buckets() []limiter.TokenBucket {
	if s.more != nil {
		return s.more
	}
	return s.one[:]
}

func newState(config *configuration, now time.Duration) *state {
	s := stateOf(config)
	for i, plan := range config.plans {
		s.buckets()[i] = plan.New(now)
	}
	return s
}

// stateOf is a state with room for config's buckets.
func stateOf(config *configuration) *state {
	s := &state{config: config}
	if n := len(config.plans); n > 1 {
		s.more = make([]limiter.TokenBucket, n)
	}
	return s
}

func (s *state) clone() *state {
	next := stateOf(s.config)
	next.one = s.one
	copy(next.more, s.more)
	return next
}

// A kind is what an operation does.
type kind uint8

const (
	look     kind = iota // only looks
	tryTake              // takes all or nothing
	takeUpTo             // takes what is there, at most so many
	takeOver             // takes into debt, if the debt is paid within a time
	add                  // gives back, up to the burst
	forceAdd             // gives, also above the burst
	giveBack             // gives back what a reservation had taken from each bandwidth
)

// An op is one operation on a state.
type op struct {
	kind    kind
	tokens  int64
	longest time.Duration  // of takeOver
	refund  []int64        // of giveBack: for each bandwidth of config
	config  *configuration // of giveBack: under another one it does nothing
	detail  bool           // wanted: what is left, and the time to full
	verbose bool           // wanted: a copy of the state afterwards
}

// An outcome is what became of an op.
type outcome struct {
	at        time.Duration // the time by which it was decided
	taken     int64
	wait      time.Duration  // until so many could be taken, or the debt is paid
	available int64          // of detail: left afterwards, negative in debt
	full      time.Duration  // of detail: until full
	config    *configuration // that it was decided by
	after     *state         // of verbose
}

// holds reports whether all bandwidths hold so many.
func (s *state) holds(now time.Duration, tokens int64) bool {
	for i := range s.buckets() {
		if !s.buckets()[i].Holds(now, tokens) {
			return false
		}
	}
	return true
}

// tryTake is the operation of that name, without the answers that an outcome gives.
func (s *state) tryTake(now time.Duration, tokens int64) bool {
	if !s.holds(now, tokens) {
		return false
	}
	for i := range s.buckets() {
		s.buckets()[i].Take(now, tokens)
	}
	return true
}

// decide answers o without doing it, and reports whether it is to be done.
func (s *state) decide(now time.Duration, o *op) (r outcome, changes bool) {
	r.at, r.config = now, s.config
	switch o.kind {
	case look:
		r.wait = s.wait(now, o.tokens)
		return r, false
	case tryTake:
		if r.wait = s.wait(now, o.tokens); r.wait == 0 {
			r.taken = o.tokens
		}
	case takeUpTo:
		r.taken = max(0, min(o.tokens, s.available(now)))
	case takeOver:
		if r.wait = s.debt(now, o.tokens); r.wait <= o.longest && r.wait != limiter.Never {
			r.taken = o.tokens
		}
	case add, forceAdd:
		return r, true
	case giveBack:
		return r, o.config == s.config
	}
	return r, r.taken > 0
}

// commit does what decide said.
func (s *state) commit(now time.Duration, o *op, taken int64) {
	for i := range s.buckets() {
		b := &s.buckets()[i]
		switch o.kind {
		case add:
			b.Add(now, o.tokens)
		case forceAdd:
			b.ForceAdd(now, o.tokens)
		case giveBack:
			b.Add(now, o.refund[i])
		default:
			b.Take(now, taken)
		}
	}
}

// describe fills in what o wants to know of the state afterwards.
func (s *state) describe(now time.Duration, o *op, r *outcome) {
	if o.detail {
		r.available, r.full = s.available(now), s.full(now)
	}
	if o.verbose {
		r.after = s.clone()
	}
}

// available is what can be taken: what the poorest of the bandwidths holds.
func (s *state) available(now time.Duration) int64 {
	least := int64(math.MaxInt64)
	for i := range s.buckets() {
		least = min(least, s.buckets()[i].Level(now))
	}
	return least
}

// wait is the time until all bandwidths hold so many.
func (s *state) wait(now time.Duration, tokens int64) (longest time.Duration) {
	for i := range s.buckets() {
		longest = max(longest, s.buckets()[i].Wait(now, tokens))
	}
	return longest
}

// debt is the time until all bandwidths are out of debt, had so many been taken.
func (s *state) debt(now time.Duration, tokens int64) (longest time.Duration) {
	for i := range s.buckets() {
		b := s.buckets()[i]
		b.Take(now, tokens)
		longest = max(longest, b.Repaid(now))
	}
	return longest
}

// full is the time until all bandwidths are full.
func (s *state) full(now time.Duration) (longest time.Duration) {
	for i := range s.buckets() {
		longest = max(longest, s.buckets()[i].Reset(now))
	}
	return longest
}
