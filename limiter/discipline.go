package limiter

import "math/bits"

// A discipline says whose turn it is among the clients that have something waiting and may send.
type discipline interface {
	open(client int, fresh bool)
	// ready puts a client in line with the cost and the order of arrival of its next attempt, or says that these changed.
	ready(client int, cost int64, order uint64)
	// rest takes a client out of line: nothing of its waits, or it may not send now.
	rest(client int, empty bool)
	// next is the client whose turn it is; false when nobody is in line.
	next() (int, bool)
	// serve is told that an attempt of the client was admitted, before ready or rest are told what follows. It may
	// not have waited at all.
	serve(client int, cost int64, weight int64)
	// fresh reports whether the client could be forgotten.
	fresh(client int) bool
	// copy is a copy of it, in the memory of to when that is of its kind.
	copy(to discipline) discipline
}

// startTime is start-time fair queueing (Goyal, Vin and Cheng, 1996). Virtual time v counts what a client of weight 1
// that always waits has been served. A client's next attempt starts at
//
//	S = max(v, F)     F: where its last one finished
//	F = S + cost / weight
//
// the smallest S is served first, and v is then that S. Whoever was idle starts at v: idleness earns nothing. For two
// clients that both wait all the time, the service of each over its weight never differs by more than one
// largest cost over weight of each.
//
// Virtual time is a whole number of units of 2^-shift tokens. What a division by the weight leaves over is carried to the client's
// next attempt, so that nothing drifts.
type startTime struct {
	lineup
	v     uint64
	last  uint64 // the latest finish of all
	tags  []tag
	shift uint
}

type tag struct {
	finish uint64
	carry  uint64 // below the weight: the part of a unit that finish lacks
}

// newStartTime counts as finely as the largest cost allows: one step must stay below 2^61.
func newStartTime(largest int64) *startTime {
	return &startTime{shift: uint(max(0, min(20, 61-bits.Len64(uint64(largest)))))}
}

func (s *startTime) open(client int, fresh bool) {
	s.lineup.open(client)
	for len(s.tags) <= client {
		s.tags = append(s.tags, tag{})
	}
	if fresh {
		s.tags[client] = tag{}
	}
}

func (s *startTime) start(client int) uint64 {
	t := &s.tags[client]
	if t.finish < s.v {
		*t = tag{finish: s.v}
	}
	return t.finish
}

func (s *startTime) ready(client int, _ int64, order uint64) {
	if at := s.at[client]; at != nobody { // in line already: its start stays
		s.set(client, s.heap[at].key, order)
		return
	}
	s.set(client, s.start(client), order)
}

func (s *startTime) rest(client int, _ bool) { s.drop(client) }

func (s *startTime) next() (int, bool) {
	if len(s.heap) == 0 {
		return 0, false
	}
	return int(s.heap[0].client), true
}

func (s *startTime) serve(client int, cost, weight int64) {
	t := &s.tags[client]
	s.v = max(s.v, s.start(client))
	s.drop(client) // it starts anew at its finish
	units, w := uint64(cost)<<s.shift+t.carry, uint64(weight)
	t.finish += units / w
	t.carry = units % w
	s.last = max(s.last, t.finish)
	if s.v > 1<<62 {
		s.rebase()
	}
}

// rebase begins virtual time anew before it could overflow: once in a very long time.
func (s *startTime) rebase() {
	for i := range s.tags {
		s.tags[i].finish -= min(s.tags[i].finish, s.v)
	}
	for i := range s.heap {
		s.heap[i].key -= min(s.heap[i].key, s.v)
	}
	s.last -= min(s.last, s.v)
	s.v = 0
}

// idle brings virtual time to the latest finish: nobody waits and the limit has all its tokens, so that a new contest would begin.
func (s *startTime) idle() { s.v = max(s.v, s.last) }

func (s *startTime) fresh(client int) bool { return s.tags[client].finish <= s.v }

// virtual is v in tokens.
func (s *startTime) virtual(units uint64) float64 {
	return float64(units) / float64(uint64(1)<<s.shift)
}

// inLine serves in order of arrival, whoever sends: what waiting looks like without fairness.
type inLine struct{ lineup }

func (l *inLine) open(client int, _ bool)                 { l.lineup.open(client) }
func (l *inLine) ready(client int, _ int64, order uint64) { l.set(client, order, 0) }
func (l *inLine) rest(client int, _ bool)                 { l.drop(client) }
func (l *inLine) serve(client int, _, _ int64)            {}
func (l *inLine) fresh(int) bool                          { return true }
func (l *inLine) next() (int, bool) {
	if len(l.heap) == 0 {
		return 0, false
	}
	return int(l.heap[0].client), true
}
