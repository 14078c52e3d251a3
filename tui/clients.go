package tui

import (
	"fmt"
	"strconv"

	"fairgate/fairness"
)

// A clientColumn is a column of the table of clients.
type clientColumn struct {
	title string
	w     int
	rank  int                                            // the higher, the sooner it is left out
	value func(*fairness.ClientMeasures) fairness.Number // what it is sorted by; nil: the name
	text  func(*fairness.ClientMeasures) (string, ink)   // nil: a rate, aligned with its column
	waits bool                                           // the value is a wait in milliseconds, aligned likewise
}

func plainly(f func(c *fairness.ClientMeasures) string) func(*fairness.ClientMeasures) (string, ink) {
	return func(c *fairness.ClientMeasures) (string, ink) { return f(c), inkPlain }
}

// clientColumns are the columns in the order in which they stand.
var clientColumns = [...]clientColumn{
	{title: "client", rank: 0, text: plainly(func(c *fairness.ClientMeasures) string { return clean(c.Name) })},
	{title: "asks", w: 9, rank: 2, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Demand }},
	{title: "gets", w: 9, rank: 1, value: func(c *fairness.ClientMeasures) fairness.Number { return c.AdmittedRate }},
	{title: "entitled", w: 9, rank: 5, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Entitled }},
	{title: "got/ent.", w: 9, rank: 1, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Satisfaction }, text: satisfaction},
	{title: "share", w: 6, rank: 4, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Share },
		text: plainly(func(c *fairness.ClientMeasures) string { return percent(c.Share) })},
	{title: "refused", w: 8, rank: 3, value: func(c *fairness.ClientMeasures) fairness.Number { return c.RejectRatio },
		text: plainly(func(c *fairness.ClientMeasures) string { return percent(c.RejectRatio) })},
	{title: "by", w: 11, rank: 6, value: func(c *fairness.ClientMeasures) fairness.Number { return fairness.Number(c.Rejected) }, text: plainly(refusedBy)},
	{title: "att./req.", w: 10, rank: 7, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Amplification },
		text: plainly(func(c *fairness.ClientMeasures) string { return numberOr(c.Amplification, 2, "×") })},
	{title: "gave up", w: 9, rank: 9, value: func(c *fairness.ClientMeasures) fairness.Number { return fairness.Number(c.GaveUp) },
		text: plainly(func(c *fairness.ClientMeasures) string { return strconv.FormatInt(c.GaveUp, 10) })},
	{title: "gap", w: 8, rank: 8, value: func(c *fairness.ClientMeasures) fairness.Number { return c.LongestGap },
		text: plainly(func(c *fairness.ClientMeasures) string { return numberOr(c.LongestGap, 1, " s") })},
	{title: "adm. p50", w: 10, rank: 11, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Latency.Admitted.P50 }, waits: true},
	{title: "adm. p99", w: 10, rank: 10, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Latency.Admitted.P99 }, waits: true},
	{title: "ref. p99", w: 10, rank: 12, value: func(c *fairness.ClientMeasures) fairness.Number { return c.Latency.Rejected.P99 }, waits: true},
	{title: "queue p99", w: 10, rank: 13, value: func(c *fairness.ClientMeasures) fairness.Number { return c.QueueWait.P99 }, waits: true},
	{title: "errors", w: 8, rank: 14, value: func(c *fairness.ClientMeasures) fairness.Number { return fairness.Number(c.Errors) },
		text: plainly(func(c *fairness.ClientMeasures) string { return strconv.FormatInt(c.Errors, 10) })},
}

// numberOr is a number with its unit, or the sign for what does not exist.
func numberOr(n fairness.Number, decimals int, unit string) string {
	if !n.Exists() {
		return none
	}
	return n.Format(decimals) + unit
}

