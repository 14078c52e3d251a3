package fairness

import (
	"cmp"
	"slices"
	"time"
)

// tolds counts whole seconds, ascending. A limiter tells few different values, most often
// the same one again, so a short sorted slice is smaller and faster than a map.
type tolds struct {
	list []Told
	last int // where the last one was found
}

// mostTold bounds how many different values are kept apart; what is told beyond counts with the largest.
const mostTold = 1024

func (t *tolds) add(told time.Duration) { t.addSeconds(int64(told/time.Second), 1) }

func (t *tolds) addSeconds(seconds, count int64) {
	if t.last < len(t.list) && t.list[t.last].Seconds == seconds {
		t.list[t.last].Count += count
		return
	}
	i, found := slices.BinarySearchFunc(t.list, seconds, func(a Told, s int64) int { return cmp.Compare(a.Seconds, s) })
	switch {
	case found:
	case len(t.list) < mostTold:
		t.list = slices.Insert(t.list, i, Told{Seconds: seconds})
	default:
		i = min(i, len(t.list)-1)
	}
	t.list[i].Count += count
	t.last = i
}

func (t *tolds) merge(o *tolds) {
	for _, e := range o.list {
		t.addSeconds(e.Seconds, e.Count)
	}
}

// subtract takes away what another has counted.
func (t *tolds) subtract(o *tolds) {
	for _, e := range o.list {
		t.addSeconds(e.Seconds, -e.Count)
	}
	t.list, t.last = slices.DeleteFunc(t.list, func(e Told) bool { return e.Count == 0 }), 0
}

func (t *tolds) reset() { t.list, t.last = t.list[:0], 0 }
