package tui

import (
	"strings"

	"fairgate/fairness"

	tea "github.com/charmbracelet/bubbletea"
)

// A Setting is something that can be given an exact value, with the value that it has. Client is "" for what belongs to the limiter or the service.
type Setting struct{ Client, Name, Value string }

// label is how the form names a setting.
func (s Setting) label() string {
	if s.Client != "" {
		return clean(s.Client) + " " + clean(s.Name)
	}
	return clean(s.Name)
}

// A form sets one setting to an exact value: one is picked from a list, its value is typed.
type form struct {
	open bool
	all  []Setting
	at   int
	text string
}

// longestValue is how much of a value can be typed.
const longestValue = 60

// openForm opens it. Its list comes as a message.
func (m Model) openForm() (Model, tea.Cmd) {
	if m.latest == nil {
		m.trouble = "the run has not begun yet"
		return m, nil
	}
	m.help = false
	m.form = form{open: true, at: m.form.at}
	list, client := m.settings, m.chosenName()
	return m, m.guarded(func() tea.Msg { return settingsMsg{list(client)} })
}

// filled is the form with its list.
func (f form) filled(all []Setting) form {
	f.all = all
	f.at = max(0, min(f.at, len(all)-1))
	return f
}

// fillIn takes a key as part of the form.
func (m Model) fillIn(msg tea.KeyMsg) (Model, tea.Cmd) {
	f := &m.form
	switch msg.Type {
	case tea.KeyEsc:
		f.open = false
	case tea.KeyUp, tea.KeyShiftTab:
		f.at = max(0, f.at-1)
		f.text = ""
	case tea.KeyDown, tea.KeyTab:
		f.at = max(0, min(f.at+1, len(f.all)-1))
		f.text = ""
	case tea.KeyBackspace:
		if r := []rune(f.text); len(r) > 0 {
			f.text = string(r[:len(r)-1])
		}
	case tea.KeyRunes, tea.KeySpace:
		if s := f.text + clean(string(msg.Runes)); len(s) <= longestValue {
			f.text = s
		}
	case tea.KeyEnter:
		f.open = false
		if f.at >= len(f.all) || strings.TrimSpace(f.text) == "" {
			break
		}
		set := Set{f.all[f.at].Client, f.all[f.at].Name, strings.TrimSpace(f.text)}
		return m.wish(func(*fairness.Snapshot) Command { return set })
	}
	return m, nil
}

// draw fills the pane with the list and the value that is being typed.
func (f form) draw(p pane) {
	p.rule(0, "set to an exact value")
	if len(f.all) == 0 {
		p.text(1, 1, inkDim, "…")
		return
	}
	label, value := 0, 0
	for _, s := range f.all {
		label = max(label, width(s.label()))
		value = max(value, width(s.Value))
	}
	label = min(label, p.w/2)
	value = min(value, max(8, p.w/4))
	rows := max(1, p.h-1)
	top := max(0, min(f.at-rows/2, len(f.all)-rows))
	for y := 0; y < rows && top+y < len(f.all); y++ {
		s := f.all[top+y]
		k := inkPlain
		if top+y == f.at {
			k = inkBold
			drawMark(p, 1+y)
		}
		p.text(2, 1+y, k, fit(s.label(), label))
		p.text(4+label, 1+y, inkDim, fit(clean(s.Value), value))
		if top+y == f.at {
			x := p.text(6+label+value, 1+y, inkBold, "→ "+f.text)
			p.text(x, 1+y, inkBold, "▁")
		}
	}
}
