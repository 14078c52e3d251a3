package fairness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Condition is an expectation that has been understood: a metric, an operator, a bound.
type Condition struct {
	Expr     string // as it was written
	Client   string // "" for a metric of the whole run
	Metric   string
	Operator string
	Bound    float64
}

// Metrics of the whole run, and of one client, that an expectation may name. Gaps are seconds, latencies
// and waits milliseconds.
var (
	runMetrics = map[string]func(*Report) Number{
		"jain":             func(r *Report) Number { return r.Fairness.Jain },
		"min_satisfaction": func(r *Report) Number { return r.Fairness.MinSatisfaction },
		"utilization":      func(r *Report) Number { return r.Aggregate.Utilization },
		"errors":           func(r *Report) Number { return Number(r.Aggregate.ErrorCount) },
	}
	clientMetrics = map[string]func(*ClientMeasures) Number{
		"satisfaction":   func(c *ClientMeasures) Number { return c.Satisfaction },
		"admit_ratio":    func(c *ClientMeasures) Number { return ratio(float64(c.Admitted), float64(c.Attempts)) },
		"reject_ratio":   func(c *ClientMeasures) Number { return c.RejectRatio },
		"admitted_rps":   func(c *ClientMeasures) Number { return c.AdmittedRate },
		"share":          func(c *ClientMeasures) Number { return c.Share },
		"amplification":  func(c *ClientMeasures) Number { return c.Amplification },
		"longest_gap":    func(c *ClientMeasures) Number { return c.LongestGap },
		"latency_p99":    func(c *ClientMeasures) Number { return c.Latency.Admitted.P99 },
		"queue_wait_p99": func(c *ClientMeasures) Number { return c.QueueWait.P99 },
	}
)

// Operators of an expectation, the longer before those that they begin with.
var operators = []string{"<=", ">=", "==", "!=", "<", ">"}

// ParseExpectation reads an expression such as "jain >= 0.9" or "web.satisfaction < 0.5". clients are the names that it may
// use; a client's name may hold dots. The error of a wrong one says what may stand there.
func ParseExpectation(expr string, clients []string) (Condition, error) {
	c := Condition{Expr: expr}
	at := strings.IndexAny(expr, "<>=!")
	if at < 0 {
		return c, fmt.Errorf("expectation %q compares nothing: write METRIC OP VALUE with one of %s, as in %q", expr, strings.Join(operators, " "), "jain >= 0.9")
	}
	for _, op := range operators {
		if strings.HasPrefix(expr[at:], op) {
			c.Operator = op
			break
		}
	}
	if c.Operator == "" {
		return c, fmt.Errorf("expectation %q has no operator that is known: use one of %s", expr, strings.Join(operators, " "))
	}
	metric, value := strings.TrimSpace(expr[:at]), strings.TrimSpace(expr[at+len(c.Operator):])
	bound, err := parseBound(value)
	if err != nil {
		return c, fmt.Errorf("expectation %q compares with %q, which is no number: write one as in %q", expr, value, "jain >= 0.9")
	}
	c.Bound = bound

	dot := strings.LastIndexByte(metric, '.')
	if dot < 0 {
		if _, ok := runMetrics[metric]; !ok {
			return c, fmt.Errorf("expectation %q names the unknown metric %q: of the run there are %s; of a client, as CLIENT.METRIC, %s",
				expr, metric, names(runMetrics), names(clientMetrics))
		}
		c.Metric = metric
		return c, nil
	}
	c.Client, c.Metric = strings.TrimSpace(metric[:dot]), strings.TrimSpace(metric[dot+1:])
	if _, ok := clientMetrics[c.Metric]; !ok {
		return c, fmt.Errorf("expectation %q names the unknown metric %q: a client has %s", expr, c.Metric, names(clientMetrics))
	}
	if !slices.Contains(clients, c.Client) {
		return c, fmt.Errorf("expectation %q names the unknown client %q: there %s", expr, c.Client, choices(clients))
	}
	return c, nil
}

// parseBound reads a finite number; a percentage is a part of 1.
func parseBound(s string) (float64, error) {
	part := 1.0
	if cut, ok := strings.CutSuffix(s, "%"); ok {
		s, part = strings.TrimSpace(cut), 0.01
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && !Number(v).Exists() {
		err = strconv.ErrRange
	}
	return v * part, err
}

// Judge evaluates the condition on a report. A value that does not exist meets no expectation. The value and the bound are compared
// as the report prints them, to nine digits.
func (c Condition) Judge(r *Report) Expectation {
	e := Expectation{Expr: c.Expr, Value: None}
	if c.Client == "" {
		if metric := runMetrics[c.Metric]; metric != nil {
			e.Value = metric(r)
		}
	} else if metric := clientMetrics[c.Metric]; metric != nil {
		for i := range r.Clients {
			if r.Clients[i].Name == c.Client {
				e.Value = metric(&r.Clients[i])
				break
			}
		}
	}
	ok := e.Value.Exists() && c.holds(nineDigits(float64(e.Value)), nineDigits(c.Bound))
	e.OK = &ok
	return e
}

// Skip is the expectation as one that was not evaluated.
func (c Condition) Skip() Expectation { return Expectation{Expr: c.Expr, Value: None} }

func (c Condition) holds(v, bound float64) bool {
	order := cmp.Compare(v, bound)
	switch c.Operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "==":
		return order == 0
	}
	return order != 0
}

func names[F any](metrics map[string]F) string {
	var all []string
	for name := range metrics {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// choices lists the clients, at most a dozen of them.
func choices(clients []string) string {
	const most = 12
	switch {
	case len(clients) == 0:
		return "are none"
	case len(clients) == 1:
		return "is only " + clients[0]
	case len(clients) <= most:
		return "are " + strings.Join(clients, ", ")
	}
	return fmt.Sprintf("are %s and %d more", strings.Join(clients[:most], ", "), len(clients)-most)
}
