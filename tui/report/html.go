package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"fairgate/fairness"
)

// HTML is the report as one page that needs nothing else: no script, no font, no picture from anywhere. It is read on a screen of any
// width, light or dark, and on paper; and it is well-formed XML, so that other programs can read it too.
//
// All that comes from profiles and recordings, as names and titles, goes through html/template, which escapes it where it stands.
func HTML(r *fairness.Report, shadows ...*fairness.Report) ([]byte, error) {
	p := htmlPage{
		Style: pageStyle, Title: clean(r.Profile) + ": " + clean(r.Title), Name: clean(r.Profile), Heading: clean(r.Title),
		About: strings.Join(about(r), " · "), Mood: moodOf(r.Fairness.Verdict).class(), Verdict: string(r.Fairness.Verdict), Why: clean(r.Fairness.Why),
		Cure: clean(cmp.Or(r.Diagnosis.Cure.Text, r.Fairness.Advice)), Views: htmlViews(r), Clients: htmlClients(&r.Measures), Facts: htmlFacts(r),
	}
	if policy := r.Diagnosis.Cure.Policy; policy != "" && r.Diagnosis.Cure.Text != "" {
		p.Flag = "--policy " + clean(policy)
	}
	for _, sentence := range evidence(r) {
		p.Evidence = append(p.Evidence, clean(sentence))
	}
	for i, c := range r.Changes {
		p.Changes = append(p.Changes, htmlChange{Number: i + 1, At: c.T.Format(1) + " s", What: clean(c.What)})
	}
	p.Together, p.Each, p.EachMore = plots(r)
	p.Told, p.Needed, p.NeededText = waits(&r.Measures)
	for i := range r.Stretches {
		s := &r.Stretches[i]
		text, _, m := clientsSee(&s.Measures)
		p.Stretches = append(p.Stretches, htmlStretch{
			Span: s.From.Format(1) + " to " + s.To.Format(1) + " s", Policy: clean(s.Limiter.Policy), Verdict: string(s.Fairness.Verdict), Mood: m.class(), Mark: m.mark(false),
			Text: text, Admitted: rate(s.Aggregate.Admitted),
		})
	}
	for _, e := range r.Expectations {
		text, m := expectation(e)
		p.Expectations = append(p.Expectations, htmlLine{Mood: m.class(), Mark: m.mark(false), Text: text})
	}
	if len(shadows) > 0 {
		p.Grids = append(p.Grids, gridOf("Had other policies decided on the same attempts",
			"The part of its due that each client would have got; nobody obeyed them.", beside(r, shadows).each(satisfaction, twoDecimals, true, mostRows)))
	}
	return render("page", p)
}

//go:embed page.html
var pageText string

//go:embed page.css
var pageCSS string

var (
	pageStyle    = template.CSS(pageCSS) // ours: it may stand in the page as it is
	pageTemplate = template.Must(template.New("").Parse(pageText))
)

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("report as HTML: %w", err)
	}
	return b.Bytes(), nil
}

// htmlPage is all that the template shows. Its texts are as people read them, not escaped.
type htmlPage struct {
	Style                    template.CSS
	Title, Name, Heading     string
	About                    string
	Mood, Verdict, Why, Cure string
	Flag                     string // that does what Cure says
	Views                    []htmlView
	Evidence                 []string
	Clients                  htmlTable
	Together                 *htmlPlot
	Each                     []htmlPlot
	EachMore                 string
	Told, Needed             []htmlBar
	NeededText               string
	Changes                  []htmlChange
	Stretches                []htmlStretch
	Expectations             []htmlLine
	Facts                    []htmlFact
	Grids                    []htmlGrid
	Shares                   *htmlShares
	Failed                   []htmlFact
}

type (
	htmlView   struct{ Who, Big, Text, Status, Mood, Mark string }
	htmlChange struct {
		Number   int
		At, What string
	}
	htmlStretch struct{ Span, Policy, Verdict, Mood, Mark, Text, Admitted string }
	htmlLine    struct{ Mood, Mark, Text string }
	htmlFact    struct{ Name, Text string }
	htmlTable   struct {
		Heads []string
		Rows  []htmlRow
		More  string
	}
	htmlRow struct {
		Name, Kind, Mood, Mark string
		Colour                 int // of its plot; -1: none
		Cells                  []htmlCell
	}
	htmlCell struct {
		Head, Text string
		Bar        string // width in percent, of the satisfaction; "": no bar
	}
)

