package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"fairgate/fairness"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// changed is starving with a course that can be drawn: the limit is halved on the way, and then every client has one of its own.
func changed() *fairness.Report {
	r := starving()
	r.Duration = 20
	r.Timeline = nil
	for i := range 100 {
		at := fairness.Number(i+1) / 5
		p := fairness.Point{T: at, Admitted: 1000}
		got := []fairness.Number{964, 10, 5, 21}
		switch {
		case at > 12:
			got, p.Admitted = []fairness.Number{250, 100, 50, 50}, 450
		case at > 6.24:
			got, p.Admitted = []fairness.Number{482, 5, 2, 11}, 500
		}
		for k, n := range got {
			p.Clients = append(p.Clients, fairness.PointClient{Admitted: n + fairness.Number(math.Sin(float64(i*(k+3)))*float64(n)/20)})
		}
		r.Timeline = append(r.Timeline, p)
	}
	r.Changes = append(r.Changes, fairness.Change{T: 12, What: "policy global → per-client"})
	one, two, three := r.Measures, r.Measures, r.Measures
	two.Aggregate.Limit, three.Aggregate.Limit = 500, 500
	three.Fairness = fairness.Judgement{Jain: 0.99, MinSatisfaction: 0.97, Worst: "web", Active: 4, Verdict: fairness.Fair}
	r.Stretches = []fairness.Stretch{
		{From: 0, To: 6.24, Limiter: fairness.Limit{Policy: "global"}, Measures: one},
		{From: 6.24, To: 12, Limiter: fairness.Limit{Policy: "global"}, Measures: two},
		{From: 12, To: 20, Limiter: fairness.Limit{Policy: "per-client"}, Measures: three},
	}
	for i := range r.Clients {
		c := &r.Clients[i]
		c.RetryAfter.Told = []fairness.Told{{Seconds: 1, Count: c.Rejected / 2}, {Seconds: 2, Count: c.Rejected / 4}}
		c.RetryAfter.NeededBins = []fairness.Bin{{To: time.Millisecond, Count: c.Rejected / 2}, {From: time.Millisecond, To: 2 * time.Millisecond, Count: c.Rejected / 3}}
		c.RetryAfter.Never = 2
	}
	return r
}

// pageOf is a report as HTML, which must be well-formed.
func pageOf(t *testing.T, b []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(b))
	refuse(t, string(b), "url(", "@import", "NaN", "+Inf", "%!")
	return string(b)
}

// wellFormed holds a page to XML (every element closed, every attribute quoted, no entity but XML's own), and to what a browser would make of
// it: the same elements, in the same order, so that none was moved to where it may stand.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	var written []string
	ids := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v\n%s", err, text)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		written = append(written, start.Name.Local)
		for _, a := range start.Attr {
			if a.Name.Local == "id" {
				if ids[a.Value] {
					t.Errorf("two elements have the id %s", a.Value)
				}
				ids[a.Value] = true
			}
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" {
				t.Errorf("<%s %s=%q>: the page should do nothing and load nothing", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var parsed []string
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			parsed = append(parsed, n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	if got, want := fmt.Sprint(parsed), fmt.Sprint(written); got != want {
		t.Errorf("a browser reads\n%s\nand written was\n%s", got, want)
	}
	refuse(t, text, "ZgotmplZ", "<script") // the first stands where html/template would not let a value stand
}

func refuse(t *testing.T, text string, signs ...string) {
	t.Helper()
	for _, sign := range signs {
		if strings.Contains(text, sign) {
			t.Errorf("the page has %s", sign)
		}
	}
}

// body is a page without its style sheet, which would only fill the goldens.
func body(text string) string {
	return regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(text, "<style></style>")
}

func TestHTML(t *testing.T) {
	shadow := starving()
	shadow.Limiter.Policy = "per-client"
	shadow.Clients[1].Satisfaction = 1
	for name, write := range map[string]func() ([]byte, error){
		"starving.html":   func() ([]byte, error) { return HTML(starving(), shadow) },
		"changed.html":    func() ([]byte, error) { return HTML(changed()) },
		"idle.html":       func() ([]byte, error) { return HTML(idle()) },
		"comparison.html": func() ([]byte, error) { return ComparisonHTML(compared()) },
	} {
		b, err := write()
		golden(t, name, body(pageOf(t, b, err)))
	}
}

// compared is a comparison of which one variant could not be run.
func compared() *Comparison {
	fair := changed()
	fair.Fairness.Verdict, fair.Fairness.Starved, fair.Fairness.MinSatisfaction = fairness.Fair, []string{}, 1
	return &Comparison{Profile: "starvation", Best: 1, Why: "take per-client", Variants: []Variant{
		{Name: "global", Report: starving()}, {Name: "per-client", Report: fair}, {Name: "sharded", Err: "it has <no> shards"},
	}}
}

// TestHTMLSaysWhatJSONKept: a report that was read back lacks the histograms, and nothing else of the page.
func TestHTMLSaysWhatJSONKept(t *testing.T) {
	b, err := JSON(changed())
	if err != nil {
		t.Fatal(err)
	}
	var r fairness.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	b, err = HTML(&r)
	text := pageOf(t, b, err)
	if !strings.Contains(text, "A wait of at most 1.0 ms would have been enough for 99 of 100 rejections") || strings.Count(text, "<svg") != 5 {
		t.Errorf("the page of a report that was read back:\n%s", body(text))
	}
}

// TestNamesCannotLeaveTheirPlace: whatever a profile or a recording calls its clients, it stays text.
func TestNamesCannotLeaveTheirPlace(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'; x: url(//evil)`, `</title></style><script>`, "a\x1b[31m\x00b", `{{.Title}}`,
		"javascript:alert(1)", "&lt;b&gt;&nbsp;", "]]>", "\u202eright to left", `\3c script`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := changed()
		word := func(label string) string {
			return rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()).Draw(rt, label)
		}
		r.Profile, r.Title, r.Source, r.Fairness.Why = word("profile"), word("title"), word("source"), word("why")
		r.Diagnosis.Cure.Text, r.Diagnosis.Cure.Policy = word("cure"), word("policy")
		r.Diagnosis.Text = []string{word("evidence")}
		r.Changes[0].What, r.Expectations[0].Expr, r.Limiter.RateText = word("change"), word("expr"), word("rate")
		for i := range r.Clients {
			r.Clients[i].Name, r.Clients[i].Kind = word("name"), word("kind")
		}
		r.Clients[0].RejectedBy = map[string]int64{word("reason"): 3}
		b, err := HTML(r)
		if err != nil {
			rt.Fatal(err)
		}
		wellFormed(t, string(b))
		b, err = ComparisonHTML(&Comparison{Profile: r.Profile, Why: r.Title, Variants: []Variant{{Name: r.Source, Report: r}, {Name: r.Profile, Err: r.Title}}})
		if err != nil {
			rt.Fatal(err)
		}
		wellFormed(t, string(b))
	})
}

