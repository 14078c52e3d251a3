package limiter

import (
	"strconv"
	"time"
)

// State is what a limiter looks like inside at one moment, for a screen.
type State struct {
	Policy    Policy
	Algorithm Algorithm
	Global    []Level       // the global limit and its further bandwidths; of a sharded limit their sums
	Shards    []Level       // sharded: each instance
	Clients   []ClientState // by handle
	Waiting   int           // attempts in queues, and admitted ones that are delayed
	// VirtualTime of start-time fair queueing: tokens that a backlogged client of weight 1 has been served.
	VirtualTime float64
}

// Level is how full a limit is.
type Level struct {
	Name      string
	Rate      Rate
	Capacity  int64
	Remaining int64         // whole tokens that could be taken
	Reset     time.Duration // until it is as fresh again
	Demand    int64         // of a shard: attempts since the last exchange
}

// ClientState is what the limiter holds of one client.
type ClientState struct {
	Name     string // "" when the client has left
	Weight   int64
	Own      *Level // its own limit; nil: the policy gives it none
	Queued   int
	InFlight int
	Start    float64 // start-time fair queueing: the virtual start time of its next attempt
}

// An Inspector shows what is inside. Every Limiter of this package is one.
type Inspector interface {
	Inspect(now time.Duration) State
}

// Inspect is a picture of the limiter at now. It costs time in proportion to the clients: once a frame, not once an
// attempt.
func (e *engine) Inspect(now time.Duration) State {
	now = e.clock(now)
	s := State{Policy: e.cfg.Policy, Algorithm: e.cfg.Algorithm, Waiting: len(e.leaving.heap) + len(e.orphans)}
	s.Clients = make([]ClientState, len(e.members))
	for i, m := range e.members {
		s.Clients[i] = ClientState{Name: m.name, Weight: m.weight, InFlight: int(m.inFlight)}
	}
	for _, d := range e.leaving.heap {
		s.Clients[d.Client].Queued++
	}
	e.rule.inspect(now, &s)
	return s
}

// inspect adds the levels of the gate.
func (g *gate) inspect(now time.Duration, s *State) {
	for i, f := range g.forms {
		name := "global"
		if i > 0 {
			name = bandwidthName(g.ids[i], f.rate)
		}
		s.Global = append(s.Global, f.level(now, name, g.global[i]))
	}
	if g.own == nil {
		return
	}
	for i := range s.Clients {
		if s.Clients[i].Name != "" {
			l := g.client.level(now, "client", g.own.at(i))
			s.Clients[i].Own = &l
		}
	}
}

// bandwidthName is what a further limit is called: its id, else its rate.
func bandwidthName(id string, r Rate) string {
	if id == "" || id[0] == 0 {
		return r.String()
	}
	return id
}

func (f *form) level(now time.Duration, name string, c Counter) Level {
	return Level{Name: name, Rate: f.rate, Capacity: f.capacity, Remaining: c.Remaining(now), Reset: c.Reset(now)}
}

func shardName(i int) string { return "shard " + strconv.Itoa(i+1) }
