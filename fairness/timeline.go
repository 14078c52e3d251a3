package fairness

import (
	"slices"
	"time"
)

// Rest is the name of all clients together that have no line of their own. Where one of the others is called that, it gets further brackets.
const Rest = "(other)"

const (
	mostPoints = 600 // of the timeline
	mostNamed  = 50  // clients with a line of their own
)

// timeline counts the whole run in at most 600 steps. They begin at 100 ms; whenever the run outgrows
// them, each two neighbours become one. Of many clients the 50 largest have a column, and the rest shares one.
type timeline struct {
	columns int
	column  []int32 // of each client
	named   []int   // clients that have a column, when not all have

	every    time.Duration
	at       int // the step that was counted in last
	from, to time.Duration
	ticks    []tick // steps × columns
}

// tick is one column in one step.
type tick struct {
	begun, sent, admitted, rejected, ended uint32
}

func newTimeline(clients []Client) timeline {
	n := len(clients)
	t := timeline{every: slot, column: make([]int32, n), columns: n}
	for i := range t.column {
		t.column[i] = int32(i)
	}
	if n > mostNamed {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case clients[a].Expected > clients[b].Expected:
				return -1
			case clients[a].Expected < clients[b].Expected:
				return 1
			}
			return 0
		})
		t.named, t.columns = order[:mostNamed:mostNamed], mostNamed+1
		for k, i := range order {
			t.column[i] = int32(min(k, mostNamed))
		}
	}
	return t
}

// row is where a client is counted at a moment.
func (t *timeline) row(at time.Duration, client int) *tick {
	if at < t.from || at >= t.to {
		t.seek(at)
	}
	return &t.ticks[t.at*t.columns+int(t.column[client])]
}

func (t *timeline) seek(at time.Duration) {
	at = max(at, 0)
	for at >= mostPoints*t.every {
		t.fold()
	}
	t.at = int(at / t.every)
	t.from = time.Duration(t.at) * t.every
	t.to = t.from + t.every
	if need := (t.at + 1) * t.columns; need > len(t.ticks) {
		t.ticks = append(t.ticks, make([]tick, need-len(t.ticks))...)
	}
}

// fold makes one step of each two.
func (t *timeline) fold() {
	steps := len(t.ticks) / max(t.columns, 1)
	for s := range steps {
		for c := range t.columns {
			from := t.ticks[s*t.columns+c]
			into := &t.ticks[s/2*t.columns+c]
			if s%2 == 0 {
				*into = from
				continue
			}
			into.begun += from.begun
			into.sent += from.sent
			into.admitted += from.admitted
			into.rejected += from.rejected
			into.ended += from.ended
		}
	}
	t.ticks = t.ticks[:(steps+1)/2*t.columns]
	t.every *= 2
}

// points are the steps up to a moment, the last one as long as it lasted. The index of a step is over the clients that have a
// column of their own.
func (t *timeline) points(spells []spell, now time.Duration) []Point {
	points := []Point{}
	if t.columns == 0 || now <= 0 {
		return points
	}
	own := t.named
	if own == nil {
		own = make([]int, t.columns)
		for i := range own {
			own[i] = i
		}
	}
	var terms terms
	pending := make([]int64, t.columns)
	wants := make([]want, len(own))
	rest := Rest
	for slices.ContainsFunc(own, func(i int) bool { return spells[0].clients[i].Name == rest }) {
		rest = "(" + rest + ")"
	}
	for from := time.Duration(0); from < now && len(points) < mostPoints; from += t.every {
		to := min(from+t.every, now)
		length := (to - from).Seconds()
		p := Point{T: seconds(to), Clients: make([]PointClient, t.columns)}
		var sent, admitted uint32
		for c := range t.columns {
			var k tick
			if i := len(points)*t.columns + c; i < len(t.ticks) {
				k = t.ticks[i]
			}
			sent += k.sent
			admitted += k.admitted
			p.Clients[c] = PointClient{Admitted: rate(int64(k.admitted), length), Rejected: rate(int64(k.rejected), length)}
			if c < len(own) {
				wants[c] = want{client: own[c], requests: pending[c] + int64(k.begun), admitted: int64(k.admitted), active: k.sent > 0 || pending[c] > 0}
			}
			if t.named != nil {
				p.Clients[c].Name = rest
				if c < len(own) {
					p.Clients[c].Name = spells[0].clients[own[c]].Name
				}
			}
			pending[c] += int64(k.begun) - int64(k.ended)
		}
		p.Offered, p.Admitted = rate(int64(sent), length), rate(int64(admitted), length)
		terms.over(spells, from, to)
		p.Jain = terms.jain(wants, length)
		points = append(points, p)
	}
	return points
}
