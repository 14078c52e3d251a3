package report

import (
	"strings"
	"testing"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
)

// recorded are two reports that were not made to be compared.
func recorded() *Comparison {
	return &Comparison{Recorded: true, Best: -1, Variants: []Variant{{Name: "before.json", Report: starving()}, {Name: "after.json", Report: cured()}}}
}

func TestTwoReportsBesideEachOther(t *testing.T) {
	golden(t, "recorded.txt", ComparisonText(recorded(), Options{}))
	golden(t, "recorded.md", ComparisonMarkdown(recorded()))

	alike := recorded()
	alike.Variants[1].Report = starving()
	if text := ComparisonText(alike, Options{}); !strings.Contains(text, "no figure changed") || strings.Contains(text, "what differs") || strings.Contains(text, "*") {
		t.Errorf("alike, and yet:\n%s", text)
	}
	// Whatever differs, it fits: settings become rows where they are too many for columns.
	wide := recorded()
	r := wide.Variants[1].Report
	r.Profile, r.Mode, r.Seed, r.Duration = "another profile", "simulated", 77, 3600
	r.Limiter = fairness.Limit{Policy: "hierarchical", Algorithm: "sliding-window", RatePerS: 12, Burst: 9, ClientRatePerS: 3, Shards: 2, RetryAfter: "slot"}
	text := ComparisonText(wide, Options{})
	for _, line := range strings.Split(text, "\n") {
		if lipgloss.Width(line) > 80 {
			t.Errorf("more than 80 columns: %q", line)
		}
	}
	squeezed := strings.Join(strings.Fields(text), " ")
	for _, row := range []string{"what differs before.json after.json profile starvation another profile", "algorithm token-bucket sliding-window", "seed 1 77"} {
		if !strings.Contains(squeezed, row) {
			t.Errorf("no %q in\n%s", row, text)
		}
	}
}

func TestHowFarAFigureMoved(t *testing.T) {
	for _, c := range []struct {
		a, b fairness.Number
		want string
	}{
		{1, 1.1, "+10%"}, {1, 0.9, "-10%"}, {1, 2, "×2.0"}, {1, 20, "×20"}, {2, 1, "÷2.0"}, {20, 1, "÷20"}, {10, 5.1, "-49%"},
		{0, 1, ""}, {1, 0, ""}, {fairness.None, 1, ""}, {1, fairness.None, ""}, {-1, 1, ""},
	} {
		if got := moved(c.a, c.b); got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
