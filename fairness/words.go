package fairness

import (
	"fmt"
	"strings"
)

func whyStarved(starved []*Standing, clients []Standing, active int) string {
	low := lowest(starved)
	why := fmt.Sprintf("%d of %d clients %s starved: %s gets %s of what it is entitled to", len(starved), active,
		isAre(len(starved)), low.Name, low.Satisfaction.Format(2))
	if hog := largest(clients, low.Name); hog != nil {
		why += fmt.Sprintf(" while %s holds %s of the admissions", hog.Name, percent(hog.Share))
	}
	return why
}

func whyContended(short []*Standing, clients []Standing, active int) string {
	low := lowest(short)
	why := fmt.Sprintf("%d of %d clients %s short: %s gets %s of what it is entitled to", len(short), active,
		isAre(len(short)), low.Name, low.Satisfaction.Format(2))
	switch {
	case active == 1:
		why = fmt.Sprintf("%s gets %s of what it is entitled to, and nobody else asked", low.Name, low.Satisfaction.Format(2))
	case low.bursty():
		why += ", as it asks in bursts that no limit of this size could admit at once"
	default:
		if hog := largest(clients, low.Name); hog != nil && hog.Satisfaction > 1.05 {
			why += fmt.Sprintf(" while %s gets %s", hog.Name, hog.Satisfaction.Format(2))
		}
	}
	return why
}

func whyFair(worst *Standing, active int) string {
	if active == 1 {
		return fmt.Sprintf("%s, alone, gets %s of what it is entitled to", worst.Name, worst.Satisfaction.Format(2))
	}
	if worst.Satisfaction >= 0.9 {
		return fmt.Sprintf("each of %d clients gets what it is entitled to; the least, %s, %s of it", active, worst.Name, worst.Satisfaction.Format(2))
	}
	return fmt.Sprintf("each of %d clients gets what it is entitled to, as far as chance lets it be seen; the least, %s, %s of it",
		active, worst.Name, worst.Satisfaction.Format(2))
}

// largest is the active client with the most admissions, but for one.
func largest(clients []Standing, but string) *Standing {
	var most *Standing
	for i := range clients {
		c := &clients[i]
		if c.Active && c.Name != but && c.Share > 0 && (most == nil || c.Share > most.Share) {
			most = c
		}
	}
	return most
}

// advice is what would cure a verdict, as far as the figures at hand support it.
func advice(j *Judgement, l Limit, capacity Number, clients []Standing) string {
	if j.Verdict != Starved && j.Verdict != Contended {
		return ""
	}
	var worst *Standing
	for i := range clients {
		if clients[i].Active && clients[i].Name == j.Worst {
			worst = &clients[i]
			break
		}
	}
	if worst == nil {
		return ""
	}
	if j.Active == 1 || worst.bursty() {
		return fmt.Sprintf("a larger burst, or a queue, would let %s's bursts pass", worst.Name)
	}
	gives := gives(worst.Name, worst.Entitled, worst.Demand)
	switch l.Policy {
	case "per-client":
		if sum := float64(l.ClientRatePerS) * float64(j.Active); l.ClientRatePerS.Exists() && capacity.Exists() && sum > float64(capacity)*1.0001 {
			return fmt.Sprintf("%d buckets of %s/s add up to %s/s, above the limit of %s/s: a limit of %s/s or a fair queue %s",
				j.Active, figure(l.ClientRatePerS), figure(Number(sum)), figure(capacity), figure(Number(sum)), gives)
		}
		return fmt.Sprintf("a fair queue %s", gives)
	case "fair-queue":
		return ""
	case "concurrency":
		return fmt.Sprintf("a number in flight bounds no rate: a bucket per client or a fair queue %s", gives)
	case "sharded":
		return fmt.Sprintf("each shard admits by arrival order: a fair queue before one limit %s", gives)
	case "hierarchical":
		return fmt.Sprintf("a guarantee of %s/s for %s, or a fair queue, %s", figure(worst.Entitled), worst.Name, gives)
	}
	return fmt.Sprintf("arrival order decides: a bucket per client or a fair queue %s", gives)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func percent(n Number) string { return Number(float64(n)*100).Format(0) + "%" }

func admissions(n float64) string {
	s := figure(Number(n))
	if s == "1" {
		return s + " admission"
	}
	return s + " admissions"
}

// figure is a number as a person would write it in a sentence: three digits, and no zeros after the point.
func figure(n Number) string {
	if !n.Exists() {
		return "n/a"
	}
	decimals := 2
	switch {
	case n < 0.1:
		decimals = 3
	case n >= 100:
		decimals = 0
	case n >= 10:
		decimals = 1
	}
	s := n.Format(decimals)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
