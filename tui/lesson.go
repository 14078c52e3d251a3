package tui

import (
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// A Lesson is what a teacher walks through beside the live picture.
type Lesson struct {
	Steps []LessonStep
	// Go puts the settings of a step into force. The first step is in force when the run begins.
	Go func(step int) error
	// Reveal is a step's answer, with the figures that the run has given since the step came into force.
	Reveal func(step int) (string, error)
}

// A LessonStep says something, and may ask.
type LessonStep struct {
	Say, Ask string
	Choices  []string // of the question; nil: it is asked into the room
}

// A lesson is how far the screen has come in one.
type lesson struct {
	plan     *Lesson
	at       int
	chosen   int    // 1 + the choice that was made; 0: none yet
	revealed string // "" before
	hidden   bool
	read     int // so many lines of what the step says were read, on a screen that has no room for it beside the question

	changes int           // how many there were when it was revealed
	asked   time.Duration // when its figures were asked for last
}

// toldMsg is what came of going to a step, or of revealing it.
type toldMsg struct {
	step   int
	went   bool
	reveal string
	err    error
}

func (l lesson) on() bool { return l.plan != nil && !l.hidden && len(l.plan.Steps) > 0 }

func (l lesson) step() LessonStep { return l.plan.Steps[l.at] }

// asking reports whether a question with choices is open.
func (l lesson) asking() bool { return l.on() && l.revealed == "" && len(l.step().Choices) > 0 }

// choice is the choice that a key makes, counted from 1: its digit; -1 for another key.
func (l lesson) choice(msg tea.KeyMsg) int {
	if msg.Type != tea.KeyRunes || len(msg.Runes) != 1 {
		return -1
	}
	if n := int(msg.Runes[0] - '0'); n >= 1 && n <= len(l.step().Choices) {
		return n
	}
	return -1
}

// told takes in what came of going to a step or of revealing it.
func (l lesson) told(msg toldMsg) lesson {
	switch {
	case msg.err != nil:
	case msg.went:
		l = lesson{plan: l.plan, hidden: l.hidden, at: msg.step}
	case msg.step == l.at:
		l.revealed = msg.reveal
	}
	return l
}

// onward reveals what is asked, or goes on to the next step.
func (m Model) onward() (Model, tea.Cmd) {
	m.lesson.hidden = false
	if w, h := m.lesson.textRoom(m.w, m.h); m.lesson.saysFirst(w, h) {
		m.lesson.read += max(1, h)
		return m, nil
	}
	if m.lesson.step().Ask != "" && m.lesson.revealed == "" {
		cmd := m.reveal()
		return m, cmd
	}
	return m.goTo(m.lesson.at + 1)
}

// goBack goes back to the step before.
func (m Model) goBack() (Model, tea.Cmd) {
	m.lesson.hidden = false
	return m.goTo(m.lesson.at - 1)
}

func (m Model) goTo(step int) (Model, tea.Cmd) {
	switch {
	case step < 0:
		m.news = "this is the first step"
		return m, nil
	case step >= len(m.lesson.plan.Steps):
		m.news = "that was the last step: q ends the lesson"
		return m, nil
	}
	plan := m.lesson.plan
	return m, m.guarded(func() tea.Msg { return toldMsg{step: step, went: true, err: plan.Go(step)} })
}

// revealEvery is how often the figures of an answer on the screen are brought up to date.
const revealEvery = time.Second

// reveal asks for the answer of the present step.
func (m *Model) reveal() tea.Cmd {
	plan, step := m.lesson.plan, m.lesson.at
	if m.latest != nil {
		m.lesson.asked, m.lesson.changes = m.latest.Now, len(m.latest.Changes)
	}
	return m.guarded(func() tea.Msg {
		text, err := plan.Reveal(step)
		return toldMsg{step: step, reveal: text, err: err}
	})
}

// renew brings the answer on the screen up to date now and then: the run goes on. When something else was changed since, its text may not be
// true any more, and so it stays as it is.
func (m *Model) renew() tea.Cmd {
	l := &m.lesson
	if !l.on() || l.revealed == "" || m.paused || len(m.latest.Changes) != l.changes || m.latest.Now < l.asked+revealEvery {
		return nil
	}
	return m.reveal()
}

// Where the lesson stands: beside the picture on a wide screen, below it on a narrow one.
const (
	besideWidth = 116
	lessonWidth = 42
)

// room cuts the lesson's part off a screen: columns at the right, or rows above the footer.
func (l lesson) room(w, h int) (columns, rows int) {
	switch {
	case !l.on():
		return 0, 0
	case w >= besideWidth:
		return max(lessonWidth, w/4), 0
	case h < 16:
		return 0, h - 4 // title, headlines and footer stay
	}
	return 0, max(8, h*2/5)
}

// textRoom is how many columns and rows the text has.
func (l lesson) textRoom(w, h int) (columns, rows int) {
	switch c, r := l.room(w, h); {
	case c > 0:
		return c - 2, h - 5
	default:
		return w - 2, r - 1
	}
}

// saysFirst reports whether the step has to say what it says before there is room for its question.
func (l lesson) saysFirst(w, h int) bool {
	if !l.on() || l.revealed != "" || l.step().Ask == "" || l.step().Say == "" {
		return false
	}
	s := l.step()
	n := len(wrap(clean(s.Say), w, 1000))
	if l.read >= n {
		return false
	}
	n += len(wrap(clean(s.Ask), w, 1000))
	for _, c := range s.Choices {
		n += len(wrap(clean(c), w-4, 1000))
	}
	return n > h
}

// A lessonLine is a line of the lesson's text.
type lessonLine struct {
	text string
	ink  ink
}

// lines are the text of the present step for w columns, from most to least dispensable.
func (l lesson) lines(w, h int) []lessonLine {
	s := l.step()
	add := func(lines []lessonLine, text string, k ink) []lessonLine {
		for _, line := range wrap(text, w, 1000) {
			lines = append(lines, lessonLine{line, k})
		}
		return lines
	}
	choice := func(lines []lessonLine, mark, text string, k ink) []lessonLine {
		for i, line := range wrap(text, w-4, 1000) {
			if i > 0 {
				mark = "    "
			}
			lines = append(lines, lessonLine{mark + line, k})
		}
		return lines
	}
	say := add(nil, clean(s.Say), inkPlain)
	var ask, reveal []lessonLine
	if l.saysFirst(w, h) {
		return ending(say[l.read:], h)
	}
	if s.Ask != "" {
		ask = add(ask, clean(s.Ask), inkBold)
		for i, c := range s.Choices {
			k, mark := inkPlain, "  "
			if l.chosen == i+1 {
				k, mark = inkBold, "▸ "
			}
			ask = choice(ask, mark+strconv.Itoa(i+1)+" ", clean(c), k)
		}
	}
	if l.revealed != "" {
		reveal = add(reveal, clean(l.revealed), inkServed)
	}
	parts := [][]lessonLine{say, ask, reveal}
	for len(parts) > 1 { // what was read first goes first
		n := 0
		for _, p := range parts {
			n += len(p)
		}
		if n <= h {
			break
		}
		parts = parts[1:]
		if len(parts) == 1 || l.revealed == "" {
			break
		}
	}
	blanks := h
	for _, p := range parts {
		blanks -= len(p)
	}
	var all []lessonLine
	for i, p := range parts {
		if i > 0 && len(p) > 0 && blanks > 0 {
			all, blanks = append(all, lessonLine{}), blanks-1
		}
		all = append(all, p...)
	}
	return ending(all, h)
}

// ending cuts a text to h lines, and says so in the last.
func ending(lines []lessonLine, h int) []lessonLine {
	if len(lines) > h && h > 0 {
		lines = lines[:h]
		lines[h-1].text += " …"
	}
	return lines
}

// draw fills the pane.
func (l lesson) draw(p pane) {
	title := "lesson " + strconv.Itoa(l.at+1) + "/" + strconv.Itoa(len(l.plan.Steps))
	switch s := l.step(); {
	case s.Ask == "" || l.revealed != "" || l.saysFirst(p.w-2, p.h-1):
		title = pick(p.w-6, title+" · n goes on", title)
	case len(s.Choices) > 0:
		title = pick(p.w-6, title+" · 1–"+strconv.Itoa(len(s.Choices))+" answers, n reveals", title+" · 1–"+strconv.Itoa(len(s.Choices)))
	default:
		title = pick(p.w-6, title+" · n reveals", title)
	}
	p.rule(0, title)
	for y, line := range l.lines(p.w-2, p.h-1) {
		p.text(1, 1+y, line.ink, fit(line.text, p.w-1))
	}
}
