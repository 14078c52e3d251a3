package fairness

import "time"

// samples are the last minute in steps of SampleStep. A step is worked out a second after its
// end, when late answers are in, and kept; younger ones are worked out anew for each snapshot.
type samples struct {
	done  []Sample
	next  int64 // number of the first step that is not done
	terms terms
	wants []want
}

const (
	recentSamples = int64(time.Minute / SampleStep)
	sampleSlots   = int64(SampleStep / slot)
)

// roll keeps what has become old enough.
func (s *samples) roll(t *Tally, at time.Duration) {
	for time.Duration(s.next+1)*SampleStep+time.Second <= at {
		s.done = append(s.done, s.sample(t, s.next))
		s.next++
	}
	if extra := int64(len(s.done)) - recentSamples; extra > recentSamples {
		s.done = append([]Sample(nil), s.done[extra:]...)
	}
}

// recent are the samples up to a moment.
func (s *samples) recent(t *Tally, now time.Duration) []Sample {
	recent := append([]Sample(nil), s.done[max(0, int64(len(s.done))-recentSamples):]...)
	for k := s.next; time.Duration(k+1)*SampleStep <= now; k++ {
		recent = append(recent, s.sample(t, k))
	}
	return recent[max(0, int64(len(recent))-recentSamples):]
}

func (s *samples) sample(t *Tally, number int64) Sample {
	from, to := time.Duration(number)*SampleStep, time.Duration(number+1)*SampleStep
	out := Sample{T: to}
	w, clients := t.window, len(t.pending)
	first := number * sampleSlots
	if clients <= mostNamed {
		out.Clients = make([]float32, clients)
	}
	s.terms.over(t.spells, from, to)
	out.Limit = t.spellBefore(to).limit.Capacity
	s.wants = s.wants[:0]
	if w.newest-first < ringSlots {
		for c := range clients {
			in, _, _ := w.sum(c, first, first+sampleSlots-1)
			since, _, _ := w.sum(c, first, w.newest)
			pending := t.pending[c] - int64(since.begun) + int64(since.served) + int64(since.gaveUp)
			out.Offered += float64(in.sent) / SampleStep.Seconds()
			out.Admitted += float64(in.admitted) / SampleStep.Seconds()
			if out.Clients != nil {
				out.Clients[c] = float32(float64(in.admitted) / SampleStep.Seconds())
			}
			s.wants = append(s.wants, want{client: c, requests: pending + int64(in.begun), admitted: int64(in.admitted), active: in.sent > 0 || pending > 0})
		}
	}
	out.Jain = s.terms.jain(s.wants, SampleStep.Seconds())
	return out
}
