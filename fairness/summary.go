package fairness

import (
	"slices"
	"time"
)

// Report is the whole run so far, after the warm-up. The caller fills in profile, title, mode, seed, started, source
// and the expectations.
func (t *Tally) Report(now time.Duration) *Report {
	now = t.close(now)
	from := min(t.options.WarmUp, now)
	all := t.sumsOf(t.stretches, from, now)
	r := &Report{
		Schema: 1, Duration: seconds(now), Limiter: t.spells[len(t.spells)-1].limit,
		Measures:  t.measure(from, now, all, loadOf(t.stretches), spreads(all)),
		WarmUp:    seconds(from),
		Generator: t.generator(), Timeline: t.timeline.points(t.spells, now),
		Changes: append([]Change{}, t.changes...), Expectations: []Expectation{},
		Stretches: t.apart(now),
		Goodput:   t.goodput(all, (now - from).Seconds()),
		Honesty:   t.honesty(all),
		Herd:      t.herd.report(t.spellBefore(now)),
		Recovery:  t.recoveries(now),
		Overshoot: Number(t.overshoot.tokens()),
	}
	if t.options.Afar {
		r.Overshoot = None
	}
	r.ErrorsBy = t.errorsBy()
	r.Gate = t.gate(&r.Measures)
	if len(r.Stretches) == 0 {
		r.Diagnosis = Diagnose(r.Limiter, r.Measures, r.Overshoot)
	} else {
		r.diagnoseApart()
	}
	if r.Herd.Detected {
		r.Diagnosis.Text = append(r.Diagnosis.Text, r.Herd.Why)
	}
	return r
}

// errorsBy are the kinds of errors that there were; nil where they are not told apart.
func (t *Tally) errorsBy() map[string]int64 {
	if len(t.faults) == 0 {
		return nil
	}
	by := map[string]int64{}
	for k, n := range t.faults {
		if n > 0 {
			by[t.options.Faults[k]] = n
		}
	}
	return by
}

// close counts the time until now as past.
func (t *Tally) close(now time.Duration) time.Duration {
	if t.options.End > 0 {
		now = min(now, t.options.End)
	}
	t.advance(now)
	t.pulses.close(t, now)
	return now
}

// sumsOf adds up neighbouring stretches, which end at a moment. What came before them, and the warm-up among them, only tells what was under way when
// they began.
func (t *Tally) sumsOf(stretches []*stretch, from, to time.Duration) []sums {
	reasons := len(t.options.Reasons)
	first := slices.IndexFunc(stretches, func(s *stretch) bool { return !s.warm })
	all := make([]sums, len(t.pending))
	for i := range all {
		var before, in account
		by := make([]int64, reasons)
		for _, s := range t.stretches {
			if first < 0 || s.from < stretches[first].from {
				a := &s.accounts[i]
				before.begun += a.begun
				before.sent += a.sent
				before.admitted += a.admitted
				before.rejected += a.rejected
				before.failed += a.failed
				before.served += a.served
				before.gaveUp += a.gaveUp
			}
		}
		dist := &spread{}
		if first >= 0 {
			within := stretches[first:]
			for _, s := range within {
				in.add(&s.accounts[i])
				for r := range by {
					by[r] += s.by[i*reasons+r]
				}
			}
			if dist = &within[0].accounts[i].spread; len(within) > 1 {
				dist = &spread{}
				for _, s := range within {
					dist.merge(&s.accounts[i].spread)
				}
			}
		}
		all[i] = sums{
			carriedRequests: before.begun - before.served - before.gaveUp,
			carriedAttempts: before.sent - before.admitted - before.rejected - before.failed,
			begun:           in.begun, sent: in.sent, admitted: in.admitted, rejected: in.rejected, failed: in.failed,
			served: in.served, gaveUp: in.gaveUp, tokens: in.tokens, never: in.never,
			attainable: in.attainable, gap: in.longestGap(from, to), first: None, dark: in.dark,
			onRetry: in.onRetry, kept: in.kept, broken: in.broken, early: in.early,
			returning: ratio(in.returning.Seconds(), float64(in.admitted)).Float(0),
			by:        by, spread: dist,
		}
		if in.admitted > 0 {
			all[i].first = seconds(in.firstOK - max(from, t.joined[i]))
		}
	}
	return all
}

func spreads(all []sums) func(int) *spread { return func(i int) *spread { return all[i].spread } }

// Snapshot is the run as it stands, its measures those of the last ten seconds, or of the time since the last change when that was later. It needs Options.Live. The caller
// fills in profile, title, mode, seed, duration, speed and done.
func (t *Tally) Snapshot(now time.Duration) *Snapshot {
	if t.window == nil {
		panic("fairness: a snapshot needs a tally with Options.Live")
	}
	if t.options.End > 0 {
		now = min(now, t.options.End)
	}
	now = max(now, t.window.from)
	t.advance(now)
	w := t.window

	if t.cut(now) {
		return t.sinceChangeOnly(now)
	}
	// Whole slots, and the one under way as long as it has lasted.
	last := max(int64((now-1)/slot), 0)
	first := max(last-windowSlots+1, 0)
	from := time.Duration(first) * slot
	all := make([]sums, len(t.pending))
	var terms terms
	terms.over(t.spells, from, now)
	for i := range all {
		in, attained, empty := w.sum(i, first, last)
		since, _, _ := w.sum(i, first, w.newest)
		gap := min(time.Duration(empty)*slot, now-from)
		run := t.sinceChange(i)
		all[i] = sums{
			carriedRequests: t.pending[i] - int64(since.begun) + int64(since.served) + int64(since.gaveUp),
			carriedAttempts: t.inflight[i] - int64(since.sent) + int64(since.admitted) + int64(since.rejected) + int64(since.failed),
			begun:           int64(in.begun), sent: int64(in.sent), admitted: int64(in.admitted), rejected: int64(in.rejected),
			failed: int64(in.failed), served: int64(in.served), gaveUp: int64(in.gaveUp),
			tokens:     int64(float64(in.admitted)*terms.cost[i] + 0.5),
			attainable: attained, gap: gap, first: None, returning: run,
			by: w.refusals(i, first, last),
		}
	}
	return t.picture(from, now, t.measure(from, now, all, w.load(first, last), w.spread))
}

// picture is a snapshot with these measures.
func (t *Tally) picture(from, now time.Duration, m Measures) *Snapshot {
	return &Snapshot{
		Now: now, Speed: 1, Limiter: t.spells[len(t.spells)-1].limit, Window: now - from, Measures: m,
		Recent: t.samples.recent(t, now), Changes: append([]Change{}, t.changes...),
		Overshoot: t.overshoot.tokens(), Generator: t.generator(),
		Herd: t.herd.report(&t.spells[len(t.spells)-1]),
	}
}

// sinceChange is how many seconds pass on average from an admission until the client has it, in the present
// stretch, or in the one before when there was none yet.
func (t *Tally) sinceChange(client int) float64 {
	for k := len(t.stretches) - 1; k >= 0; k-- {
		if a := &t.stretches[k].accounts[client]; a.admitted > 0 {
			return a.returning.Seconds() / float64(a.admitted)
		}
	}
	return 0
}

func (t *Tally) generator() Generator {
	g := Generator{
		Lateness: LatenessQuantiles{None, None, None}, Missed: t.missed,
		Achieved: ratio(float64(t.sent), float64(t.sent+t.missed)),
	}
	if t.lateness.n > 0 {
		q := t.lateness.quantiles()
		g.Lateness = LatenessQuantiles{q.P50, q.P99, q.Max}
	}
	return g
}
