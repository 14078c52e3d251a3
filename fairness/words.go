package fairness

import (
	"fmt"
	"math"
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
	if active == 1 && worst.Satisfaction >= 0.9 {
		return fmt.Sprintf("%s, alone, gets %s of what it is entitled to", worst.Name, worst.Satisfaction.Format(2))
	}
	if active == 1 {
		return fmt.Sprintf("%s, alone, gets what it is entitled to, as far as chance lets it be seen: %s of it", worst.Name, worst.Satisfaction.Format(2))
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

// figure is a number as a person would write it in a sentence: three digits that count, and no zeros after the point.
func figure(n Number) string {
	if !n.Exists() {
		return "n/a"
	}
	decimals := 0
	for v := math.Abs(float64(n)); v < 100 && decimals < 9 && (v > 0 || decimals < 2); v *= 10 {
		decimals++
	}
	s := n.Format(min(decimals, 9))
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
