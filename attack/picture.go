package attack

import (
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// Snapshot is the run at this moment.
func (r *Run) Snapshot() *fairness.Snapshot {
	s := r.measured()
	if r.target == nil && r.options.Store == nil { // into somebody else's limiter nobody can look
		r.handler.Do(func(lim limiter.Limiter, now time.Duration) { s.Inside = inside(lim, now, len(r.lanes)) })
	}
	if r.shadows.any.Load() {
		r.shadows.mu.Lock()
		defer r.shadows.mu.Unlock()
		s.Beside = r.shadows.pictures.of(r.shadows.all, s.Now)
	}
	return s
}

// measured is the part of the picture that the tally knows.
func (r *Run) measured() *fairness.Snapshot {
	p := r.profile.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.tally.Snapshot(r.timeLocked())
	s.Profile, s.Title, s.Mode, s.Seed = p.Name, p.Title, "live", p.Seed
	s.Duration, s.Done = p.Duration, r.ended >= 0
	return s
}

// Report is the run so far: it can be had while the run goes on, and after it has failed. Expectations are the caller's to judge.
func (r *Run) Report() *fairness.Report {
	p := r.profile.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	report := r.tally.Report(r.timeLocked())
	if r.target != nil {
		report.Target = r.target.report()
	}
	r.name(report, p)
	return report
}

// name writes into a report what it is about.
func (r *Run) name(report *fairness.Report, p *profiles.Profile) {
	report.Profile, report.Title, report.Mode, report.Seed, report.Source = p.Name, p.Title, "live", p.Seed, p.Source
	select {
	case <-r.started:
		at := r.began.Round(0) // without the monotonic reading: this is for the calendar
		report.Started = &at
	default:
	}
}

// Profile is the profile as it stands after all changes. It is the caller's own copy.
func (r *Run) Profile() *profiles.Profile {
	return r.profile.Load().Clone()
}
