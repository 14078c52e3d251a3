package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
)

// A Lesson is what a teacher walks through, with what came of each step: a handout. Its texts are final, the numbers of the runs filled in.
type Lesson struct {
	Profile, Title, About string
	Planned               int // steps that there are; fewer were run when somebody interrupted it
	Steps                 []LessonStep
}

// A LessonStep is what is said and asked before a run, the run, and what is said after it.
type LessonStep struct {
	Say     string
	Set     []string // what was changed, in words, one change each
	Ask     string
	Choices []string
	Report  *fairness.Report
	Reveal  string
}

// lessonWidth is how wide a handout's texts are: it is read on paper too.
const lessonWidth = 80

// choiceLetter is how the i-th choice is named, from 0: a, b, c …
func choiceLetter(i int) string { return string(rune('a' + i)) }

// LessonText is a handout for people, 80 columns wide.
func LessonText(l *Lesson, o Options) string {
	p := page{Options: o}
	p.Width = lessonWidth
	for _, line := range wrap(fmt.Sprintf("fairgate %s: %s", clean(l.Profile), clean(l.Title)), p.Width) {
		p.line(p.paint(line, strong))
	}
	p.line(p.paint("a lesson of "+plural(int64(l.Planned), "step")+", each simulated", dim))
	if l.About != "" {
		p.blank()
		p.paragraph("", l.About)
	}
	for i := range l.Steps {
		p.blank()
		p.lessonStep(i+1, l.Planned, &l.Steps[i])
	}
	if o.ASCII {
		return inASCII.Replace(p.String())
	}
	return p.String()
}

func (p *page) lessonStep(number, of int, s *LessonStep) {
	head := fmt.Sprintf("Step %d of %d", number, of)
	rule := "─"
	if p.ASCII {
		rule = "-"
	}
	p.line(p.paint(head, strong) + " " + p.paint(strings.Repeat(rule, p.Width-1-len(head)), dim))
	p.blank()
	if s.Say != "" {
		p.paragraph("", s.Say)
		p.blank()
	}
	for i, change := range s.Set {
		label := ""
		if i == 0 {
			label = "set"
		}
		p.labelled(label, clean(change), strong)
	}
	p.labelled("the limit", limit(&s.Report.Limiter), plain)
	if s.Ask != "" {
		p.blank()
		p.paragraph("? ", s.Ask)
		for i, choice := range s.Choices {
			p.paragraph("    "+choiceLetter(i)+") ", choice)
		}
	}
	p.blank()
	p.views(&s.Report.Measures)
	p.blank()
	p.table(&s.Report.Measures)
	if s.Reveal != "" {
		p.blank()
		p.paragraph("→ ", s.Reveal)
	}
}

// paragraph writes a text under a sign that stands before its first line; the lines below it are set in as far.
func (p *page) paragraph(sign, text string) {
	margin := lipgloss.Width(sign)
	for i, line := range wrap(clean(text), p.Width-margin) {
		if i > 0 {
			sign = strings.Repeat(" ", margin)
		}
		p.line(p.paint(sign, strong) + line)
	}
}

// LessonMarkdown is a handout as Markdown: a heading for each step, questions as quotations with lettered choices, and tables.
func LessonMarkdown(l *Lesson) string {
	var b strings.Builder
	text := func(s string) string {
		lines := wrap(inMarkdown(s), lessonWidth)
		for i := range lines {
			lines[i] = beginning(lines[i])
		}
		return strings.Join(lines, "\n") + "\n"
	}
	fmt.Fprintf(&b, "# %s\n", inMarkdown(l.Title))
	if l.About != "" {
		b.WriteString("\n" + text(l.About))
	}
	fmt.Fprintf(&b, "\n*Profile %s: a lesson of %s, each simulated.*\n", inMarkdown(l.Profile), plural(int64(l.Planned), "step"))
	for i := range l.Steps {
		s := &l.Steps[i]
		fmt.Fprintf(&b, "\n## Step %d of %d\n", i+1, l.Planned)
		if s.Say != "" {
			b.WriteString("\n" + text(s.Say))
		}
		if len(s.Set) > 0 {
			b.WriteString("\nSet:\n\n")
			for _, change := range s.Set {
				fmt.Fprintf(&b, "- %s\n", inMarkdown(change))
			}
		}
		if s.Ask != "" {
			fmt.Fprintf(&b, "\n> **%s**\n", inMarkdown(s.Ask))
			for i, choice := range s.Choices {
				if i == 0 {
					b.WriteString(">\n")
				}
				fmt.Fprintf(&b, "> - %s) %s\n", choiceLetter(i), inMarkdown(choice))
			}
		}
		b.WriteString("\n### What came of it\n\n")
		markdownViews(&b, &s.Report.Measures)
		b.WriteByte('\n')
		markdownClients(&b, &s.Report.Measures)
		fmt.Fprintf(&b, "\nThe limit: %s. %s s with seed %d.\n", inMarkdown(limit(&s.Report.Limiter)), s.Report.Duration.Format(0), s.Report.Seed)
		if s.Reveal != "" {
			b.WriteString("\n" + text(s.Reveal))
		}
	}
	return b.String()
}

// beginning is Markdown as a line may begin with it: a number with a point, or a dash, would begin a list.
func beginning(s string) string {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if rest := s[digits:] + " "; digits > 0 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return s[:digits] + `\` + s[digits:]
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "=") {
		return `\` + s
	}
	return s
}

// LessonJSON is {"schema":1,"profile":…,"title":…,"about":…,"steps":[{"say","set","ask","choices","reveal","report"}]}; the reports have no timelines.
func LessonJSON(l *Lesson) ([]byte, error) {
	type step struct {
		Say     string          `json:"say"`
		Set     []string        `json:"set"`
		Ask     string          `json:"ask"`
		Choices []string        `json:"choices"`
		Reveal  string          `json:"reveal"`
		Report  json.RawMessage `json:"report"`
	}
	doc := struct {
		Schema  int    `json:"schema"`
		Profile string `json:"profile"`
		Title   string `json:"title"`
		About   string `json:"about"`
		Steps   []step `json:"steps"`
	}{Schema: 1, Profile: l.Profile, Title: l.Title, About: l.About, Steps: []step{}}
	for i := range l.Steps {
		s := &l.Steps[i]
		run, err := WithoutTimeline(s.Report)
		if err != nil {
			return nil, err
		}
		doc.Steps = append(doc.Steps, step{Say: s.Say, Set: some(s.Set), Ask: s.Ask, Choices: some(s.Choices), Reveal: s.Reveal, Report: run})
	}
	return Encode(doc, 3)
}
