package tui

import (
	"fmt"

	"fairgate/fairness"
)

// A retryTable is the view of Retry-After: the distributions over all clients, then a line for each.
type retryTable struct {
	clients []fairness.ClientMeasures
	herd    fairness.Herd
	top     int
	marked  int // the client that keys act on, -1: none
}

// distributionRows is the height of the distributions on top of the table, in a body of h rows.
func distributionRows(h int) int {
	if h < 14 {
		return 0
	}
	return min(10, h/2)
}

// retryRows is how many clients a body of h rows holds.
func retryRows(h int) int {
	rows := h - distributionRows(h)
	if rows >= 4 {
		rows-- // of the herd
	}
	return max(1, rows-1)
}

// herdText says whether clients came back in a crowd because they had been told the same moment.
func herdText(h fairness.Herd, w int) string {
	why := clean(h.Why)
	if h.Detected {
		return pick(w, "✗ herd: "+why, fmt.Sprintf("✗ herd: %d came back within 100 ms at %s s; the limit admits %s", h.Largest, h.At.Format(1), h.Admissible.Format(0)),
			fmt.Sprintf("✗ herd: %d back within 100 ms", h.Largest))
	}
	if h.Returns == 0 {
		return "✓ no herd"
	}
	return pick(w, "✓ no herd: "+why, "✓ no herd")
}

func herdInk(h fairness.Herd) ink {
	if h.Detected {
		return inkRefusedB
	}
	return inkPlain
}

func (t retryTable) draw(p pane) {
	above := distributionRows(p.h)
	if above > 0 {
		retryPanel{t.clients}.draw(p.sub(rect{0, 0, p.w, above}))
	}
	p = p.sub(rect{0, above, p.w, p.h - above})
	if p.h >= 4 {
		p.text(1, 0, herdInk(t.herd), fit(herdText(t.herd, p.w-2), p.w-1))
		p = p.sub(rect{0, 1, p.w, p.h - 1})
	}
	waits := func(get func(*fairness.ClientMeasures) fairness.Number) func(*fairness.ClientMeasures) string {
		f := waitsFormat(len(t.clients), func(i int) fairness.Number { return get(&t.clients[i]) })
		return func(c *fairness.ClientMeasures) string { return f(get(c)) }
	}
	columns := []struct {
		title string
		w     int
		text  func(*fairness.ClientMeasures) string
	}{
		{"refused", 9, func(c *fairness.ClientMeasures) string { return percent(c.RejectRatio) }},
		{"told", 10, toldRange},
		{"needed p50", 12, waits(func(c *fairness.ClientMeasures) fairness.Number { return c.RetryAfter.Needed.P50 })},
		{"p99", 10, waits(func(c *fairness.ClientMeasures) fairness.Number { return c.RetryAfter.Needed.P99 })},
		{"max", 10, waits(func(c *fairness.ClientMeasures) fairness.Number { return c.RetryAfter.Needed.Max })},
		{"kept the promise", 18, promise},
		{"never", 8, func(c *fairness.ClientMeasures) string { return fmt.Sprint(c.RetryAfter.Never) }},
	}
	x := 1 + nameWidth(p.w)
	p.text(1, 0, inkDim, "client")
	end := min(len(t.clients), t.top+max(1, p.h-1))
	for y, i := 1, t.top; i < end; y, i = y+1, i+1 {
		p.text(1, y, inkPlain, fit(clean(t.clients[i].Name), nameWidth(p.w)-1))
		if i == t.marked {
			drawMark(p, y)
		}
	}
	for _, c := range columns {
		if x+c.w > p.w {
			break
		}
		p.right(x+c.w, 0, inkDim, c.title)
		for y, i := 1, t.top; i < end; y, i = y+1, i+1 {
			k := inkPlain
			if !t.clients[i].Active {
				k = inkDim
			}
			p.right(x+c.w, y, k, c.text(&t.clients[i]))
		}
		x += c.w
	}
}

// toldRange is the shortest and the longest wait that a client was told.
func toldRange(c *fairness.ClientMeasures) string {
	told := c.RetryAfter.Told
	if len(told) == 0 {
		return none
	}
	low, high := told[0].Seconds, told[0].Seconds
	for _, t := range told {
		low, high = min(low, t.Seconds), max(high, t.Seconds)
	}
	if low == high {
		return fmt.Sprintf("%d s", low)
	}
	return fmt.Sprintf("%d–%d s", low, high)
}

// promise says how many of the retries that came when they were told were admitted.
func promise(c *fairness.ClientMeasures) string {
	asked := c.Kept + c.Broken
	if asked == 0 {
		return none
	}
	return fmt.Sprintf("%d of %d", c.Kept, asked)
}
