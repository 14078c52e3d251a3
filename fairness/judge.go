package fairness

import (
	"fmt"
	"math"
)

// A Standing is what the verdict on one client rests on, over one stretch.
type Standing struct {
	Name         string
	Active       bool
	Satisfaction Number
	Demand       Number // per second
	Entitled     Number // per second
	Share        Number
	Answered     bool    // at least one of its attempts was answered
	Admitted     float64 // admissions
	Unseen       float64 // admissions that are probably on their way back to it
	Expected     float64 // admissions that it is entitled to
	Attainable   float64 // of these, what a fair sharer could have given it at the moments when it asked
}

// enough is how many admissions a client must be able to expect before a shortfall proves anything.
const enough = 10

// below reports whether what a client got is below a part of what it could expect, by more than chance explains: each expected
// admission counts as a coin that comes up with that probability, and the count must lie two standard deviations under the mean.
func below(got, expected, part float64) bool {
	return got < part*expected-2*math.Sqrt(expected*part*(1-part))
}

func (s *Standing) got() float64 { return s.Admitted + s.Unseen }

// starving: less than half of what was attainable, while it was entitled to twice as much as it got.
func (s *Standing) starving() bool {
	return s.Satisfaction < 0.5 && s.Attainable >= enough && below(s.got(), s.Attainable, 0.5)
}

// short: less than nine tenths of the entitlement.
func (s *Standing) short() bool {
	return s.Satisfaction < 0.9 && s.Expected >= enough && below(s.got(), s.Expected, 0.9)
}

// bursty: of what it was entitled to, more was out of anybody's reach at the moments when it asked than was left to others.
func (s *Standing) bursty() bool { return burstBound(s.got(), s.Expected, s.Attainable) }

func burstBound(got, expected, attainable float64) bool {
	return attainable < 0.9*expected && expected-attainable > attainable-got
}

// doubtful: too little was expected to say, and it did not get it all. One admission more or less is rounding, unless it is the most of it.
func (s *Standing) doubtful() bool {
	return s.Expected < enough && s.got() < 0.9*s.Expected && (s.Expected-s.got() >= 1 || s.got() < s.Expected/2)
}

// Judge gives the verdict on a stretch. capacity is the tokens per second that were shared out, on average; none when it is not known.
// The verdicts, in the order in which they are tried:
//
//	idle       nobody asked for anything
//	starved    somebody is starved: below half of its entitlement, while another has at least twice its satisfaction
//	contended  somebody is below nine tenths
//	unknown    whoever would decide could expect fewer than ten admissions
//	fair       the rest
//
// What to do about it is not judged here: see Diagnose. doc.go says how chance, bursts and answers under way are told from these.
func Judge(capacity Number, clients []Standing) Judgement {
	j := Judgement{Jain: None, MinSatisfaction: None, Starved: []string{}}
	var satisfactions []float64
	var starved, short []*Standing
	var worst, best, doubtful *Standing
	expecting, answered := false, false
	for i := range clients {
		c := &clients[i]
		if !c.Active {
			continue
		}
		j.Active++
		answered = answered || c.Answered
		if !c.Satisfaction.Exists() {
			continue
		}
		satisfactions = append(satisfactions, float64(c.Satisfaction))
		if worst == nil || c.Satisfaction < worst.Satisfaction {
			worst = c
		}
		if (c.Expected >= enough || c.Admitted >= enough) && (best == nil || c.Satisfaction > best.Satisfaction) {
			best = c
		}
		expecting = expecting || c.Expected >= enough
		if c.doubtful() && (doubtful == nil || c.Satisfaction < doubtful.Satisfaction) {
			doubtful = c
		}
	}
	j.Jain = Jain(satisfactions)
	if worst != nil {
		j.MinSatisfaction, j.Worst = worst.Satisfaction, worst.Name
	}
	for i := range clients {
		c := &clients[i]
		if !c.Active || !c.Satisfaction.Exists() {
			continue
		}
		if best != nil && best != c && c.starving() && best.Satisfaction > 0 && best.Satisfaction >= 2*c.Satisfaction {
			starved = append(starved, c)
			j.Starved = append(j.Starved, c.Name)
		} else if c.short() {
			short = append(short, c)
		}
	}
	switch {
	case j.Active == 0:
		j.Verdict, j.Why = Idle, "nobody asked for anything"
	case !capacity.Exists():
		j.Verdict, j.Why = Unknown, "the limit is not known, so nobody's entitlement is"
	case !answered:
		j.Verdict, j.Why = Unknown, "no attempt has been answered yet"
	case len(starved) > 0:
		j.Verdict, j.Why = Starved, whyStarved(starved, clients, j.Active)
		j.Worst = lowest(starved).Name
	case len(short) > 0:
		j.Verdict, j.Why = Contended, whyContended(short, clients, j.Active)
		j.Worst = lowest(short).Name
	case doubtful != nil:
		j.Verdict = Unknown
		j.Why = fmt.Sprintf("too few to tell: %s could expect only %s and got %s", doubtful.Name,
			admissions(doubtful.Expected), Number(doubtful.Admitted).Format(0))
	case !expecting:
		j.Verdict, j.Why = Unknown, "too few to tell: nobody could expect ten admissions yet"
	default:
		j.Verdict, j.Why = Fair, whyFair(worst, j.Active)
	}
	return j
}

func lowest(of []*Standing) *Standing {
	low := of[0]
	for _, c := range of[1:] {
		if c.Satisfaction < low.Satisfaction {
			low = c
		}
	}
	return low
}
