package attack

import (
	"fmt"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// Shadow is a policy that decides beside the one in force, and that nobody obeys: what it would have done with the same arrivals.
//
// It is asked about every attempt that reaches the limiter, with one exception: once it has admitted a request, the retries
// that the client makes because the policy in force refused it are none of its business, for under it they would not have been made.
// What it cannot know is how clients would have gone on had they obeyed it; for that, compare simulates each policy by itself.
type Shadow struct {
	policy  limiter.Policy
	lim     limiter.Limiter
	tally   *fairness.Tally
	service time.Duration

	releasing line
	leaving   agenda
	slots     []shadowed
	free      []int32
	waiting   int
	requests  map[request]*scored
	unused    []*scored
}

// request names a request in a run.
type request struct {
	client int
	number uint64
}

// scored is what a shadow knows of a request that is under way.
type scored struct {
	served  bool
	over    bool // for the client it has ended
	waiting int  // attempts in the shadow's queue
}

// shadowed is an attempt that waits, or is served, under a shadow.
type shadowed struct {
	Attempt
	arrived time.Duration
}

// newShadow makes a shadow of a profile under another policy. live: it is to give pictures.
func newShadow(p *profiles.Profile, specs []profiles.Client, policy limiter.Policy, live bool) (*Shadow, error) {
	cfg := limiterConfig(p)
	cfg.Policy = policy
	lim, err := limiter.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be a shadow: %w", policy, err)
	}
	for _, spec := range specs {
		lim.Join(0, limiterClient(spec))
	}
	cfg = lim.Config()
	return &Shadow{
		policy: policy, lim: lim, service: p.Service.Time, releasing: newLine(), requests: map[request]*scored{},
		tally: fairness.NewTally(tallyClients(cfg, p.Service, specs), describe(cfg, p.Service, specs), fairness.Options{
			WarmUp: p.WarmUp, Reasons: limiter.Reasons[:], End: p.Duration, Live: live,
		}),
	}, nil
}

// Policy is the shadow's.
func (s *Shadow) Policy() limiter.Policy { return s.policy }

// Arrive scores an attempt that reaches the limiter at now.
func (s *Shadow) Arrive(now time.Duration, a Attempt) {
	s.advance(now)
	key := request{a.Client, a.Request}
	r := s.requests[key]
	if r == nil {
		r = s.fresh()
		s.requests[key] = r
	}
	if r.served {
		return
	}
	s.tally.Sent(now, 0, a.Client, a.Try == 0)
	slot := s.slot()
	s.slots[slot] = shadowed{a, now}
	d := s.lim.Arrive(now, s.known(slot))
	if d.Verdict == limiter.Queued {
		r.waiting++
		s.waiting++
		if a.Deadline != limiter.Never {
			s.leaving.set(slot, max(a.Deadline, now))
		}
		return
	}
	s.decided(now, slot, d, false)
}

// Ended tells the shadow that a request has ended for its client.
func (s *Shadow) Ended(now time.Duration, client int, number uint64) {
	s.advance(now)
	key := request{client, number}
	if r := s.requests[key]; r != nil {
		r.over = true
		s.settleRequest(now, key, r)
	}
}

// Report is what the shadow would have done so far. Latencies in it are those of the limiter alone.
func (s *Shadow) Report(now time.Duration) *fairness.Report {
	s.advance(now)
	return s.tally.Report(now)
}

// change follows the profile, whose policy alone does not concern it.
func (s *Shadow) change(now time.Duration, what string, p *profiles.Profile, specs []profiles.Client) error {
	s.advance(now)
	cfg := limiterConfig(p)
	cfg.Policy = s.policy
	if err := s.lim.Reconfigure(now, cfg); err != nil {
		return err
	}
	for _, spec := range specs {
		s.lim.Join(now, limiterClient(spec))
	}
	s.service = p.Service.Time
	cfg = s.lim.Config()
	s.tally.Change(now, what, describe(cfg, p.Service, specs), tallyClients(cfg, p.Service, specs))
	return nil
}

// advance lets happen what falls before now, or on it: releases, then what is handed out, then deadlines.
func (s *Shadow) advance(now time.Duration) {
	for {
		at, due := now, limiter.Never
		if s.waiting > 0 {
			if t, ok := s.lim.Due(); ok {
				due = t
			}
			at = min(at, due, s.leaving.at())
		}
		switch {
		case s.releasing.at <= at:
			at = s.releasing.at
			slot := s.releasing.take()
			s.lim.Release(at, s.known(slot))
			s.free = append(s.free, slot)
		case s.waiting > 0 && due <= at:
			a, d, ok := s.lim.Settle(at)
			if !ok {
				return
			}
			slot := int32(a.ID)
			s.leaving.drop(slot)
			s.left(slot)
			s.decided(at, slot, d, true)
		case s.waiting > 0 && s.leaving.at() <= at:
			slot := s.leaving.entries[0].number
			s.leaving.drop(slot)
			s.lim.Cancel(at, s.known(slot))
			s.left(slot)
			s.count(at, slot, fairness.Outcome{Kind: fairness.Failed, Queued: true})
			s.free = append(s.free, slot)
		default:
			return
		}
	}
}

// left takes an attempt out of the queue's count.
func (s *Shadow) left(slot int32) {
	s.waiting--
	a := &s.slots[slot]
	if r := s.requests[request{a.Client, a.Request}]; r != nil {
		r.waiting--
	}
}

// decided counts an answer, and keeps the slot of an admitted attempt for as long as it is served.
func (s *Shadow) decided(now time.Duration, slot int32, d limiter.Decision, queued bool) {
	if d.Verdict == limiter.Admitted {
		s.releasing.add(now+s.service, slot)
		s.count(now, slot, fairness.Outcome{Kind: fairness.Admitted, Queued: queued})
		return
	}
	s.count(now, slot, fairness.Outcome{Kind: fairness.Rejected, By: uint8(d.By), Told: d.Told, Needed: d.Wait, Queued: queued})
	s.free = append(s.free, slot)
}

// count adds what is known of every outcome, and looks whether the request has ended by it.
func (s *Shadow) count(now time.Duration, slot int32, o fairness.Outcome) {
	a := &s.slots[slot]
	o.Client, o.Sent, o.Decided, o.Seen = a.Client, a.arrived, now, now
	if o.Queued {
		o.Waited = now - a.arrived
	}
	s.tally.Observe(o)
	key := request{a.Client, a.Request}
	r := s.requests[key]
	if r == nil {
		return
	}
	if o.Kind == fairness.Admitted && !r.served {
		r.served = true
		s.tally.Ended(now, a.Client, fairness.Served)
	}
	s.settleRequest(now, key, r)
}

// settleRequest forgets a request that has ended, when nothing of it waits any more. One that was never served has given up.
func (s *Shadow) settleRequest(now time.Duration, key request, r *scored) {
	if !r.over || r.waiting > 0 {
		return
	}
	if !r.served {
		s.tally.Ended(now, key.client, fairness.GaveUp)
	}
	delete(s.requests, key)
	*r = scored{}
	s.unused = append(s.unused, r)
}

func (s *Shadow) known(slot int32) limiter.Attempt {
	a := &s.slots[slot]
	return limiter.Attempt{Client: a.Client, ID: uint64(slot), Cost: a.Cost}
}

func (s *Shadow) fresh() *scored {
	if n := len(s.unused); n > 0 {
		r := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return r
	}
	return &scored{}
}

func (s *Shadow) slot() int32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.slots = append(s.slots, shadowed{})
	return int32(len(s.slots) - 1)
}
