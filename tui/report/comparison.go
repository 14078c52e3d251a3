package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairgate/fairness"
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
			if g.width() > p.Width {
				g = g.turned()
			}
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
	if g := c.shift(); c.Recorded && len(c.ran()) == 2 {
		p.blank()
		if len(g.rows) == 0 {
			p.line(p.paint("no figure changed from the first to the second", dim))
		} else {
			p.line(p.paint("what changed from the first to the second", dim))
			p.grid(g)
		}
	}
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
	if g := c.shift(); c.Recorded && len(g.rows) > 0 {
		markdownGrid(&b, "What changed from the first to the second", g)
	}
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
