package keyed

import (
	"testing"

	"pgregory.net/rapid"
)

// The table is a map, whatever the hashes: few of them, so that they collide and wrap round the end.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64(), 1, 12).Draw(t, "hashes")
		keys := rapid.OneOf(
			rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 3, -1),
			rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 4, 20, -1),
			rapid.SampledFrom([]string{"12345678.middle.12345678", "12345678.center.12345678"}),
		)
		var table table[int]
		model := map[string]int{}
		hash := func(key string) uint64 {
			sum := uint64(len(key))
			for _, c := range []byte(key) {
				sum = sum*7 + uint64(c)
			}
			return hashes[sum%uint64(len(hashes))]
		}
		for step := range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := keys.Draw(t, "key")
			want, ok := model[key]
			got := table.find(hash(key), key)
			if ok != (got != nil) || ok && *got != want {
				t.Fatalf("%q: found %v, want %v %v", key, got, want, ok)
			}
			switch rapid.IntRange(0, 8).Draw(t, "action") {
			case 0:
				table.remove(hash(key), key)
				delete(model, key)
			case 1:
				odd := func(_ string, n *int) bool { return *n%2 == 1 }
				table.rebuild(hash, odd)
				for k, n := range model {
					if !odd(k, &n) {
						delete(model, k)
					}
				}
			default:
				if got == nil {
					if table.crowded() {
						table.rebuild(hash, func(string, *int) bool { return true })
					}
					got = table.insert(hash(key), key)
				}
				*got = step
				model[key] = step
			}
			if table.live() != len(model) {
				t.Fatalf("%d live, want %d", table.live(), len(model))
			}
		}
		for key, want := range model {
			if got := table.find(hash(key), key); got == nil || *got != want {
				t.Fatalf("%q: %v, want %d", key, got, want)
			}
		}
	})
}

// Keys of one length up to 16 have the same ends only when they are the same.
func TestEndsTellShortKeysApart(t *testing.T) {
	for n := range 17 {
		zero := make([]byte, n)
		for i := range n {
			one := make([]byte, n)
			one[i] = 1
			if endsOf(string(one)) == endsOf(string(zero)) {
				t.Errorf("length %d: byte %d makes no difference", n, i)
			}
		}
	}
}
