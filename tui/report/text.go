package report

import (
	"fmt"
	"strings"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
)

// Options of Text. The zero value is 80 columns, Unicode, no colour.
type Options struct {
	Renderer *lipgloss.Renderer // what may be coloured, and how richly; nil: nothing
	Width    int                // columns; at least 80
	ASCII    bool               // nothing but ASCII signs of our own
}

// Text is the report for people, with a table of what shadow policies would have done, where there are any.
func Text(r *fairness.Report, o Options, shadows ...*fairness.Report) string {
	p := page{Options: o}
	p.Width = max(p.Width, 80)
	p.head(r)
	p.blank()
	p.views(&r.Measures)
	p.blank()
	p.table(&r.Measures)
	p.blank()
	if len(shadows) > 0 {
		p.line(p.paint(shadowTitle, dim))
		p.grid(beside(r, shadows).each(satisfaction, twoDecimals, true, 6))
		p.blank()
	}
	p.refusals(&r.Measures)
	if len(r.ErrorsBy) > 0 {
		p.labelled("errors by kind", counts(r.ErrorsBy), warning)
	}
	p.generator(r)
	p.changes(r.Changes)
	p.stretches(r)
	p.expectations(r.Expectations)
	p.blank()
	p.verdict(r)
	if o.ASCII {
		return inASCII.Replace(p.String())
	}
	return p.String()
}

// inASCII are the signs that the report's own sentences use.
var inASCII = strings.NewReplacer("…", "~", "·", "-", "→", "->", "≥", ">=", "≤", "<=", "×", "x", "±", "+-", "÷", "/")

// A page is a text as it grows.
type page struct {
	strings.Builder
	Options
}

// paint colours s if that was asked for. The colours are blue and orange, which people of all kinds of sight tell apart.
func (p *page) paint(s string, m mood) string {
	if p.Renderer == nil || m == plain {
		return s
	}
	style := p.Renderer.NewStyle()
	switch m {
	case good:
		style = style.Foreground(lipgloss.AdaptiveColor{Light: "#005A8C", Dark: "#56B4E9"})
	case bad:
		style = style.Bold(true).Foreground(lipgloss.AdaptiveColor{Light: "#A84300", Dark: "#E69F00"})
	case warning:
		style = style.Foreground(lipgloss.AdaptiveColor{Light: "#A84300", Dark: "#E69F00"})
	case dim:
		style = style.Faint(true)
	case strong:
		style = style.Bold(true)
	}
	return style.Render(s)
}

func (p *page) line(s string) { p.WriteString(strings.TrimRight(s, " ") + "\n") }
func (p *page) blank()        { p.WriteByte('\n') }

// labelled writes a label and a text beside it, wrapped under itself.
func (p *page) labelled(label, text string, m mood) {
	const margin = 17
	for i, line := range wrap(text, p.Width-margin) {
		if i > 0 {
			label = ""
		}
		p.line(p.paint(left(label, margin), dim) + p.paint(line, m))
	}
}

func (p *page) head(r *fairness.Report) {
	for i, line := range wrap(fmt.Sprintf("fairgate %s: %s", clean(r.Profile), clean(r.Title)), p.Width) {
		if i == 0 {
			line = p.paint(line, strong)
		}
		p.line(line)
	}
	how := map[string]string{"live": "live run", "simulated": "simulation", "recorded": "recorded run", "served": "served"}[r.Mode]
	if how == "" {
		how = r.Mode
	}
	words := []string{how, r.Duration.Format(1) + " s", fmt.Sprintf("seed %d", r.Seed)}
	if r.Mode == "recorded" { // nothing was drawn at random
		words = words[:2]
	}
	switch {
	case r.Source != "" && r.Mode == "recorded":
		words = append(words, "from "+clean(r.Source))
	case r.Source != "":
		words = append(words, "profile "+clean(r.Source))
	}
	p.labelled("run", strings.Join(words, ", "), plain)
	p.labelled("limit", limit(&r.Limiter), plain)
	if r.Target != nil {
		for i, sentence := range target(r) {
			p.labelled([]string{"target", ""}[min(i, 1)], sentence, plain)
		}
	}
}

