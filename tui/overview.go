package tui

import (
	"fmt"

	"fairgate/fairness"
)

// draw makes the picture of the whole screen.
func (m Model) draw() *canvas {
	c := newCanvas(m.w, m.h)
	all := c.pane(rect{0, 0, m.w, m.h})
	if m.w < MinWidth || m.h < MinHeight {
		text := fmt.Sprintf("The dashboard needs %d×%d, this terminal has %d×%d: enlarge it. The run goes on; q quits.", MinWidth, MinHeight, m.w, m.h)
		for y, line := range wrap(text, m.w, m.h) {
			all.text(0, y, inkPlain, line)
		}
		return c
	}
	s := m.shown
	if s == nil {
		all.text(1, 0, inkPlain, "waiting for the first picture of the run")
		drawFooter(c.pane(rect{0, m.h - 1, m.w, 1}), m.keys, m.trouble)
		return c
	}
	l := arrange(m.w, m.h, len(s.Clients))
	now := *s
	now.Now, now.Done = m.latest.Now, m.latest.Done // the clock goes on while the picture is held
	drawTitle(c.pane(l.title), &now, s.Now, m.paused)
	lines := c.pane(l.headlines)
	drawHeadline(lines, 0, monitoring(s), s.Aggregate.Utilization)
	drawHeadline(lines, 1, clientsSee(s), fairness.None)
	drawFooter(c.pane(l.footer), m.keys, m.trouble)
	if m.help {
		y := l.headlines.y + l.headlines.h
		drawHelp(c.pane(rect{0, y, m.w, l.footer.y - y}), m.keys, m.helpTop)
		return c
	}
	c.pane(l.topRule).rule(0, behind(s.Generator))
	top := m.clampTop(m.top)
	t := table{clients: s.Clients, axis: newAxis(m.scale, s.Clients), top: top, perClient: l.perClient}
	bars := t.draw(c.pane(l.table))
	drawAxis(c.pane(l.axis), bars, t.axis)
	plot{s, top}.draw(c.pane(l.plot))
	retryPanel{s.Clients}.draw(c.pane(l.retry))
	for y := 1; y < l.parting.h; y++ {
		c.pane(l.parting).glyph(0, y, inkDim, "│")
	}
	c.pane(l.adviceRule).rule(0, "")
	drawAdvice(c.pane(l.advice), s)
	return c
}

// visibleClients is how many clients the table has room for.
func (m Model) visibleClients() int {
	if m.shown == nil || m.w < MinWidth || m.h < MinHeight {
		return 1
	}
	l := arrange(m.w, m.h, len(m.shown.Clients))
	return table{perClient: l.perClient}.rows(l.table.h)
}

// clampTop keeps the table filled: the last page is a full one.
func (m Model) clampTop(top int) int {
	n := 0
	if m.shown != nil {
		n = len(m.shown.Clients)
	}
	return max(0, min(top, n-m.visibleClients()))
}
