package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/tui"
	"fairgate/tui/report"
)

// A session is one live run as the user meets it: watched on the screen or line by line, and reported however it ends.
type session struct {
	sh     *shell
	run    *attack.Run
	report *reporting
	look   look
	screen bool
}

// attack carries the run out and returns what the process shall end with.
func (s *session) attack(parent context.Context) (err error) {
	defer s.report.out.discard()
	ctx, release := stoppable(parent, func() {
		s.sh.terminal.restore()
		s.report.out.discard()
	})
	defer release()
	if err := s.run.Start(ctx); err != nil {
		return err
	}
	// Whatever goes wrong from here on, what was measured is printed first.
	planned, fault := s.watch(ctx)
	s.run.Stop()
	if err := s.run.Wait(); err != nil && fault == nil {
		fault = err
	}
	s.sh.terminal.restore()
	outcome := s.report.finish(s.sh, s.run.Report(), !planned, s.look)
	stop := signalOf(ctx)
	switch {
	case fault != nil && stop == nil:
		return fault // the terminal is whole, the report is out: now the error, with its stack when it was a panic
	case stop != nil:
		return exitError(codeOfSignal(stop))
	}
	return outcome
}

// watch shows the run until it is over or somebody ends it. planned tells whether it came to its planned end. A panic is an error with its stack.
func (s *session) watch(ctx context.Context) (planned bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if s.screen {
		err = s.draw(ctx)
	} else {
		s.lines(ctx)
	}
	select {
	case <-s.run.Done():
		return ctx.Err() == nil && s.run.Wait() == nil, err
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
	exit, err := tui.Run(ctx, live{s.run}, tui.Options{
		Renderer: s.sh.renderer(s.sh.out, s.look.colour, dark), ASCII: s.look.ascii, Theme: s.look.theme, LightBackground: !dark,
	}, s.sh.in, s.sh.out)
	if err == nil {
		s.sh.terminal.draw(false) // it has cleaned up itself
	}
	if exit == tui.Interrupted {
		// In a raw terminal Ctrl-C is a key; it shall mean what the signal means.
		return exitError(exitInterrupted)
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
			s.sh.note("%s", report.Line(s.run.Snapshot(), s.sh.width(s.sh.err)))
		}
	}
}

// live is an attack as the screen knows it.
type live struct{ run *attack.Run }

func (l live) Snapshot() *fairness.Snapshot { return l.run.Snapshot() }

func (l live) Do(c tui.Command) error {
	switch c := c.(type) {
	case tui.StepPolicy:
		return l.run.NextPolicy(c.By)
	case tui.ScaleRate:
		return l.run.Edit(func(p *profiles.Profile) {
			p.Limiter.Rate = p.Limiter.Rate.Scaled(c.Num, c.Den)
		})
	}
	return fmt.Errorf("this run cannot carry out %T", c)
}
