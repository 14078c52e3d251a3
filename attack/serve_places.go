package attack

import (
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// A tally keeps a fixed list of clients, and whoever comes to a Guard brings names of its own making. So there is a place for each of
// the profile's clients and some more, which strangers get in the order in which they come; the last place is for all others together:
//
//	batch  web  mobile │ stranger  stranger  stranger  –  –  –  … │ (other)
//	the profile's      │ taken by those that came first           │ only when the places are full
//
// Places are never given back, so that the counts under a name are that name's, and a flood of names costs nothing. The
// limiter keeps its own, larger book: see GuardOptions.Strangers.
type places struct {
	of    map[string]int
	names []string // of all places; "": free
	known int      // those of the profile, which come first
	taken int      // places in use, from the first on
}

const (
	fewPlaces  = 10 // for strangers, (other) among them, however many clients the profile has
	goodPlaces = 50 // all together: so many have a line of their own in the timeline
)

// strangerKind is the kind of a client that the profile does not know.
const strangerKind = "stranger"

func newPlaces(specs []profiles.Client) places {
	p := places{of: make(map[string]int), known: len(specs), taken: len(specs)}
	p.names = make([]string, max(len(specs)+fewPlaces, goodPlaces))
	for i, spec := range specs {
		p.of[spec.Name], p.names[i] = i, spec.Name
	}
	return p
}

// rest is the place of all that have none of their own.
func (p *places) rest() int { return len(p.names) - 1 }

// find is the place of a name, and whether it was given just now.
func (p *places) find(name string) (place int, fresh bool) {
	if i, ok := p.of[name]; ok {
		return i, false
	}
	if name == httplimit.Rest { // whoever calls itself so belongs there
		p.taken = p.rest()
	}
	if p.taken >= p.rest() {
		fresh = p.names[p.rest()] == ""
		p.names[p.rest()], p.taken = httplimit.Rest, len(p.names)
		return p.rest(), fresh
	}
	i := p.taken
	p.of[name], p.names[i] = i, name
	p.taken++
	return i, true
}

// clients are all places as the tally knows them. What clients ask for is measured, closed loops too: the profile's arrivals are not theirs.
func (p *places) clients(specs []profiles.Client) []fairness.Client {
	all := make([]fairness.Client, len(p.names))
	for i := range all {
		all[i] = fairness.Client{Name: p.names[i], Kind: strangerKind, Weight: 1, Cost: 1}
		if i < len(specs) {
			c := specs[i]
			all[i] = fairness.Client{Name: c.Name, Kind: string(c.Kind), Weight: max(c.Weight, 1), Cost: max(c.Cost, 1), Expected: expectedRate(c)}
		}
	}
	return all
}

// placeLocked is the place of a name in the tally; a name that comes first gets one.
func (g *Guard) placeLocked(name string) int {
	i, fresh := g.places.find(name)
	if fresh {
		g.tally.Rename(i, g.places.names[i])
	}
	return i
}

// describe is the limit in force, as it counts for every place. (other) are many: no limit of one client's own is theirs.
func (g *Guard) describe(cfg limiter.Config, specs []profiles.Client) fairness.Limit {
	all := make([]profiles.Client, len(g.places.names))
	copy(all, specs)
	l := describe(cfg, g.profile.Load().Service, all)
	if l.ClientCaps != nil {
		l.ClientCaps[g.places.rest()] = fairness.None
	}
	return l
}

// shown is the part of a list over all places that somebody has taken.
func shown[T any](p *places, list []T) []T { return list[:min(p.taken, len(list))] }

// cutMeasures leaves out the free places.
func (p *places) cutMeasures(m *fairness.Measures) { m.Clients = shown(p, m.Clients) }

// Snapshot is the state of this moment.
func (g *Guard) Snapshot() *fairness.Snapshot {
	s, few := g.measured()
	if few && g.options.Store == nil { // of many, looking into the limiter would hold up everybody
		g.handler.Do(func(lim limiter.Limiter, now time.Duration) { s.Inside = inside(lim, now, 0) })
		if s.Inside != nil {
			s.Inside.Clients = nil // the limiter has an order of its own
		}
	}
	return s
}

// measured is the part of the picture that the tally knows; few tells that everybody has a place of its own.
func (g *Guard) measured() (s *fairness.Snapshot, few bool) {
	p := g.profile.Load()
	g.mu.Lock()
	defer g.mu.Unlock()
	s = g.tally.Snapshot(g.timeLocked())
	s.Profile, s.Title, s.Mode, s.Seed = p.Name, p.Title, modeServed, p.Seed
	s.Done = g.ended >= 0
	g.places.cutMeasures(&s.Measures)
	for i := range s.Recent {
		s.Recent[i].Clients = shown(&g.places, s.Recent[i].Clients)
	}
	return s, g.places.taken <= g.places.rest()
}

// modeServed is the mode of a report on what others sent.
const modeServed = "served"

// Report is what came so far. Expectations are the caller's to judge.
func (g *Guard) Report() *fairness.Report {
	p := g.profile.Load()
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.tally.Report(g.timeLocked())
	r.Profile, r.Title, r.Mode, r.Seed, r.Source = p.Name, p.Title, modeServed, p.Seed, p.Source
	select {
	case <-g.started:
		at := g.began.Round(0) // without the monotonic reading: this is for the calendar
		r.Started = &at
	default:
	}
	g.places.cutMeasures(&r.Measures)
	for i := range r.Stretches {
		g.places.cutMeasures(&r.Stretches[i].Measures)
	}
	for i := range r.Timeline {
		r.Timeline[i].Clients = g.places.cutPoint(r.Timeline[i].Clients)
	}
	r.Goodput.Clients = shown(&g.places, r.Goodput.Clients)
	r.Honesty = shown(&g.places, r.Honesty)
	return r
}

// cutPoint leaves the free places out of a step of the timeline, whose columns have names when there are fewer than places.
func (p *places) cutPoint(columns []fairness.PointClient) []fairness.PointClient {
	if len(columns) == len(p.names) {
		return shown(p, columns)
	}
	kept := columns[:0]
	for _, c := range columns {
		if c.Name != "" {
			kept = append(kept, c)
		}
	}
	return kept
}
