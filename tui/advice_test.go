package tui

import (
	"strings"
	"testing"
	"time"

	"fairgate/fairness"
)

func TestAdviceSaysByWhomAndWhatToPress(t *testing.T) {
	contended := picture(12*time.Second, 300, "per-client", []tenant{
		{"batch", "batch", 5000, 203, 100, 3, 0.1, "global", 1},
		{"web", "interactive", 100, 77, 100, 1, 0.4, "global", 1},
	})
	uncured := starvedPicture()
	uncured.Limiter.Policy, uncured.Fairness.Advice = "fair-queue", ""
	for _, c := range []struct {
		name         string
		s            *fairness.Snapshot
		wrong, press string
	}{
		{"starved", starvedPicture(), "batch holds 96% of the admissions while entitled to 80%", "Press p: arrival order decides"},
		{"contended", contended, "batch holds 72% of the admissions while entitled to 50%", "Press p: a fair queue"},
		{"fair", curedPicture(), "each of 4 clients gets what it is entitled to", "Press p for another policy"},
		{"idle", idlePicture(), "nobody asked for anything", ""},
		{"no advice", uncured, "batch holds 96%", "Press p for the next policy"},
	} {
		wrong, press := advice(c.s)
		if !strings.HasPrefix(wrong, c.wrong) || !strings.HasPrefix(press, c.press) || c.press == "" && press != "" {
			t.Errorf("%s: %q, %q", c.name, wrong, press)
		}
	}
}

// Sentences are cut where a clause ends, and the key to press is never lost.
func TestAdviceIsCutAtClauses(t *testing.T) {
	for w, want := range map[int]string{
		80: "Press p: arrival order decides: a bucket per client or a fair queue would help",
		60: "Press p: arrival order decides.",
		20: "Press p.",
		4:  "Pre…",
	} {
		if got := clause("Press p: arrival order decides: a bucket per client or a fair queue would help", w); got != want {
			t.Errorf("in %d columns %q, want %q", w, got, want)
		}
	}
	for _, size := range sizes {
		screen := showing(starvedPicture(), Options{}, size[0], size[1]).View()
		if flat := strings.ToLower(strings.Join(strings.Fields(screen), " ")); !strings.Contains(flat, "press p") || !strings.Contains(flat, "batch holds 96%") {
			t.Errorf("%v: who holds the capacity and what to press is missing:\n%s", size, screen)
		}
	}
}

func TestSaysWhenTheGeneratorIsBehind(t *testing.T) {
	late := starvedPicture()
	late.Generator.Achieved, late.Generator.Lateness.Max = 0.76, 3300
	for _, size := range sizes[1:] {
		screen := showing(late, Options{}, size[0], size[1]).View()
		if !strings.Contains(screen, "sends only 76%") {
			t.Errorf("%v: nothing says that the figures are worth less:\n%s", size, screen)
		}
	}
}
