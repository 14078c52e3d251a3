package cli

import (
	"context"
	"errors"
	"time"

	"fairgate/attack"
	"fairgate/profiles"
	"fairgate/tui/report"
)

// handout is `simulate --lesson`: a profile's lesson, each step simulated, with the numbers of its run in its texts.
func (s *simulate) handout(sh *shell, p *profiles.Profile, altered bool) error {
	switch {
	case len(p.Lesson) == 0:
		return wrong("profile %s has no lesson: give it one (a list of steps, as fairgate profiles starvation shows), or take a built-in profile, which all have one", p.Name)
	case len(s.shadow) > 0:
		return wrong("--shadow scores one run, and a lesson has one for each step: leave one of them out")
	case s.runs > 0:
		return wrong("--runs averages one run over many seeds, and a lesson has a run for each step: leave one of them out")
	case len(s.report.expect) > 0:
		return wrong("--expect judges one run, and a lesson has one for each step: leave one of them out")
	}
	if altered {
		sh.note("fairgate: the lesson's texts speak of the profile without these flags")
	}
	if err := s.report.out.open(); err != nil {
		return err
	}
	if err := s.report.out.notAsPage("a lesson"); err != nil {
		return err
	}
	defer s.report.out.discard()
	stop := newStopper(context.Background(), s.report.out.discard)
	defer stop.release()
	bar := newProgress(sh)
	lesson, err := walk(stop.ctx, p, bar.part)
	bar.clear()
	early := errors.Is(err, context.Canceled)
	if err != nil && !early {
		return err
	}
	if early {
		sh.note("fairgate: interrupted after %s of %d", counted(len(lesson.Steps), "step", "steps"), lesson.Planned)
	}
	err = s.report.out.writeAs(sh, s.look, func(text report.Options) ([]byte, error) {
		switch s.report.out.format {
		case formatJSON:
			return report.LessonJSON(lesson)
		case formatMarkdown:
			return []byte(report.LessonMarkdown(lesson)), nil
		}
		return []byte(report.LessonText(lesson, text)), nil
	})
	if err != nil {
		return err
	}
	if sig := stop.signal(); sig != nil {
		return exitError(codeOfSignal(sig))
	}
	return nil
}

// walk goes through a lesson as a teacher would: each step changes what the step before left, and is simulated from the beginning. When ctx ends it
// returns the steps that are complete, with the context's error.
func walk(ctx context.Context, p *profiles.Profile, progress func(float64)) (*report.Lesson, error) {
	lesson := &report.Lesson{Profile: p.Name, Title: p.Title, About: p.About, Planned: len(p.Lesson)}
	var was []byte // the report of the step before
	for i := range p.Lesson {
		step := &p.Lesson[i]
		next, err := step.Apply(p)
		if err != nil {
			return lesson, wrong("with these flags the lesson cannot be walked through: %v", err)
		}
		set, err := changes(p, next)
		if err != nil {
			return lesson, err
		}
		p = next
		r, err := attack.Simulate(ctx, p, attack.SimulateOptions{Progress: func(done time.Duration) {
			progress((float64(i) + float64(done)/float64(p.Duration)) / float64(len(p.Lesson)))
		}})
		if err != nil {
			return lesson, err
		}
		r.Source = p.Source
		now, err := report.WithoutTimeline(r)
		if err != nil {
			return lesson, err
		}
		reveal, err := profiles.Fill(step.Reveal, now, was)
		if err != nil {
			return lesson, err
		}
		lesson.Steps = append(lesson.Steps, report.LessonStep{Say: step.Say, Set: set, Ask: step.Ask, Choices: step.Choice, Report: r, Reveal: reveal})
		was = now
	}
	return lesson, nil
}
