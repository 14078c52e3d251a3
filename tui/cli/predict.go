package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
	"fairgate/tui/report"

	"github.com/spf13/pflag"
)

var predictCommand = &command{
	name:  "predict",
	short: "how many 429s a limit makes by chance",
	long: "A limit that is not reached on average is reached now and then, since requests come at random. It tells how often: the probability of a full " +
		"window, the rejections per second in sum and for each shard, and with retries, whose own rejections are counted in. The assumptions are printed too.",
	examples: []string{
		"fairgate predict --rate 150/s --arrivals 136.28/s",
		"fairgate predict --rate 150/s --arrivals 132.645/s --shards 6 --retries 1",
		"fairgate predict --measured poisson",
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
		fs.StringVar(&c.measured, "measured", "", "simulate `PROFILE` too, with these flags over it, and print both; what no flag says of the question is the profile's")
		c.given = fs
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
	measured        string
	given           *pflag.FlagSet
}

func (c *predict) do(sh *shell, args []string) error {
	if len(args) > 0 {
		return wrong("predict takes flags only, and was given %s", strings.Join(args, " "))
	}
	q := fairness.Forecast{
		Rate: c.rate.PerSecond(), Arrivals: c.arrivals.PerSecond(), Shards: int(c.shards), Retries: int(c.retries), Window: c.window, AtMost: c.atMost,
	}
	var profile *profiles.Profile
	if c.measured != "" {
		var err error
		if profile, err = profiles.Load(c.measured); err != nil {
			return wrong("--measured: %v", err)
		}
		if err := c.lay(profile); err != nil {
			return err
		}
		c.ask(&q, profile)
		for _, note := range strains(profile) {
			sh.note("fairgate: %s", note)
		}
	}
	if q.Rate == 0 || q.Arrivals == 0 {
		return wrong("predict needs --rate and --arrivals: write for example fairgate predict --rate 150/s --arrivals 136.28/s")
	}
	p, err := fairness.Predict(q)
	if err != nil {
		return wrong("%v", err)
	}
	var m *measurement
	if profile != nil {
		if m, err = measure(sh, profile); err != nil {
			return err
		}
	}
	if c.format == formatText {
		return printed(io.WriteString(sh.out, prediction(p, m)))
	}
	out, err := predictionJSON(p, m)
	if err != nil {
		return err
	}
	return printed(sh.out.Write(out))
}

// lay puts the flags over a profile, so that what is simulated is what is predicted.
func (c *predict) lay(p *profiles.Profile) error {
	l := &p.Limiter
	set(&l.Rate, c.rate)
	if c.given.Changed("window") {
		l.Window = c.window
	}
	if c.given.Changed("shards") {
		l.Policy, l.Shards = limiter.Sharded, int(c.shards)
	}
	for i := range p.Clients {
		if c.given.Changed("retries") {
			p.Clients[i].Retry.Attempts = int(c.retries)
		}
	}
	if !c.arrivals.IsZero() {
		if len(p.Clients) != 1 {
			return wrong("--arrivals cannot be shared out among the %d clients of %s: leave it out, or measure a profile with one client", len(p.Clients), p.Name)
		}
		p.Clients[0].Arrivals.Rate = c.arrivals
	}
	if err := p.Check(); err != nil {
		return wrong("--measured: with these flags the profile makes no sense: %v", err)
	}
	return nil
}

// ask takes from a profile what no flag has said of the question.
func (c *predict) ask(q *fairness.Forecast, p *profiles.Profile) {
	l := p.Limiter.WithDefaults()
	if q.Rate == 0 {
		q.Rate = l.Rate.PerSecond()
	}
	if !c.given.Changed("shards") && l.Policy == limiter.Sharded {
		q.Shards = l.Shards
	}
	if !c.given.Changed("window") && l.Window > 0 {
		q.Window = l.Window
	}
	arrivals, retries := 0.0, 0
	for _, client := range p.Expand() {
		arrivals += client.Arrivals.Rate.PerSecond()
		if n := client.Retry.Attempts; n == profiles.Unlimited {
			retries = 1000
		} else {
			retries = max(retries, n)
		}
	}
	if q.Arrivals == 0 {
		q.Arrivals = arrivals
	}
	if !c.given.Changed("retries") {
		q.Retries = retries
	}
}

// strains are what of a profile the prediction does not assume, so that what is measured may well be something else.
func strains(p *profiles.Profile) []string {
	var notes []string
	for _, c := range p.Clients {
		if process := c.Arrivals.Process; process != profiles.Poisson {
			notes = append(notes, fmt.Sprintf("the prediction is about requests at random (poisson), and those of %s are %s", c.Name, process))
		}
	}
	l := p.Limiter.WithDefaults()
	if l.Policy != limiter.Global && l.Policy != limiter.Sharded {
		notes = append(notes, fmt.Sprintf("the prediction is about a limit for all, global or sharded, and not about %s", l.Policy))
	}
	if l.Algorithm != limiter.AlgorithmFixedWindow {
		notes = append(notes, fmt.Sprintf("the prediction counts in windows, and %s does not", l.Algorithm))
	}
	return notes
}

// A measurement is what a simulation made of the same.
type measurement struct {
	Profile   string          `json:"profile"`
	Seed      uint64          `json:"seed"`
	Duration  fairness.Number `json:"duration_s"`
	Arrivals  fairness.Number `json:"arrivals_per_s"`
	Attempts  fairness.Number `json:"attempts_per_s"`
	Rejected  fairness.Number `json:"rejected_per_s"`
	RejectPer fairness.Number `json:"reject_ratio"`
}

// measure simulates a profile to its end.
func measure(sh *shell, p *profiles.Profile) (*measurement, error) {
	stop := newStopper(context.Background(), func() {})
	defer stop.release()
	bar := newProgress(sh)
	r, err := attack.Simulate(stop.ctx, p, attack.SimulateOptions{Progress: func(done time.Duration) { bar.part(float64(done) / float64(p.Duration)) }})
	bar.clear()
	if sig := stop.signal(); sig != nil {
		return nil, exitError(codeOfSignal(sig))
	}
	if err != nil {
		return nil, err
	}
	a := &r.Aggregate
	return &measurement{
		Profile: r.Profile, Seed: r.Seed, Duration: r.Duration, Arrivals: a.Demand, Attempts: a.Offered, Rejected: a.Rejected, RejectPer: a.Rejected / a.Offered,
	}, nil
}

// predictionJSON is a prediction, with a measurement as one key more where there is one.
func predictionJSON(p fairness.Prediction, m *measurement) ([]byte, error) {
	if m == nil {
		return report.Encode(p, 2)
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	more, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b = append(bytes.TrimSuffix(b, []byte("}")), `,"measured":`...)
	return report.Encode(json.RawMessage(append(append(b, more...), '}')), 2)
}

// prediction is a prediction for people.
func prediction(p fairness.Prediction, m *measurement) string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-22s %s\n", label, fmt.Sprintf(format, args...))
	}
	// each is a sum with what of it falls on each shard.
	each := func(sum fairness.Number, format func(fairness.Number) string) string {
		if p.Shards == 1 {
			return format(sum) + "/s"
		}
		return fmt.Sprintf("%s/s in sum, %s/s for each shard", format(sum), format(sum/fairness.Number(p.Shards)))
	}
	fine := func(n fairness.Number) string { return n.Format(4) }
	fmt.Fprintf(&b, "a limit of %s/s, %s requests/s at random, %s, windows of %s s, %s\n\n",
		trimmed(p.Rate), trimmed(p.Arrivals), counted(p.Shards, "shard", "shards"), trimmed(p.Window), counted(p.Retries, "retry", "retries"))
	line("full windows", "%s%% of them, each with %s arrivals on average where %d fit", (p.FullWindow * 100).Format(3), p.Crowd.Format(1), p.ShardLimit)
	line("rejected", "%s", each(p.Rejected, fine))
	if p.Retries > 0 {
		line("with retries", "%s", each(p.WithRetries, fine))
		line("", "of %s attempts/s, solved with the retries counted in", trimmed(p.Attempts))
		line("naively", "%s/s, if each rejection were simply repeated", p.NaiveRetries.Format(4))
		line("failed for good", "%s requests/s", p.Failed.Format(4))
	}
	line("part rejected", "%s%% of the attempts", (p.RejectRatio * 100).Format(3))
	line("really enforced", "%s", each(p.Enforced, trimmed))
	line("smallest good limit", "%s", each(p.SmallestLimit, trimmed))
	line("", "at which at most %s%% of the attempts are rejected", trimmed(p.AtMost*100))
	b.WriteByte('\n')
	if m != nil {
		m.beside(&b, p)
	}
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

// beside writes what was predicted and what was measured beside each other.
func (m *measurement) beside(b *strings.Builder, p fairness.Prediction) {
	fmt.Fprintf(b, "%s, simulated for %s s with seed %d\n", m.Profile, trimmed(m.Duration), m.Seed)
	rows := [][]string{{"", "predicted", "measured", "measured/predicted"}}
	for _, r := range []struct {
		name                string
		predicted, measured fairness.Number
		write               func(fairness.Number) string
	}{
		{"requests/s", p.Arrivals, m.Arrivals, trimmed},
		{"attempts/s", p.Attempts, m.Attempts, trimmed},
		{"rejected/s", p.WithRetries, m.Rejected, func(n fairness.Number) string { return n.Format(4) }},
		{"part rejected", p.RejectRatio, m.RejectPer, func(n fairness.Number) string { return (n * 100).Format(3) + "%" }},
	} {
		part := fairness.None
		if r.predicted > 0 {
			part = r.measured / r.predicted
		}
		rows = append(rows, []string{r.name, r.write(r.predicted), r.write(r.measured), part.Format(2)})
	}
	table(b, rows, false)
	b.WriteByte('\n')
}

// trimmed is a number with at most three decimals and no needless zeros.
func trimmed(n fairness.Number) string {
	s := n.Format(3)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
