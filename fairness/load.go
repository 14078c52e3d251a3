package fairness

import (
	"fmt"
	"time"
)

// Bounds within which the generator is believed.
const (
	// leastAchieved is the part of the planned attempts that must have been sent.
	leastAchieved = 0.95
	// stall is a lateness that no busy timer explains: the machine stood still, or cannot keep up.
	stall = 500 * time.Millisecond
)

// load counts what the generator did in a stretch.
type load struct {
	sent, missed int64
	postponed    int64         // planned in it, and sent after it
	late         time.Duration // the latest
}

func (l *load) send(late time.Duration) {
	l.sent++
	l.late = max(l.late, late)
}

func (l *load) add(o *load) {
	l.sent += o.sent
	l.missed += o.missed
	l.postponed += o.postponed
	l.late = max(l.late, o.late)
}

// report is the load of a stretch.
func (l *load) report() Load {
	return Load{Achieved: ratio(float64(l.sent), float64(l.sent+l.missed+l.postponed)), Late: l.late}
}

// postponed counts an attempt that was sent so late that it was planned in the stretch before. What became one stretch with another, lost nothing to it.
func (t *Tally) postponed(sent, planned time.Duration) {
	if of := t.stretchAt(max(planned, 0)); of != t.stretchAt(sent) {
		of.load.postponed++
	}
}

// loadOf is the load of neighbouring stretches together.
func loadOf(stretches []*stretch) Load {
	var all load
	postponed := int64(0)
	for _, s := range stretches {
		if !s.warm {
			all.add(&s.load)
			postponed = s.load.postponed
		}
	}
	all.postponed = postponed // of the others' it was sent in the next
	return all.report()
}

// Load says how far the generator kept to its plan in a stretch. A limiter can only be judged by the load that it met.
type Load struct {
	Achieved Number        // attempts sent, of those planned
	Late     time.Duration // the most that an attempt was sent after it was planned
	Behind   time.Duration // of a window: the same, in its last second
}

// lost is the part of the load of a stretch that was not there when it should have been, as far as that is beyond the bounds; else 0.
func (l *Load) lost(length float64) float64 {
	lost := 0.0
	if l.Achieved < leastAchieved {
		lost = 1 - float64(l.Achieved)
	}
	if l.Late >= stall && length > 0 {
		lost = max(lost, min(1, l.Late.Seconds()/length))
	}
	return lost
}

// trouble says what was wrong with the load, "" when nothing was.
func (l *Load) trouble() string {
	switch {
	case l.Achieved < leastAchieved:
		return fmt.Sprintf("the generator sent only %s of the planned load", percent(l.Achieved))
	case l.Late >= stall:
		return fmt.Sprintf("the generator was up to %s s late", figure(seconds(l.Late)))
	}
	return ""
}

// doubt takes back a verdict that the load which was missing, or came late and all at once, could have changed. A fair one falls with what was
// never sent. A starved or contended one stands when somebody would be short all the same, had it got all that it could
// have asked for in the lost time, and had the others asked for as much as they liked.
func (m *Measures) doubt(standings []Standing, length float64) {
	j, l := &m.Fairness, &m.Load
	lost := l.lost(length)
	if lost == 0 {
		return
	}
	part := 0.9
	switch j.Verdict {
	case Fair:
		if !(l.Achieved < leastAchieved) && (l.Behind < stall || l.Behind.Seconds() <= (1-leastAchieved)*length) {
			return
		}
	case Starved:
		part = 0.5
		fallthrough
	case Contended:
		even := m.evenPart()
		for i := range m.Clients {
			c, s := &m.Clients[i], &standings[i]
			hurt := c.Starved || j.Verdict == Contended && s.Active && s.short()
			least := min(s.Expected, even*length*float64(c.Weight)/float64(c.Cost))
			if hurt && s.got()+lost*s.Expected < part*least {
				return
			}
		}
	default:
		return
	}
	m.unsay(l.trouble() + ", and the missing load could have changed who goes short")
}

// evenPart is what a client of weight 1 is entitled to however much the others ask for, in tokens per second.
func (m *Measures) evenPart() float64 {
	weights := int64(0)
	tokens := 0.0
	for i := range m.Clients {
		if c := &m.Clients[i]; c.Active {
			weights += c.Weight
			tokens += float64(c.AdmittedRate) * float64(c.Cost)
		}
	}
	return m.Aggregate.Limit.Float(tokens) / float64(max(weights, 1))
}

// unsay makes the verdict unknown.
func (m *Measures) unsay(why string) {
	m.Fairness.Verdict, m.Fairness.Why, m.Fairness.Starved, m.Fairness.Advice = Unknown, why, []string{}, ""
	for i := range m.Clients {
		m.Clients[i].Starved = false
	}
}
