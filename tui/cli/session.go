package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/profiles"
	"fairgate/tui"
	"fairgate/tui/report"
)

// An attacker is a run that can be watched and changed: a live one, or a simulation played back.
type attacker interface {
	Start(context.Context) error
	Done() <-chan struct{}
	Stop()
	Wait() error
	Snapshot() *fairness.Snapshot
	Report() *fairness.Report
	Edit(func(*profiles.Profile)) error
	NextPolicy(by int) error
	Profile() *profiles.Profile
}

var (
	_ attacker = (*attack.Run)(nil)
	_ attacker = (*attack.Playback)(nil)
)

// A session is one run as the user meets it: watched on the screen or line by line, and reported however it ends.
type session struct {
	sh     *shell
	run    attacker
	report *reporting
	look   look
	screen bool
	lesson bool
	again  func(*profiles.Profile) (attacker, error) // makes another run; nil: the run cannot begin anew

	stopper *stopper
}

// attack carries the run out and returns what the process shall end with.
func (s *session) attack(parent context.Context) error {
	defer s.report.out.discard()
	s.stopper = newStopper(parent, func() {
		s.report.out.discard()
		s.sh.terminal.restore(closed)
	})
	defer s.stopper.release()
	s.sh.hurry = s.stopper.ctx.Done()
	if s.screen && s.again != nil {
		s.run = newRerun(s.run, s.again)
	}
	if err := s.run.Start(s.stopper.ctx); err != nil {
		return err
	}
	// Whatever goes wrong from here on, what was measured is printed first.
	planned, fault := s.watch()
	s.run.Stop()
	if err := s.run.Wait(); fault == nil {
		fault = err
	}
	s.sh.terminal.restore(closed) // where it is stuck, a report that goes to a file needs not wait for it
	var shadows []*fairness.Report
	if live, ok := s.run.(interface{ Shadows() []*fairness.Report }); ok {
		shadows = live.Shadows()
	}
	if r, ok := s.run.(*rerun); ok && r.Anew() {
		planned = false // what the profile expects is about the run as it began
	}
	outcome := s.report.finish(s.sh, s.run.Report(), !planned, s.look, shadows...)
	if s.screen && s.report.out.path == "" && s.report.out.format == formatText {
		s.sh.note("fairgate: --format json or --output report.json gives all of it to programs")
	}
	switch stop := s.stopper.signal(); {
	case stop != nil:
		// A terminal that was closed is no fault, nor is a report that could not be written to it.
		return exitError(codeOfSignal(stop))
	case fault != nil:
		return fault // the terminal is whole, the report is out: now the error, with its stack when it was a panic
	}
	return outcome
}

// watch shows the run until it is over or somebody ends it. planned tells whether it came to its planned end. A panic is an error with its stack.
func (s *session) watch() (planned bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if s.screen {
		err = s.draw(s.stopper.ctx)
	} else {
		s.lines(s.stopper.ctx)
	}
	select {
	case <-s.run.Done():
		return s.stopper.ctx.Err() == nil && s.run.Wait() == nil, err
	default:
		return false, err
	}
}

// draw is the live screen. The report does not depend on it: a screen that fails only ends the run.
func (s *session) draw(ctx context.Context) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		<-s.run.Done()
		if s.run.Wait() != nil { // it ended by a fault, so nobody should go on watching
			leave()
		}
	}()
	dark := s.sh.darkBackground(s.look.theme)
	s.sh.terminal.draw(true)
	out := &patientFile{File: s.sh.out, hurry: either(ctx.Done(), s.run.Done())}
	t := newTuner(s.run)
	var lesson *tui.Lesson
	if t.endless = s.lesson; s.lesson {
		lesson = newLesson(t).screen()
	}
	exit, err := tui.Run(ctx, t, tui.Options{
		Keep: t.Keep, Save: t.Save, Settings: t.Settings, Lesson: lesson,
		Renderer: s.sh.renderer(s.sh.out, s.look.colour, dark), ASCII: s.look.ascii, Theme: s.look.theme, LightBackground: !dark,
	}, s.sh.in, out)
	if err == nil && !out.stuck.Load() {
		s.sh.terminal.draw(false) // it has cleaned up itself
	}
	if exit == tui.Interrupted {
		s.stopper.interrupt() // in a raw terminal Ctrl-C is a key; it shall mean what the signal means
	}
	return err
}

// lines writes the run's state once a second, for logs, pipes and dumb terminals.
func (s *session) lines(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.run.Done():
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			s.sh.note("%s", report.Line(snapshotOf(s.run), s.sh.width(s.sh.err)))
		}
	}
}

// snapshotOf is the picture that the user sees of a run. It is a variable so that a test can let it panic.
var snapshotOf = attacker.Snapshot
