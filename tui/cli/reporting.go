package cli

import (
	"fmt"
	"os"
	"strings"

	"fairgate/fairness"
	"fairgate/profiles"
)

// reporting is what becomes of a report: where it goes, in which format, and what is expected of it.
type reporting struct {
	out    output
	expect []string // of --expect

	asked   []fairness.Condition // of --expect; they always count
	own     []fairness.Condition // of the profile; they count while the run is what the profile says
	altered bool                 // flags have made limiter or clients other than the profile says
	source  string
}

func (r *reporting) flags(g *flagGroups) {
	fs := g.group("The report")
	r.out.flags(fs)
	fs.StringArrayVar(&r.expect, "expect", nil, "what `EXPR` says, as 'jain >= 0.9' or 'web.satisfaction > 0.9', must come true, or the exit code is 3; may be repeated")
}

// prepare understands all expectations and gets the output ready, before anything runs.
func (r *reporting) prepare(p *profiles.Profile, altered bool) error {
	var names []string
	for _, c := range p.Expand() {
		names = append(names, c.Name)
	}
	for _, expr := range r.expect {
		c, err := fairness.ParseExpectation(expr, names)
		if err != nil {
			return wrong("--expect: %v", err)
		}
		r.asked = append(r.asked, c)
	}
	for _, expr := range p.Expect {
		c, err := fairness.ParseExpectation(expr, names)
		if err != nil {
			return wrong("profile %s: expect: %v", p.Source, err)
		}
		r.own = append(r.own, c)
	}
	r.altered, r.source = altered, p.Source
	if sameFile(r.out.path, p.Source) {
		return wrong("--output %s is the profile itself, which the report would replace: name another file", r.out.path)
	}
	return r.out.open()
}

// sameFile reports whether two names, or what they link to, are one file that exists.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// judge fills in a report's source and expectations. asIs tells that the run was what the profile says, to its planned end. It returns what was not
// met, in words, or "".
func (r *reporting) judge(rep *fairness.Report, asIs bool) string {
	rep.Source = r.source
	rep.Expectations = []fairness.Expectation{}
	for _, c := range r.own {
		e := c.Skip()
		if asIs {
			e = c.Judge(rep)
		}
		rep.Expectations = append(rep.Expectations, e)
	}
	for _, c := range r.asked {
		rep.Expectations = append(rep.Expectations, c.Judge(rep))
	}
	return unmet(rep.Expectations)
}

// finish judges what was expected, writes the report, and returns what the process shall end with. early tells that the run
// did not come to its planned end.
func (r *reporting) finish(sh *shell, rep *fairness.Report, early bool, l look, shadows ...*fairness.Report) error {
	failed := r.judge(rep, !early && !r.altered && len(rep.Changes) == 0)
	if err := r.out.write(sh, rep, l, shadows...); err != nil {
		return err
	}
	sh.terminal.restore(sh.hurry) // a stuck terminal was left alone until the report was safe
	if r.out.path != "" && r.out.path != "-" {
		sh.note("fairgate: %s: %s (report in %s)", rep.Fairness.Verdict, rep.Fairness.Why, r.out.path)
	}
	if failed != "" {
		sh.note("fairgate: not met: %s", failed)
		return exitError(exitExpectation)
	}
	return nil
}

// unmet says which expectations were not met.
func unmet(list []fairness.Expectation) string {
	var failed []string
	for _, e := range list {
		if e.OK != nil && !*e.OK {
			failed = append(failed, fmt.Sprintf("%s (it is %s)", e.Expr, e.Value.Format(4)))
		}
	}
	return strings.Join(failed, ", ")
}
