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
	l, teaching := m.arrange(len(s.Clients))
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
	if teaching.h > 0 {
		m.lesson.draw(c.pane(teaching))
		for y := 1; teaching.x > 0 && y < teaching.h; y++ {
			c.pane(rect{teaching.x - 1, teaching.y, 1, teaching.h}).glyph(0, y, inkDim, "│")
		}
	}
	drawTabs(c.pane(l.topRule), m.view, behind(s.Generator))
	top := m.clampTop(m.top)
	if teaching.h == 0 {
		c.pane(l.adviceRule).rule(0, changeNote(s))
		drawAdvice(c.pane(l.advice), s)
	}
	body := c.pane(m.body(l))
	switch m.view {
	case clientsView:
		clientTable{s.Clients, m.order, top, m.marked(), m.typing}.draw(body)
		return
	case retryView:
		retryTable{s.Clients, s.Herd, top, m.marked()}.draw(body)
		return
	case insideView:
		m.inside(s).draw(body)
		return
	case besideView:
		compareView{s, top, m.marked(), m.keys.shadows.Enabled()}.draw(body)
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
	return rect{0, y, l.table.w, max(0, l.advice.y-l.adviceRule.h-y)}
}

// arrange lays out the screen, with the part that a lesson takes, where there is one. What to do is then for the class to find out: the
// lesson takes the place of the advice.
func (m Model) arrange(clients int) (l layout, teaching rect) {
	columns, rows := m.lesson.room(m.w, m.h)
	if columns == 0 && rows == 0 {
		return arrange(m.w, m.h, clients), rect{}
	}
	// What the advice would take is the picture's.
	spare := arrange(m.w-columns, m.h-rows, clients)
	advice := spare.advice.h + spare.adviceRule.h
	l = arrange(m.w-columns, max(MinHeight, m.h-rows+advice), clients)
	l.title.w, l.headlines.w, l.footer.w = m.w, m.w, m.w
	l.footer.y = m.h - 1
	end := l.footer.y - rows // of the picture
	teaching = rect{0, end, m.w, rows}
	if columns > 0 {
		y := l.headlines.y + l.headlines.h
		teaching = rect{m.w - columns, y, columns, l.footer.y - y}
	}
	for _, r := range []*rect{&l.topRule, &l.table, &l.axis, &l.plot, &l.retry, &l.parting} {
		r.h = max(0, min(r.h, end-r.y))
	}
	l.adviceRule.h, l.advice.h, l.advice.y = 0, 0, end
	return l, teaching
}

// visibleRows is how many clients, or events, the present view has room for.
func (m Model) visibleRows() int {
	if m.shown == nil || m.w < MinWidth || m.h < MinHeight {
		return 1
	}
	l, _ := m.arrange(len(m.shown.Clients))
	switch body := m.body(l); m.view {
	case clientsView:
		return clientRows(body.h)
	case retryView:
		return retryRows(body.h)
	case insideView:
		return m.inside(m.shown).rows(body.w, body.h)
	case besideView:
		return compareRows(body.h)
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
			return max(0, min(top, len(m.watch.seen)+len(m.shown.Changes)-1)) // long ones take more than a line
		}
	}
	return max(0, min(top, n-m.visibleRows()))
}

// hint says what the keys do while something is being typed, the longest way first; nil when nothing is.
func (m Model) hint() []string {
	switch {
	case m.typing:
		return []string{"part of a name or kind; enter keeps the filter, esc drops it", "enter keeps the filter, esc drops it"}
	case m.form.open:
		return []string{"↑↓ pick, type a value such as 1500/s, enter sets it, esc leaves", "↑↓ pick, type, enter sets, esc leaves"}
	}
	return nil
}

// inside is the view into the limiter.
func (m Model) inside(s *fairness.Snapshot) limiterView {
	return limiterView{s.Inside, s.Clients, m.top, m.marked()}
}
