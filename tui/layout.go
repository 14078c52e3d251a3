package tui

// The smallest screen that the dashboard fits.
const (
	MinWidth  = 40
	MinHeight = 10
)

// A layout is the overview cut into rectangles. What there is no room for has a height of 0. From the top:
//
//	title, headlines        3 rows, never left out
//	table, axis             the clients, 1 to 3 rows each
//	plot | retry            side by side, one above the other, or the plot alone
//	advice, footer          what is wrong, what to press
type layout struct {
	title, headlines, table, axis, plot, retry, advice, footer rect
	topRule, adviceRule, parting                               rect
	perClient                                                  int // rows
}

// arrange lays out a screen of at least MinWidth × MinHeight. It depends on sizes alone, never on what was measured, so that
// nothing jumps while the run goes on.
func arrange(w, h, clients int) layout {
	var l layout
	take := func(y *int, n int) rect {
		r := rect{0, *y, w, n}
		*y += n
		return r
	}
	airy := h >= 18
	y := 0
	l.title = take(&y, 1)
	l.headlines = take(&y, 2)
	if airy {
		l.topRule = take(&y, 1)
	}
	bottom := h
	drop := func(n int) rect {
		bottom -= n
		return rect{0, bottom, w, n}
	}
	l.footer = drop(1)
	advice := 2
	switch {
	case h < 14:
		advice = 1
	case h >= 22 && w < 116:
		advice = 3
	}
	l.advice = drop(advice)
	if airy {
		l.adviceRule = drop(1)
	}

	free := bottom - y
	axis := 0
	if h >= 12 {
		axis = 1
	}
	rows, panel, perClient := shareRows(free-1-axis, clients, h >= 14)
	l.perClient = perClient
	l.table = take(&y, 1+rows)
	l.axis = take(&y, axis)
	l.plot = rect{0, y, w, panel}
	switch {
	case w >= 76:
		retry := max(30, min(w*3/10, 50))
		l.plot.w = w - retry
		l.retry = rect{l.plot.w, y, retry, panel}
		l.parting = rect{l.plot.w, y, 1, panel}
	case panel >= 15:
		l.plot.h = panel - 6
		l.retry = rect{0, y + l.plot.h, w, 6}
	}
	return l
}

// shareRows divides the rows between the clients and the panel below. Four rows are the least that a panel is good for.
func shareRows(free, clients int, wantPanel bool) (rows, panel, perClient int) {
	const least = 4
	clients = max(clients, 1)
	if !wantPanel || free < least+min(clients, 4) {
		return free, 0, 1
	}
	if clients+least > free {
		panel = max(least, free/3)
		return free - panel, panel, 1
	}
	perClient = 1
	for _, step := range [...]struct{ rows, panel int }{{2, 9}, {3, 14}} {
		if free-clients*step.rows >= step.panel {
			perClient = step.rows
		}
	}
	rows = clients * perClient
	return rows, free - rows, perClient
}
