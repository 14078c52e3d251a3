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

// compareHead are the lines above the clients, in a body of h rows: those for which there is room.
func compareHead(h int) []string {
	if h < 10 {
		return []string{"policy", "verdict"}
	}
	return []string{"policy", "role", "verdict", "Jain", "admitted", "client"}
}

// compareRows is how many clients a body of h rows holds.
func compareRows(h int) int { return max(1, h-len(compareHead(h))) }

// The narrowest column with the rate that a client gets, and without it.
const (
	comparedRate  = 16
	leastCompared = 11
)

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
	least := comparedRate
	if len(all)*least > p.w-1-name {
		least = leastCompared
	}
	fits := max(1, min(len(all), (p.w-1-name)/least))
	w := min(30, max(least, (p.w-1-name)/fits))
	head := compareHead(p.h)
	for y, label := range head {
		if label == "policy" {
			label = ""
		}
		if n := len(all) - fits; label == "role" {
			if label = ""; n > 0 {
				label = pick(name-1, strconv.Itoa(n)+" more do not fit", strconv.Itoa(n)+" hidden")
			}
		}
		p.text(1, y, inkDim, fit(label, name-1))
	}
	end := min(len(s.Clients), v.top+compareRows(p.h))
	for y, i := len(head), v.top; i < end; y, i = y+1, i+1 {
		p.text(1, y, inkPlain, fit(clean(s.Clients[i].Name), name-1))
		if i == v.marked {
			drawMark(p, y)
		}
	}
	for k := range all[:fits] {
		a := &all[k]
		x, right := 1+name+k*w, 1+name+(k+1)*w-1
		rates := columnFormat(len(a.Clients), func(i int) fairness.Number { return a.Clients[i].AdmittedRate })
		for y, label := range head {
			text, ink := v.headed(a, label, k == 0, w)
			p.right(right, y, ink, text)
		}
		for y, i := len(head), v.top; i < end && i < len(a.Clients); y, i = y+1, i+1 {
			c := &a.Clients[i]
			text, ink := satisfaction(c)
			if !c.Active {
				ink = inkDim
			}
			if bar := w - 18; bar >= 6 && c.Satisfaction.Exists() {
				drawGauge(p, x+1, y, bar, clamp01(float64(c.Satisfaction)))
			}
			if w >= comparedRate {
				p.right(right-7, y, inkPlain, rates.text(c.AdmittedRate))
			}
			p.right(right, y, ink, text)
		}
	}
	v.reasons(p.sub(rect{0, len(head) + len(s.Clients) + 1, p.w, p.h}), all)
}

// headed is what stands in a line of the head of a policy's column.
func (v compareView) headed(a *fairness.Alternative, label string, inForce bool, w int) (string, ink) {
	switch label {
	case "policy":
		return fit(clean(a.Policy), w-1), inkBold
	case "role":
		if inForce {
			return "in force", inkBold
		}
		return "beside", inkDim
	case "verdict":
		v := verdicts[a.Fairness.Verdict]
		return fit(v.mark+" "+string(a.Fairness.Verdict), w-1), v.ink
	case "Jain":
		return a.Fairness.Jain.Format(2), inkPlain
	case "admitted":
		return perSecond(a.Aggregate.Admitted.Float(0)), inkPlain
	}
	return pick(w-1, "gets  got/ent.", "got/ent."), inkDim
}

// reasons writes below the table why each verdict is what it is, as far as there is room for all of them.
func (v compareView) reasons(p pane, all []fairness.Alternative) {
	if v.top > 0 || p.h < len(all) {
		return
	}
	for y := range all {
		x := p.text(1, y, inkBold, clean(all[y].Policy))
		p.text(max(x+1, 15), y, inkPlain, fit(clean(all[y].Fairness.Why), p.w-1-max(x+1, 15)))
	}
}