// refusedBy names the limit that refused most, and how many more refused.
func refusedBy(c *fairness.ClientMeasures) string {
	by, n := mostRefusedBy(c)
	if n == 0 {
		return none
	}
	others := -1
	for _, count := range c.RejectedBy {
		if count > 0 {
			others++
		}
	}
	if others > 0 {
		return by + " +" + strconv.Itoa(others)
	}
	return by
}

// nameWidth is what the names get on a screen of w columns.
func nameWidth(w int) int { return max(8, min(20, w/6)) }

// shownClientColumns are the columns that a screen of w columns has room for, as indices, the name always among them.
func shownClientColumns(w int) []int {
	room := w - 2 - nameWidth(w)
	in := [len(clientColumns)]bool{0: true}
	for rank := 1; rank < len(clientColumns); rank++ {
		for i := range clientColumns {
			if c := &clientColumns[i]; c.rank == rank && room >= 0 {
				if room -= c.w; room >= 0 {
					in[i] = true
				}
			}
		}
	}
	var shown []int
	for i, ok := range in {
		if ok {
			shown = append(shown, i)
		}
	}
	return shown
}

// A clientTable is the view of the clients in numbers.
type clientTable struct {
	clients []fairness.ClientMeasures
	order   ordering
	top     int
	marked  int  // the client that keys act on, -1: none
	typing  bool // the filter is being typed
}

// clientRows is how many clients h rows hold below filter line and header.
func clientRows(h int) int { return max(1, h-2) }

func (t clientTable) draw(p pane) {
	rows := t.order.apply(t.clients)
	end := min(len(rows), t.top+clientRows(p.h))
	t.status(p, len(rows), end)
	x := 1
	for _, i := range shownClientColumns(p.w) {
		c := &clientColumns[i]
		w := c.w
		if i == 0 {
			w = nameWidth(p.w)
		}
		title, k := c.title, inkDim
		if t.order.by == i+1 {
			title, k = title+"▼", inkBold
			if t.order.upward {
				title = c.title + "▲"
			}
		}
		cell := c.text
		switch of := func(i int) fairness.Number { return c.value(&t.clients[i]) }; {
		case c.waits:
			f := waitsFormat(len(t.clients), of)
			cell = func(m *fairness.ClientMeasures) (string, ink) { return f(c.value(m)), inkPlain }
		case cell == nil:
			f := columnFormat(len(t.clients), of)
			cell = func(m *fairness.ClientMeasures) (string, ink) { return f.text(c.value(m)), inkPlain }
		}
		put := func(y int, k ink, s string) {
			if i == 0 {
				p.text(x, y, k, fit(s, w))
			} else {
				p.right(x+w, y, k, fit(s, w-1))
			}
		}
		put(1, k, title)
		for y, row := range rows[min(t.top, end):end] {
			m := &t.clients[row]
			s, k := cell(m)
			if i == 0 && m.Starved {
				k = inkBold
			}
			if !m.Active {
				k = inkDim
			}
			put(2+y, k, s)
			if i == 0 && row == t.marked {
				drawMark(p, 2+y)
			}
		}
		x += w
	}
	if len(rows) == 0 {
		p.text(1, 2, inkPlain, fit("no client's name or kind holds "+strconv.Quote(t.order.filter), p.w-1))
	}
}

// status says which clients are shown, in which order.
func (t clientTable) status(p pane, n, end int) {
	shown := fmt.Sprintf("%d clients", n)
	if n == 1 {
		shown = "1 client"
	}
	if t.top > 0 || end < n {
		shown = fmt.Sprintf("%d–%d of %d clients", t.top+1, end, n)
	}
	by := "the profile's order"
	if t.order.by > 0 {
		by = "by " + clientColumns[t.order.by-1].title
	}
	x := p.text(1, 0, inkPlain, shown)
	if t.typing || t.order.filter != "" {
		filter := "/" + t.order.filter
		if t.typing {
			filter += "▁"
		}
		x = p.text(x+2, 0, inkBold, fit(filter, p.w-x-3))
	}
	p.text(x+2, 0, inkDim, fit("sorted: "+by, p.w-x-3))
}
