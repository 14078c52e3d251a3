package tui

import (
	"strings"

	"fairgate/fairness"
)

// advice is what is wrong, and what to press.
func advice(s *fairness.Snapshot) (wrong, press string) {
	j := &s.Fairness
	wrong = clean(j.Why)
	switch j.Verdict {
	case fairness.Starved, fairness.Contended:
		press = "Press p for the next policy."
		if j.Advice != "" {
			press = "Press p: " + clean(j.Advice)
		}
	case fairness.Fair:
		press = "Press p to see what another policy does, − to make the limit tighter."
	}
	return wrong, press
}

// drawAdvice writes both, a line each where there are two; in one line what to press goes first, since the headline above has said what is wrong.
func drawAdvice(p pane, s *fairness.Snapshot) {
	wrong, press := advice(s)
	if p.h < 2 {
		p.text(1, 0, inkBold, pick(p.w-1, strings.TrimSpace(wrong+" "+press), press, firstWords(press), wrong))
		return
	}
	if press == "" {
		for i, line := range wrap(wrong, p.w-2, p.h) {
			p.text(1, i, inkPlain, line)
		}
		return
	}
	p.text(1, 0, inkPlain, fit(wrong, p.w-1))
	p.text(1, 1, inkBold, fit(press, p.w-1))
}

// firstWords is a sentence up to its first colon or comma.
func firstWords(s string) string {
	if i := strings.IndexAny(s, ",;"); i > 0 {
		return s[:i] + "."
	}
	return s
}
