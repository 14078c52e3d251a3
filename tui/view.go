package tui

import "strings"

// A view is one way to look at the run. The title, the headlines and the footer are the same in all of them.
type view uint8

const (
	overviewView view = iota
	clientsView
	retryView
	eventsView
	views
)

// A viewName says which digit leads to a view and what it is called. 4 and 5 are kept for
// the limiter's inside and the comparison of policies.
type viewName struct{ digit, name string }

var viewNames = [views]viewName{
	overviewView: {"1", "overview"},
	clientsView:  {"2", "clients"},
	retryView:    {"3", "Retry-After"},
	eventsView:   {"6", "events"},
}

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
	if note != "" && p.w-x > 22 {
		short, _, _ := strings.Cut(note, " of ")
		note = pick(p.w-x-4, note, strings.TrimPrefix(short, "this machine "))
		p.text(p.w-width(note)-3, 0, inkRefusedB, " "+note+" ")
	}
}
