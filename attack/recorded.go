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
		Policy: fairness.OfTarget, Algorithm: "not known", RatePerS: fairness.None, ClientRatePerS: fairness.None, Shards: 1,
		RateText: "rate not known", Measured: true,
	}
	entitlement := fairness.FromAdmitted
	if !o.Rate.IsZero() {
		limit.RatePerS, limit.RateText, limit.Capacity = fairness.Number(o.Rate.PerSecond()), o.Rate.String(), o.Rate.PerSecond()
		limit.Measured, entitlement = false, fairness.FromStated
		limit.Burst = cmp.Or(o.Burst, int64(max(1, o.Rate.PerSecond())))
	}
	// Only when limit and moments of decision are known can the one be held against the other.
	exact := !o.Rate.IsZero() && o.Burst > 0 && !slices.ContainsFunc(r.hits, func(h hit) bool { return h.kind() == fairness.Admitted && h.decided < 0 })
	tally := fairness.NewTally(clients, limit, fairness.Options{WarmUp: o.WarmUp, Reasons: recordedReasons, Faults: faultNames[:], InOrder: exact, Afar: !exact})
	r.count(tally)
	report := tally.Report(r.Length)
	report.Mode = "recorded"
	report.Started = &r.Began
	report.Target = &fairness.Target{URL: r.service(), Entitlement: entitlement, Limits: r.told.report()}
	return report
}

// count hands everything to a tally in the order of time: at one moment first what was decided, then what was seen, then what was sent, but none of these
// before its attempt was sent.
func (r *Recording) count(t *fairness.Tally) {
	bySeen := r.order(func(h *hit) time.Duration { return h.seen })
	byDecided := r.order(func(h *hit) time.Duration { return h.at() })
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
	decided, seen := 0, 0
	for i := 0; i < len(r.hits) || seen < len(r.hits); {
		upcoming := time.Duration(limiter.Never)
		if i < len(r.hits) {
			upcoming = r.hits[i].sent
		}
		if decided < len(byDecided) {
			k := byDecided[decided]
			if h := &r.hits[k]; int(k) < i && h.at() <= min(upcoming, r.hits[bySeen[seen]].seen) {
				if h.kind() == fairness.Admitted {
					t.Admit(h.at(), int(h.client))
				}
				decided++
				continue
			}
		}
		if k := bySeen[min(seen, len(bySeen)-1)]; seen < len(bySeen) && int(k) < i && r.hits[k].seen <= upcoming {
			see(&r.hits[k])
			seen++
			continue
		}
		t.Sent(r.hits[i].sent, 0, int(r.hits[i].client), !r.hits[i].retry)
		i++
	}
}

// order are the hits by a time of theirs.
func (r *Recording) order(of func(*hit) time.Duration) []int32 {
	list := make([]int32, len(r.hits))
	for i := range list {
		list[i] = int32(i)
	}
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(of(&r.hits[a]), of(&r.hits[b])) })
	return list
}

// service is what was attacked, in words.
func (r *Recording) service() string {
	if r.URL == address || r.URL == "" {
		return "a limiter in the process"
	}
	return r.URL
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