// class is the mood as a class of the style sheet.
func (m mood) class() string {
	switch m {
	case good:
		return "good"
	case bad:
		return "bad"
	case warning:
		return "warning"
	}
	return "plain"
}

// about says what kind of run it was.
func about(r *fairness.Report) []string {
	how := map[string]string{"live": "live run", "simulated": "simulation", "recorded": "recorded run", "served": "served"}[r.Mode]
	if how == "" {
		how = clean(r.Mode)
	}
	words := []string{how, r.Duration.Format(1) + " s"}
	if r.Mode != "recorded" && r.Mode != "served" {
		words = append(words, fmt.Sprintf("seed %d", r.Seed))
	}
	if r.Started != nil {
		words = append(words, r.Started.UTC().Format("2 January 2006, 15:04:05 UTC"))
	}
	return words
}

// htmlViews are the two headlines: what they say at a glance, and the rest in small.
func htmlViews(r *fairness.Report) []htmlView {
	text, status, m := monitoring(&r.Aggregate)
	big, rest, known := strings.Cut(strings.TrimPrefix(text, "admitted "), " (")
	if !known { // the limit
		big, rest, _ = strings.Cut(big, ", ")
	}
	sees := htmlView{Who: "Monitoring sees", Big: big, Text: strings.Replace(rest, ")", " of the limit", 1), Status: status, Mood: m.class(), Mark: m.mark(false)}
	text, status, m = clientsSee(&r.Measures)
	big, rest, _ = strings.Cut(text, ", ")
	see := htmlView{Who: "The clients see", Big: big, Text: rest, Status: status, Mood: m.class(), Mark: m.mark(false)}
	return []htmlView{sees, see}
}

