package fairness

import (
	"math"
	"slices"
	"time"
)

// A Tally counts what happens in a run and says at any moment how fair it was. It is pure: the caller brings
// the time and keeps calls apart. Counting an attempt allocates nothing and costs some dozens of nanoseconds;
// all judging is done when a Report or a Snapshot is asked for.
//
// Times are offsets from the start and come nearly in order: outcomes are attributed to the time at which
// they were decided, which lies back by as long as the answer took.
type Tally struct {
	options Options
	spells  []spell // never empty
	changes []Change

	stretches []*stretch      // never empty
	current   *stretch        // the last of them
	pending   []int64         // requests without an end, now
	inflight  []int64         // attempts without an answer, now
	joined    []time.Duration // when each client sent first; −1: not yet

	edge      time.Duration // the next moment at which something has to be turned
	pulses    pulses
	timeline  timeline
	overshoot overshoot
	herd      herd
	manners   manners
	window    *window // only when live
	samples   *samples

	faults       []int64 // errors by kind, after the warm-up
	sent, missed int64
	lateness     histogram
}

// NewTally makes a tally for these clients. Client numbers in all calls are indices into the slice.
func NewTally(clients []Client, limit Limit, o Options) *Tally {
	t := &Tally{
		options:  o,
		spells:   []spell{{limit: limit, clients: slices.Clone(clients)}},
		pending:  make([]int64, len(clients)),
		faults:   make([]int64, len(o.Faults)),
		inflight: make([]int64, len(clients)),
		joined:   make([]time.Duration, len(clients)),
	}
	for i := range t.joined {
		t.joined[i] = -1
	}
	t.begin(0, o.WarmUp > 0)
	t.pulses = newPulses(len(clients), 0, &t.spells[0])
	t.timeline = newTimeline(clients)
	t.overshoot = newOvershoot(0, limit)
	t.herd = newHerd(len(clients))
	t.manners = newManners(len(clients))
	if o.Live {
		t.window = newWindow(len(clients), len(o.Reasons))
		t.samples = new(samples)
	}
	t.turn(0)
	return t
}

// Sent counts an attempt that was sent at a moment, late after it was planned. first: it begins a request.
func (t *Tally) Sent(at, late time.Duration, client int, first bool) {
	if t.after(at) {
		return
	}
	t.advance(at)
	s := t.stretchAt(at)
	a := &s.accounts[client]
	a.sent++
	s.load.send(late)
	t.window.send(at, late)
	if late >= stall {
		t.postponed(at, at-late)
	}
	t.inflight[client]++
	row := t.timeline.row(at, client)
	row.sent++
	cell := t.window.cell(at, client)
	if cell != nil {
		cell.sent++
	}
	if first {
		a.begun++
		row.begun++
		if cell != nil {
			cell.begun++
		}
		t.pending[client]++
		t.pulses.begin(client)
		if t.joined[client] < 0 {
			t.joined[client] = at
		}
	}
	if at >= t.options.WarmUp {
		t.sent++
		t.lateness.add(late)
	}
}

// Missed counts an attempt that was planned and never sent.
func (t *Tally) Missed(at time.Duration, client int) {
	if !t.after(at) && at >= t.options.WarmUp {
		t.missed++
		t.stretchAt(at).load.missed++
		t.window.miss(at)
	}
}

// Observe counts what came of an attempt, at the time at which it was decided. An answer that the client had
// only at or after the end does not count: its attempt is in flight.
func (t *Tally) Observe(o Outcome) {
	if t.after(o.Seen) {
		return
	}
	t.advance(o.Seen)
	o.Decided = min(max(o.Decided, 0), o.Seen)
	cost := max(t.spells[len(t.spells)-1].clients[o.Client].Cost, 1)
	honoured := t.honoured(&o)
	t.account(o.Decided, o.Client).observe(&o, cost, honoured)
	t.inflight[o.Client]--
	row := t.timeline.row(o.Decided, o.Client)
	cell := t.window.cell(o.Decided, o.Client)
	switch o.Kind {
	case Admitted:
		row.admitted++
		if cell != nil {
			cell.admitted++
		}
		if !t.options.InOrder && !t.options.Afar {
			t.overshoot.admit(o.Decided, float64(cost))
		}
		t.pulses.admit(cost)
	case Rejected:
		row.rejected++
		if cell != nil {
			cell.rejected++
		}
		if reasons := len(t.options.Reasons); int(o.By) < reasons {
			t.stretchAt(o.Decided).by[o.Client*reasons+int(o.By)]++
			t.window.by(o.Decided, o.Client, int(o.By))
		}
	default:
		if cell != nil {
			cell.failed++
		}
		if int(o.Fault) < len(t.faults) && o.Decided >= t.options.WarmUp {
			t.faults[o.Fault]++
		}
	}
	t.window.observe(&o)
	t.herd.observe(&o, honoured)
}

