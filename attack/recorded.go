package attack

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
)

// RecordedOptions of Recording.Report. The zero value is good.
type RecordedOptions struct {
	// Rate is the limit that was in force, and Burst its burst; zero: not known. Without a rate the capacity that is shared out is what
	// was admitted in sum.
	Rate  limiter.Rate
	Burst int64

	WarmUp time.Duration // what the report leaves out of the beginning
}

// Report says how fair it was. An answer of 429 is a rejection, and so is a 503 with Retry-After; what else is 400 or above, or no answer at all, is an
// error. Without marks every attempt is taken for a request of its own, since nothing tells that it repeats another.
func (r *Recording) Report(o RecordedOptions) *fairness.Report {
	sent := make([]float64, len(r.Clients))
	for i := range r.hits {
		sent[r.hits[i].client]++
	}
	clients := make([]fairness.Client, len(r.Clients))
	for i, name := range r.Clients {
		clients[i] = fairness.Client{Name: name, Weight: 1, Cost: 1, Expected: sent[i] / r.Length.Seconds()}
	}
	limit := fairness.Limit{
		Policy: "recorded", Algorithm: "not known", RatePerS: fairness.None, ClientRatePerS: fairness.None, Shards: 1,
		RateText: "rate not known", Burst: o.Burst, Measured: true,
	}
	entitlement := fairness.FromAdmitted
	if !o.Rate.IsZero() {
		limit.RatePerS, limit.RateText, limit.Capacity = fairness.Number(o.Rate.PerSecond()), o.Rate.String(), o.Rate.PerSecond()
		limit.Measured, entitlement = false, fairness.FromStated
	}
	tally := fairness.NewTally(clients, limit, fairness.Options{WarmUp: o.WarmUp, Reasons: recordedReasons, Faults: faultNames[:]})
	r.count(tally)
	report := tally.Report(r.Length)
	report.Mode = "recorded"
	report.Started = &r.Began
	report.Target = &fairness.Target{URL: r.URL, Entitlement: entitlement, Limits: r.told.report()}
	if o.Rate.IsZero() || o.Burst == 0 {
		report.Overshoot = fairness.None // what a limit and a burst allow is not known
	}
	return report
}

// count hands everything to a tally in the order of time: what was seen at a moment before what was sent at it.
func (r *Recording) count(t *fairness.Tally) {
	bySeen := make([]int32, len(r.hits))
	for i := range bySeen {
		bySeen[i] = int32(i)
	}
	slices.SortStableFunc(bySeen, func(a, b int32) int { return cmp.Compare(r.hits[a].seen, r.hits[b].seen) })
	promised := map[[2]uint64]time.Duration{} // of requests that were told to come back
	see := func(h *hit) {
		out := fairness.Outcome{
			Client: int(h.client), Kind: h.kind(), By: h.by, Sent: h.sent, Decided: h.at(), Seen: h.seen, Retry: h.retry,
		}
		key := [2]uint64{uint64(h.client), h.request}
		if h.retry {
			out.Promised = promised[key]
			delete(promised, key)
		}
		if out.Kind == fairness.Rejected {
			out.Told, out.Needed = h.told, h.needed
			if h.told > 0 && !h.ended {
				promised[key] = h.seen + h.told
			}
		}
		if out.Kind == fairness.Failed {
			out.Fault = h.fault
		}
		if h.waited >= 0 {
			out.Queued, out.Waited = true, h.waited
		}
		t.Observe(out)
		if h.ended {
			how := fairness.GaveUp
			if out.Kind == fairness.Admitted {
				how = fairness.Served
			}
			t.Ended(h.seen, int(h.client), how)
		}
	}
	next := 0
	for i := range r.hits {
		h := &r.hits[i]
		for next < len(bySeen) && r.hits[bySeen[next]].seen <= h.sent && int(bySeen[next]) < i {
			see(&r.hits[bySeen[next]])
			next++
		}
		t.Sent(h.sent, 0, int(h.client), !h.retry)
	}
	for ; next < len(bySeen); next++ {
		see(&r.hits[bySeen[next]])
	}
}

// at is when it was decided, or where that was not told, when it was seen.
func (h *hit) at() time.Duration {
	if h.decided >= 0 {
		return h.decided
	}
	return h.seen
}

// kind is what came of it.
func (h *hit) kind() fairness.Kind {
	switch {
	case h.code == 429, h.code == 503 && h.told > 0:
		return fairness.Rejected
	case h.code >= 100 && h.code < 400:
		return fairness.Admitted
	}
	return fairness.Failed
}

// RecordingTitle names a recording by its files.
func RecordingTitle(files []RecordingFile) (name, title string) {
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f.Name))
	}
	name = strings.TrimSuffix(names[0], filepath.Ext(names[0]))
	title = "recorded in " + strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		title += fmt.Sprintf(" and %d more", more)
	}
	return name, title
}
