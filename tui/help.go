package tui

// words are what the help explains beside the keys.
var words = [...][2]string{
	{"asks", "requests per second that a client wants done, retries not counted"},
	{"gets", "requests per second that the limiter admitted"},
	{"entitled", "its weighted max-min fair share of the limit, at most what it asks"},
	{"satisfaction", "gets / entitled; 1 is all that it was entitled to"},
	{"starved", "satisfaction below 0.5 while another client’s is twice as high"},
	{"Jain", "how even the satisfactions are: 1 is even, 1/n is one of n served"},
	{"told", "what Retry-After said; needed: the exact wait that would have done"},
	{"bar", "█ admitted  ░ refused  │ the mark up to which it was entitled"},
}

// drawHelp fills the pane with the keys in columns and, below, the words of the screen.
func drawHelp(p pane, k keys) {
	p.rule(0, "help: ? goes back")
	groups := k.groups()
	x, y, lowest := 1, 2, 2
	for _, g := range groups {
		w := width(g.title)
		for _, b := range g.bindings {
			w = max(w, 8+width(b.Help().Desc))
		}
		if x > 1 && x+w > p.w { // the next group goes below
			x, y = 1, lowest+1
		}
		p.text(x, y-1, inkDim, g.title)
		for i, b := range g.bindings {
			p.text(x, y+i, inkBold, b.Help().Key)
			p.text(x+8, y+i, inkPlain, b.Help().Desc)
		}
		lowest = max(lowest, y+len(g.bindings))
		x += w + 3
	}
	y = lowest + 1
	for _, word := range words {
		if y >= p.h {
			return
		}
		p.text(1, y, inkBold, word[0])
		for i, line := range wrap(word[1], p.w-15, 3) {
			p.text(14, y, inkPlain, line)
			if i >= 0 {
				y++
			}
		}
	}
}