// views are the two headlines, one under the other, so that the eye compares the two words at their head.
func (p *page) views(m *fairness.Measures) {
	const margin, word = 17, 13
	write := func(label, text, status string, md mood) {
		for i, line := range wrap(text, p.Width-margin-word) {
			if i == 0 {
				p.line(p.paint(left(label, margin), strong) + p.paint(left(md.mark(p.ASCII)+" "+status, word), md) + line)
			} else {
				p.line(left("", margin+word) + line)
			}
		}
	}
	text, status, md := monitoring(&m.Aggregate)
	write("monitoring sees", text, status, md)
	text, status, md = clientsSee(m)
	write("the clients see", text, status, md)
}

// refusals say what came of the attempts, what refused clients were told, what they would have needed, and which limits refused.
func (p *page) refusals(m *fairness.Measures) {
	a := &m.Aggregate
	p.labelled("attempts", attempts(a), plain)
	if a.RejectedCount == 0 {
		return
	}
	by, told := map[string]int64{}, map[string]int64{}
	var silent int64
	needed, whose := fairness.None, ""
	for i := range m.Clients {
		c := &m.Clients[i]
		for name, n := range c.RejectedBy {
			by[name] += n
		}
		var said int64
		for _, t := range c.RetryAfter.Told {
			told[fmt.Sprintf("%d s", t.Seconds)] += t.Count
			said += t.Count
		}
		silent += max(0, c.Rejected-said)
		if n := c.RetryAfter.Needed.P99; n.Exists() && (!needed.Exists() || n > needed) {
			needed, whose = n, c.Name
		}
	}
	if list := parts(by); len(list) > 0 { // a target seldom says
		p.labelled("rejected by", shares(list), plain)
	}
	if silent > 0 {
		told["nothing"] = silent
	}
	list := parts(told)
	if len(list) > 5 {
		rest := fairness.Number(0)
		for _, q := range list[5:] {
			rest += q.Of
		}
		list = append(list[:5:5], part{fmt.Sprintf("%d others", len(list)-5), rest})
	}
	p.labelled("Retry-After said", shares(list), plain)
	if needed.Exists() {
		p.labelled("was needed", fmt.Sprintf("a wait of at most %s for 99 of 100 rejections (%s)", milliseconds(needed), clean(whose)), plain)
	}
}

// generator says how far the load can be trusted.
func (p *page) generator(r *fairness.Report) {
	g := &r.Generator
	if r.Mode != "live" {
		return
	}
	text := honesty(g)
	m := plain
	if g.Achieved.Exists() && g.Achieved < 0.99 {
		text += ": this machine did not keep up, so trust the figures less"
		m = warning
	}
	p.labelled("generator", text, m)
}

func (p *page) changes(changes []fairness.Change) {
	for i, c := range changes {
		label := ""
		if i == 0 {
			label = "changed"
		}
		p.labelled(label, fmt.Sprintf("at %s s: %s", c.T.Format(1), clean(c.What)), plain)
	}
}

// stretches are the parts of a run that was changed on the way, since figures over the whole of it mix what should be compared.
func (p *page) stretches(r *fairness.Report) {
	for i := range r.Stretches {
		s := &r.Stretches[i]
		text, _, m := clientsSee(&s.Measures)
		p.labelled(fmt.Sprintf("%s-%s s", s.From.Format(1), s.To.Format(1)),
			fmt.Sprintf("%s %s: %s; admitted %s", m.mark(p.ASCII), s.Fairness.Verdict, text, rate(s.Aggregate.Admitted)), m)
	}
}

func (p *page) expectations(list []fairness.Expectation) {
	for i, e := range list {
		label := ""
		if i == 0 {
			label = "expected"
		}
		text, m := expectation(e)
		p.labelled(label, m.mark(p.ASCII)+" "+text, m)
	}
}

// expectation is an expectation with its value and what came of it.
func expectation(e fairness.Expectation) (string, mood) {
	switch expr := clean(e.Expr); {
	case e.OK == nil:
		return expr + ": not judged, since the run was not as the profile says", plain
	case *e.OK:
		return expr + ": met (" + rateDigits(e.Value) + ")", good
	default:
		return expr + ": not met (" + rateDigits(e.Value) + ")", bad
	}
}

func (p *page) verdict(r *fairness.Report) {
	m := moodOf(r.Fairness.Verdict)
	p.labelled("verdict", string(r.Fairness.Verdict)+": "+clean(r.Fairness.Why), m)
	for i, sentence := range evidence(r) {
		label := ""
		if i == 0 {
			label = "evidence"
		}
		p.labelled(label, clean(sentence), plain)
	}
	if text := cure(r); text != "" {
		p.labelled("what to do", clean(text), plain)
	}
}
