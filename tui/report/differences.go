package report

import (
	"fmt"

	"fairgate/fairness"
)

// settingsOf a report, as far as two runs may differ in them.
var settingsOf = []struct {
	name string
	of   func(*fairness.Report) string
}{
	{"profile", func(r *fairness.Report) string { return r.Profile }},
	{"mode", func(r *fairness.Report) string { return r.Mode }},
	{"seed", func(r *fairness.Report) string { return fmt.Sprint(r.Seed) }},
	{"duration", func(r *fairness.Report) string { return r.Duration.Format(1) + " s" }},
	{"policy", func(r *fairness.Report) string { return r.Limiter.Policy }},
	{"algorithm", func(r *fairness.Report) string { return r.Limiter.Algorithm }},
	{"rate", func(r *fairness.Report) string { return rate(r.Limiter.RatePerS) }},
	{"burst", func(r *fairness.Report) string { return fmt.Sprint(r.Limiter.Burst) }},
	{"client rate", func(r *fairness.Report) string { return rate(r.Limiter.ClientRatePerS) }},
	{"shards", func(r *fairness.Report) string { return fmt.Sprint(r.Limiter.Shards) }},
	{"Retry-After", func(r *fairness.Report) string { return r.Limiter.RetryAfter }},
	{"changes", func(r *fairness.Report) string { return fmt.Sprint(len(r.Changes)) }},
}

// differences is the table of the settings that are not the same in all variants; one without columns when all are.
func (c *Comparison) differences() grid {
	ran := c.ran()
	g := grid{heads: []string{""}}
	for _, v := range ran {
		g.rows = append(g.rows, []string{clean(v.Name)})
		g.best = append(g.best, []bool{false})
		g.moods = append(g.moods, plain)
	}
	for _, s := range settingsOf {
		differs := false
		for _, v := range ran {
			differs = differs || s.of(v.Report) != s.of(ran[0].Report)
		}
		if !differs {
			continue
		}
		g.heads = append(g.heads, s.name)
		for i, v := range ran {
			g.rows[i] = append(g.rows[i], clean(s.of(v.Report)))
			g.best[i] = append(g.best[i], false)
		}
	}
	return g
}

// shift is the table of the figures that two reports do not share, from the first to the second; one without rows when there are not two, or when all
// figures are alike. A figure that may be called better has the better one marked, and the last column says how much it moved.
func (c *Comparison) shift() grid {
	ran := c.ran()
	if len(ran) != 2 {
		return grid{}
	}
	from, to := ran[0].Report, ran[1].Report
	g := grid{heads: []string{"", clean(ran[0].Name), clean(ran[1].Name), "moved"}}
	row := func(name, a, b string, better int, moved string) {
		if a == b {
			return
		}
		g.rows = append(g.rows, []string{name, a, b, moved})
		g.best = append(g.best, []bool{false, better < 0, better > 0, false})
		g.moods = append(g.moods, plain)
	}
	row("verdict", string(from.Fairness.Verdict), string(to.Fairness.Verdict), 0, "")
	figure := func(name string, of func(*fairness.Report) fairness.Number, write func(fairness.Number) string, better int, atMost fairness.Number) {
		a, b := of(from), of(to)
		side := 0
		switch {
		case isBest(b, ran, of, better, atMost):
			side = 1
		case isBest(a, ran, of, better, atMost):
			side = -1
		}
		row(name, write(a), write(b), side, moved(a, b))
	}
	for _, m := range measuresOf {
		figure(m.head, m.of, m.write, m.better, m.atMost)
	}
	shown, _ := chosen(&to.Measures)
	for _, client := range shown[:min(len(shown), mostShifts)] {
		of := func(get func(*fairness.ClientMeasures) fairness.Number) func(*fairness.Report) fairness.Number {
			return func(r *fairness.Report) fairness.Number {
				for i := range r.Clients {
					if r.Clients[i].Name == client.Name {
						return get(&r.Clients[i])
					}
				}
				return fairness.None
			}
		}
		name := clean(client.Name)
		figure(name+" satisfied", of(satisfaction), twoDecimals, 1, 1)
		figure(name+" gets", of(admitted), rate, 0, 0)
		figure(name+" rejected", of(rejectRatio), percent, -1, 0)
	}
	return g
}

// mostShifts bounds the clients whose figures are held against each other.
const mostShifts = 8

func rejectRatio(c *fairness.ClientMeasures) fairness.Number { return c.RejectRatio }

// moved is how far it is from a to b: a factor, or a percentage when it is less than double and more than half. "" when it cannot be said.
func moved(a, b fairness.Number) string {
	if !a.Exists() || !b.Exists() || a <= 0 || b <= 0 {
		return ""
	}
	switch r := b / a; {
	case r >= 9.5:
		return "×" + r.Format(0)
	case r >= 2:
		return "×" + r.Format(1)
	case r > 0.5:
		if r > 1 {
			return "+" + ((r - 1) * 100).Format(0) + "%"
		}
		return "-" + ((1 - r) * 100).Format(0) + "%"
	case r > 1/9.5:
		return "÷" + (1 / r).Format(1)
	default:
		return "÷" + (1 / r).Format(0)
	}
}
