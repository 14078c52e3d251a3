package fairness

import (
	"fmt"
	"strings"
)

// Cause is what makes a stretch unfair.
type Cause string

// The causes.
const (
	NoCause        Cause = "none"
	ArrivalOrder   Cause = "arrival-order"  // one limit for all: who sends most wins most
	CostOrder      Cause = "cost"           // cheap attempts take what a dear one would have to save up
	Oversubscribed Cause = "oversubscribed" // limits of their own that add up to more than there is
	InFlight       Cause = "in-flight"      // a number in flight is no rate
	Shards         Cause = "shards"         // instances that count apart
	Guarantees     Cause = "guarantees"     // of a hierarchy, too small
	ShortQueue     Cause = "short-queue"    // a fair queue that turns away what it should hold
	Bursts         Cause = "bursts"         // asked for in one blow, more than any limit of the size could admit
	Backlog        Cause = "backlog"        // nothing is refused, and much waits
	LimitItself    Cause = "limit"          // refused below the limit, with nobody taking more than its part
	NotKnown       Cause = "unknown"
)

// Diagnosis is the verdict with its evidence, as somebody on call would want to read it.
type Diagnosis struct {
	Verdict Verdict  `json:"verdict"`
	Cause   Cause    `json:"cause"`
	Culprit string   `json:"culprit"` // who holds most beyond its entitlement; "" when nobody does
	Victims []string `json:"victims"` // who is starved, or short when nobody is; the worst first
	Cure    Cure     `json:"cure"`
	Certain bool     `json:"certain"` // false: too little was seen, or demand is not measured but modelled; Text says which
	Text    []string `json:"text"`    // sentences, in the order of reasoning
}

// Cure is what would help: a policy, as the flag --policy names it, or "" when no other policy would, and the same in words.
type Cure struct {
	Policy string `json:"policy"`
	Text   string `json:"text"`
}

// Diagnose explains the judgement on a stretch by its own figures. overshoot is None when it is not known for the stretch.
func Diagnose(l Limit, m Measures, overshoot Number) Diagnosis {
	d := diagnose(l, m, overshoot)
	if trouble := m.Load.trouble(); trouble != "" && d.Verdict != Idle {
		d.Certain = false
		if d.Verdict != Unknown {
			d.Text = append(d.Text, trouble+": what came of that is this machine's doing, and no evidence")
		}
	}
	return d
}

func diagnose(l Limit, m Measures, overshoot Number) Diagnosis {
	d := Diagnosis{Verdict: m.Fairness.Verdict, Cause: NoCause, Victims: []string{}, Certain: true, Text: []string{monitoring(&m.Aggregate, overshoot)}}
	switch d.Verdict {
	case Idle:
		d.Text = []string{"nobody asked for anything, so there is nothing to judge"}
		return d
	case Unknown:
		d.Cause, d.Certain = NotKnown, false
		d.Text = append(d.Text, "whether this is fair cannot be said; "+m.Fairness.Why)
		return d
	case Fair:
		d.Text = append(d.Text, m.Fairness.Why)
		d.Text = append(d.Text, darkness(m.Clients)...)
		d.closedLoops(m.Clients)
		return d
	}
	victims := suffering(&m)
	if len(victims) == 0 { // read back from JSON, which does not hold all that the verdict was made from
		d.Cause, d.Certain = NotKnown, false
		d.Text = append(d.Text, m.Fairness.Why)
		return d
	}
	for _, v := range victims {
		d.Victims = append(d.Victims, v.Name)
	}
	culprit := taker(m.Clients)
	if culprit != nil {
		d.Culprit = culprit.Name
	}
	d.Cause = cause(l, &m, victims, culprit)
	d.Text = append(d.Text, possession(culprit, victims), refusals(victims[0]))
	if culprit != nil && culprit.Amplification >= 1.5 {
		d.Text = append(d.Text, fmt.Sprintf("%s sends %s attempts for each request: its retries are a part of the pressure, and none of its entitlement",
			culprit.Name, figure(culprit.Amplification)))
	}
	d.Text = append(d.Text, brokenPromises(m.Clients)...)
	reason, cure := explain(d.Cause, l, &m, victims[0])
	if l.Foreign() {
		cure.Policy = "" // it is for whoever owns the target to choose
	}
	d.Cure = cure
	d.Text = append(d.Text, reason)
	if cure.Text != "" {
		d.Text = append(d.Text, cure.Text)
	}
	d.closedLoops(m.Clients)
	return d
}

// suffering are the starved clients, or else the ones that are short; the worst first.
func suffering(m *Measures) []*ClientMeasures {
	var victims []*ClientMeasures
	for i := range m.Clients {
		c := &m.Clients[i]
		hurt := c.Starved
		if m.Fairness.Verdict != Starved {
			hurt = c.Active && c.Satisfaction < 0.9 && c.Expected >= enough
		}
		if !hurt {
			continue
		}
		victims = append(victims, c)
		// Up to its place: there are few victims, or their order beyond the first matters to nobody.
		for k := len(victims) - 1; k > 0 && k > len(victims)-100 && victims[k].Satisfaction < victims[k-1].Satisfaction; k-- {
			victims[k], victims[k-1] = victims[k-1], victims[k]
		}
	}
	return victims
}

// taker is the client with the most tokens beyond its entitlement.
func taker(clients []ClientMeasures) *ClientMeasures {
	var most *ClientMeasures
	beyond := 0.0
	for i := range clients {
		c := &clients[i]
		if !c.Active || !(c.Satisfaction > 1.02) {
			continue
		}
		if b := float64(c.AdmittedRate-c.Entitled) * float64(c.Cost); b > beyond {
			most, beyond = c, b
		}
	}
	return most
}

