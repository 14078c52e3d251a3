package tui

import (
	"fmt"

	"fairgate/fairness"
)

// draw makes the picture of the whole screen.
func (m Model) draw() *canvas {
	c := newCanvas(m.w, m.h)
	m.drawOn(c)
	c.settle()
	return c
}

func (m Model) drawOn(c *canvas) {
	all := c.pane(rect{0, 0, m.w, m.h})
	if m.w < MinWidth || m.h < MinHeight {
		text := fmt.Sprintf("The dashboard needs %d×%d, this terminal has %d×%d: enlarge it. The run goes on; q quits.", MinWidth, MinHeight, m.w, m.h)
		for y, line := range wrap(text, m.w, m.h) {
			all.text(0, y, inkPlain, line)
		}
		return
	}
	s := m.shown
	if s == nil {
		all.text(1, 0, inkPlain, "waiting for the first picture of the run")
		drawFooter(c.pane(rect{0, m.h - 1, m.w, 1}), m.keys, m.view, m.trouble, m.news, m.hint())
		return
	}
	l := arrange(m.w, m.h, len(s.Clients))
	now := *s
	now.Now, now.Done = m.latest.Now, m.latest.Done // the clock goes on while the picture is held
	drawTitle(c.pane(l.title), &now, s.Now, m.paused)
	lines := c.pane(l.headlines)
	drawHeadline(lines, 0, monitoring(s), s.Aggregate.Utilization)
	drawHeadline(lines, 1, clientsSee(s), fairness.None)
	drawFooter(c.pane(l.footer), m.keys, m.view, m.trouble, m.news, m.hint())
	if m.help {
		y := l.headlines.y + l.headlines.h
		drawHelp(c.pane(rect{0, y, m.w, l.footer.y - y}), m.keys, m.helpTop)
		return
	}
	if m.form.open {
		y := l.headlines.y + l.headlines.h
		m.form.draw(c.pane(rect{0, y, m.w, l.footer.y - y}))
		return
	}
	drawTabs(c.pane(l.topRule), m.view, behind(s.Generator))
	top := m.clampTop(m.top)
	c.pane(l.adviceRule).rule(0, "")
	drawAdvice(c.pane(l.advice), s)
	body := c.pane(m.body(l))
	switch m.view {
	case clientsView:
		clientTable{s.Clients, m.order, top, m.marked(), m.typing}.draw(body)
		return
	case retryView:
		retryTable{s.Clients, top, m.marked()}.draw(body)
		return
	case eventsView:
		drawEvents(body, allEvents(m.watch, s), top)
		return
	}
	t := table{clients: s.Clients, axis: newAxis(m.scale, s.Clients), top: top, marked: m.marked(), perClient: l.perClient}
	bars := t.draw(c.pane(l.table))
	drawAxis(c.pane(l.axis), bars, t.axis)
	plot{s, top}.draw(c.pane(l.plot))
	retryPanel{s.Clients}.draw(c.pane(l.retry))
	for y := 1; y < l.parting.h; y++ {
		c.pane(l.parting).glyph(0, y, inkDim, "│")
	}
}

// body is the part of the screen that belongs to a view other than the overview: all between the headlines and what to do about them.
func (m Model) body(l layout) rect {
	y := l.headlines.y + l.headlines.h + l.topRule.h
	return rect{0, y, m.w, l.advice.y - l.adviceRule.h - y}
}

// visibleRows is how many clients, or events, the present view has room for.
func (m Model) visibleRows() int {
	if m.shown == nil || m.w < MinWidth || m.h < MinHeight {
		return 1
	}
	l := arrange(m.w, m.h, len(m.shown.Clients))
	switch body := m.body(l); m.view {
	case clientsView:
		return clientRows(body.h)
	case retryView:
		return retryRows(body.h)
	case eventsView:
		return body.h
	}
	return table{perClient: l.perClient}.rows(l.table.h)
}

// clampTop keeps the view filled: the last page is a full one.
func (m Model) clampTop(top int) int {
	n := 0
	if m.shown != nil {
		switch n = len(m.shown.Clients); m.view {
		case clientsView:
			n = 0
			for i := range m.shown.Clients {
				if m.order.match(&m.shown.Clients[i]) {
					n++
				}
			}
		case eventsView:
			n = len(m.watch.seen) + len(m.shown.Changes)
		}
	}
	return max(0, min(top, n-m.visibleRows()))
}

// hint says what the keys do while something is being typed; "" when nothing is.
func (m Model) hint() string {
	switch {
	case m.typing:
		return "part of a name or kind; enter keeps the filter, esc drops it"
	case m.form.open:
		return "↑↓ pick, type a value such as 1500/s, enter sets it, esc leaves"
	}
	return ""
}
