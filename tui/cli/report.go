package cli

import (
	"path/filepath"
	"time"

	"fairgate/limiter"
	"fairgate/tui/report"
)

var reportCommand = &command{
	name:  "report",
	args:  "FILE...",
	short: "a report from recorded attempts, or recorded reports again",
	long: "Reads recorded attempts, as run --record and vegeta attack write them, in gob, JSON or CSV, and says how fair the limiter was that answered them. Several " +
		"files make one report: their attempts are put in the order of time, and the name of an attack is the client. Or reads the JSON reports that run and simulate write: " +
		"one is written anew in another format; of several it shows what differs in their settings, and their figures beside each other, the best marked.",
	examples: []string{
		"fairgate report results.gob --rate 1000/s --burst 100",
		"fairgate report web.csv batch.csv --expect 'web.satisfaction > 0.9'",
		"fairgate report before.json after.json",
		"fairgate report monday.json --output monday.html",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		c := &reread{}
		fs := g.group("Of recorded attempts")
		c.given = fs.Changed
		fs.Var(rateFlag{&c.rate}, "rate", "the limit that was in force, as 1000/s; without it entitlements are shares of what was admitted in sum")
		fs.Var(countFlag{&c.burst}, "burst", "its burst, against which the worst moment is held")
		fs.Var(durationFlag{&c.warmUp, 0}, "warm-up", "how much of the beginning the report leaves out")
		c.report.flags(g)
		c.look.flags(g, false)
		return c.do
	},
}

// A reread is the report command as its flags ask for it.
type reread struct {
	given  func(flag string) bool
	rate   limiter.Rate
	burst  int64
	warmUp time.Duration
	report reporting
	look   look
}

func (c *reread) do(sh *shell, files []string) error {
	if len(files) == 0 {
		return wrong("report needs a file: write for example fairgate report results.gob, or fairgate report before.json after.json")
	}
	attempts, err := recordings(files)
	switch {
	case err != nil:
		return err
	case attempts && c.given("burst") && !c.given("rate"):
		return wrong("--burst says nothing without --rate: add --rate, for example --rate 1000/s")
	case attempts:
		return c.recorded(sh, files)
	case len(c.report.expect) > 0:
		return wrong("--expect judges recorded attempts; a report has been judged when it was made: leave --expect out")
	}
	for _, flag := range []string{"rate", "burst", "warm-up"} {
		if c.given(flag) {
			return wrong("--%s is for recorded attempts, and %s holds none: leave it out", flag, files[0])
		}
	}
	all := &report.Comparison{Recorded: true, Best: -1}
	for _, file := range files {
		r, err := readReport(file)
		if err != nil {
			return err
		}
		all.Variants = append(all.Variants, report.Variant{Name: file, Report: r})
	}
	shorten(all.Variants)
	if err := c.report.out.open(); err != nil {
		return err
	}
	defer c.report.out.discard()
	if len(files) == 1 {
		return c.report.out.write(sh, all.Variants[0].Report, c.look)
	}
	return c.report.out.writeComparison(sh, all, c.look)
}

// shorten names the variants by their files alone, where that tells them apart.
func shorten(variants []report.Variant) {
	seen := map[string]bool{}
	for _, v := range variants {
		base := filepath.Base(v.Name)
		if seen[base] {
			return
		}
		seen[base] = true
	}
	for i := range variants {
		variants[i].Name = filepath.Base(variants[i].Name)
	}
}
