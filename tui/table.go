package tui

import (
	"fmt"
	"math"
	"strconv"

	"fairgate/fairness"
)

// A table shows the clients, a bar each.
type table struct {
	clients   []fairness.ClientMeasures
	axis      axis
	top       int // the first client shown
	marked    int // the client that keys act on, -1: none
	perClient int // rows a client
}

// A column of numbers. Its cells are made only for the rows that are seen.
type column struct {
	title string
	w     int
	left  bool
	cell  func(*fairness.ClientMeasures) (string, ink)
}

// bounds of the table within a pane: where the bars begin and how wide they are.
type bounds struct{ barX, barW int }

// columns chooses what there is room for. A bar keeps a third of the width before a further number is shown.
func (t table) columns(w int) (before, after []column, b bounds) {
	n := len(t.clients)
	demand := func(c *fairness.ClientMeasures) fairness.Number { return c.Demand }
	entitled := func(c *fairness.ClientMeasures) fairness.Number { return c.Entitled }
	admitted := func(c *fairness.ClientMeasures) fairness.Number { return c.AdmittedRate }
	rates := func(title string, get func(*fairness.ClientMeasures) fairness.Number, f rateFormat) column {
		return column{title: title, w: 8, cell: func(c *fairness.ClientMeasures) (string, ink) { return f.text(get(c)), inkPlain }}
	}
	longest := 4
	for i := range t.clients {
		if name := t.clients[i].Name; len(name) > longest {
			longest = max(longest, width(clean(name)))
		}
	}
	name := column{title: "client", w: max(6, min(longest, w/5)), left: true, cell: func(c *fairness.ClientMeasures) (string, ink) {
		if c.Starved {
			return clean(c.Name), inkBold
		}
		return clean(c.Name), inkPlain
	}}
	wanted := columnFormat(2*n, func(i int) fairness.Number {
		if i < n {
			return t.clients[i].Demand
		}
		return t.clients[i-n].Entitled
	})
	asks := rates("asks", demand, wanted)
	gets := rates("gets", admitted, columnFormat(n, func(i int) fairness.Number { return t.clients[i].AdmittedRate }))
	right := rates("entitled", entitled, wanted)
	satisfied := column{title: "got/ent.", w: 8, cell: satisfaction}
	if w >= 110 {
		satisfied.title, satisfied.w = "satisfaction", 12
	}
	kind := column{title: "kind", w: 11, left: true, cell: func(c *fairness.ClientMeasures) (string, ink) { return clean(c.Kind), inkDim }}
	share := column{title: "share", w: 5, cell: func(c *fairness.ClientMeasures) (string, ink) { return percent(c.Share), inkPlain }}
	told := column{title: "told", w: 6, cell: toldMostly}

	room := w - 2 - name.w - 1 - gets.w - 1 - satisfied.w - 1
	least := max(13, w/3)
	show := func(c column) bool {
		if room-c.w-1 < least {
			return false
		}
		room -= c.w + 1
		return true
	}
	hasAsks, hasShare, hasRight := show(asks), show(share), show(right)
	hasTold, hasKind := show(told), show(kind)
	add := func(to *[]column, c column, ok bool) {
		if ok {
			*to = append(*to, c)
		}
	}
	add(&before, name, true)
	add(&before, kind, hasKind)
	add(&before, asks, hasAsks)
	add(&before, gets, true)
	add(&before, right, hasRight)
	add(&before, satisfied, true)
	add(&after, share, hasShare)
	add(&after, told, hasTold)
	b.barX = 1
	for _, c := range before {
		b.barX += c.w + 1
	}
	b.barW = room
	return before, after, b
}

// satisfaction is the number and the mark that says in one character what to think of it.
func satisfaction(c *fairness.ClientMeasures) (string, ink) {
	s := c.Satisfaction
	switch {
	case !s.Exists():
		return none + "  ", inkDim
	case c.Starved:
		return s.Format(2) + " ✗", inkRefusedB
	case s < 0.9:
		return s.Format(2) + " ~", inkRefused
	case s > 1.1:
		return s.Format(2) + " ▲", inkPlain
	}
	return s.Format(2) + " ✓", inkServed
}

// toldMostly is the Retry-After that the client was told most often.
func toldMostly(c *fairness.ClientMeasures) (string, ink) {
	var most fairness.Told
	for _, t := range c.RetryAfter.Told {
		if t.Count > most.Count {
			most = t
		}
	}
	if most.Count == 0 {
		return none, inkDim
	}
	return strconv.FormatInt(most.Seconds, 10) + " s", inkPlain
}

// rows is how many clients h rows below the header hold.
func (t table) rows(h int) int { return max(1, (h-1)/max(1, t.perClient)) }

