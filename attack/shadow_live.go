package attack

import (
	"sync"
	"sync/atomic"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
)

// shadows are the further policies of a live run. They have a lock of their own, so that what they think about holds up nobody who counts.
type shadows struct {
	any atomic.Bool // whether there are some: the one question that every attempt asks

	mu       sync.Mutex
	all      []*Shadow
	pictures pictures
}

// Shadow lets further policies decide beside the one in force, on what arrives from now on. It may be called before the start and at any time after. An
// error, such as a policy that cannot work with the algorithm, adds none.
func (r *Run) Shadow(policies ...limiter.Policy) error {
	r.editing.Lock()
	defer r.editing.Unlock()
	p := r.profile.Load()
	added := make([]*Shadow, 0, len(policies))
	for _, policy := range policies {
		s, err := newShadow(p, expand(p.Clients), policy, true)
		if err != nil {
			return err
		}
		added = append(added, s)
	}
	r.shadows.mu.Lock()
	defer r.shadows.mu.Unlock()
	r.shadows.all = append(r.shadows.all, added...)
	r.shadows.any.Store(len(r.shadows.all) > 0)
	return nil
}

// Unshadow ends what Shadow began: nobody decides beside the policy in force any more.
func (r *Run) Unshadow() {
	r.shadows.mu.Lock()
	defer r.shadows.mu.Unlock()
	r.shadows.all, r.shadows.pictures = nil, pictures{}
	r.shadows.any.Store(false)
}

// Shadows are the reports of what the further policies would have done so far, in the order in which they were added.
func (r *Run) Shadows() []*fairness.Report {
	p := r.profile.Load()
	r.shadows.mu.Lock()
	defer r.shadows.mu.Unlock()
	reports := make([]*fairness.Report, 0, len(r.shadows.all))
	for _, s := range r.shadows.all {
		report := s.Report(r.time())
		r.name(report, p)
		reports = append(reports, report)
	}
	return reports
}

// score lets the shadows decide on an attempt that reaches the limiter.
func (r *Run) score(a *Attempt) {
	r.tellShadows(func(s *Shadow, now time.Duration) { s.Arrive(now, *a) })
}

// scoreEnd tells the shadows that a request has ended.
func (r *Run) scoreEnd(a *Attempt) {
	r.tellShadows(func(s *Shadow, now time.Duration) { s.Ended(now, a.Client, a.Request) })
}

func (r *Run) tellShadows(tell func(s *Shadow, now time.Duration)) {
	r.shadows.mu.Lock()
	defer r.shadows.mu.Unlock()
	if r.isOver() {
		return
	}
	now := r.now()
	for _, s := range r.shadows.all {
		tell(s, now)
	}
}
