package keyed

import (
	"testing"

	"pgregory.net/rapid"
)

// The table is a map, whatever the hashes: few of them, so that they collide and wrap round the end.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64(), 1, 12).Draw(t, "hashes")
		keys := rapid.StringN(0, 2, 2)
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
				table.rebuild(odd)
				for k, n := range model {
					if !odd(k, &n) {
						delete(model, k)
					}
				}
			default:
				if got == nil {
					if table.crowded() {
						table.rebuild(func(string, *int) bool { return true })
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
