package keyed

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	// A power of two, many times the cores, so that two goroutines rarely meet. No more than that: the slots of a
	// hundred thousand keys then fill whole pages in each stripe, which puts every slot on one cache line.
	stripes = 128

	// rest is how long a state must have been fresh before it is dropped by the way. Without it, clients that come
	// round every few milliseconds would be dropped and made anew each time.
	rest = time.Minute
)

// A Store keeps a state of type T for each key. Make one with NewStore. It is safe for many goroutines.
type Store[T any] struct {
	seed    maphash.Seed
	make    func(now time.Duration, key string) T
	fresh   func(now time.Duration, key string, state *T) bool
	stripes []stripe[T]
}

// A stripe has a lock and a table of its own: 64 bytes.
type stripe[T any] struct {
	mu sync.Mutex
	table[T]
}

// NewStore is an empty store. A key that is met for the first time gets what make returns; fresh reports whether
// make would return the same at now, so that the state may be forgotten; it is asked about times before the state's
// last change too, and must then say no.
func NewStore[T any](
	make func(now time.Duration, key string) T,
	fresh func(now time.Duration, key string, state *T) bool,
) *Store[T] {
	return &Store[T]{seed: maphash.MakeSeed(), make: make, fresh: fresh, stripes: newStripes[T]()}
}

func newStripes[T any]() []stripe[T] { return make([]stripe[T], stripes) }

func (s *Store[T]) stripe(key string) (*stripe[T], uint64) {
	hash := s.hash(key)
	return &s.stripes[hash>>8%stripes], hash
}

func (s *Store[T]) hash(key string) uint64 { return maphash.String(s.seed, key) }

// Lock is the key's state, and the lock that keeps it: the caller must unlock it when done, and
// not use the state afterwards.
func (s *Store[T]) Lock(now time.Duration, key string) (*T, *sync.Mutex) {
	st, hash := s.stripe(key)
	st.mu.Lock()
	state := st.find(hash, key)
	if state == nil {
		if st.crowded() {
			st.rebuild(s.hash, func(key string, state *T) bool { return !s.fresh(now-rest, key, state) })
		}
		state = st.insert(hash, key)
		*state = s.make(now, key)
	}
	return state, &st.mu
}

// Peek calls look with the key's state, locked, or with the one that it would be given, which is not kept.
func (s *Store[T]) Peek(now time.Duration, key string, look func(state *T)) {
	st, hash := s.stripe(key)
	st.mu.Lock()
	defer st.mu.Unlock()
	state := st.find(hash, key)
	if state == nil {
		fresh := s.make(now, key)
		state = &fresh
	}
	look(state)
}

// Forget drops the key's state, whatever it is: its next state is a new one.
func (s *Store[T]) Forget(key string) {
	st, hash := s.stripe(key)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.remove(hash, key)
}

// Sweep drops all states that are fresh, gives back their memory, and returns how many they were.
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

// Each calls f with every state, locked, and drops those that f does not want to keep. f must not call the store.
func (s *Store[T]) Each(f func(key string, state *T) (keep bool)) {
	for i := range s.stripes {
		st := &s.stripes[i]
		st.mu.Lock()
		st.rebuild(s.hash, f)
		st.mu.Unlock()
	}
}

// Len is the number of keys whose state is kept.
func (s *Store[T]) Len() (n int) {
	for i := range s.stripes {
		st := &s.stripes[i]
		st.mu.Lock()
		n += st.live()
		st.mu.Unlock()
	}
	return n
}
