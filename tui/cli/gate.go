package cli

import (
	"fmt"
	"strings"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/tui/report"

	"github.com/spf13/pflag"
)

var gateCommand = &command{
	name:  "gate",
	args:  "[PROFILE]",
	short: "is this configuration fair?",
	long: "Answers before any request is sent: whether limits like these can be fair to so many clients, why, which mode requests ought to be decided by, " +
		"and what cap would be right. From a profile it takes the limits and the number of clients, and flags go over them; without one, flags say it all. " +
		"Numbers without a unit are per second. Exit code 3 when it is not fair.",
	examples: []string{
		"fairgate gate --per-client 100 --active 10 --cap 1000 --buckets",
		"fairgate gate --per-client 600/m --active 10 --cap 100/s --buckets",
		"fairgate gate --active 10 --cap 1000 --max-in-flight 2 --service-time 10ms",
		"fairgate gate newcomers",
		"fairgate gate mine.yaml --active 12 --format json",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		c := &gate{}
		fs := g.group("The configuration")
		c.given = fs
		fs.Var(perSecondFlag{&c.perClient, &c.perClientBare}, "per-client", "each client's own limit")
		fs.Var(countFlag{&c.active}, "active", "clients that are there at once")
		fs.Var(perSecondFlag{&c.cap, &c.capBare}, "cap", "the limit over all")
		fs.BoolVar(&c.buckets, "buckets", false, "each client has a bucket of its own, of the rate --per-client")
		fs.Var(countFlag{&c.maxInFlight}, "max-in-flight", "attempts that a client may have in flight")
		fs.Var(durationFlag{&c.service, 1}, "service-time", "what an attempt takes, for --max-in-flight")
		c.format = formatText
		fs = g.group("The answer")
		fs.VarP(&choice{&c.format, []string{formatText, formatJSON}}, "format", "f", "text or json")
		return c.do
	},
}

// A gate is the gate command as its flags ask for it.
type gate struct {
	given                  *pflag.FlagSet
	perClient, cap         limiter.Rate
	perClientBare, capBare bool // written without a unit
	active, maxInFlight    int64
	buckets                bool
	service                time.Duration
	format                 string
}

func (c *gate) do(sh *shell, args []string) error {
	if err := c.oneUnit(); err != nil {
		return err
	}
	q := fairness.GateQuestion{PerClient: fairness.None}
	if len(args) > 0 {
		p, _, err := loadProfile(sh, args, "gate", &settings{})
		if err != nil {
			return err
		}
		l := p.Limiter.WithDefaults()
		q.Active, q.Cap = len(p.Expand()), fairness.Number(l.Rate.PerSecond())
		q.Shares = l.Policy == limiter.FairQueue || l.Policy == limiter.Hierarchical
		q.ServiceTime = p.Service.Time
		switch l.Policy {
		case limiter.PerClient:
			q.Buckets, q.PerClient = true, fairness.Number(l.Client.Rate.PerSecond())
		case limiter.Concurrency:
			q.MaxInFlight = int64(l.Client.MaxInFlight)
		}
	}
	if !c.perClient.IsZero() {
		q.PerClient = fairness.Number(c.perClient.PerSecond())
	}
	if !c.cap.IsZero() {
		q.Cap = fairness.Number(c.cap.PerSecond())
	}
	set(&q.Active, int(c.active))
	set(&q.MaxInFlight, c.maxInFlight)
	set(&q.ServiceTime, c.service)
	if c.given.Changed("buckets") {
		q.Buckets = c.buckets
	}
	switch {
	case q.Cap == 0 || q.Active == 0:
		return wrong("gate needs --cap and --active, or a profile: write for example fairgate gate --per-client 100 --active 10 --cap 1000 --buckets")
	case q.Buckets && !q.PerClient.Exists():
		return wrong("--buckets needs the rate of the buckets: add --per-client, for example --per-client 100")
	case q.MaxInFlight > 0 && q.ServiceTime == 0:
		return wrong("--max-in-flight bounds a rate only together with --service-time: add it, for example --service-time 10ms")
	}
	r := fairness.Gate(q)
	text := fmt.Sprintf("%s: %s\nmode: %s\n", map[bool]string{true: "fair", false: "not fair"}[r.Fair], r.Why, r.Mode)
	if r.RequiredCap.Exists() {
		text += fmt.Sprintf("a bucket for each of %d clients needs a cap of %s/s\n", q.Active, trimmed(r.RequiredCap))
	}
	out := []byte(text)
	if c.format == formatJSON {
		var err error
		if out, err = report.Encode(r, 1); err != nil {
			return err
		}
	}
	if err := printed(sh.out.Write(out)); err != nil {
		return err
	}
	if !r.Fair {
		return exitError(exitExpectation)
	}
	return nil
}

// oneUnit refuses a bare number beside a rate that is not per second: nobody could tell what its author meant.
func (c *gate) oneUnit() error {
	refuse := func(bare string, number limiter.Rate, other string, rate limiter.Rate) error {
		n := strings.TrimSuffix(number.String(), "/s")
		_, unit, _ := strings.Cut(rate.String(), "/")
		if rate.IsZero() || unit == "s" {
			return nil
		}
		return wrong("--%s %s has no unit, and --%s %s is per %s: write --%s %s/%s, or %s/s", bare, n, other, rate, unit, bare, n, unit, n)
	}
	switch {
	case c.perClientBare && !c.capBare:
		return refuse("per-client", c.perClient, "cap", c.cap)
	case c.capBare && !c.perClientBare:
		return refuse("cap", c.cap, "per-client", c.perClient)
	}
	return nil
}
