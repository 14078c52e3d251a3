package tui

import "strings"

// A view is one way to look at the run. The title, the headlines and the footer are the same in all of them.
type view uint8

const (
	overviewView view = iota
	clientsView
	retryView
	insideView
	besideView
	eventsView
	views
)

// A viewName says which digit leads to a view and what it is called.
type viewName struct{ digit, name string }

var viewNames = [views]viewName{
	overviewView: {"1", "overview"},
	clientsView:  {"2", "clients"},
	retryView:    {"3", "Retry-After"},
	insideView:   {"4", "limiter"},
	besideView:   {"5", "compare"},
	eventsView:   {"6", "events"},
}

// noteWidth is the width from which a note stands beside the names of the views.
const noteWidth = 100

// drawTabs writes the names of the views into a line, the present one in full light.
func drawTabs(p pane, present view, note string) {
	p.rule(0, "")
	x := 1
	for v, n := range viewNames {
		k := inkDim
		if view(v) == present {
			k = inkBold
		}
		if x+width(n.name)+4 > p.w {
			return
		}
		p.text(x, 0, inkPlain, " ")
		x = p.text(x+1, 0, k, n.digit+" "+n.name)
		x = p.text(x, 0, inkPlain, " ") + 1
	}
	if note != "" && p.w >= noteWidth {
		short, _, _ := strings.Cut(note, " of ")
		note = pick(p.w-x-4, note, strings.TrimPrefix(short, "this machine "))
		p.text(p.w-width(note)-3, 0, inkRefusedB, " "+note+" ")
	}
}
