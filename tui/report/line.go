package report

import (
	"fmt"
	"strings"

	"fairgate/fairness"

	"github.com/charmbracelet/x/ansi"
)

// Line is a run's state in one line of plain text, for logs and pipes: what monitoring sees, then what the clients see.
//
//	00:07  admitted 1000/s of 1000/s  rejected 15190/s  Jain 0.41  starved: web 0.10, mobile 0.09
//
// At most width columns (0: no bound).
func Line(s *fairness.Snapshot, width int) string {
	a, j := &s.Aggregate, &s.Fairness
	parts := []string{
		clock(s.Now),
		"admitted " + rate(a.Admitted),
		"rejected " + rate(a.Rejected),
	}
	if a.Limit.Exists() {
		parts[1] += " of " + rate(a.Limit)
	}
	if a.ErrorCount > 0 {
		parts = append(parts, "errors "+rate(a.Errors))
	}
	parts = append(parts, "Jain "+j.Jain.Format(2), verdictShort(&s.Measures))
	line := strings.Join(parts, "  ")
	if width > 0 {
		line = ansi.Truncate(line, width, "…")
	}
	return line
}

// verdictShort is the verdict, with the starved clients and how much of their due they got.
func verdictShort(m *fairness.Measures) string {
	if m.Fairness.Verdict != fairness.Starved {
		return string(m.Fairness.Verdict)
	}
	satisfaction := map[string]fairness.Number{}
	for i := range m.Clients {
		satisfaction[m.Clients[i].Name] = m.Clients[i].Satisfaction
	}
	var names []string
	for i, name := range m.Fairness.Starved {
		if i == 4 {
			names = append(names, fmt.Sprintf("%d more", len(m.Fairness.Starved)-i))
			break
		}
		names = append(names, clean(name)+" "+satisfaction[name].Format(2))
	}
	return "starved: " + strings.Join(names, ", ")
}
