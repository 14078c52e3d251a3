package fairness

import (
	"math"
	"time"
)

// pulses ask in short steps what a fair sharer could have given each client at that moment. Over ten
// seconds a client that sends all its requests in one blow may be entitled to every one of them,
// although nobody could have admitted them: the capacity of the quiet seconds is gone. So a
// client is called starved only against what was attainable, which is the sum over the pulses of its max-min share
// among those who wanted something just then.
//
// A pulse lasts 100 ms, or as long as ten of the dearest attempts take at a slow limit, since
// one request in a moment that holds a tenth of a token says nothing.
type pulses struct {
	start, end time.Duration
	every      time.Duration
	spell      *spell

	admitted float64 // tokens in the pulse, which are what is shared out when the limit is not known

	before []int64 // pending when the pulse began
	begun  []int64 // in the pulse
	listed []bool
	list   []int32 // clients that want something in this pulse

	claims, weights, shares []float64
	filling                 filling
}

const pulse = 100 * time.Millisecond

func newPulses(clients int, at time.Duration, s *spell) pulses {
	p := pulses{before: make([]int64, clients), begun: make([]int64, clients), listed: make([]bool, clients)}
	p.open(at, s)
	return p
}

// open starts a pulse under new settings.
func (p *pulses) open(at time.Duration, s *spell) {
	p.spell = s
	dearest := int64(1)
	for i := range s.clients {
		dearest = max(dearest, s.clients[i].Cost)
	}
	p.every = pulse
	if s.limit.Measured {
		p.every = 10 * pulse // what is admitted in a tenth of a second is chance
	} else if c := s.limit.Capacity; c > 0 {
		steps := math.Ceil(10 * float64(dearest) / c / pulse.Seconds())
		p.every = time.Duration(min(max(steps, 1), 100)) * pulse
	}
	p.start, p.end = at, at+p.every
}

// begin counts a request.
func (p *pulses) begin(client int) {
	p.begun[client]++
	if !p.listed[client] {
		p.listed[client] = true
		p.list = append(p.list, int32(client))
	}
}

// admit counts the tokens of an admission.
func (p *pulses) admit(tokens int64) { p.admitted += float64(tokens) }

// roll ends all pulses that are over at this moment.
func (p *pulses) roll(t *Tally, at time.Duration) {
	for at >= p.end {
		p.settle(t, p.end-p.start, 1)
		p.start, p.end = p.end, p.end+p.every
		if quiet := (at - p.start) / p.every; quiet > 0 {
			// Nothing began and nothing ended in these: they are all alike.
			p.settle(t, p.every, float64(quiet))
			p.start += quiet * p.every
			p.end = p.start + p.every
		}
	}
}

// close ends the pulse that is under way at this moment, however short it was.
func (p *pulses) close(t *Tally, at time.Duration) {
	p.roll(t, at)
	if at > p.start {
		p.settle(t, at-p.start, 1)
		p.start, p.end = at, at+p.every
	}
}

// settle shares a pulse out and makes ready for the next one. times: so many pulses that are alike.
func (p *pulses) settle(t *Tally, length time.Duration, times float64) {
	capacity := p.spell.limit.Capacity * length.Seconds()
	if p.spell.limit.Measured {
		capacity = p.admitted
	}
	p.admitted = 0
	if len(p.list) == 0 {
		return
	}
	ceiling := func(client int) float64 {
		if p.spell.limit.Measured {
			return capacity
		}
		return p.spell.limit.ceiling(client) * length.Seconds()
	}
	p.claims, p.weights = p.claims[:0], p.weights[:0]
	for _, c := range p.list {
		client := &p.spell.clients[c]
		cost := float64(max(client.Cost, 1))
		claim := float64(p.before[c]+p.begun[c]) * cost
		if client.ClosedDemand > 0 {
			claim = client.ClosedDemand * cost * length.Seconds()
		}
		// A limit of its own counts too, but not below ten attempts, for the same reason that makes a pulse long.
		p.claims = append(p.claims, min(claim, max(ceiling(int(c)), 10*cost)))
		p.weights = append(p.weights, float64(max(client.Weight, 1)))
	}
	if cap(p.shares) < len(p.list) {
		p.shares = make([]float64, len(p.list), 2*len(p.list))
	}
	p.shares = p.shares[:len(p.list)]
	p.filling.fill(capacity, p.claims, p.weights, p.shares)

	kept := p.list[:0]
	for k, c := range p.list {
		share := times * p.shares[k] / float64(max(p.spell.clients[c].Cost, 1))
		t.current.accounts[c].attainable += share
		t.window.attain(p.start, int(c), share)
		p.begun[c], p.before[c] = 0, t.pending[c]
		if t.pending[c] > 0 {
			kept = append(kept, c)
		} else {
			p.listed[c] = false
		}
	}
	p.list = kept
}
