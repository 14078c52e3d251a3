package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	"fairgate/fairness"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// FrameEvery is the time between two pictures.
const FrameEvery = 100 * time.Millisecond

// Options say how the dashboard looks. The zero value draws without colour.
type Options struct {
	// Renderer knows how many colours the terminal has. Its background is never asked for, since asking can hang. Nil: no colour.
	Renderer *lipgloss.Renderer
	// ASCII draws bars and plots with ASCII characters only.
	ASCII bool
	// Theme is one of Themes; "" is auto.
	Theme string
	// LightBackground says that the terminal is known to be light, for the themes auto and ansi.
	LightBackground bool
	// Keep keeps the present screen, as text and as an SVG picture, and says where: the user asked for it. Nil: there is no such key.
	Keep func(text, svg string) (where string, err error)
	// Save writes the present state of the run as a profile and says where. Nil: there is no such key.
	Save func() (where string, err error)
	// Settings lists what can be set to an exact value, for the limiter and for one client, with the present values. Nil: nothing can.
	Settings func(client string) []Setting
	// Lesson is what a teacher walks through beside the picture. Nil: there is none.
	Lesson *Lesson
}

// Model is the dashboard as Bubble Tea runs it. Its Update only remembers: pictures are fetched and commands carried out by
// Bubble Tea's commands, outside of the event loop.
type Model struct {
	source Source
	look   *look
	keys   keys
	w, h   int

	latest  *fairness.Snapshot // nil until the first frame
	shown   *fairness.Snapshot // the latest, or the one at which the picture was paused
	paused  bool
	help    bool
	scale   scale
	top     int // first client shown
	chosen  int // the client that is marked
	helpTop int // first line of the help shown
	view    view
	order   ordering // of the view of clients
	typing  bool     // the filter is being typed
	watch   watch

	wishes  []wish // not yet carried out, in order; the first one is being carried out when busy
	busy    bool
	trouble string // shown in the footer until the next key
	news    string // the same, when it is no trouble
	keep    func(text, svg string) (string, error)
	save    func() (string, error)

	settings func(client string) []Setting
	form     form
	lesson   lesson

	exit  Exit
	crash *crash
}

// A wish becomes a command when its turn comes, since some depend on what the limit is then.
type wish func(*fairness.Snapshot) Command

// mostWishes bounds what a key held down can pile up.
const mostWishes = 8

// Messages. There is one frame every FrameEvery and one answer for every command: nothing is sent per hit.
type (
	frameMsg struct{ snap *fairness.Snapshot }
	doneMsg  struct {
		snap *fairness.Snapshot
		err  error
	}
	keptMsg struct {
		where string
		err   error
	}
	settingsMsg struct{ all []Setting }
	crashMsg    struct{ err error }
)

// A crash is shared by the copies of a model: View has no other way to tell that it failed.
type crash struct{ err error }

func (c *crash) keep(recovered any) {
	if c.err == nil {
		c.err = fmt.Errorf("the dashboard panicked: %v\n%s", recovered, debug.Stack())
	}
}

// New is a dashboard for a source.
func New(s Source, o Options) Model {
	k := newKeys()
	k.keep.SetEnabled(o.Keep != nil)
	k.save.SetEnabled(o.Save != nil)
	k.teach(o.Lesson != nil)
	k.tune(s)
	k.exact.SetEnabled(o.Settings != nil)
	return Model{source: s, look: newLook(o), keys: k, keep: o.Keep, save: o.Save, settings: o.Settings, lesson: lesson{plan: o.Lesson}, crash: new(crash)}
}

// Init asks for the first frame.
func (m Model) Init() tea.Cmd { return m.guarded(m.frame) }

func (m Model) frame() tea.Msg { return frameMsg{m.source.Snapshot()} }

