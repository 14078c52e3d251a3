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
