package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"fairgate/fairness"
)

// An ordering says which clients the table of clients shows, and in which order. The zero value: all, as the profile lists them.
type ordering struct {
	by     int // 0: the profile's order; otherwise clientColumns[by-1]
	upward bool
	filter string // part of a name or kind, in any case
}

// match reports whether a client passes the filter.
func (o ordering) match(c *fairness.ClientMeasures) bool {
	if o.filter == "" {
		return true
	}
	part := strings.ToLower(o.filter)
	return strings.Contains(strings.ToLower(clean(c.Name)), part) || strings.Contains(strings.ToLower(c.Kind), part)
}

// apply returns the clients to show, as indices. What has no value goes last, whichever way the order runs, and equals
// keep the profile's order, so that rows do not dance.
func (o ordering) apply(clients []fairness.ClientMeasures) []int {
	var rows []int
	for i := range clients {
		if o.match(&clients[i]) {
			rows = append(rows, i)
		}
	}
	if o.by == 0 || o.by > len(clientColumns) {
		return rows
	}
	col := &clientColumns[o.by-1]
	slices.SortStableFunc(rows, func(a, b int) int {
		if col.value == nil {
			n := strings.Compare(clients[a].Name, clients[b].Name)
			if o.upward {
				return -n
			}
			return n
		}
		x, y := float64(col.value(&clients[a])), float64(col.value(&clients[b]))
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y):
			return -1
		case o.upward:
			return cmp.Compare(x, y)
		}
		return cmp.Compare(y, x)
	})
	return rows
}

// next goes on to the next column that is shown in w columns of the screen.
func (o ordering) next(w int) ordering {
	shown := shownClientColumns(w)
	at := 0
	if o.by > 0 {
		for i, c := range shown {
			if c == o.by-1 {
				at = i + 1
			}
		}
	}
	if o.by = 0; at < len(shown) {
		o.by = shown[at] + 1
	}
	o.upward = false
	return o
}
