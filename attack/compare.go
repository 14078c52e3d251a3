package attack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// A Comparison is the same clients under several settings, a whole simulation for each.
type Comparison struct {
	Profile  string
	Variants []Variant
	Best     int    // index of the variant that one would take; −1: none can be told to be better
	Why      string // one sentence on that choice
}

// Reports are those of the variants that were simulated, in their order.
func (c *Comparison) Reports() []*fairness.Report {
	var all []*fairness.Report
	for _, v := range c.Variants {
		if v.Report != nil {
			all = append(all, v.Report)
		}
	}
	return all
}

// Compare simulates a profile under each policy and algorithm: none given means all policies, and the profile's own algorithm. A policy that the
// profile cannot be put under is among the variants with an error that says why. When ctx ends, what was simulated so far comes back with its error.
func Compare(ctx context.Context, p *profiles.Profile, policies []limiter.Policy, algorithms []limiter.Algorithm, progress func(part float64)) (*Comparison, error) {
	if len(policies) == 0 {
		policies = limiter.Policies
	}
	if len(algorithms) == 0 {
		algorithms = []limiter.Algorithm{p.Limiter.WithDefaults().Algorithm}
	}
	var all []Variant
	for _, policy := range once(policies) {
		for _, algorithm := range once(algorithms) {
			v := Variant{Name: string(policy)}
			if len(once(algorithms)) > 1 {
				v.Name += " " + string(algorithm)
			}
			q := p.Clone()
			q.Limiter.Policy, q.Limiter.Algorithm = policy, algorithm
			if v.Err = limiter.Compatible(policy, algorithm); v.Err == nil {
				v.Err = q.Check()
			}
			if v.Err == nil {
				v.Profile = q
			}
			all = append(all, v)
		}
	}
	return compare(ctx, p, all, progress)
}

// once is a list without what stands in it before.
func once[T comparable](list []T) []T {
	var kept []T
	for _, x := range list {
		if !slices.Contains(kept, x) {
			kept = append(kept, x)
		}
	}
	return kept
}

func compare(ctx context.Context, p *profiles.Profile, all []Variant, progress func(part float64)) (*Comparison, error) {
	if err := InVirtualTime(p); err != nil {
		return nil, err
	}
	err := simulateAll(ctx, all, progress)
	c := &Comparison{Profile: p.Name, Variants: all}
	c.choose()
	return c, err
}

// choose takes the variant under which the worst-served client fares best. Where that is equal to within two hundredths, it takes the one that
// wastes less of the limit, then the one that refuses less, then the earlier.
func (c *Comparison) choose() {
	c.Best = -1
	for i := range c.Variants {
		if judged(&c.Variants[i]) && (c.Best < 0 || better(c.Variants[i].Report, c.Variants[c.Best].Report)) {
			c.Best = i
		}
	}
	if c.Best < 0 {
		c.Why = "no variant can be judged: in none of them was anybody entitled to anything"
		return
	}
	best := c.Variants[c.Best]
	m := best.Report
	c.Why = fmt.Sprintf("take %s: ", best.Name)
	worst := m.Fairness.MinSatisfaction
	switch {
	case m.Fairness.Verdict == fairness.Fair:
		c.Why += fmt.Sprintf("every client gets what it is entitled to (the least %s of it)", worst.Format(2))
	default:
		c.Why += fmt.Sprintf("its worst-served client, %s, still gets %s of what it is entitled to", m.Fairness.Worst, worst.Format(2))
	}
	c.Why += fmt.Sprintf(", and %s of the limit is used", percent(m.Aggregate.Utilization))
	var others []string
	for i := range c.Variants {
		v := &c.Variants[i]
		if i != c.Best && judged(v) && v.Report.Fairness.Verdict == fairness.Starved {
			others = append(others, fmt.Sprintf("%s under %s (%s)", v.Report.Fairness.Worst, v.Name, v.Report.Fairness.MinSatisfaction.Format(2)))
		}
	}
	if n := len(others); n > 0 {
		c.Why += "; starved is " + strings.Join(others[:min(n, 3)], ", ")
		if n > 3 {
			c.Why += fmt.Sprintf(" and more under %d others", n-3)
		}
	}
}

func judged(v *Variant) bool { return v.Report != nil && v.Report.Fairness.MinSatisfaction.Exists() }

// better reports whether a is the report of the better run.
func better(a, b *fairness.Report) bool {
	const alike = 0.02
	for _, by := range []func(*fairness.Report) float64{
		// More than one is entitled to makes nobody whole.
		func(r *fairness.Report) float64 { return min(float64(r.Fairness.MinSatisfaction), 1) },
		func(r *fairness.Report) float64 { return min(r.Aggregate.Utilization.Float(0), 1) },
		func(r *fairness.Report) float64 {
			return -r.Aggregate.Rejected.Float(0) / max(r.Aggregate.Offered.Float(0), 1)
		},
	} {
		if x, y := by(a), by(b); x > y+alike || y > x+alike {
			return x > y
		}
	}
	return false
}

func percent(n fairness.Number) string {
	if !n.Exists() {
		return "an unknown part"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n))
}

// Vary simulates a profile once for each of the values that a setting is given, as in "burst=10,50,100". A setting is named by its keys in the
// profile's file, joined by dots; what begins with neither a part of the file nor a client's name is a setting of the
// limiter: "burst", "client.rate", "service.time", "web.arrivals.rate".
func Vary(ctx context.Context, p *profiles.Profile, setting string, progress func(part float64)) (*Comparison, error) {
	name, list, ok := strings.Cut(setting, "=")
	name = strings.TrimSpace(name)
	values := strings.Split(list, ",")
	if !ok || name == "" || slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
		return nil, fmt.Errorf("%q varies nothing: write SETTING=VALUE,VALUE,…, for example burst=10,50,100", setting)
	}
	var all []Variant
	for _, value := range values {
		value = strings.TrimSpace(value)
		q, err := vary(p, name, value)
		if err != nil {
			return nil, fmt.Errorf("cannot vary %s to %s: %w", name, value, err)
		}
		all = append(all, Variant{Name: name + "=" + value, Profile: q})
	}
	return compare(ctx, p, all, progress)
}

// vary is the profile with one setting changed: as a step of a lesson would change it, in YAML.
func vary(p *profiles.Profile, name, value string) (*profiles.Profile, error) {
	if strings.ContainsAny(name+value, "\n\r{}[]#&*!|>%@`\"'") {
		return nil, fmt.Errorf("a setting and its value are plain words: write for example burst=10,50,100")
	}
	var set strings.Builder
	indent := ""
	// A client's name may hold dots, so that the longest that fits is taken.
	client := ""
	for _, c := range p.Clients {
		if strings.HasPrefix(name, c.Name+".") && len(c.Name) > len(client) {
			client = c.Name
		}
	}
	keys := strings.Split(name, ".")
	switch {
	case client != "":
		fmt.Fprintf(&set, "clients:\n  - name: %q\n", client)
		keys = strings.Split(strings.TrimPrefix(name, client+"."), ".")
		indent = "    "
	case keys[0] != "limiter" && keys[0] != "service" && keys[0] != "duration":
		set.WriteString("limiter:\n")
		indent = "  "
	}
	for i, key := range keys {
		fmt.Fprintf(&set, "%s%s:", indent, key)
		if i < len(keys)-1 {
			set.WriteString("\n")
			indent += "  "
		}
	}
	fmt.Fprintf(&set, " %s\n", value)
	step := profiles.Step{Say: "vary", Set: []byte(set.String())}
	return step.Apply(p)
}
