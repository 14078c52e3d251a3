package attack

import (
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
)

// inside pictures what a limiter holds; nil when it cannot be looked into. With very many clients they are left out: it costs time in
// proportion to them.
func inside(lim limiter.Limiter, now time.Duration, clients int) *fairness.Inside {
	inspector, ok := lim.(limiter.Inspector)
	if !ok || clients > fairness.MostInside {
		return nil
	}
	state := inspector.Inspect(now)
	in := &fairness.Inside{
		Levels: levels(state.Global), Shards: levels(state.Shards[:min(len(state.Shards), fairness.MostInside)]), ShardCount: len(state.Shards),
		Waiting: state.Waiting, VirtualTime: fairness.None, Clients: make([]fairness.InsideClient, len(state.Clients)),
	}
	queues := state.Policy == limiter.FairQueue
	if queues {
		in.VirtualTime = fairness.Number(state.VirtualTime)
	}
	for i, c := range state.Clients {
		to := &in.Clients[i]
		to.Queued, to.InFlight, to.Start = c.Queued, c.InFlight, fairness.None
		if c.Own != nil {
			to.Own = level(*c.Own)
		}
		if queues {
			to.Start = fairness.Number(c.Start)
		}
	}
	return in
}

func levels(of []limiter.Level) []fairness.Level {
	all := make([]fairness.Level, len(of))
	for i, l := range of {
		all[i] = level(l)
	}
	return all
}

func level(l limiter.Level) fairness.Level {
	return fairness.Level{
		Name: l.Name, Rate: l.Rate.String(), Capacity: l.Capacity, Remaining: l.Remaining, Reset: l.Reset, Demand: l.Demand,
	}
}

// pictures are the latest of shadows. They are made anew twice a second of the run, since each is as much work as that of the run itself.
type pictures struct {
	at  time.Duration
	all []fairness.Alternative
}

const picturesEvery = 500 * time.Millisecond

// of gives the pictures of shadows. What it has given is never changed.
func (p *pictures) of(shadows []*Shadow, now time.Duration) []fairness.Alternative {
	if len(p.all) == len(shadows) && now >= p.at && now < p.at+picturesEvery {
		return p.all
	}
	p.at, p.all = now, nil
	for _, s := range shadows {
		p.all = append(p.all, s.picture(now))
	}
	return p.all
}

// picture is what the shadow would have done in the window that ends now.
func (s *Shadow) picture(now time.Duration) fairness.Alternative {
	s.advance(now)
	snap := s.tally.Snapshot(now)
	return fairness.Alternative{Policy: string(s.policy), Limiter: snap.Limiter, Window: snap.Window, Measures: snap.Measures}
}