// htmlClients is the table of the clients.
func htmlClients(m *fairness.Measures) htmlTable {
	rows, more := chosen(m)
	cols := columns(rows)
	t := htmlTable{}
	for _, c := range cols {
		t.Heads = append(t.Heads, c.head)
	}
	colours := coloursOf(m)
	for k, c := range rows {
		md := moodOfClient(m, c)
		row := htmlRow{Name: clean(c.Name), Kind: clean(c.Kind), Mood: md.class(), Colour: colours[c.Name]}
		if md != plain {
			row.Mark = md.mark(false)
		}
		for _, col := range cols {
			cell := htmlCell{Head: col.head, Text: clean(col.cells[k])}
			if col.head == "satisfied" && c.Satisfaction.Exists() {
				cell.Bar = percents(min(c.Satisfaction.Float(0), 1))
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	if more > 0 {
		t.More = "and " + plural(int64(more), "client") + " more; the JSON report has them all"
	}
	return t
}

// htmlFacts are the lines about the run itself.
func htmlFacts(r *fairness.Report) []htmlFact {
	facts := []htmlFact{{"limit", clean(limit(&r.Limiter))}, {"attempts", attempts(&r.Aggregate)}}
	if r.Target != nil {
		facts = append(facts, htmlFact{"target", strings.Join(target(r), "; ")})
	}
	by := map[string]int64{}
	for i := range r.Clients {
		for name, n := range r.Clients[i].RejectedBy {
			by[name] += n
		}
	}
	if list := parts(by); len(list) > 0 {
		facts = append(facts, htmlFact{"rejected by", clean(shares(list))})
	}
	if len(r.ErrorsBy) > 0 {
		facts = append(facts, htmlFact{"errors", counts(r.ErrorsBy)})
	}
	if r.Mode == "live" {
		facts = append(facts, htmlFact{"generator", honesty(&r.Generator)})
	}
	if r.Source != "" {
		facts = append(facts, htmlFact{map[bool]string{true: "recorded in", false: "profile from"}[r.Mode == "recorded"], clean(r.Source)})
	}
	return facts
}

// htmlGrid is a table of figures, a variant a row, the best of a column marked.
type htmlGrid struct {
	Title, About string
	Heads        []string
	Rows         []htmlGridRow
}

type htmlGridRow struct {
	Name, Mood string
	Cells      []htmlGridCell
}

type htmlGridCell struct {
	Head, Text, Mark string
	Best             bool
}

func gridOf(title, about string, g grid) htmlGrid {
	h := htmlGrid{Title: title, About: about}
	if len(g.heads) > 0 {
		h.Heads = g.heads[1:]
	}
	for i, cells := range g.rows {
		row := htmlGridRow{Name: cells[0], Mood: g.moods[i].class()}
		for k, text := range cells[1:] {
			cell := htmlGridCell{Head: g.heads[k+1], Text: clean(text), Best: g.best[i][k+1]}
			if cell.Head == "verdict" {
				cell.Mark = g.moods[i].mark(false)
			}
			row.Cells = append(row.Cells, cell)
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

// ComparisonHTML is a comparison as a page like that of HTML.
func ComparisonHTML(c *Comparison) ([]byte, error) {
	p := htmlPage{Style: pageStyle, Name: "compare", Heading: clean(c.Profile) + ": the same clients, " + plural(int64(len(c.ran())), "variant"), Why: clean(c.Why)}
	if c.Recorded {
		p.Name, p.Heading = "report", plural(int64(len(c.ran())), "report")+" beside each other"
		if g := c.differences(); len(g.heads) > 1 {
			p.Grids = append(p.Grids, gridOf("What differs", "", g))
		}
	}
	p.Title = "fairgate: " + p.Heading
	p.Shares = sharesOf(c)
	p.Grids = append(p.Grids,
		gridOf("Each run as a whole", "The best of each column has a star.", c.wholes()),
		gridOf("Satisfied", "The part of its due that each client got.", c.each(satisfaction, twoDecimals, true, mostRows)),
		gridOf("Gets per second", "", c.each(admitted, rateDigits, false, mostRows)))
	for _, v := range c.Variants {
		if v.Report == nil {
			p.Failed = append(p.Failed, htmlFact{clean(v.Name), clean(v.Err)})
		}
	}
	return render("comparison", p)
}

// htmlShares draws what each variant admitted, by client, as one bar.
type htmlShares struct {
	Legend []htmlLegend
	Rows   []htmlShare
}

type htmlShare struct {
	Name, Mood, Mark, Total, Limit string // Limit: where the limit lies, in percent; "": beyond the drawing or unknown
	Parts                          []htmlPart
}

type htmlPart struct {
	Colour             int
	Width, Name, Value string
}

func sharesOf(c *Comparison) *htmlShares {
	ran := c.ran()
	if len(ran) == 0 {
		return nil
	}
	s := &htmlShares{}
	most := 0.0
	for _, v := range ran {
		most = max(most, v.Report.Aggregate.Admitted.Float(0), v.Report.Aggregate.Limit.Float(0))
	}
	if !(most > 0) {
		return nil
	}
	colours := coloursOf(&ran[0].Report.Measures)
	s.Legend = legendOf(&ran[0].Report.Measures, colours)
	for _, v := range ran {
		m := moodOf(v.Report.Fairness.Verdict)
		row := htmlShare{Name: clean(v.Name), Mood: m.class(), Mark: m.mark(false), Total: rate(v.Report.Aggregate.Admitted)}
		if l := v.Report.Aggregate.Limit; l.Exists() {
			row.Limit = percents(l.Float(0) / most)
		}
		other := 0.0
		for i := range v.Report.Clients {
			client := &v.Report.Clients[i]
			colour, known := colours[client.Name]
			got := client.AdmittedRate.Float(0)
			if !known || colour < 0 {
				other += got
				continue
			}
			row.Parts = append(row.Parts, htmlPart{colour, percents(got / most), clean(client.Name), rate(client.AdmittedRate)})
		}
		if other > 0 {
			row.Parts = append(row.Parts, htmlPart{-1, percents(other / most), "others", rate(fairness.Number(other))})
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// mostColours is how many clients have a colour of their own; all others share grey.
const mostColours = 7

// coloursOf gives a number to the clients that got most, in the order of the report; -1 to all others.
func coloursOf(m *fairness.Measures) map[string]int {
	order := make([]int, len(m.Clients))
	for i := range order {
		order[i] = i
	}
	if len(order) > mostColours {
		slices.SortStableFunc(order, func(a, b int) int {
			x, y := m.Clients[a].AdmittedRate.Float(0), m.Clients[b].AdmittedRate.Float(0)
			switch {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		order = order[:mostColours]
		slices.Sort(order)
	}
	colours := make(map[string]int, len(m.Clients))
	for i := range m.Clients {
		colours[m.Clients[i].Name] = -1
	}
	for number, i := range order {
		colours[m.Clients[i].Name] = number
	}
	return colours
}

type htmlLegend struct {
	Colour int
	Name   string
}

func legendOf(m *fairness.Measures, colours map[string]int) []htmlLegend {
	var list []htmlLegend
	others := 0
	for i := range m.Clients {
		name := m.Clients[i].Name
		if colours[name] < 0 {
			others++
			continue
		}
		list = append(list, htmlLegend{colours[name], clean(name)})
	}
	if others > 0 {
		list = append(list, htmlLegend{-1, plural(int64(others), "other")})
	}
	return list
}
