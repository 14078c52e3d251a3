package attack

import (
	"context"
	"fmt"
	"math"

	"fairgate/fairness"
	"fairgate/profiles"
)

// Repetition is one profile simulated with several seeds, and what the figures were on average.
type Repetition struct {
	Schema  int      `json:"schema"`
	Profile string   `json:"profile"`
	Seeds   []uint64 `json:"seeds"` // those that were simulated to their end, or as far as time allowed

	Jain            Figure             `json:"jain"`
	MinSatisfaction Figure             `json:"min_satisfaction"`
	Utilization     Figure             `json:"utilization"`
	AdmittedRate    Figure             `json:"admitted_rps"`
	Verdicts        map[string]int     `json:"verdicts"` // how many runs ended with each
	Clients         []RepeatedMeasures `json:"clients"`

	Reports []*fairness.Report `json:"-"`
}

// RepeatedMeasures are the figures of one client.
type RepeatedMeasures struct {
	Name          string `json:"name"`
	AdmittedRate  Figure `json:"admitted_rps"`
	Share         Figure `json:"share"`
	Satisfaction  Figure `json:"satisfaction"`
	RejectRatio   Figure `json:"reject_ratio"`
	Amplification Figure `json:"amplification"`
	LongestGap    Figure `json:"longest_gap_s"`
}

// Figure is a measure over several runs: its mean, and the standard deviation from one run to the next (with n−1 in the denominator; none for fewer than two
// runs). Runs in which the measure does not exist are left out.
type Figure struct {
	Mean fairness.Number `json:"mean"`
	SD   fairness.Number `json:"sd"`
}

func figure(reports []*fairness.Report, of func(*fairness.Report) fairness.Number) Figure {
	var n, mean, squares float64
	for _, r := range reports {
		// Welford's recurrence, which loses no digits to large means.
		if v := of(r); v.Exists() {
			n++
			from := float64(v) - mean
			mean += from / n
			squares += from * (float64(v) - mean)
		}
	}
	f := Figure{fairness.None, fairness.None}
	if n > 0 {
		f.Mean = fairness.Number(mean)
	}
	if n > 1 {
		f.SD = fairness.Number(math.Sqrt(squares / (n - 1)))
	}
	return f
}

// Repeat simulates a profile with so many seeds: its own, and those that follow. When ctx ends, what was simulated so far comes back with its error.
func Repeat(ctx context.Context, p *profiles.Profile, runs int, progress func(part float64)) (*Repetition, error) {
	if runs < 1 {
		return nil, fmt.Errorf("%d runs are none: write for example 20", runs)
	}
	all := make([]Variant, runs)
	for i := range all {
		q := p.Clone()
		q.Seed += uint64(i)
		all[i] = Variant{Name: fmt.Sprintf("seed %d", q.Seed), Profile: q}
	}
	stopped := simulateAll(ctx, all, progress)
	r := &Repetition{Schema: 1, Profile: p.Name, Seeds: []uint64{}, Verdicts: map[string]int{}, Clients: []RepeatedMeasures{}}
	for _, v := range all {
		if v.Err != nil {
			return nil, v.Err
		}
		if v.Report != nil {
			r.Reports = append(r.Reports, v.Report)
			r.Seeds = append(r.Seeds, v.Report.Seed)
			r.Verdicts[string(v.Report.Fairness.Verdict)]++
		}
	}
	r.summarise()
	return r, stopped
}

func (r *Repetition) summarise() {
	whole := func(of func(*fairness.Report) fairness.Number) Figure { return figure(r.Reports, of) }
	r.Jain = whole(func(r *fairness.Report) fairness.Number { return r.Fairness.Jain })
	r.MinSatisfaction = whole(func(r *fairness.Report) fairness.Number { return r.Fairness.MinSatisfaction })
	r.Utilization = whole(func(r *fairness.Report) fairness.Number { return r.Aggregate.Utilization })
	r.AdmittedRate = whole(func(r *fairness.Report) fairness.Number { return r.Aggregate.Admitted })
	if len(r.Reports) == 0 {
		return
	}
	for i, c := range r.Reports[0].Clients {
		of := func(measure func(*fairness.ClientMeasures) fairness.Number) Figure {
			return whole(func(r *fairness.Report) fairness.Number { return measure(&r.Clients[i]) })
		}
		r.Clients = append(r.Clients, RepeatedMeasures{
			Name:          c.Name,
			AdmittedRate:  of(func(c *fairness.ClientMeasures) fairness.Number { return c.AdmittedRate }),
			Share:         of(func(c *fairness.ClientMeasures) fairness.Number { return c.Share }),
			Satisfaction:  of(func(c *fairness.ClientMeasures) fairness.Number { return c.Satisfaction }),
			RejectRatio:   of(func(c *fairness.ClientMeasures) fairness.Number { return c.RejectRatio }),
			Amplification: of(func(c *fairness.ClientMeasures) fairness.Number { return c.Amplification }),
			LongestGap:    of(func(c *fairness.ClientMeasures) fairness.Number { return c.LongestGap }),
		})
	}
}