// Admit tells of an admission at the moment at which it was decided, in the order of the decisions, where Options.InOrder promises
// that. It is held against the limit at once; all else is counted when the outcome is observed.
func (t *Tally) Admit(at time.Duration, client int) {
	if t.after(at) {
		return
	}
	t.overshoot.admit(at, float64(max(t.spells[len(t.spells)-1].clients[client].Cost, 1)))
}

// Ended counts a request that ended.
func (t *Tally) Ended(at time.Duration, client int, e End) {
	if t.after(at) {
		return
	}
	t.advance(at)
	a := t.account(at, client)
	if e == Served {
		a.served++
	} else {
		a.gaveUp++
	}
	t.timeline.row(at, client).ended++
	if cell := t.window.cell(at, client); cell != nil {
		if e == Served {
			cell.served++
		} else {
			cell.gaveUp++
		}
	}
	t.pending[client]--
}

// Rename gives a client its name, in all that was and will be counted of it: where clients are not known beforehand, a tally is made with
// clients without names, and whoever comes gets the next.
func (t *Tally) Rename(client int, name string) {
	for k := range t.spells {
		t.spells[k].clients[client].Name = name
	}
}

// Change marks a change of the limit or of clients, which counts from at on; what says it in words. clients are the same, in the same order, with
// new settings.
func (t *Tally) Change(at time.Duration, what string, limit Limit, clients []Client) {
	if t.after(at) {
		return
	}
	t.advance(at)
	last := &t.spells[len(t.spells)-1]
	at = max(at, last.from, t.current.from)
	if what != "" {
		t.changes = append(t.changes, Change{T: seconds(at), What: what})
	}
	t.pulses.close(t, at)
	t.overshoot.change(at, last.limit, limit)
	next := spell{from: at, limit: limit, clients: slices.Clone(clients)}
	if at == last.from {
		*last = next
	} else {
		t.spells = append(t.spells, next)
	}
	if at > t.current.from {
		t.begin(at, at < t.options.WarmUp)
	}
	t.pulses.open(at, &t.spells[len(t.spells)-1])
	t.turn(at)
}

// after reports whether a moment lies at or after the planned end.
func (t *Tally) after(at time.Duration) bool { return t.options.End > 0 && at >= t.options.End }

// advance turns what has to be turned before something at this moment is counted.
func (t *Tally) advance(at time.Duration) {
	if at >= t.edge {
		t.turn(at)
	}
}

func (t *Tally) turn(at time.Duration) {
	if t.current.warm && at >= t.options.WarmUp {
		t.pulses.close(t, t.options.WarmUp)
		t.begin(t.options.WarmUp, false)
	}
	t.pulses.roll(t, at)
	t.edge = t.pulses.end
	if t.current.warm {
		t.edge = min(t.edge, t.options.WarmUp)
	}
	if t.window != nil {
		// After a long silence second by second, so that no sample is asked for after its slots are forgotten.
		for now := min(at, t.window.edge+time.Second); ; now = min(at, now+time.Second) {
			t.window.turn(now)
			t.samples.roll(t, now)
			if now >= at {
				break
			}
		}
		t.edge = min(t.edge, t.window.edge)
	}
}

// begin opens a stretch. Only so many are kept apart that they do not grow with the number of
// changes; then the two neighbours that are shortest together become one.
func (t *Tally) begin(at time.Duration, warm bool) {
	clients := len(t.pending)
	t.current = &stretch{
		from: at, warm: warm,
		accounts: make([]account, clients),
		by:       make([]int64, clients*len(t.options.Reasons)),
	}
	t.stretches = append(t.stretches, t.current)
	if len(t.stretches) <= max(3, min(32, 1<<19/max(clients, 1))) {
		return
	}
	shortest, pair := time.Duration(math.MaxInt64), 0
	for k := 0; k+2 < len(t.stretches); k++ {
		if t.stretches[k].warm != t.stretches[k+1].warm {
			continue
		}
		if d := t.stretches[k+2].from - t.stretches[k].from; d < shortest {
			shortest, pair = d, k
		}
	}
	t.stretches[pair].append(t.stretches[pair+1])
	t.stretches = slices.Delete(t.stretches, pair+1, pair+2)
}

// stretchAt is the stretch of a moment that is not long ago.
func (t *Tally) stretchAt(at time.Duration) *stretch {
	if at >= t.current.from {
		return t.current
	}
	for k := len(t.stretches) - 1; k > 0; k-- {
		if t.stretches[k].from <= at {
			return t.stretches[k]
		}
	}
	return t.stretches[0]
}

func (t *Tally) account(at time.Duration, client int) *account {
	return &t.stretchAt(at).accounts[client]
}
