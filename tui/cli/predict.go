package cli

import (
	"fmt"
	"strings"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/tui/report"
)

var predictCommand = &command{
	name:  "predict",
	short: "how many 429s a limit makes by chance",
	long: "A limit that is not reached on average is reached now and then, since requests come at random. It tells how often: the probability of a full " +
		"window, the rejections per second in sum and for each shard, and with retries, whose own rejections are counted in. The assumptions are printed too.",
	examples: []string{
		"fairgate predict --rate 150/s --arrivals 136.28/s",
		"fairgate predict --rate 150/s --arrivals 132.645/s --shards 6 --retries 1",
		"fairgate predict --rate 1000/m --arrivals 15/s --window 1m --at-most 1%",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		c := &predict{window: time.Second, shards: 1, format: formatText}
		fs := g.group("The question")
		fs.Var(rateFlag{&c.rate}, "rate", "the limit")
		fs.Var(rateFlag{&c.arrivals}, "arrivals", "requests, retries not counted")
		fs.Var(countFlag{&c.shards}, "shards", "instances that the limit is divided among")
		fs.Var(naturalFlag{&c.retries}, "retries", "how often a refused request is tried again (default 0)")
		fs.Var(durationFlag{&c.window, time.Nanosecond}, "window", "over which the limit counts")
		fs.Var(partFlag{&c.atMost}, "at-most", "find the smallest limit that refuses no larger part of the attempts (default 0.1%)")
		fs = g.group("The answer")
		fs.VarP(&choice{&c.format, []string{formatText, formatJSON}}, "format", "f", "text or json")
		return c.do
	},
}

// A predict is the predict command as its flags ask for it.
type predict struct {
	rate, arrivals  limiter.Rate
	shards, retries int64
	window          time.Duration
	atMost          float64
	format          string
}

func (c *predict) do(sh *shell, args []string) error {
	switch {
	case len(args) > 0:
		return wrong("predict takes flags only, and was given %s", strings.Join(args, " "))
	case c.rate.IsZero() || c.arrivals.IsZero():
		return wrong("predict needs --rate and --arrivals: write for example fairgate predict --rate 150/s --arrivals 136.28/s")
	}
	p, err := fairness.Predict(fairness.Forecast{
		Rate: c.rate.PerSecond(), Arrivals: c.arrivals.PerSecond(), Shards: int(c.shards), Retries: int(c.retries), Window: c.window, AtMost: c.atMost,
	})
	if err != nil {
		return wrong("%v", err)
	}
	out := []byte(prediction(p))
	if c.format == formatJSON {
		if out, err = report.Encode(p, 2); err != nil {
			return err
		}
	}
	return printed(sh.out.Write(out))
}

// prediction is a prediction for people.
func prediction(p fairness.Prediction) string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-22s %s\n", label, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "a limit of %s/s, %s requests/s at random, %d shard(s), windows of %s s, %d retries\n\n",
		trimmed(p.Rate), trimmed(p.Arrivals), p.Shards, trimmed(p.Window), p.Retries)
	line("full windows", "%s%% of them, each with %s arrivals on average where %d fit", (p.FullWindow * 100).Format(3), p.Crowd.Format(1), p.ShardLimit)
	line("rejected", "%s/s (%s/s for each shard)", p.Rejected.Format(4), p.PerShard.Format(4))
	if p.Retries > 0 {
		line("with retries", "%s/s, solved with the retries counted in; %s attempts/s", p.WithRetries.Format(4), trimmed(p.Attempts))
		line("naively", "%s/s, if each rejection were simply repeated", p.NaiveRetries.Format(4))
		line("failed for good", "%s requests/s", p.Failed.Format(4))
	}
	line("part rejected", "%s%% of the attempts", (p.RejectRatio * 100).Format(3))
	line("really enforced", "%s/s", trimmed(p.Enforced))
	line("smallest good limit", "%s/s, at which at most %s%% of the attempts are rejected", trimmed(p.SmallestLimit), trimmed(p.AtMost*100))
	b.WriteByte('\n')
	rows := [][]string{{"shards", "rejected/s", "with retries/s", "enforced/s"}}
	for _, s := range p.ByShards {
		rows = append(rows, []string{fmt.Sprint(s.Shards), s.Rejected.Format(4), s.WithRetries.Format(4), trimmed(s.Enforced)})
	}
	table(&b, rows, false)
	b.WriteString("\nthis assumes that\n")
	for _, a := range p.Assumptions {
		for i, l := range wrap(a, 76) {
			b.WriteString(map[bool]string{true: "  - ", false: "    "}[i == 0] + l + "\n")
		}
	}
	return b.String()
}

// trimmed is a number with at most three decimals and no needless zeros.
func trimmed(n fairness.Number) string {
	s := n.Format(3)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