// draw draws the header and the clients from top on, and returns where the bars are.
func (t table) draw(p pane) bounds {
	before, after, b := t.columns(p.w)
	write := func(x, y int, c column, k ink, s string) {
		if s = fit(s, c.w); c.left {
			p.text(x, y, k, s)
		} else {
			p.right(x+c.w, y, k, s)
		}
	}
	header := func(x int, cs []column) {
		for _, c := range cs {
			write(x, 0, c, inkDim, c.title)
			x += c.w + 1
		}
	}
	header(1, before)
	header(b.barX+b.barW+1, after)

	visible := t.rows(p.h)
	end := min(len(t.clients), t.top+visible)
	p.text(b.barX, 0, inkDim, fit(t.heading(end, b.barW), b.barW))
	for i := t.top; i < end; i++ {
		c := &t.clients[i]
		y := 1 + (i-t.top)*t.perClient
		draw := func(x int, cs []column) {
			for _, col := range cs {
				s, k := col.cell(c)
				if !c.Active {
					k = inkDim
				}
				write(x, y, col, k, s)
				x += col.w + 1
			}
		}
		if i == t.marked {
			drawMark(p, y)
		}
		draw(1, before)
		draw(b.barX+b.barW+1, after)
		t.bar(p, b, y, c)
		if t.perClient > 1 {
			t.bar(p, b, y+1, c)
			p.text(3, y+1, inkDim, fit(details(c, b.barX-5), b.barX-4))
		}
	}
	return b
}

func (t table) bar(p pane, b bounds, y int, c *fairness.ClientMeasures) {
	if !c.Active && c.Demand.Float(0) == 0 {
		p.text(b.barX, y, inkDim, "asks for nothing")
		return
	}
	for x, cell := range drawBar(b.barW, t.axis.fate(c)) {
		p.glyph(b.barX+x, y, cell.ink, cell.text)
	}
}

// heading stands over the bars: what they are, and how many clients are out of sight.
func (t table) heading(end, w int) string {
	above, below := t.top, len(t.clients)-end
	if above+below == 0 {
		if t.axis.scale == ownRequests {
			return pick(w, "what became of its own requests", "its own requests", "")
		}
		return pick(w, "attempts per second, one scale for all", "attempts per second", "")
	}
	starved := 0
	for i := range t.clients {
		if t.clients[i].Starved && (i < t.top || i >= end) {
			starved++
		}
	}
	part := fmt.Sprintf("%d–%d of %d ↑↓", t.top+1, end, len(t.clients))
	if starved == 0 {
		return part
	}
	return pick(w, part+fmt.Sprintf(" · %d starved out of sight", starved), part+fmt.Sprintf(" %d ✗ hidden", starved), part)
}

// details is the second line of a client, where there is room for one: how it behaves, and by which limit it is refused.
func details(c *fairness.ClientMeasures, w int) string {
	if !c.Active {
		return ""
	}
	refused := "nothing refused"
	if by, n := mostRefusedBy(c); n > 0 {
		refused = percent(c.RejectRatio) + " refused by " + by
	}
	per := ""
	if a := c.Amplification; a.Exists() && a > 1.005 {
		per = a.Format(2) + " attempts per request"
	}
	gap := ""
	if g := c.LongestGap; g.Exists() && g >= 0.1 {
		gap = "longest gap " + g.Format(1) + " s"
	}
	s := refused
	for _, more := range [...]string{per, gap} {
		if more != "" && width(s)+3+width(more) <= w {
			s += " · " + more
		}
	}
	return s
}

// mostRefusedBy is the limit that refused a client most often.
func mostRefusedBy(c *fairness.ClientMeasures) (by string, n int64) {
	for name, count := range c.RejectedBy {
		if count > n || count == n && n > 0 && name < by {
			by, n = name, count
		}
	}
	return by, n
}

// drawAxis writes under the bars what their width stands for.
func drawAxis(p pane, b bounds, a axis) {
	legend := pick(b.barX-2, "█ admitted  ░ refused  │ entitled to", "█ admitted ░ refused │ entitled", "█ got ░ not │ entitled", "█ got ░ not")
	x := 1
	for _, r := range legend {
		k := inkDim
		switch r {
		case '█':
			k = inkServed
		case '░':
			k = inkRefused
		case '│':
			k = inkMark
		}
		x = p.text(x, 0, k, string(r))
	}
	bar := p.sub(rect{b.barX, 0, b.barW, 1})
	name := pick(b.barW-14, a.scale.String()+" [v]", a.scale.short()+" [v]", "[v]")
	nameX := (b.barW - width(name)) / 2
	edge := 0 // up to here the line is taken
	tick := func(at float64, s string) {
		end := int(math.Round(at * float64(b.barW)))
		start := end - width(s)
		if at == 0 {
			start, end = 0, width(s)
		}
		if start >= edge && (end < nameX || start > nameX+width(name)) {
			bar.text(start, 0, inkDim, s)
			edge = end + 1
		}
	}
	bar.text(nameX, 0, inkPlain, name)
	switch a.scale {
	case ownRequests:
		tick(0, "0")
		tick(1, "100%")
	case linear:
		tick(0, "0")
		tick(1, perSecond(a.hi))
	case logarithmic:
		tick(0, perSecond(a.lo))
		for v := a.lo * 10; v < a.hi*1.01; v *= 10 {
			if s := perSecond(v); v > a.hi*0.99 || b.barW-int(a.at(v)*float64(b.barW)) > width(perSecond(a.hi)) {
				tick(a.at(v), s)
			}
		}
	}
}
