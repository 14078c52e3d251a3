package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairgate/profiles"
	"fairgate/tui"
	"fairgate/tui/report"
)

// longestLesson is how long a run goes on for a lesson: it needs an end, and a teacher none.
const longestLesson = 2 * time.Hour

// teach makes a profile ready for its lesson on the screen: the run goes on until the teacher ends it.
func (r *run) teach(sh *shell, p *profiles.Profile) error {
	if len(p.Lesson) == 0 {
		return wrong("%s has no lesson: fairgate profiles lists the profiles, and starvation is one that has", p.Name)
	}
	possible, why := sh.screenPossible()
	switch {
	case r.headless:
		return wrong("--lesson is walked through on the screen: leave --headless out")
	case !possible:
		return wrong("--lesson is walked through on the screen, and there is none, since %s", why)
	}
	p.Duration, p.WarmUp = longestLesson, 0
	return nil
}

// A lesson puts the steps of a profile's lesson into force, and tells what was measured in each.
type lesson struct {
	t    *tuner
	base *profiles.Profile // before the first step

	mu   sync.Mutex
	at   int
	told [][]byte // by step: the measures when it was revealed or left, as JSON; nil before
}

func newLesson(t *tuner) *lesson {
	base := t.run.Profile()
	return &lesson{t: t, base: base, told: make([][]byte, len(base.Lesson))}
}

// screen is the lesson as the screen shows it.
func (l *lesson) screen() *tui.Lesson {
	var steps []tui.LessonStep
	for _, s := range l.base.Lesson {
		steps = append(steps, tui.LessonStep{Say: s.Say, Ask: s.Ask, Choices: s.Choice})
	}
	return &tui.Lesson{Steps: steps, Go: l.Go, Reveal: l.Reveal}
}

// Go puts a step into force: the profile with that step's change and those of all steps before it. What a run cannot change under
// way, or would not do a second time, makes it begin anew.
func (l *lesson) Go(step int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	is, err := l.after(step)
	if err != nil {
		return err
	}
	if step == l.at+1 {
		if l.told[l.at], err = l.measured(); err != nil {
			return err
		}
	}
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	was := l.t.run.Profile()
	err = fmt.Errorf("what happens once has happened")
	if !slices.ContainsFunc(is.Clients, happensOnce) {
		err = l.t.run.Edit(func(p *profiles.Profile) { p.Limiter, p.Service, p.Clients = is.Limiter, is.Service, is.Clients })
	}
	if err != nil {
		again, ok := l.t.run.(restarter)
		if !ok {
			return err
		}
		is.Duration, is.WarmUp, is.Seed = was.Duration, was.WarmUp, was.Seed
		if err := again.Restart(is); err != nil {
			return err
		}
	}
	l.at = step
	l.t.past = nil // undo goes back to the step, not before it
	l.t.look()
	return l.t.shadowAgain()
}

// after is the profile with the steps up to one in force.
func (l *lesson) after(step int) (*profiles.Profile, error) {
	p := l.base.Clone()
	for i := 0; i <= step && i < len(l.base.Lesson); i++ {
		next, err := l.base.Lesson[i].Apply(p)
		if err != nil {
			return nil, err
		}
		p = next
	}
	return p, nil
}

// happensOnce reports whether a client does something at a moment of the run that does not come again.
func happensOnce(c profiles.Client) bool {
	switch c.Arrivals.Process {
	case profiles.Once, profiles.Trace, profiles.Ramp:
		return true
	}
	return c.Start > 0 || c.Stop > 0
}

// Reveal fills a step's text with the figures of the run since the step came into force, or since the last change after it.
func (l *lesson) Reveal(step int) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, err := l.measured()
	if err != nil {
		return "", err
	}
	l.told[step] = now
	var was []byte
	if step > 0 {
		was = l.told[step-1]
	}
	return profiles.Fill(l.base.Lesson[step].Reveal, now, was)
}

// measured is the last stretch of the run as JSON.
func (l *lesson) measured() ([]byte, error) {
	rep := l.t.run.Report()
	if n := len(rep.Stretches); n > 0 {
		return json.Marshal(&rep.Stretches[n-1])
	}
	return report.JSON(rep)
}
