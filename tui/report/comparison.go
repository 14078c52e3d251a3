package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
)

// A Comparison is the same clients under several settings, or otherwise several runs that shall be seen beside each other.
type Comparison struct {
	Profile  string
	Variants []Variant
	Recorded bool   // the variants were not made to be compared, so that what differs between them has to be said
	Best     int    // the one that one would take; −1: none
	Why      string // one sentence on that choice
}

// A Variant is one of the runs of a comparison.
type Variant struct {
	Name   string
	Report *fairness.Report // nil: it could not be run, and Err says why
	Err    string
}

// A grid is a table of cells, some of them the best of their column.
type grid struct {
	heads []string
	rows  [][]string
	best  [][]bool
	moods []mood // of the rows
}

// measuresOf a comparison are its columns: how a variant's figure is written, and which is better.
var measuresOf = []struct {
	head   string
	of     func(*fairness.Report) fairness.Number
	write  func(fairness.Number) string
	better int // 1: more is better; -1: less is; 0: neither
	atMost fairness.Number
}{
	{"worst", func(r *fairness.Report) fairness.Number { return r.Fairness.MinSatisfaction }, twoDecimals, 1, 1},
	{"Jain", func(r *fairness.Report) fairness.Number { return r.Fairness.Jain }, twoDecimals, 1, 1},
	{"used", func(r *fairness.Report) fairness.Number { return r.Aggregate.Utilization }, percent, 1, 1},
	{"rejected", func(r *fairness.Report) fairness.Number { return r.Aggregate.Rejected }, rate, -1, 0},
	{"wait p99", worstWait, milliseconds, -1, 0},
	{"att/req", amplification, twoDecimals, -1, 0},
}

func twoDecimals(n fairness.Number) string { return n.Format(2) }

// worstWait is the longest of the clients' 99th percentiles of waiting in a queue.
func worstWait(r *fairness.Report) fairness.Number {
	worst := fairness.None
	for i := range r.Clients {
		if w := r.Clients[i].QueueWait.P99; w.Exists() && (!worst.Exists() || w > worst) {
			worst = w
		}
	}
	return worst
}

// amplification of all clients together.
func amplification(r *fairness.Report) fairness.Number {
	if r.Aggregate.Requests == 0 {
		return fairness.None
	}
	return fairness.Number(r.Aggregate.Attempts) / fairness.Number(r.Aggregate.Requests)
}

// ran are the variants that have a report.
func (c *Comparison) ran() []*Variant {
	var list []*Variant
	for i := range c.Variants {
		if c.Variants[i].Report != nil {
			list = append(list, &c.Variants[i])
		}
	}
	return list
}

// wholes is the table of the whole runs.
func (c *Comparison) wholes() grid {
	g := grid{heads: []string{"", "verdict"}}
	for _, m := range measuresOf {
		g.heads = append(g.heads, m.head)
	}
	ran := c.ran()
	for _, v := range ran {
		row, best := []string{clean(v.Name), string(v.Report.Fairness.Verdict)}, []bool{false, false}
		for _, m := range measuresOf {
			row = append(row, m.write(m.of(v.Report)))
			best = append(best, isBest(m.of(v.Report), ran, m.of, m.better, m.atMost))
		}
		g.rows, g.best, g.moods = append(g.rows, row), append(g.best, best), append(g.moods, moodOf(v.Report.Fairness.Verdict))
	}
	return g
}

// isBest reports whether n is, as it is printed to two digits, the best of its column, and not simply like all others. What lies beyond atMost (when that
// is not 0) is not better than it.
func isBest(n fairness.Number, ran []*Variant, of func(*fairness.Report) fairness.Number, better int, atMost fairness.Number) bool {
	clamp := func(n fairness.Number) float64 {
		v := n.Float(0)
		if atMost > 0 {
			v = min(v, atMost.Float(0))
		}
		return v * float64(better)
	}
	const alike = 0.005
	if !n.Exists() || better == 0 {
		return false
	}
	differs := false
	for _, v := range ran {
		other := of(v.Report)
		if !other.Exists() {
			continue
		}
		within := alike * max(1, abs(clamp(other)))
		if clamp(other) > clamp(n)+within {
			return false
		}
		differs = differs || clamp(other) < clamp(n)-within
	}
	return differs
}

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}

