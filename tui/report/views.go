package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairgate/fairness"
)

// A mood is how a line is meant; it becomes a colour and, for eyes and terminals without colour, a mark.
type mood int

const (
	plain mood = iota
	good
	bad
	warning
	dim
	strong
)

// marks are the signs of the moods, in Unicode and in ASCII.
var marks = map[mood][2]string{good: {"✓", "ok"}, bad: {"✗", "!!"}, warning: {"!", "! "}, plain: {"·", "- "}}

func (m mood) mark(ascii bool) string {
	if ascii {
		return marks[m][1]
	}
	return marks[m][0]
}

func moodOf(v fairness.Verdict) mood {
	switch v {
	case fairness.Fair:
		return good
	case fairness.Starved:
		return bad
	case fairness.Contended:
		return warning
	}
	return plain
}

// monitoring is what a dashboard of sums sees: how much was admitted of what the limit allows, and no word of who got it.
func monitoring(a *fairness.Aggregate) (text, status string, m mood) {
	errors := "no errors"
	if a.ErrorCount > 0 {
		errors = plural(a.ErrorCount, "error")
	}
	text = fmt.Sprintf("admitted %s of %s (%s), %s", rate(a.Admitted), rate(a.Limit), percent(a.Utilization), errors)
	if !a.Limit.Exists() {
		text = fmt.Sprintf("admitted %s, the limit is not known, %s", rate(a.Admitted), errors)
	}
	switch {
	case a.Attempts == 0:
		return text, "quiet", plain
	case a.ErrorCount > 0:
		return text, "errors", warning
	}
	return text, "healthy", good
}

// clientsSee is what the clients see: whether each got what it was entitled to.
func clientsSee(m *fairness.Measures) (text, status string, md mood) {
	j := &m.Fairness
	var words []string
	switch starved := len(j.Starved); {
	case j.Verdict == fairness.Idle:
		words = append(words, "nobody sent anything")
	case starved > 0:
		words = append(words, fmt.Sprintf("%d of %d starved", starved, active(m)))
	default:
		words = append(words, fmt.Sprintf("none of %s starved", plural(int64(active(m)), "client")))
	}
	if j.MinSatisfaction.Exists() {
		words = append(words, fmt.Sprintf("worst %s %s", clean(worstName(m)), j.MinSatisfaction.Format(2)))
	}
	if j.Verdict != fairness.Idle {
		words = append(words, "Jain "+j.Jain.Format(2))
	}
	return strings.Join(words, ", "), string(j.Verdict), moodOf(j.Verdict)
}

// active is how many clients were active. A report that was read back from JSON does not say, so it is counted again.
func active(m *fairness.Measures) int {
	if m.Fairness.Active > 0 {
		return m.Fairness.Active
	}
	n := 0
	for i := range m.Clients {
		if m.Clients[i].Attempts > 0 || m.Clients[i].Unfinished > 0 {
			n++
		}
	}
	return n
}

// worstName is the client with the smallest satisfaction, "" when there is none.
func worstName(m *fairness.Measures) string {
	if m.Fairness.Worst != "" {
		return m.Fairness.Worst
	}
	name, least := "", fairness.None
	for i := range m.Clients {
		c := &m.Clients[i]
		if c.Satisfaction.Exists() && (!least.Exists() || c.Satisfaction < least) {
			name, least = c.Name, c.Satisfaction
		}
	}
	return name
}

// evidence are the sentences of a diagnosis that neither the verdict nor the cure says already.
func evidence(r *fairness.Report) []string {
	var list []string
	for _, sentence := range r.Diagnosis.Text {
		if sentence != r.Fairness.Why && sentence != r.Diagnosis.Cure.Text {
			list = append(list, sentence)
		}
	}
	return list
}

// cure is what to do, with the flag that does it; "" when nothing is to be done.
func cure(r *fairness.Report) string {
	text := r.Diagnosis.Cure.Text
	if text == "" {
		return r.Fairness.Advice
	}
	if p := r.Diagnosis.Cure.Policy; p != "" {
		text += " (--policy " + p + ")"
	}
	return text
}

// attempts says what came of all attempts.
func attempts(a *fairness.Aggregate) string {
	return fmt.Sprintf("%s: %s admitted, %s rejected, %s, %s in flight", count(a.Attempts), count(a.AdmittedCount), count(a.RejectedCount),
		plural(a.ErrorCount, "error"), count(a.InFlight))
}

// honesty says how much of the planned load was sent, and how late.
func honesty(g *fairness.Generator) string {
	text := fmt.Sprintf("sent %s%% of what was planned, %s missed", (g.Achieved * 100).Format(2), count(g.Missed))
	if !g.Achieved.Exists() {
		text = fmt.Sprintf("nothing was planned, %s missed", count(g.Missed))
	}
	if g.Lateness.P99.Exists() {
		text += fmt.Sprintf("; late by %s at p50, %s at p99, %s at most",
			milliseconds(g.Lateness.P50), milliseconds(g.Lateness.P99), milliseconds(g.Lateness.Max))
	}
	return text
}

// limit is the limiter in one line: "global, token-bucket, 1000/s, burst 100, a client 250/s".
func limit(l *fairness.Limit) string {
	rateText := l.RateText
	if rateText == "" {
		rateText = rate(l.RatePerS)
	}
	words := []string{l.Policy, l.Algorithm, rateText, fmt.Sprintf("burst %d", l.Burst)}
	switch {
	case l.Foreign() && !l.RatePerS.Exists():
		return "the target's own, not known"
	case l.Foreign():
		return fmt.Sprintf("the target's own, stated as %s, burst %d", rateText, l.Burst)
	case l.ClientText != "":
		words = append(words, l.ClientText+" for each client")
	case l.ClientRatePerS.Exists():
		words = append(words, rate(l.ClientRatePerS)+" for each client")
	}
	if l.Shards > 1 {
		words = append(words, fmt.Sprintf("%d shards", l.Shards))
	}
	if l.RetryAfter != "" {
		words = append(words, "Retry-After "+l.RetryAfter)
	}
	return strings.Join(words, ", ")
}

// A part of a whole, by name.
type part struct {
	Name string
	Of   fairness.Number
}

// parts are the counts above zero as parts of their sum, the largest first and equal ones by name.
func parts(counts map[string]int64) []part {
	var list []part
	var sum int64
	for _, n := range counts {
		sum += n
	}
	for name, n := range counts {
		if n > 0 {
			list = append(list, part{name, fairness.Number(n) / fairness.Number(sum)})
		}
	}
	slices.SortFunc(list, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.Of, a.Of), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// shares writes parts as "global 51%, client 49%".
func shares(list []part) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = p.Name + " " + percent(p.Of)
	}
	return strings.Join(words, ", ")
}

// told is the span of what a client was told: "1 s", "1-4 s", or "" when it was told nothing.
func told(r *fairness.RetryAfter) string {
	if len(r.Told) == 0 {
		return ""
	}
	low, high := r.Told[0].Seconds, r.Told[0].Seconds
	for _, t := range r.Told {
		low, high = min(low, t.Seconds), max(high, t.Seconds)
	}
	if low == high {
		return fmt.Sprintf("%d s", low)
	}
	return fmt.Sprintf("%d-%d s", low, high)
}
