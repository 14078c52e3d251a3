package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
)

// cured is the starving run with its small clients whole.
func cured() *fairness.Report {
	r := starving()
	r.Limiter.Policy = "fair-queue"
	r.Fairness = fairness.Judgement{Jain: 0.998, MinSatisfaction: 0.99, Starved: []string{}, Verdict: fairness.Fair, Why: "all is well", Worst: "web", Active: 4}
	r.Aggregate.Utilization = 0.995
	r.Aggregate.Rejected = 15400
	for i := range r.Clients {
		c := &r.Clients[i]
		c.Starved, c.Satisfaction, c.AdmittedRate = false, 1, c.Entitled
		c.QueueWait = fairness.Quantiles{P50: 1, P90: 20, P99: 73.2, Max: 100}
	}
	return r
}

func comparison() *Comparison {
	return &Comparison{Profile: "starvation", Best: 1, Why: "take fair-queue: every client gets what it is entitled to", Variants: []Variant{
		{Name: "global", Report: starving()}, {Name: "fair-queue", Report: cured()},
		{Name: "concurrency", Err: "limiter.client.max_in_flight is missing"},
	}}
}

func TestComparisonIsWhatPeopleShallRead(t *testing.T) {
	golden(t, "comparison.txt", ComparisonText(comparison(), Options{}))
	golden(t, "comparison.md", ComparisonMarkdown(comparison()))
	for _, line := range strings.Split(ComparisonText(comparison(), Options{}), "\n") {
		if lipgloss.Width(line) > 80 {
			t.Errorf("more than 80 columns: %q", line)
		}
	}
	if ascii := ComparisonText(comparison(), Options{ASCII: true}); strings.ContainsFunc(ascii, func(r rune) bool { return r > '~' }) {
		t.Errorf("not ASCII:\n%s", ascii)
	}
}

func TestComparisonJSONHoldsTheRunsWithoutTheirTimelines(t *testing.T) {
	b, err := ComparisonJSON(comparison())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(`"timeline"`)) {
		t.Error("a timeline is in it")
	}
	var doc struct {
		Schema  int
		Profile string
		Names   []string
		Runs    []fairness.Report
		Skipped []struct{ Name, Why string }
		Best    string
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != 1 || doc.Profile != "starvation" || len(doc.Runs) != 2 || doc.Best != "fair-queue" || len(doc.Skipped) != 1 {
		t.Errorf("%+v", doc)
	}
	if r := doc.Runs[1]; r.Limiter.Policy != "fair-queue" || len(r.Clients) != 4 || r.Schema != 1 {
		t.Errorf("the second run is %+v", r)
	}
}

// A star stands at the best figure, at several that are as good, and at none where all are alike.
func TestStars(t *testing.T) {
	variants := func(values ...fairness.Number) []*Variant {
		var all []*Variant
		for _, v := range values {
			r := &fairness.Report{}
			r.Fairness.MinSatisfaction = v
			all = append(all, &Variant{Report: r})
		}
		return all
	}
	of := func(r *fairness.Report) fairness.Number { return r.Fairness.MinSatisfaction }
	none := fairness.None
	for _, c := range []struct {
		values []fairness.Number
		better int
		atMost fairness.Number
		stars  string
	}{
		{[]fairness.Number{0.1, 0.9, 0.5}, 1, 1, " * "},
		{[]fairness.Number{0.1, 0.9, 0.5}, -1, 0, "*  "},
		{[]fairness.Number{1, 1.2, 0.5}, 1, 1, "** "}, // more than its due makes nobody more satisfied
		{[]fairness.Number{0.9, 0.9001}, 1, 1, "  "},
		{[]fairness.Number{none, 0.2, 0.1}, 1, 1, " * "},
		{[]fairness.Number{none, none}, 1, 1, "  "},
		{[]fairness.Number{3, 2}, 0, 0, "  "},
	} {
		ran, got := variants(c.values...), ""
		for _, v := range ran {
			got += map[bool]string{true: "*", false: " "}[isBest(of(v.Report), ran, of, c.better, c.atMost)]
		}
		if got != c.stars {
			t.Errorf("%v: %q, want %q", c.values, got, c.stars)
		}
	}
}
