package attack

import (
	"net/http"

	"fairgate/fairness"
	"fairgate/limiter"
)

// The way of an attempt, one function for each of its stations.

// send takes all that a client has due and puts it on the way.
func (s *Simulation) send(number int32) {
	c := s.clients[number]
	next := c.Next(s.now)
	for next <= s.now {
		a, ok := c.Send(s.now)
		if !ok {
			break
		}
		s.attempts++
		s.tally.Sent(s.now, s.now-a.Planned, int(number), a.Try == 0)
		slot := s.slot()
		f := &s.flights[slot]
		f.Attempt = a
		f.told, f.needed, f.by, f.queued, f.unanswered = 0, 0, 0, false, false // arrive and decide set the rest
		s.arriving.add(s.now+s.there, slot)
		next = c.Next(s.now)
	}
	s.sending.set(number, next)
}

// arrive asks the limiter.
func (s *Simulation) arrive(slot int32) {
	f := &s.flights[slot]
	f.arrived = s.now
	for _, shadow := range s.shadows {
		shadow.Arrive(s.now, f.Attempt)
	}
	s.decide(slot, s.lim.Arrive(s.now, s.known(slot)))
}

// settle hands out one attempt that has waited.
func (s *Simulation) settle() {
	a, d, ok := s.lim.Settle(s.now)
	if !ok {
		s.look()
		s.due = max(s.due, s.now+1) // the limiter has promised something that it does not hand out; time goes on
		return
	}
	slot := int32(a.ID)
	s.waiting--
	s.leaving.drop(slot)
	s.decide(slot, d)
}

// decide takes an attempt on with the limiter's answer.
func (s *Simulation) decide(slot int32, d limiter.Decision) {
	f := &s.flights[slot]
	f.decided = s.now
	switch d.Verdict {
	case limiter.Admitted:
		f.kind = fairness.Admitted
		s.releasing.add(s.now+s.service, slot)
	case limiter.Rejected:
		f.kind, f.by, f.told, f.needed = fairness.Rejected, d.By, d.Told, d.Wait
		s.answering.add(s.now+s.back, slot)
	case limiter.Queued:
		f.queued = true
		s.waiting++
		if f.Deadline != limiter.Never {
			s.leaving.set(slot, max(f.Deadline, s.now))
		}
	}
	s.look()
}

// release ends the service of an attempt and sends the answer back.
func (s *Simulation) release(slot int32) {
	s.lim.Release(s.now, s.known(slot))
	s.answering.add(s.now+s.back, slot)
	s.look()
}

// leave takes back an attempt that still waits when its request gives up. Nobody waits for its answer any more.
func (s *Simulation) leave(slot int32) {
	s.leaving.drop(slot)
	s.waiting--
	s.lim.Cancel(s.now, s.known(slot))
	f := &s.flights[slot]
	f.decided, f.kind, f.unanswered = s.now, fairness.Failed, true
	s.look()
	s.answer(slot)
}

// answer lets the client see what came of its attempt.
func (s *Simulation) answer(slot int32) {
	f := &s.flights[slot]
	o := fairness.Outcome{
		Client: f.Client, Kind: f.kind, By: uint8(f.by), Sent: f.Sent, Decided: f.decided, Seen: s.now,
		Queued: f.queued, Told: f.told, Needed: f.needed, Retry: f.Try > 0, Promised: f.Promised, Late: f.Sent - f.Planned,
	}
	if f.queued {
		o.Waited = f.decided - f.arrived
	}
	s.tally.Observe(o)
	answer := Answer{Status: http.StatusOK, Told: f.told}
	switch {
	case f.unanswered:
		answer.Status = 0
	case f.kind == fairness.Rejected:
		answer.Status = http.StatusTooManyRequests
	}
	c := s.clients[f.Client]
	if ended, how := c.Observe(s.now, f.Attempt, answer); ended {
		s.tally.Ended(s.now, f.Client, how)
		for _, shadow := range s.shadows {
			shadow.Ended(s.now, f.Client, f.Request)
		}
	}
	s.sending.set(int32(f.Client), c.Next(s.now))
	s.free = append(s.free, slot)
}

// look asks the limiter when it hands out next, while anything waits.
func (s *Simulation) look() {
	if s.waiting == 0 {
		return
	}
	s.due = limiter.Never
	if due, ok := s.lim.Due(); ok {
		s.due = due
	}
}

// known is the attempt in a slot as the limiter knows it.
func (s *Simulation) known(slot int32) limiter.Attempt {
	f := &s.flights[slot]
	return limiter.Attempt{Client: f.Client, ID: uint64(slot), Cost: f.Cost}
}

// slot is one that is not in use.
func (s *Simulation) slot() int32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.flights = append(s.flights, flight{})
	return int32(len(s.flights) - 1)
}