// each is the table of one figure of each client, in the variants; the clients are the columns.
func (c *Comparison) each(of func(*fairness.ClientMeasures) fairness.Number, write func(fairness.Number) string, mark bool, most int) grid {
	ran := c.ran()
	g := grid{heads: []string{""}}
	if len(ran) == 0 {
		return g
	}
	var union fairness.Measures // of all variants, since recorded runs need not have the same clients
	known := map[string]bool{}
	for _, v := range ran {
		for _, client := range v.Report.Clients {
			if !known[client.Name] {
				known[client.Name] = true
				union.Clients = append(union.Clients, client)
			}
		}
	}
	shown, left := chosen(&union)
	if len(shown) > most {
		left += len(shown) - most
		shown = shown[:most]
	}
	for _, client := range shown {
		g.heads = append(g.heads, clean(client.Name))
	}
	if left > 0 {
		g.heads = append(g.heads, fmt.Sprintf("+%d", left))
	}
	for _, v := range ran {
		row, best := []string{clean(v.Name)}, []bool{false}
		for _, client := range shown {
			figure := func(r *fairness.Report) fairness.Number {
				for i := range r.Clients {
					if r.Clients[i].Name == client.Name {
						return of(&r.Clients[i])
					}
				}
				return fairness.None
			}
			n := figure(v.Report)
			row = append(row, write(n))
			best = append(best, mark && isBest(n, ran, figure, 1, 1))
		}
		if left > 0 {
			row, best = append(row, ""), append(best, false)
		}
		g.rows, g.best, g.moods = append(g.rows, row), append(g.best, best), append(g.moods, moodOf(v.Report.Fairness.Verdict))
	}
	return g
}

func satisfaction(c *fairness.ClientMeasures) fairness.Number { return c.Satisfaction }
func admitted(c *fairness.ClientMeasures) fairness.Number     { return c.AdmittedRate }

// beside is a report and those of its shadow policies as a comparison.
func beside(r *fairness.Report, shadows []*fairness.Report) *Comparison {
	c := &Comparison{Profile: r.Profile, Best: -1, Variants: []Variant{{Name: r.Limiter.Policy + " (in force)", Report: r}}}
	for _, s := range shadows {
		c.Variants = append(c.Variants, Variant{Name: s.Limiter.Policy, Report: s})
	}
	return c
}

// shadowTitle introduces the table of the shadow policies.
const shadowTitle = "satisfied, had other policies decided on the same attempts"

// ComparisonText is a comparison for people. The best of each column is marked with a star.
func ComparisonText(c *Comparison, o Options) string {
	p := page{Options: o}
	p.Width = max(p.Width, 80)
	if c.Recorded {
		p.line(p.paint("fairgate: "+plural(int64(len(c.ran())), "report"), strong))
		p.blank()
		if g := c.differences(); len(g.heads) > 1 {
			p.line(p.paint("what differs", dim))
			p.grid(g)
			p.blank()
		}
	} else {
		p.line(p.paint("fairgate "+clean(c.Profile)+": the same clients, "+plural(int64(len(c.ran())), "variant"), strong))
		p.blank()
	}
	p.grid(c.wholes())
	p.blank()
	p.line(p.paint("satisfied: the part of its due that each client got", dim))
	p.grid(c.each(satisfaction, twoDecimals, true, 6))
	p.blank()
	p.line(p.paint("gets/s", dim))
	p.grid(c.each(admitted, rateDigits, false, 6))
	for _, v := range c.Variants {
		if v.Report == nil {
			p.blank()
			p.labelled(clean(v.Name), "could not be run: "+clean(v.Err), warning)
		}
	}
	if c.Why != "" {
		p.blank()
		p.labelled("what to do", clean(c.Why), strong)
	}
	if o.ASCII {
		return inASCII.Replace(p.String())
	}
	return p.String()
}