// guarded is a command whose panic comes back as a message; Bubble Tea's own way would print it into the result on standard output.
func (m Model) guarded(f func() tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				var c crash
				c.keep(r)
				msg = crashMsg(c)
			}
		}()
		return f()
	}
}

// Update takes in a message.
func (m Model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.crash.keep(r)
			next, cmd = m.leave(Failed)
		}
	}()
	if m.crash.err != nil {
		return m.leave(Failed)
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case frameMsg:
		m.see(msg.snap)
		if m.over() {
			return m.leave(Finished)
		}
		frame := m.guarded(m.frame)
		cmd = tea.Tick(FrameEvery, func(time.Time) tea.Msg { return frame() })
		if m.latest != nil {
			if renewed := m.renew(); renewed != nil {
				cmd = tea.Batch(cmd, renewed)
			}
		}
	case doneMsg:
		m.see(msg.snap)
		if msg.err != nil {
			m.trouble = msg.err.Error()
		}
		m.busy = false
		m.wishes = m.wishes[1:]
		cmd = m.carryOut()
	case keptMsg:
		if m.news = "written: " + msg.where; msg.err != nil {
			m.trouble, m.news = msg.err.Error(), ""
		}
	case toldMsg:
		m.lesson = m.lesson.told(msg)
		if msg.err != nil {
			m.trouble = msg.err.Error()
		}
	case settingsMsg:
		m.form = m.form.filled(msg.all)
	case crashMsg:
		m.crash.err = msg.err
		return m.leave(Failed)
	case endMsg:
		return m.leave(Ended)
	case tea.KeyMsg:
		m.trouble, m.news = "", ""
		m, cmd = m.pressAll(msg)
	}
	m.top = m.clampTop(m.top)
	m.chosen = m.clampChosen()
	return m, cmd
}

// see takes in a new picture.
func (m *Model) see(s *fairness.Snapshot) {
	if s == nil {
		return
	}
	m.latest = s
	m.watch = m.watch.see(s)
	if !m.paused || m.shown == nil {
		m.shown = s
	}
}

// over says that the run has ended and nobody is reading anything on the screen.
func (m Model) over() bool { return m.latest != nil && m.latest.Done && !m.paused && !m.help }

func (m Model) leave(e Exit) (tea.Model, tea.Cmd) {
	m.exit = e
	return m, tea.Quit
}

// pressAll takes keys that came so fast that they are one message as what they are: one after the other.
func (m Model) pressAll(msg tea.KeyMsg) (Model, tea.Cmd) {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.press(msg)
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		one := msg
		one.Runes = []rune{r}
		var cmd tea.Cmd
		if m, cmd = m.press(one); cmd != nil {
			all = append(all, cmd)
		}
	}
	return m, tea.Batch(all...)
}

