package tui

import (
	"strings"

	"fairgate/fairness"
)

// advice is what is wrong, and what to press.
func advice(s *fairness.Snapshot) (wrong, press string) {
	j := &s.Fairness
	switch wrong = clean(j.Why); j.Verdict {
	case fairness.Fair:
		return wrong, "Press p for another policy, - for a tighter limit."
	case fairness.Starved, fairness.Contended:
	default:
		return wrong, ""
	}
	d := fairness.Diagnose(s.Limiter, s.Measures, fairness.Number(s.Overshoot))
	if holds := holder(s, d.Culprit); holds != "" {
		wrong = holds
	}
	switch advised := clean(j.Advice); {
	case advised == "":
		press = "Press p for the next policy, + for a higher limit."
	case d.Cure.Policy != "" && d.Cure.Policy != s.Limiter.Policy:
		press = "Press p: " + advised
		if strings.Contains(advised, "raise it") {
			press = "Press + or p: " + advised
		}
	default: // no other policy would help
		press = advised
	}
	return wrong, press
}

// holder says how much of the capacity the culprit holds, since the headline above has said who lacks it; "" when there is none.
func holder(s *fairness.Snapshot, culprit string) string {
	entitled := 0.0
	var holds *fairness.ClientMeasures
	for i := range s.Clients {
		c := &s.Clients[i]
		entitled += c.Entitled.Float(0)
		if culprit != "" && c.Name == culprit {
			holds = c
		}
	}
	if holds == nil || entitled <= 0 || !holds.Share.Exists() {
		return ""
	}
	part := fairness.Number(holds.Entitled.Float(0) / entitled)
	return clean(culprit) + " holds " + percent(holds.Share) + " of the admissions while entitled to " + percent(part)
}

// behind says so when the load generator does not keep up, because every figure on the screen is worth less then.
func behind(g fairness.Generator) string {
	if a := g.Achieved; a.Exists() && a < 0.98 {
		return "this machine sends only " + percent(a) + " of the planned load, up to " + millis(g.Lateness.Max) + " late: trust the figures less"
	}
	return ""
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
		if who, _, ok := strings.Cut(wrong, " of the admissions"); ok && strings.HasPrefix(press, "Press p") && width(who)+9 <= w {
			short = who + ": press p"
		}
		p.text(1, 0, inkBold, pick(w, strings.TrimSpace(wrong+". "+press), short))
		return
	}
	if trouble := behind(s.Generator); trouble != "" && (p.h < 3 || p.w < noteWidth) {
		wrong = trouble
	}
	pressed := wrap(press, w, p.h)
	if len(pressed) > p.h-1 {
		pressed = []string{clause(press, w)}
	}
	lines := wrap(wrong, w, p.h)
	if rows := p.h - len(pressed); len(lines) > rows {
		lines = []string{clause(wrong, w)}
	}
	for y, line := range lines {
		p.text(1, y, inkPlain, line)
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
