package fairness

import (
	"strings"
	"testing"
)

func reportOfTwo() *Report {
	r := &Report{}
	r.Fairness = Judgement{Jain: 0.47, MinSatisfaction: 0.1}
	r.Aggregate = Aggregate{Utilization: 1, ErrorCount: 0}
	r.Clients = []ClientMeasures{
		{Name: "web", Attempts: 200, Admitted: 50, Satisfaction: 0.25, RejectRatio: 0.75, AdmittedRate: 5, Share: 0.05, Amplification: 2, LongestGap: 1.5, QueueWait: Quantiles{None, None, None, None}},
		{Name: "eu.web-1", Satisfaction: 1, Latency: struct {
			Admitted Quantiles `json:"admitted"`
			Rejected Quantiles `json:"rejected"`
		}{Admitted: Quantiles{P99: 0.30000000000000004}}},
	}
	return r
}

func TestExpectations(t *testing.T) {
	r := reportOfTwo()
	for expr, want := range map[string]bool{
		"jain >= 0.9":                 false,
		"jain<0.5":                    true,
		"min_satisfaction > 0.1":      false,
		"min_satisfaction >= 10%":     true,
		"utilization == 1":            true,
		"errors == 0":                 true,
		"errors != 0":                 false,
		"web.satisfaction < 0.5":      true,
		"web.admit_ratio == 25%":      true,
		"web.reject_ratio<=0.75":      true,
		"web.admitted_rps > 1e1":      false,
		"web.share != 0.05":           false,
		"web.amplification<= 2":       true,
		"web.longest_gap < 1":         false,
		"eu.web-1.satisfaction == 1":  true,
		"eu.web-1.latency_p99 == 0.3": true,  // as printed, not as added up
		"web.queue_wait_p99 >= 0":     false, // there is none
		"web.queue_wait_p99 != 12":    false,
	} {
		c, err := ParseExpectation(expr, []string{"web", "eu.web-1"})
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		e := c.Judge(r)
		if e.OK == nil || *e.OK != want || e.Expr != expr {
			t.Errorf("%s: %+v, want %v", expr, e, want)
		}
		if s := c.Skip(); s.OK != nil || s.Value.Exists() {
			t.Errorf("%s skipped: %+v", expr, s)
		}
	}
}

func TestWrongExpectationsNameTheChoices(t *testing.T) {
	clients := []string{"web", "batch"}
	for expr, want := range map[string][]string{
		"jain":                   {"compares nothing", "<= >= == != < >"},
		"jain = 1":               {"operator", "=="},
		"jain >= high":           {`"high"`, "no number"},
		"jain >= NaN":            {"no number"},
		"jain >= +Inf":           {"no number"},
		"jain >=":                {"no number"},
		"fairness >= 1":          {`"fairness"`, "jain", "min_satisfaction", "utilization", "errors", "satisfaction", "queue_wait_p99"},
		"web.speed > 1":          {`"speed"`, "admit_ratio", "amplification", "latency_p99"},
		"ftp.satisfaction > 0.5": {`"ftp"`, "web, batch"},
		".satisfaction > 0.5":    {`""`, "web, batch"},
		"":                       {"compares nothing"},
	} {
		_, err := ParseExpectation(expr, clients)
		if err == nil {
			t.Errorf("%q is accepted", expr)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v; want it to hold %q", expr, err, w)
			}
		}
	}
}

func FuzzParseExpectation(f *testing.F) {
	for _, s := range []string{"jain >= 0.9", "web.share<1%", "a.b.c == 1", "!=", "web.share <> 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		c, err := ParseExpectation(expr, []string{"web", "a.b"})
		if err != nil {
			return
		}
		e := c.Judge(reportOfTwo())
		if e.OK == nil || e.Expr != expr || !Number(c.Bound).Exists() {
			t.Errorf("%q: %+v judged %+v", expr, c, e)
		}
	})
}
