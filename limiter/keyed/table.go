package keyed

import "math/bits"

// A table is a hash table with open addressing that holds keys and states side by side, so that a decision about one of
// very many clients touches two cache lines that are not at hand: one of tags, one of the slot.
//
//	tags   ·  a7 ·  ·  31 a7 ×  ·        one byte of each key's hash; · empty, × removed
//	slots  ·  s1 ·  ·  s4 s5 ·  ·
//	             a key with tag a7 and home 1: slot 1, and if that is another's, onwards to the next empty one
//
// A slot tells its key by the ends of it, which for keys of up to 16 bytes is all there is; the bytes of longer ones
// are a third line. A Go map would need a table of pointers beside it, or a second search to write the state back.
type table[T any] struct {
	tags  []uint8
	slots []slot[T]
	taken int // slots that are not empty; removed ones count until the next rebuild
}

// With a state of 32 bytes a slot is a cache line.
type slot[T any] struct {
	ends  ends
	key   string
	state T
}

func (s *slot[T]) is(key string, ends ends) bool {
	return s.ends == ends && len(s.key) == len(key) && (len(key) <= 16 || s.key == key)
}

// ends are a key's first and last bytes, so overlapping that keys of one length of at most 16 differ when their ends
// differ, and only then.
type ends [2]uint64

func endsOf(key string) ends {
	n := len(key)
	switch {
	case n >= 8:
		return ends{eight(key[:8]), eight(key[n-8:])}
	case n >= 4:
		return ends{four(key[:4]), four(key[n-4:])}
	case n > 0:
		return ends{uint64(key[0]), uint64(key[n/2])<<8 | uint64(key[n-1])}
	}
	return ends{}
}

func eight(s string) uint64 { return four(s[:4]) | four(s[4:8])<<32 }

func four(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

const (
	empty    = 0
	removed  = 1
	smallest = 8 // slots of a table that holds anything
)

func tag(hash uint64) uint8 { return max(uint8(hash), removed+1) }

// home is where the search for a hash begins.
func (t *table[T]) home(hash uint64) int {
	hi, _ := bits.Mul64(hash, uint64(len(t.tags)))
	return int(hi)
}

// find is the key's state, nil when there is none.
func (t *table[T]) find(hash uint64, key string) *T {
	if len(t.tags) == 0 {
		return nil
	}
	want, ends := tag(hash), endsOf(key)
	for i := t.home(hash); ; {
		switch t.tags[i] {
		case want:
			if s := &t.slots[i]; s.is(key, ends) {
				return &s.state
			}
		case empty:
			return nil
		}
		if i++; i == len(t.tags) {
			i = 0
		}
	}
}

// crowded reports whether there is no room for one more: nine slots in ten are taken. The tags make that bearable.
func (t *table[T]) crowded() bool { return (t.taken+1)*10 > len(t.tags)*9 }

// insert makes room for a key that is not there; the table is not crowded.
func (t *table[T]) insert(hash uint64, key string) *T {
	i := t.home(hash)
	for t.tags[i] != empty {
		if i++; i == len(t.tags) {
			i = 0
		}
	}
	t.tags[i] = tag(hash)
	t.taken++
	s := &t.slots[i]
	s.ends, s.key = endsOf(key), key
	return &s.state
}

// remove drops a key, if it is there.
func (t *table[T]) remove(hash uint64, key string) {
	if len(t.tags) == 0 {
		return
	}
	ends := endsOf(key)
	for i := t.home(hash); t.tags[i] != empty; {
		if s := &t.slots[i]; t.tags[i] == tag(hash) && s.is(key, ends) {
			t.tags[i], *s = removed, slot[T]{}
			return
		}
		if i++; i == len(t.tags) {
			i = 0
		}
	}
}

// rebuild drops what keep does not want and gives the table the size that fits the rest: two slots in three are
// then taken. hash is the one by which the keys were inserted.
func (t *table[T]) rebuild(hash func(key string) uint64, keep func(key string, state *T) bool) {
	kept := 0
	for i, tag := range t.tags {
		if tag <= removed {
			continue
		}
		if s := &t.slots[i]; keep(s.key, &s.state) {
			kept++
		} else {
			t.tags[i], *s = removed, slot[T]{}
		}
	}
	next := table[T]{}
	if size := max(smallest, kept*3/2+1); kept > 0 || len(t.tags) == 0 || t.crowded() {
		next.tags, next.slots = make([]uint8, size), make([]slot[T], size)
	}
	for i, tag := range t.tags {
		if tag > removed {
			s := &t.slots[i]
			*next.insert(hash(s.key), s.key) = s.state
		}
	}
	*t = next
}

func (t *table[T]) live() (n int) {
	for _, tag := range t.tags {
		if tag > removed {
			n++
		}
	}
	return n
}
