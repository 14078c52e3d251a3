package profiles

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A reveal speaks in the numbers of the run that it follows. Each stands in
// braces, as its path in the JSON report, a client's below its name:
//
//	{web.satisfaction}       0.096     three digits
//	{web.satisfaction:%}     10%       a part as a percentage
//	{aggregate.admitted:.0}  30100     so many digits after the point
//	{was.batch.share:%}      96%       of the step before
//	{web.queue_wait_ms.max}  12.2 s    with its unit
//	{fairness.starved}       web, mobile and sync
//
// A brace that is meant as one is written twice: {{.
type placeholder struct {
	was    bool   // of the run before
	client string // or ""
	path   []string
	format string // "", "%" or ".N"
}

// Fill puts the numbers of a run into a text. now is the JSON report of the run,
// or the measures of a part of it; was is that of the step before, or nil. What
// the run did not measure reads n/a. The error says which placeholder is none.
func Fill(text string, now, was []byte) (string, error) {
	reports := [2]map[string]any{}
	for i, data := range [2][]byte{now, was} {
		if data == nil {
			continue
		}
		if err := json.Unmarshal(data, &reports[i]); err != nil {
			return "", fmt.Errorf("no report to fill a text from: %w", err)
		}
	}
	clients := make(map[string]bool)
	for _, r := range reports {
		for name := range clientsOf(r) {
			clients[name] = true
		}
	}
	return eachPlaceholder(text, sortedKeys(clients), func(p placeholder) (string, error) {
		report := reports[0]
		if p.was {
			report = reports[1]
		}
		if report == nil {
			return "n/a", nil
		}
		var value any = report
		if p.client != "" {
			value = clientsOf(report)[p.client]
		}
		for _, key := range p.path {
			m, ok := value.(map[string]any)
			if !ok {
				return "", fmt.Errorf("the report has no %s", strings.Join(p.path, "."))
			}
			if value, ok = m[key]; !ok {
				return "", fmt.Errorf("the report has no %s", strings.Join(p.path, "."))
			}
		}
		return p.show(value)
	})
}

// clientsOf is the clients of a JSON report by their names.
func clientsOf(report map[string]any) map[string]any {
	found := make(map[string]any)
	all, _ := report["clients"].([]any)
	for _, c := range all {
		if m, ok := c.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				found[name] = c
			}
		}
	}
	return found
}

// eachPlaceholder puts what fill says in the place of every placeholder.
func eachPlaceholder(text string, clients []string, fill func(placeholder) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if after, twice := strings.CutPrefix(rest, "{"); twice {
			b.WriteByte('{')
			text = after
			continue
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("%s is not closed: write for example {web.satisfaction}, or {{ for a brace", quote("{"+inside))
		}
		p, err := readPlaceholder(inside, clients)
		if err != nil {
			return "", err
		}
		filled, err := fill(p)
		if err != nil {
			return "", fmt.Errorf("%s: %w", quote("{"+inside+"}"), err)
		}
		b.WriteString(filled)
		text = after
	}
}

// sections are the parts of a report that a placeholder may begin with, and
// what it may name in each.
var sections = map[string][]string{
	"aggregate": {
		"offered_rps", "demand_rps", "admitted_rps", "rejected_rps", "error_rps", "limit_rps", "utilization",
		"admitted", "rejected", "errors", "in_flight", "attempts", "requests",
	},
	"fairness": {"jain", "min_satisfaction", "starved", "verdict", "why"},
	"limiter":  {"policy", "algorithm", "rate_per_s", "burst", "client_rate_per_s", "shards", "retry_after"},
}

// clientSection is what a placeholder may name of a client.
var clientSection = []string{
	"requests", "attempts", "admitted", "rejected", "errors", "in_flight", "retries", "gave_up", "unfinished",
	"demand_rps", "admitted_rps", "share", "entitled_rps", "satisfaction", "reject_ratio", "amplification", "longest_gap_s",
	"latency_ms.admitted.p50", "latency_ms.admitted.p90", "latency_ms.admitted.p99", "latency_ms.admitted.max",
	"queue_wait_ms.p50", "queue_wait_ms.p90", "queue_wait_ms.p99", "queue_wait_ms.max",
}

func readPlaceholder(inside string, clients []string) (placeholder, error) {
	var p placeholder
	fail := func(format string, args ...any) (placeholder, error) {
		return p, fmt.Errorf("%s %s", quote("{"+inside+"}"), fmt.Sprintf(format, args...))
	}
	path, format, formatted := strings.Cut(inside, ":")
	if formatted {
		digits, points := strings.CutPrefix(format, ".")
		n, err := strconv.Atoi(digits)
		if format != "%" && (!points || err != nil || n < 0 || n > 6) {
			return fail("asks for the form %s: write :%% for a percentage, or :.0 to :.6 for digits after the point", quote(format))
		}
		p.format = format
	}
	path, p.was = strings.CutPrefix(path, "was.")
	head, rest, _ := strings.Cut(path, ".")
	known, isSection := sections[head]
	if !isSection {
		// A client's name may hold dots: the longest that fits is meant.
		for _, name := range clients {
			if after, ok := strings.CutPrefix(path, name+"."); ok && len(name) > len(p.client) {
				p.client, rest = name, after
			}
		}
		if p.client == "" {
			return fail("is of nobody: %s", noSuch(head, append(sortedKeys(sections), clients[:min(20, len(clients))]...)))
		}
		known = clientSection
	}
	if !slices.Contains(known, rest) {
		return fail("is not measured: %s", noSuch(rest, known))
	}
	p.path = strings.Split(rest, ".")
	if isSection {
		p.path = append([]string{head}, p.path...)
	}
	return p, nil
}

// show writes a value of a report as a text has it.
func (p placeholder) show(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "n/a", nil
	case string:
		return v, nil
	case float64:
		if strings.HasSuffix(p.path[0], "_ms") {
			return showMillis(v), nil
		}
		return showNumber(v, p.format), nil
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = fmt.Sprint(v[i])
		}
		if len(words) == 0 {
			return "nobody", nil
		}
		return strings.ReplaceAll(list(words), " or ", " and "), nil
	}
	return "", fmt.Errorf("is no number and no word")
}

// showNumber writes a number with three digits, or as the format says.
func showNumber(v float64, format string) string {
	decimals := 0
	switch {
	case format == "%":
		v *= 100
		if v != 0 && math.Abs(v) < 9.95 && math.Abs(v-math.Round(v)) >= 0.05 {
			return strconv.FormatFloat(v, 'f', 1, 64) + "%"
		}
		return strconv.FormatFloat(v, 'f', 0, 64) + "%"
	case format != "":
		decimals, _ = strconv.Atoi(format[1:])
		return strconv.FormatFloat(v, 'f', decimals, 64)
	case v != 0 && math.Abs(v) < 1e3:
		decimals = min(9, max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))))
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.ContainsRune(s, '.') {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// showMillis writes milliseconds with the unit that suits them.
func showMillis(v float64) string {
	if v >= 999.5 {
		return showNumber(v/1000, "") + " s"
	}
	return showNumber(v, "") + " ms"
}

// checkReveal says what is wrong with the placeholders of a text.
func checkReveal(text string, clients []string, first bool) error {
	_, err := eachPlaceholder(text, clients, func(p placeholder) (string, error) {
		if p.was && first {
			return "", fmt.Errorf("there is no step before the first")
		}
		return "", nil
	})
	return err
}
