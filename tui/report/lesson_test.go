package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// taught is a lesson of two steps, the second with awkward texts.
func taught() *Lesson {
	second := starving()
	second.Limiter.Policy = "per-client"
	return &Lesson{
		Profile: "starvation", Title: "A global bucket lets one client starve the rest", Planned: 3,
		About: "The aggregate looks healthy while all but one client starve. Under one limit for everybody, who sends most gets most.",
		Steps: []LessonStep{
			{Say: "Four clients share one limit.", Ask: "How much does web get?", Choices: []string{"all of it", "a tenth"}, Report: starving(),
				Reveal: "10. That is what it gets, and nobody who looks at the sum of all can see it, whatever the dashboard is that one looks at: it is\n1. healthy - and 2. wrong."},
			{Say: "Now a_name *with* signs | and <tags>.", Set: []string{"policy global → per-client", "rate 500/s → 1000/s"}, Ask: "And now?", Report: second},
		},
	}
}

func TestLessonGoldens(t *testing.T) {
	golden(t, "lesson.txt", LessonText(taught(), Options{}))
	golden(t, "lesson.md", LessonMarkdown(taught()))
}

func TestALessonFitsOnPaper(t *testing.T) {
	l := taught()
	l.Steps[0].Choices = append(l.Steps[0].Choices, strings.Repeat("a choice that is longer than a line ", 4))
	l.Steps[1].Set = append(l.Steps[1].Set, strings.Repeat("a change that is longer than a line ", 4))
	for _, o := range []Options{{}, {Width: 120}, {ASCII: true}} {
		text := LessonText(l, o)
		for _, line := range strings.Split(text, "\n") {
			if w := lipgloss.Width(line); w > 80 {
				t.Errorf("%+v: %d columns: %q", o, w, line)
			}
		}
		for _, r := range text {
			if o.ASCII && r > 127 {
				t.Errorf("%q is not ASCII", r)
			}
		}
	}
}

func TestWhatALineMayBeginWith(t *testing.T) {
	for text, want := range map[string]string{
		"10. March": `10\. March`, "10.": `10\.`, "1) one": `1\) one`, "- dash": `\- dash`, "+ plus": `\+ plus`, "===": `\===`,
		"10.5 of them": "10.5 of them", "10% of them": "10% of them", "ten": "ten", "": "",
	} {
		if got := beginning(text); got != want {
			t.Errorf("%q begins as %q, want %q", text, got, want)
		}
	}
}

func TestLessonJSON(t *testing.T) {
	b, err := LessonJSON(taught())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema int
		Steps  []struct {
			Say, Ask, Reveal string
			Set, Choices     []string
			Report           map[string]any
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != 1 || len(doc.Steps) != 2 || doc.Steps[0].Set == nil || doc.Steps[1].Choices == nil || len(doc.Steps[1].Set) != 2 {
		t.Errorf("%+v", doc)
	}
	for i, s := range doc.Steps {
		if _, has := s.Report["timeline"]; has || s.Report["clients"] == nil {
			t.Errorf("step %d: the report has a timeline, or no clients", i+1)
		}
	}
}