// press does what a key is bound to.
func (m Model) press(msg tea.KeyMsg) (Model, tea.Cmd) {
	k := &m.keys
	if m.typing && !key.Matches(msg, k.interrupt) {
		return m.typeFilter(msg), nil
	}
	if m.form.open && !key.Matches(msg, k.interrupt) {
		return m.fillIn(msg)
	}
	if m.lesson.asking() {
		if choice := m.lesson.choice(msg); choice >= 0 {
			m.lesson.chosen = choice
			cmd := m.reveal()
			return m, cmd
		}
	}
	for v := range k.views {
		if key.Matches(msg, k.views[v]) {
			return m.show(view(v)), nil
		}
	}
	page := max(1, m.visibleRows()-1)
	switch {
	case key.Matches(msg, k.interrupt):
		m.exit = Interrupted
		return m, tea.Quit
	case key.Matches(msg, k.quit):
		m.exit = Quit
		return m, tea.Quit
	case key.Matches(msg, k.suspend):
		return m, tea.Suspend
	case key.Matches(msg, k.help):
		m.help, m.helpTop = !m.help, 0
	case key.Matches(msg, k.pause):
		m.paused = !m.paused
		m.shown = m.latest
	case key.Matches(msg, k.scale):
		m.scale = (m.scale + 1) % scales
	case key.Matches(msg, k.up):
		m.move(-1, false)
	case key.Matches(msg, k.down):
		m.move(1, false)
	case key.Matches(msg, k.pageUp):
		m.move(-page, true)
	case key.Matches(msg, k.pageDown):
		m.move(page, true)
	case key.Matches(msg, k.nextView):
		return m.show((m.view + 1) % views), nil
	case key.Matches(msg, k.lastView):
		return m.show((m.view + views - 1) % views), nil
	case key.Matches(msg, k.order):
		m = m.show(clientsView)
		m.order = m.order.next(m.w)
	case key.Matches(msg, k.reverse):
		m = m.show(clientsView)
		m.order.upward = !m.order.upward
	case key.Matches(msg, k.filter):
		m = m.show(clientsView)
		m.typing = true
	case key.Matches(msg, k.keep) && m.w > 0 && m.h > 0:
		return m, m.guarded(func() tea.Msg {
			screen := m.draw()
			where, err := m.keep(screen.paint(&look{ascii: m.look.ascii}), screen.svg(m.look))
			return keptMsg{where, err}
		})
	case key.Matches(msg, k.onward):
		return m.onward()
	case key.Matches(msg, k.goBack):
		return m.goBack()
	case key.Matches(msg, k.lesson):
		m.lesson.hidden = !m.lesson.hidden
	case key.Matches(msg, k.save):
		return m, m.guarded(func() tea.Msg {
			where, err := m.save()
			return keptMsg{where, err}
		})
	case key.Matches(msg, k.exact):
		return m.openForm()
	case msg.Type == tea.KeyEsc:
		m.help = false
	default:
		if w := k.wish(msg, m.chosenName()); w != nil {
			return m.wish(w)
		}
	}
	return m, nil
}

// show turns to a view.
func (m Model) show(v view) Model {
	m.help = false
	if m.view != v {
		m.view, m.top = v, 0
	}
	return m
}

// longestFilter is how much of a filter can be typed.
const longestFilter = 40

// typeFilter takes a key as part of the filter.
func (m Model) typeFilter(msg tea.KeyMsg) Model {
	switch msg.Type {
	case tea.KeyEnter:
		m.typing = false
	case tea.KeyEsc:
		m.typing, m.order.filter = false, ""
	case tea.KeyBackspace:
		if r := []rune(m.order.filter); len(r) > 0 {
			m.order.filter = string(r[:len(r)-1])
		}
	case tea.KeyRunes, tea.KeySpace:
		if s := m.order.filter + clean(string(msg.Runes)); len(s) <= longestFilter {
			m.order.filter = s
		}
	}
	m.top = 0
	return m
}

// wish puts a command in line. They are carried out one after the other, so that the order of keys is kept.
func (m Model) wish(w wish) (Model, tea.Cmd) {
	if m.latest == nil {
		m.trouble = "the run has not begun yet"
		return m, nil
	}
	if len(m.wishes) == mostWishes {
		m.trouble = "the run is still busy with the last keys"
		return m, nil
	}
	m.wishes = append(m.wishes[:len(m.wishes):len(m.wishes)], w)
	cmd := m.carryOut()
	return m, cmd
}

// carryOut begins with the next wish, if there is one and none is under way.
func (m *Model) carryOut() tea.Cmd {
	if m.busy || len(m.wishes) == 0 {
		return nil
	}
	m.busy = true
	source, c := m.source, m.wishes[0](m.latest)
	return m.guarded(func() tea.Msg {
		err := source.Do(c)
		return doneMsg{source.Snapshot(), err}
	})
}

// View draws the present picture. It depends on the model alone.
func (m Model) View() (screen string) {
	defer func() {
		if r := recover(); r != nil {
			m.crash.keep(r)
			screen = ""
		}
	}()
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	return m.draw().paint(m.look)
}