// TestHTMLOfManyClients stays of a size that can be mailed, and says what it leaves out.
func TestHTMLOfManyClients(t *testing.T) {
	r := starving()
	r.Clients, r.Timeline = nil, nil
	for i := range 3000 {
		r.Clients = append(r.Clients, fairness.ClientMeasures{
			Name: fmt.Sprintf("c-%d", i), AdmittedRate: fairness.Number(i % 7), Entitled: 3, Satisfaction: fairness.Number(i%7) / 3, Attempts: 5, Active: true,
		})
	}
	for i := range 600 {
		p := fairness.Point{T: fairness.Number(i+1) / 10, Admitted: 900}
		for k := range 51 {
			name := "other"
			if k < 50 {
				name = fmt.Sprintf("c-%d", k)
			}
			p.Clients = append(p.Clients, fairness.PointClient{Name: name, Admitted: fairness.Number(k)})
		}
		r.Timeline = append(r.Timeline, p)
	}
	b, err := HTML(r)
	text := pageOf(t, b, err)
	if len(text) > 120_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
	if !strings.Contains(text, "and 2,976 clients more") || !strings.Contains(text, "more are not drawn") {
		t.Error("it does not say what is left out")
	}
}

func TestPlotsOfAnyTimeline(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.Custom(func(rt *rapid.T) fairness.Number {
			return rapid.OneOf(rapid.Just(fairness.None), rapid.Just(fairness.Number(0)), rapid.Map(rapid.Float64Range(0, 1e12), func(f float64) fairness.Number { return fairness.Number(f) })).Draw(rt, "value")
		})
		r := starving()
		r.Stretches, r.Timeline = nil, nil
		r.Aggregate.Limit = value.Draw(rt, "limit")
		at := 0.0
		for range rapid.IntRange(0, 130).Draw(rt, "points") {
			at += rapid.Float64Range(0, 100).Draw(rt, "step")
			p := fairness.Point{T: fairness.Number(at), Admitted: value.Draw(rt, "admitted")}
			for range 4 {
				p.Clients = append(p.Clients, fairness.PointClient{Admitted: value.Draw(rt, "client")})
			}
			r.Timeline = append(r.Timeline, p)
		}
		for i := range r.Clients {
			r.Clients[i].Entitled = value.Draw(rt, "entitled")
		}
		b, err := HTML(r)
		if err != nil {
			rt.Fatal(err)
		}
		wellFormed(t, string(b))
	})
}
