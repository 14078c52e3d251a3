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
		switch advised := clean(j.Advice); {
		case advised == "":
			press = "Press p for the next policy, + for a higher limit."
		case strings.Contains(advised, "per client"), strings.Contains(advised, "fair queue"):
			press = "Press p: " + advised
		default: // what no key does
			press = advised
		}
	case fairness.Fair:
		press = "Press p for another policy, - for a tighter limit."
	}
	return wrong, press
}

// drawAdvice writes both. In a single line only what to press and why in three words, since the headline has said what is wrong.
func drawAdvice(p pane, s *fairness.Snapshot) {
	wrong, press := advice(s)
	w := p.w - 2
	if p.h == 1 {
		short := clause(press, w)
		if short == "" {
			short = clause(wrong, w)
		}
		p.text(1, 0, inkBold, pick(w, strings.TrimSpace(wrong+" "+press), short))
		return
	}
	rows := p.h
	if press != "" {
		rows--
	}
	lines := wrap(wrong, w, p.h)
	if len(lines) > rows {
		lines = []string{clause(wrong, w)}
	}
	for y, line := range lines {
		p.text(1, y, inkPlain, line)
	}
	left := p.h - len(lines)
	pressed := wrap(press, w, left+1)
	if len(pressed) > left {
		pressed = []string{clause(press, w)}
	}
	for y, line := range pressed {
		p.text(1, len(lines)+y, inkBold, line)
	}
}

// clause is as much of a sentence as fits w columns, cut where a clause ends rather than within a word.
func clause(s string, w int) string {
	if width(s) <= w {
		return s
	}
	end := 0
	for i := range s {
		if strings.HasPrefix(s[i:], ": ") || strings.HasPrefix(s[i:], ", ") || strings.HasPrefix(s[i:], "; ") || strings.HasPrefix(s[i:], " (") {
			if width(s[:i])+1 <= w {
				end = i
			}
		}
	}
	if end == 0 {
		return fit(s, w)
	}
	return s[:end] + "."
}
