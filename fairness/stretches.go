package fairness

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Several stands for what differs between the limits of a merged stretch.
const Several = "several"

// apart are the stretches after the warm-up, each by itself, when a change cut the run.
func (t *Tally) apart(now time.Duration) []Stretch {
	apart := []Stretch{}
	first := slices.IndexFunc(t.stretches, func(s *stretch) bool { return !s.warm })
	if first < 0 || len(t.stretches)-first < 2 {
		return apart
	}
	for k := first; k < len(t.stretches); k++ {
		of := t.stretches[k]
		from, to := of.from, now
		if k+1 < len(t.stretches) {
			to = t.stretches[k+1].from
		}
		all := t.sumsOf(t.stretches[k:k+1], from, to)
		s := Stretch{
			From: seconds(from), To: seconds(to), Merged: max(of.merged, 1), Limiter: t.limitOf(from, to),
			Measures: t.measure(from, to, all, of.load.report(), spreads(all)),
		}
		if k > first && s.Merged == 1 {
			s.early(to-from, fmt.Sprintf("only %s s after a change: too early to tell", seconds(to-from).Format(1)))
		}
		s.Diagnosis = Diagnose(s.Limiter, s.Measures, None)
		if s.Merged > 1 {
			s.Fairness.Advice = ""
			s.Diagnosis = s.mixed()
		}
		apart = append(apart, s)
	}
	return apart
}

// mixed is the diagnosis of a merged stretch, whose figures are of several limits: they have a verdict and no cause.
func (s *Stretch) mixed() Diagnosis {
	return Diagnosis{
		Verdict: s.Fairness.Verdict, Cause: NotKnown, Victims: s.Diagnosis.Victims,
		Text: []string{
			monitoring(&s.Aggregate, None),
			s.Fairness.Why,
			fmt.Sprintf("%d stretches between changes are one here, since there were more than are kept apart: what caused what cannot be said", s.Merged),
		},
	}
}

// limitOf is what the limits between two moments have in common.
func (t *Tally) limitOf(from, to time.Duration) Limit {
	common := t.spellBefore(to).limit
	for k := range t.spells {
		if k+1 < len(t.spells) && t.spells[k+1].from <= from || t.spells[k].from >= to {
			continue
		}
		common.meet(&t.spells[k].limit)
	}
	return common
}

// meet leaves of a limit what another has too.
func (l *Limit) meet(o *Limit) {
	text := func(a *string, b string) {
		if *a != b {
			*a = Several
		}
	}
	number := func(a *Number, b Number) {
		if a.Exists() && *a != b {
			*a = None
		}
	}
	text(&l.Policy, o.Policy)
	text(&l.Algorithm, o.Algorithm)
	text(&l.RetryAfter, o.RetryAfter)
	text(&l.RateText, o.RateText)
	text(&l.ClientText, o.ClientText)
	number(&l.RatePerS, o.RatePerS)
	number(&l.ClientRatePerS, o.ClientRatePerS)
	if l.Burst != o.Burst {
		l.Burst = 0
	}
	if l.Shards != o.Shards {
		l.Shards = 0
	}
	if l.MaxInFlight != o.MaxInFlight {
		l.MaxInFlight = 0
	}
}

// diagnoseApart diagnoses a run that was changed on the way: its last stretch, since that is what holds, with a sentence before it about the stretches. A
// diagnosis of the whole would put one limit's figures down to another.
func (r *Report) diagnoseApart() {
	last := &r.Stretches[len(r.Stretches)-1]
	overshoot := r.Overshoot
	if overshoot > 0 {
		overshoot = None // it may have been in any of them
	}
	r.Diagnosis = Diagnose(last.Limiter, last.Measures, overshoot)
	r.Fairness.Advice = last.Fairness.Advice
	text := []string{courseInWords(r)}
	if r.Overshoot > 0 {
		text = append(text, fmt.Sprintf("over the whole run the worst interval went %s tokens beyond limit × time + burst", figure(r.Overshoot)))
	}
	r.Diagnosis.Text = append(text, r.Diagnosis.Text...)
}

// mostTelling is how many stretches a sentence speaks of.
const mostTelling = 5

// courseInWords is how it went from stretch to stretch, in a sentence.
func courseInWords(r *Report) string {
	names := r.stretchNames()
	var parts []string
	skip := max(len(r.Stretches)-mostTelling, 0)
	if skip > 0 {
		parts = append(parts, fmt.Sprintf("%d stretches until %s s", skip, r.Stretches[skip-1].To.Format(1)))
	}
	for k := skip; k < len(r.Stretches); k++ {
		s := &r.Stretches[k]
		when := "since then"
		if k+1 < len(r.Stretches) {
			when = fmt.Sprintf("until %s s", s.To.Format(1))
		}
		parts = append(parts, fmt.Sprintf("%s %s: %s", when, names[k], s.inShort()))
	}
	return strings.Join(parts, "; ")
}

// stretchNames tell the stretches apart by policy, by rate where that differs, and else by the change that began them.
func (r *Report) stretchNames() []string {
	names := make([]string, len(r.Stretches))
	rates := slices.ContainsFunc(r.Stretches, func(s Stretch) bool { return s.Limiter.RateText != r.Stretches[0].Limiter.RateText })
	for k := range r.Stretches {
		s := &r.Stretches[k]
		names[k] = s.Limiter.Policy
		if rates {
			names[k] += " " + s.Limiter.RateText
		}
		if s.Merged > 1 {
			names[k] = fmt.Sprintf("%d stretches", s.Merged)
			continue
		}
		if k == 0 || !strings.HasPrefix(names[k-1], names[k]) {
			continue
		}
		if c := slices.IndexFunc(r.Changes, func(c Change) bool { return c.T == s.From }); c >= 0 {
			names[k] += " (" + r.Changes[c].What + ")"
		}
	}
	return names
}

// inShort is the verdict, and who decided it.
func (s *Stretch) inShort() string {
	j := &s.Fairness
	if j.Verdict == Starved || j.Verdict == Contended {
		for i := range s.Clients {
			if c := &s.Clients[i]; c.Name == j.Worst {
				return fmt.Sprintf("%s (%s gets %s of what it is entitled to)", j.Verdict, c.Name, c.Satisfaction.Format(2))
			}
		}
	}
	return string(j.Verdict)
}
