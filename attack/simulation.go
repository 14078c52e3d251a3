package attack

import (
	"errors"
	"fmt"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// Simulation is a run in virtual time: the clients, the limiter and the tally of a live run, and in place of a clock and a
// network the times at which things happen. It goes as far as it is told, so that it can be run at once or played back; it holds no
// clock, lock or goroutine, and the same profile with the same seed gives the same figures to the last digit.
type Simulation struct {
	profile *profiles.Profile
	specs   []profiles.Client // one by one, without copies
	clients []*Client
	lim     limiter.Limiter
	tally   *fairness.Tally

	now      time.Duration
	end      time.Duration
	attempts int64 // sent so far

	there, back, service time.Duration // the ways of an attempt

	// What is to happen, in the order in which it goes at one moment.
	releasing line          // admitted attempts whose service ends
	due       time.Duration // when the limiter hands out what waits
	leaving   agenda        // waiting attempts whose deadline comes, by slot
	answering line          // answers on their way back
	sending   agenda        // clients, by their next attempt
	arriving  line          // attempts on their way to the limiter

	live     bool // it gives snapshots
	shadows  []*Shadow
	pictures pictures
	waiting  int
	flights  []flight // attempts without an answer, by slot
	free     []int32  // slots that are not in use
}

// A flight is an attempt on its way, and what is known of its outcome.
type flight struct {
	Attempt
	arrived, decided   time.Duration
	told, needed       time.Duration
	kind               fairness.Kind
	by                 limiter.Reason
	queued, unanswered bool
}

// NewSimulation makes a simulation of a profile, at time 0. live: it is to give snapshots, which take a little time and memory.
func NewSimulation(p *profiles.Profile, live bool) (*Simulation, error) {
	if p.Duration <= 0 {
		return nil, errors.New("a simulation needs to know its end: set a duration, for example 30s")
	}
	if err := InVirtualTime(p); err != nil {
		return nil, err
	}
	lim, err := limiter.New(limiterConfig(p))
	if err != nil {
		return nil, err
	}
	s := &Simulation{
		profile: p, specs: expand(p.Clients), lim: lim, live: live, end: p.Duration, due: limiter.Never,
		releasing: newLine(), answering: newLine(), arriving: newLine(),
	}
	s.setService(p.Service)
	cfg := lim.Config()
	s.tally = fairness.NewTally(tallyClients(cfg, p.Service, s.specs), describe(cfg, p.Service, s.specs), fairness.Options{
		WarmUp: p.WarmUp, Reasons: limiter.Reasons[:], Live: live, End: p.Duration,
	})
	s.clients = make([]*Client, len(s.specs))
	for i, spec := range s.specs {
		if handle := lim.Join(0, limiterClient(spec)); handle != i {
			return nil, fmt.Errorf("client %q is there twice: give each client a name of its own", spec.Name)
		}
		s.clients[i] = NewClient(i, spec, p.Service, p.Seed)
		s.sending.set(int32(i), s.clients[i].Next(0))
	}
	return s, nil
}

func (s *Simulation) setService(svc profiles.Service) {
	s.there, s.service = svc.RoundTrip/2, svc.Time
	s.back = svc.RoundTrip - s.there
}

// Shadow lets further policies decide beside the one in force. They begin with what arrives from now on.
func (s *Simulation) Shadow(policies ...limiter.Policy) error {
	for _, policy := range policies {
		shadow, err := newShadow(s.profile, s.specs, policy, s.live)
		if err != nil {
			return err
		}
		s.shadows = append(s.shadows, shadow)
	}
	return nil
}

// Shadows are what the further policies would have done so far.
func (s *Simulation) Shadows() []*fairness.Report {
	var all []*fairness.Report
	for _, shadow := range s.shadows {
		all = append(all, s.named(shadow.Report(s.now)))
	}
	return all
}

// Unshadow ends what Shadow began.
func (s *Simulation) Unshadow() { s.shadows, s.pictures = nil, pictures{} }

// Now is how far the simulation has come.
func (s *Simulation) Now() time.Duration { return s.now }

// Done reports whether it has come to its end.
func (s *Simulation) Done() bool { return s.now >= s.end }

// Attempts is how many attempts have been sent.
func (s *Simulation) Attempts() int64 { return s.attempts }

// Advance goes on to a time, but not beyond the end. What falls on that very time is still to come.
func (s *Simulation) Advance(to time.Duration) {
	to = min(to, s.end)
	for s.step(to) {
	}
	s.now = max(s.now, to)
}

// step lets the next event happen, if it comes before a time. Of what falls on one moment the kind that stands first in the
// list of what is to happen goes first, also when it has only just come about.
func (s *Simulation) step(before time.Duration) bool {
	const (
		nothing = iota
		release
		settle
		leave
		answer
		send
		arrive
	)
	what, at := nothing, before
	if s.releasing.at < at {
		what, at = release, s.releasing.at
	}
	if s.waiting > 0 {
		if due := max(s.due, s.now); due < at {
			what, at = settle, due
		}
		if t := s.leaving.at(); t < at {
			what, at = leave, t
		}
	}
	if s.answering.at < at {
		what, at = answer, s.answering.at
	}
	if t := s.sending.at(); t < at {
		what, at = send, t
	}
	if s.arriving.at < at {
		what, at = arrive, s.arriving.at
	}
	s.now = max(s.now, at)
	switch what {
	case nothing:
		return false
	case release:
		s.release(s.releasing.take())
	case settle:
		s.settle()
	case leave:
		s.leave(s.leaving.entries[0].number)
	case answer:
		s.answer(s.answering.take())
	case send:
		s.send(s.sending.entries[0].number)
	case arrive:
		s.arrive(s.arriving.take())
	}
	return true
}

// Snapshot is the picture of this moment, of a simulation that was made live.
func (s *Simulation) Snapshot() *fairness.Snapshot {
	snap := s.tally.Snapshot(s.now)
	snap.Profile, snap.Title, snap.Mode, snap.Seed = s.profile.Name, s.profile.Title, "simulated", s.profile.Seed
	snap.Duration, snap.Done = s.end, s.Done()
	snap.Inside = inside(s.lim, s.now, len(s.specs))
	snap.Beside = s.pictures.of(s.shadows, s.now)
	return snap
}

// Report is the run so far. Expectations are not judged in it.
func (s *Simulation) Report() *fairness.Report { return s.named(s.tally.Report(s.now)) }

// named fills in what a tally cannot know.
func (s *Simulation) named(r *fairness.Report) *fairness.Report {
	r.Profile, r.Title, r.Mode, r.Seed = s.profile.Name, s.profile.Title, "simulated", s.profile.Seed
	r.Source = s.profile.Source
	return r
}