// grid writes a table: the first column at the left, a verdict too, numbers at the right, a star behind the best.
func (p *page) grid(g grid) {
	widths := make([]int, len(g.heads))
	cell := func(row, col int) string {
		s := g.rows[row][col]
		if col >= 1 && g.heads[col] != "verdict" {
			if g.best[row][col] {
				return s + "*"
			}
			return s + " "
		}
		return s
	}
	for col, head := range g.heads {
		widths[col] = lipgloss.Width(head)
		if col >= 1 && head != "verdict" {
			widths[col]++
		}
		for row := range g.rows {
			widths[col] = max(widths[col], lipgloss.Width(cell(row, col)))
		}
	}
	head := ""
	for col, h := range g.heads {
		switch {
		case col == 0:
			head += left(h, widths[col])
		case h == "verdict":
			head += "  " + left("  "+h, widths[col]+2)
		default:
			head += "  " + right(h+" ", widths[col])
		}
	}
	p.line(p.paint(strings.TrimRight(head, " "), dim))
	for row := range g.rows {
		line := p.paint(left(cell(row, 0), widths[0]), strong)
		for col := 1; col < len(g.heads); col++ {
			switch {
			case g.heads[col] == "verdict":
				m := g.moods[row]
				line += "  " + p.paint(left(left(m.mark(p.ASCII), 2)+cell(row, col), widths[col]+2), m)
			case g.best[row][col]:
				line += "  " + p.paint(right(cell(row, col), widths[col]), good)
			default:
				line += "  " + right(cell(row, col), widths[col])
			}
		}
		p.line(line)
	}
}

// ComparisonMarkdown is a comparison as tables; the best of each column is bold.
func ComparisonMarkdown(c *Comparison) string {
	var b strings.Builder
	if c.Recorded {
		fmt.Fprintf(&b, "# fairgate: %s\n", plural(int64(len(c.ran())), "report"))
	} else {
		fmt.Fprintf(&b, "# fairgate: %s compared\n", inMarkdown(c.Profile))
	}
	if g := c.differences(); c.Recorded && len(g.heads) > 1 {
		markdownGrid(&b, "What differs", g)
	}
	markdownGrid(&b, "Each run as a whole", c.wholes())
	markdownGrid(&b, "Satisfied: the part of its due that each client got", c.each(satisfaction, twoDecimals, true, mostRows))
	markdownGrid(&b, "Gets per second", c.each(admitted, rateDigits, false, mostRows))
	for _, v := range c.Variants {
		if v.Report == nil {
			fmt.Fprintf(&b, "\n%s could not be run: %s\n", inMarkdown(v.Name), inMarkdown(v.Err))
		}
	}
	if c.Why != "" {
		fmt.Fprintf(&b, "\n**%s**\n", inMarkdown(c.Why))
	}
	return b.String()
}

// markdownGrid writes a table under a title; the best of each column is bold.
func markdownGrid(b *strings.Builder, title string, g grid) {
	fmt.Fprintf(b, "\n%s\n\n|", title)
	for _, h := range g.heads {
		b.WriteString(" " + inMarkdown(h) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(g.heads)-1) + "\n")
	for row := range g.rows {
		b.WriteString("|")
		for col, s := range g.rows[row] {
			s = inMarkdown(s)
			if g.best[row][col] {
				s = "**" + s + "**"
			}
			b.WriteString(" " + s + " |")
		}
		b.WriteByte('\n')
	}
}

// ComparisonJSON is {"schema":1,"profile":…,"runs":[a report without its timeline for each variant]}, with the choice beside it.
func ComparisonJSON(c *Comparison) ([]byte, error) {
	type skipped struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
	doc := struct {
		Schema  int               `json:"schema"`
		Profile string            `json:"profile"`
		Names   []string          `json:"names"` // of the runs
		Runs    []json.RawMessage `json:"runs"`
		Skipped []skipped         `json:"skipped"` // what could not be run
		Best    *string           `json:"best"`
		Why     string            `json:"why"`
	}{Schema: 1, Profile: c.Profile, Names: []string{}, Runs: []json.RawMessage{}, Skipped: []skipped{}, Why: c.Why}
	for i, v := range c.Variants {
		if v.Report == nil {
			doc.Skipped = append(doc.Skipped, skipped{v.Name, v.Err})
			continue
		}
		run, err := WithoutTimeline(v.Report)
		if err != nil {
			return nil, err
		}
		doc.Names, doc.Runs = append(doc.Names, v.Name), append(doc.Runs, run)
		if i == c.Best {
			doc.Best = &c.Variants[i].Name
		}
	}
	return Encode(doc, 2)
}

// WithoutTimeline is a report's JSON, in one line, without the key "timeline".
func WithoutTimeline(r *fairness.Report) (json.RawMessage, error) {
	return json.Marshal(struct {
		*fairness.Report
		Timeline *struct{} `json:"timeline,omitempty"` // lies above the report's own and is left out
	}{Report: whole(r)})
}
