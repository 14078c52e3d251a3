package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/profiles"
	"fairgate/tui/report"
)

// repeat is `simulate --runs`: the same with several seeds, and what came of it on average.
func (s *simulate) repeat(sh *shell, p *profiles.Profile, altered bool) error {
	if err := s.report.prepare(p, altered); err != nil {
		return err
	}
	if err := s.report.out.notAsPage("an average over seeds"); err != nil {
		return err
	}
	defer s.report.out.discard()
	stop := newStopper(context.Background(), s.report.out.discard)
	defer stop.release()
	bar := newProgress(sh)
	all, err := attack.Repeat(stop.ctx, p, int(s.runs), bar.part)
	bar.clear()
	early := errors.Is(err, context.Canceled)
	if err != nil && !early {
		return err
	}
	var failed []string
	for _, r := range all.Reports {
		if text := s.report.judge(r, !early && !altered); text != "" {
			failed = append(failed, fmt.Sprintf("seed %d: %s", r.Seed, text))
		}
	}
	expected := tallied(all.Reports)
	err = s.report.out.writeAs(sh, s.look, func(report.Options) ([]byte, error) {
		switch s.report.out.format {
		case formatJSON:
			return report.Encode(struct {
				*attack.Repetition
				Expectations []repeated `json:"expectations"`
			}{all, expected}, 2)
		case formatMarkdown:
			return []byte(repetition(all, expected, true)), nil
		}
		return []byte(repetition(all, expected, false)), nil
	})
	if err != nil {
		return err
	}
	if sig := stop.signal(); sig != nil {
		return exitError(codeOfSignal(sig))
	}
	if len(failed) > 0 {
		const most = 5
		if n := len(failed); n > most {
			failed = append(failed[:most], fmt.Sprintf("and with %d seeds more", n-most))
		}
		sh.note("fairgate: not met: %s", strings.Join(failed, "; "))
		return exitError(exitExpectation)
	}
	return nil
}

// A repeated expectation is one over several runs.
type repeated struct {
	Expr   string          `json:"expr"`
	Met    int             `json:"met"`    // runs in which it was met
	Judged int             `json:"judged"` // runs in which it counted
	Least  fairness.Number `json:"least"`  // value of all runs
	Most   fairness.Number `json:"most"`
}

// tallied sums the expectations of runs of one profile up.
func tallied(reports []*fairness.Report) []repeated {
	all := []repeated{}
	for _, r := range reports {
		for i, e := range r.Expectations {
			if i == len(all) {
				all = append(all, repeated{Expr: e.Expr, Least: fairness.None, Most: fairness.None})
			}
			one := &all[i]
			if e.OK != nil {
				one.Judged++
				if *e.OK {
					one.Met++
				}
			}
			if v := e.Value; v.Exists() {
				if !one.Least.Exists() || v < one.Least {
					one.Least = v
				}
				if !one.Most.Exists() || v > one.Most {
					one.Most = v
				}
			}
		}
	}
	return all
}

// String is what came of it: "jain > 0.9: met in 18 of 20 (0.41 to 0.97)".
func (r repeated) String() string {
	if r.Judged == 0 {
		return r.Expr + ": not judged"
	}
	return fmt.Sprintf("%s: met in %d of %d (%s to %s)", r.Expr, r.Met, r.Judged, r.Least.Format(3), r.Most.Format(3))
}
