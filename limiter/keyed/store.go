package keyed

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	stripes = 256 // a power of two, many times the cores, so that two goroutines rarely meet
	inspect = 4   // neighbours that a new key looks at

	// rest is how long a state must have been fresh before a neighbour drops it. Without it, clients that come
	// round every few milliseconds would be dropped and made anew each time.
	rest = time.Minute
)

// A Store keeps a state of type T for each key. Make one with NewStore. It is safe for many goroutines.
type Store[T any] struct {
	seed    maphash.Seed
	make    func(now time.Duration, key string) T
	fresh   func(now time.Duration, key string, state *T) bool
	stripes [stripes]stripe[T]
}

type stripe[T any] struct {
	mu     sync.Mutex
	states map[string]*T
	_      [64 - 16]byte // neighbours share no cache line
}

// NewStore is an empty store. A key that is met for the first time gets what make returns; fresh reports whether
// make would return the same at now, so that the state may be forgotten; it is asked about times before the state's
// last change too, and must then say no.
func NewStore[T any](
	make func(now time.Duration, key string) T,
	fresh func(now time.Duration, key string, state *T) bool,
) *Store[T] {
	return &Store[T]{seed: maphash.MakeSeed(), make: make, fresh: fresh}
}

// Lock is the key's state, and the lock that keeps it: the caller must unlock it when done, and
// not use the state afterwards.
func (s *Store[T]) Lock(now time.Duration, key string) (*T, *sync.Mutex) {
	st := &s.stripes[maphash.String(s.seed, key)%stripes]
	st.mu.Lock()
	state, ok := st.states[key]
	if !ok {
		state = s.add(st, now, key)
	}
	return state, &st.mu
}

// Peek calls look with the key's state, locked, or with the one that it would be given, which is not kept.
func (s *Store[T]) Peek(now time.Duration, key string, look func(state *T)) {
	st := &s.stripes[maphash.String(s.seed, key)%stripes]
	st.mu.Lock()
	defer st.mu.Unlock()
	state, ok := st.states[key]
	if !ok {
		fresh := s.make(now, key)
		state = &fresh
	}
	look(state)
}

// add is Lock for a key that is new. The stripe is locked.
func (s *Store[T]) add(st *stripe[T], now time.Duration, key string) *T {
	looked := 0
	for k, state := range st.states {
		if s.fresh(now-rest, k, state) {
			delete(st.states, k)
		}
		if looked++; looked == inspect {
			break
		}
	}
	if st.states == nil {
		st.states = make(map[string]*T)
	}
	state := new(T)
	*state = s.make(now, key)
	st.states[key] = state
	return state
}

// Forget drops the key's state, whatever it is: its next state is a new one.
func (s *Store[T]) Forget(key string) {
	st := &s.stripes[maphash.String(s.seed, key)%stripes]
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.states, key)
}

// Sweep drops all states that are fresh, and returns how many.
func (s *Store[T]) Sweep(now time.Duration) (dropped int) {
	s.Each(func(key string, state *T) (keep bool) {
		if s.fresh(now, key, state) {
			dropped++
			return false
		}
		return true
	})
	return dropped
}

// Each calls f with every state, locked, and drops those that f does not want to keep.
func (s *Store[T]) Each(f func(key string, state *T) (keep bool)) {
	for i := range s.stripes {
		s.stripes[i].each(f)
	}
}

func (st *stripe[T]) each(f func(string, *T) bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for key, state := range st.states {
		if !f(key, state) {
			delete(st.states, key)
		}
	}
}

// Len is the number of keys whose state is kept.
func (s *Store[T]) Len() (n int) {
	for i := range s.stripes {
		st := &s.stripes[i]
		st.mu.Lock()
		n += len(st.states)
		st.mu.Unlock()
	}
	return n
}