func cause(l Limit, m *Measures, victims []*ClientMeasures, culprit *ClientMeasures) Cause {
	worst := victims[0]
	if m.Fairness.Verdict == Contended && burstBound(float64(worst.Admitted), float64(worst.Expected), float64(worst.Attainable)) {
		return Bursts
	}
	if worst.Rejected == 0 {
		return Backlog
	}
	switch l.Policy {
	case "fair-queue":
		if worst.RejectedBy["queue-full"]+worst.RejectedBy["wait"] > 0 {
			return ShortQueue
		}
		return LimitItself
	case "sharded":
		return Shards
	}
	switch {
	case culprit == nil && m.Aggregate.Utilization < 0.9:
		return LimitItself
	case l.Policy == "concurrency":
		return InFlight
	case l.Policy == "hierarchical":
		return Guarantees
	case l.Policy == "per-client":
		return Oversubscribed
	case culprit != nil && worst.Cost > culprit.Cost:
		return CostOrder
	}
	return ArrivalOrder
}

// monitoring is what an operator's dashboard says.
func monitoring(a *Aggregate, overshoot Number) string {
	admitted := a.Admitted
	if a.Utilization.Exists() && a.Limit.Exists() {
		admitted = a.Utilization * a.Limit // in tokens
	}
	s := fmt.Sprintf("aggregate %s/s", figure(admitted))
	if admitted >= 100 {
		s = fmt.Sprintf("aggregate %s/s", admitted.Format(1)) // a tenth of a request is worth showing beside a limit that is just kept
	}
	if a.Limit.Exists() {
		s += fmt.Sprintf(" of %s/s", figure(a.Limit))
	}
	switch {
	case overshoot > 0:
		s += fmt.Sprintf("; the worst interval went %s tokens beyond limit × time + burst", figure(overshoot))
	case overshoot.Exists():
		s += ", never beyond limit × time + burst: monitoring is green"
	}
	if a.Utilization < 0.9 && a.RejectedCount > 0 {
		s += fmt.Sprintf("; %s of the limit lay idle while %s attempts were refused", percent(1-a.Utilization), Number(a.RejectedCount).Format(0))
	}
	return s
}

// possession says who has what is missed elsewhere.
func possession(culprit *ClientMeasures, victims []*ClientMeasures) string {
	const named = 3
	var s []string
	for _, v := range victims[:min(named, len(victims))] {
		s = append(s, fmt.Sprintf("%s gets %s of the %s/s that it is entitled to", v.Name, figure(v.AdmittedRate), figure(v.Entitled)))
	}
	text := strings.Join(s, ", ")
	if more := len(victims) - named; more > 0 {
		text += fmt.Sprintf(", and so do %d more", more)
	}
	if culprit != nil {
		text = fmt.Sprintf("%s gets %s/s (%s of the admissions) while entitled to %s/s; %s",
			culprit.Name, figure(culprit.AdmittedRate), percent(culprit.Share), figure(culprit.Entitled), text)
	}
	return text
}

// refusals says which limit turned the worst client away.
func refusals(worst *ClientMeasures) string {
	by, most := "", int64(0)
	for name, n := range worst.RejectedBy {
		if n > most || n == most && name < by {
			by, most = name, n
		}
	}
	if worst.Rejected == 0 {
		return fmt.Sprintf("%s was never refused: of %d attempts %d were admitted, %d failed, and %d have no answer yet",
			worst.Name, worst.Attempts, worst.Admitted, worst.Errors, worst.InFlight)
	}
	if most == 0 {
		return fmt.Sprintf("%s was refused %d times in %d attempts", worst.Name, worst.Rejected, worst.Attempts)
	}
	return fmt.Sprintf("%s was refused %d times in %d attempts, %s of them by the limit %q", worst.Name, worst.Rejected, worst.Attempts,
		percent(Number(most)/Number(worst.Rejected)), by)
}

// darkness names the client that asked in vain for longest, if a smooth limiter of the same rate would hardly have let it.
func darkness(clients []ClientMeasures) []string {
	var worst *ClientMeasures
	for i := range clients {
		c := &clients[i]
		if c.Dark > 2 && float64(c.Dark*c.AdmittedRate) > 6 && (worst == nil || c.Dark > worst.Dark) {
			worst = c
		}
	}
	if worst == nil {
		return nil
	}
	return []string{fmt.Sprintf("all the same %s once asked in vain for %s s, which at its rate of %s/s is no chance: averages hide that",
		worst.Name, figure(worst.Dark), figure(worst.AdmittedRate))}
}

// brokenPromises names the client that came back when it was told, and mostly in vain.
func brokenPromises(clients []ClientMeasures) []string {
	var worst *ClientMeasures
	for i := range clients {
		if c := &clients[i]; c.Broken > c.Kept && c.Broken >= 2*enough && (worst == nil || c.Broken > worst.Broken) {
			worst = c
		}
	}
	if worst == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s came back %d times when Retry-After had told it to, and was refused again %d times: nobody keeps that promise for it",
		worst.Name, worst.Kept+worst.Broken, worst.Broken)}
}

// closedLoops says whose demand is a model.
func (d *Diagnosis) closedLoops(clients []ClientMeasures) {
	var names []string
	for i := range clients {
		if clients[i].Active && clients[i].ClosedLoop {
			names = append(names, clients[i].Name)
		}
	}
	if len(names) == 0 {
		return
	}
	d.Certain = false
	verb, own := "is a closed loop", "its"
	if len(names) > 1 {
		verb, own = "are closed loops", "their"
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	d.Text = append(d.Text, fmt.Sprintf("%s %s: %s demand is what the workers would do unhindered, which cannot be seen in what they send",
		strings.Join(names, ", "), verb, own))
}
