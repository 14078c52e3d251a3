package tui

import (
	"strconv"

	"fairgate/fairness"
)

// A compareView holds the policy in force against those that decide beside it on the same arrivals.
type compareView struct {
	snap   *fairness.Snapshot
	top    int
	marked int
	can    bool // the shadows can be switched on with a key
}

// compareHead is how many lines stand above the clients.
const compareHead = 6

// compareRows is how many clients a body of h rows holds.
func compareRows(h int) int { return max(1, h-compareHead) }

// leastCompared is the narrowest column.
const leastCompared = 14

func (v compareView) draw(p pane) {
	s := v.snap
	if len(s.Beside) == 0 {
		say := "Only " + s.Limiter.Policy + " decides. "
		if v.can {
			say += "S lets the other policies decide beside it on the same arrivals: they count, and nobody obeys them."
		} else {
			say += "With --shadow per-client,fair-queue others decide beside it on the same arrivals."
		}
		for y, line := range wrap(say, p.w-2, p.h) {
			p.text(1, y, inkPlain, line)
		}
		return
	}
	all := append([]fairness.Alternative{{Policy: s.Limiter.Policy, Limiter: s.Limiter, Window: s.Window, Measures: s.Measures}}, s.Beside...)
	name := nameWidth(p.w)
	fits := max(1, min(len(all), (p.w-1-name)/leastCompared))
	w := min(30, (p.w-1-name)/fits)
	labels := [compareHead]string{"", "", "verdict", "Jain", "admitted", ""}
	for y, label := range labels {
		p.text(1, y, inkDim, fit(label, name-1))
	}
	hidden := ""
	if n := len(all) - fits; n > 0 {
		hidden = strconv.Itoa(n) + " more do not fit"
	}
	p.text(1, compareHead-1, inkDim, fit("client", name-1))
	end := min(len(s.Clients), v.top+max(1, p.h-compareHead))
	for y, i := compareHead, v.top; i < end; y, i = y+1, i+1 {
		p.text(1, y, inkPlain, fit(clean(s.Clients[i].Name), name-1))
		if i == v.marked {
			drawMark(p, y)
		}
	}
	for k := range all[:fits] {
		a := &all[k]
		x, right := 1+name+k*w, 1+name+(k+1)*w-1
		title, of, ofInk := clean(a.Policy), "beside", inkDim
		if k == 0 {
			of, ofInk = "in force", inkBold
		}
		p.right(right, 0, inkBold, fit(title, w-1))
		p.right(right, 1, ofInk, of)
		mark := verdicts[a.Fairness.Verdict]
		p.right(right, 2, mark.ink, fit(mark.mark+" "+string(a.Fairness.Verdict), w-1))
		p.right(right, 3, inkPlain, a.Fairness.Jain.Format(2))
		p.right(right, 4, inkPlain, perSecond(a.Aggregate.Admitted.Float(0)))
		p.right(right, 5, inkDim, "got/ent.")
		for y, i := compareHead, v.top; i < end && i < len(a.Clients); y, i = y+1, i+1 {
			c := &a.Clients[i]
			text, ink := satisfaction(c)
			if !c.Active {
				ink = inkDim
			}
			if bar := w - 9; bar >= 6 && c.Satisfaction.Exists() {
				drawGauge(p, x+1, y, bar, clamp01(float64(c.Satisfaction)))
			}
			p.right(right, y, ink, text)
		}
	}
	if hidden != "" {
		p.text(1, 1, inkDim, fit(hidden, name-1+w/3))
	}
}
