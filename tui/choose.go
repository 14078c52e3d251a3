package tui

// listed are the clients of the present view in the order in which it shows them, as indices.
func (m Model) listed() []int {
	if m.shown == nil {
		return nil
	}
	if m.view == clientsView {
		return m.order.apply(m.shown.Clients)
	}
	all := make([]int, len(m.shown.Clients))
	for i := range all {
		all[i] = i
	}
	return all
}

// move goes up or down by some lines in what is being read: the help, the events, or the clients, of whom one is marked and stays in sight.
// A page moves what is in sight as well.
func (m *Model) move(by int, page bool) {
	switch {
	case m.help:
		m.helpTop = max(0, min(m.helpTop+by, helpHeight(m.keys, m.w)-(m.h-5)))
		return
	case m.view == eventsView:
		m.top = m.clampTop(m.top + by)
		return
	}
	rows := m.listed()
	if len(rows) == 0 {
		return
	}
	at := max(0, min(position(rows, m.chosen)+by, len(rows)-1))
	m.chosen = rows[at]
	if page {
		m.top += by
	}
	m.top = m.clampTop(max(at-m.visibleRows()+1, min(m.top, at)))
}

// position is where a client stands among those listed; 0 when it is not among them.
func position(rows []int, client int) int {
	for at, i := range rows {
		if i == client {
			return at
		}
	}
	return 0
}

// clampChosen keeps the mark on a client that is there.
func (m Model) clampChosen() int {
	if m.shown == nil {
		return 0
	}
	return max(0, min(m.chosen, len(m.shown.Clients)-1))
}

// chosenName is the name of the client that is marked; "" when there is none.
func (m Model) chosenName() string {
	if m.shown == nil || m.chosen >= len(m.shown.Clients) {
		return ""
	}
	return m.shown.Clients[m.chosen].Name
}

// marked is the client that the views mark: none where no key does anything to it.
func (m Model) marked() int {
	if !m.keys.storm.Enabled() {
		return -1
	}
	return m.chosen
}

// drawMark marks the line of a client.
func drawMark(p pane, y int) { p.glyph(0, y, inkBold, "▸") }
