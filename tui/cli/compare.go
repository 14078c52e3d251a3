package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fairgate/attack"
	"fairgate/limiter"
	"fairgate/profiles"
	"fairgate/tui/report"
)

var compareCommand = &command{
	name:  "compare",
	args:  "[PROFILE]",
	short: "the same clients under every policy",
	long: "A whole simulation for each policy, retries and all, in one table: how the worst-served client fares, how much of the limit is used, what is " +
		"rejected, how long clients wait. It says which policy it would take, and why. With --vary it is not the policy that differs but a setting, " +
		"named as in a profile: burst, client.rate, shards, service.time, web.arrivals.rate.",
	examples: []string{
		"fairgate compare",
		"fairgate compare mine.yaml --policies global,per-client,fair-queue",
		"fairgate compare window.yaml --policies global --algorithms fixed-window,gcra",
		"fairgate compare starvation --policy sharded --vary shards=1,2,5,10",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		c := &compare{}
		fs := g.group("What differs")
		fs.Var(&listFlag{&c.policies, words(limiter.Policies)}, "policies", "policies to compare, as a,b,c (default: all)")
		fs.Var(&listFlag{&c.algorithms, words(limiter.Algorithms)}, "algorithms", "algorithms to compare, each with each policy (default: the profile's)")
		fs.StringVar(&c.vary, "vary", "", "a setting and its values in place of policies: `SETTING=A,B,C`")
		replayFlag(fs, &c.settings)
		c.settings.flags(g)
		c.report.flags(g)
		c.look.flags(g, false)
		return c.do
	},
}

// A compare is the compare command as its flags ask for it.
type compare struct {
	policies, algorithms []string
	vary                 string
	settings             settings
	report               reporting
	look                 look
}

func (c *compare) do(sh *shell, args []string) error {
	if c.vary != "" && len(c.policies)+len(c.algorithms) > 0 {
		return wrong("--vary takes the place of --policies and --algorithms: give one or the other")
	}
	if c.settings.given("policy") && c.vary == "" {
		return wrong("--policy gives one policy, and compare takes them all: write --policies %s, or vary a setting under it with --vary", c.settings.policy)
	}
	p, _, err := loadProfile(sh, args, "compare", &c.settings)
	if err != nil {
		return err
	}
	if err := c.report.prepare(p, true); err != nil {
		return err
	}
	defer c.report.out.discard()
	stop := newStopper(context.Background(), c.report.out.discard)
	defer stop.release()
	bar := newProgress(sh)
	all, err := c.simulate(stop.ctx, p, bar.part)
	bar.clear()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	failed := c.judge(all)
	if err := c.write(sh, all); err != nil {
		return err
	}
	if sig := stop.signal(); sig != nil {
		return exitError(codeOfSignal(sig))
	}
	if failed != "" {
		sh.note("fairgate: not met: %s", failed)
		return exitError(exitExpectation)
	}
	return nil
}

// judge judges every variant by what the command line expects of it. What the profile expects is about the profile as it is.
func (c *compare) judge(all *report.Comparison) string {
	var failed []string
	for _, v := range all.Variants {
		if v.Report != nil {
			if text := c.report.judge(v.Report, false); text != "" {
				failed = append(failed, v.Name+": "+text)
			}
		}
	}
	return strings.Join(failed, "; ")
}

// simulate runs the variants.
func (c *compare) simulate(ctx context.Context, p *profiles.Profile, progress func(float64)) (*report.Comparison, error) {
	var all *attack.Comparison
	var err error
	if c.vary != "" {
		if all, err = attack.Vary(ctx, p, c.vary, progress); all == nil {
			return nil, wrong("--vary: %v", err)
		}
	} else {
		var algorithms []limiter.Algorithm
		for _, w := range c.algorithms {
			algorithms = append(algorithms, limiter.Algorithm(w))
		}
		if all, err = attack.Compare(ctx, p, policiesOf(c.policies), algorithms, progress); all == nil {
			return nil, err
		}
	}
	shown := &report.Comparison{Profile: all.Profile, Best: all.Best, Why: all.Why}
	for _, v := range all.Variants {
		one := report.Variant{Name: v.Name, Report: v.Report}
		if v.Err != nil {
			one.Err = v.Err.Error()
		}
		if v.Report == nil && v.Err == nil {
			one.Err = "it was interrupted before its turn"
		}
		shown.Variants = append(shown.Variants, one)
	}
	return shown, err
}

func (c *compare) write(sh *shell, all *report.Comparison) error {
	return c.report.out.writeComparison(sh, all, c.look)
}

// A listFlag is a list of some words, with commas between them.
type listFlag struct {
	to    *[]string
	words []string
}

func (l *listFlag) String() string {
	if l.to == nil {
		return ""
	}
	return strings.Join(*l.to, ",")
}
func (l *listFlag) Type() string { return "words" }
func (l *listFlag) Set(s string) error {
	var list []string
	for _, w := range strings.Split(s, ",") {
		var one string
		if err := (&choice{&one, l.words}).Set(strings.TrimSpace(w)); err != nil {
			return err
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return fmt.Errorf("it is empty: write some of %s", oneOf(l.words))
	}
	*l.to = list
	return nil
}
