package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
)

// contract is what programs may rely on in a JSON report: each key with its kind. A kind with a question mark may be null.
var contract = map[string]string{
	"schema": "number", "profile": "text", "title": "text", "mode": "text", "seed": "number", "started": "text?", "duration_s": "number", "warm_up_s": "number", "source": "text",
	"limiter.policy": "text", "limiter.algorithm": "text", "limiter.rate_per_s": "number", "limiter.burst": "number", "limiter.client_rate_per_s": "number?",
	"limiter.shards": "number", "limiter.retry_after": "text",
	"aggregate.offered_rps": "number", "aggregate.demand_rps": "number", "aggregate.admitted_rps": "number", "aggregate.rejected_rps": "number",
	"aggregate.error_rps": "number", "aggregate.limit_rps": "number", "aggregate.utilization": "number?", "aggregate.admitted": "number",
	"aggregate.rejected": "number", "aggregate.errors": "number", "aggregate.in_flight": "number", "aggregate.attempts": "number", "aggregate.requests": "number",
	"fairness.jain": "number?", "fairness.min_satisfaction": "number?", "fairness.starved": "list", "fairness.verdict": "text", "fairness.why": "text",
	"clients[].name": "text", "clients[].kind": "text", "clients[].weight": "number", "clients[].requests": "number", "clients[].attempts": "number",
	"clients[].admitted": "number", "clients[].rejected": "number", "clients[].errors": "number", "clients[].in_flight": "number", "clients[].retries": "number",
	"clients[].gave_up": "number", "clients[].unfinished": "number", "clients[].demand_rps": "number", "clients[].admitted_rps": "number",
	"clients[].share": "number?", "clients[].entitled_rps": "number?", "clients[].satisfaction": "number?", "clients[].reject_ratio": "number?",
	"clients[].amplification": "number?", "clients[].longest_gap_s": "number?", "clients[].rejected_by.global": "number", "clients[].rejected_by.client": "number",
	"clients[].rejected_by.in-flight": "number", "clients[].rejected_by.queue-full": "number", "clients[].rejected_by.wait": "number",
	"clients[].latency_ms.admitted": "quantiles", "clients[].latency_ms.rejected": "quantiles", "clients[].queue_wait_ms": "quantiles",
	"clients[].retry_after.told_s": "list", "clients[].retry_after.needed_ms": "quantiles",
	"generator.lateness_ms.p50": "number?", "generator.lateness_ms.p99": "number?", "generator.lateness_ms.max": "number?", "generator.missed": "number",
	"generator.achieved": "number?",
	"timeline[].t_s":     "number", "timeline[].offered_rps": "number", "timeline[].admitted_rps": "number", "timeline[].jain": "number?",
	"timeline[].clients[].admitted_rps": "number", "timeline[].clients[].rejected_rps": "number",
	"changes": "list", "expectations[].expr": "text", "expectations[].value": "number?", "expectations[].ok": "truth?",
}

// breaches are what of a document is not as the contract says.
func breaches(doc any) (found []string) {
	for path, kind := range contract {
		found = append(found, breach(doc, strings.Split(path, "."), kind, path)...)
	}
	return found
}

func breach(value any, path []string, kind, whole string) (found []string) {
	if len(path) == 0 {
		optional := strings.HasSuffix(kind, "?")
		if value == nil && optional {
			return nil
		}
		ok := false
		switch strings.TrimSuffix(kind, "?") {
		case "number":
			_, ok = value.(float64)
		case "text":
			s, text := value.(string)
			ok = text && s != ""
		case "truth":
			_, ok = value.(bool)
		case "list":
			_, ok = value.([]any)
		case "quantiles":
			ok = ascending(value)
		}
		if !ok {
			found = append(found, fmt.Sprintf("%s is no %s: %v", whole, kind, value))
		}
		return found
	}
	key, list := strings.CutSuffix(path[0], "[]")
	m, _ := value.(map[string]any)
	inner, has := m[key]
	if !has {
		return []string{whole + " is missing"}
	}
	if !list {
		return breach(inner, path[1:], kind, whole)
	}
	all, ok := inner.([]any)
	if !ok || len(all) == 0 {
		return []string{fmt.Sprintf("%s: %s is no list, or empty: %v", whole, key, inner)}
	}
	for _, one := range all {
		found = append(found, breach(one, path[1:], kind, whole)...)
	}
	return found
}

// ascending reports whether p50, p90, p99 and max are numbers that do not fall, or all null.
func ascending(value any) bool {
	m, _ := value.(map[string]any)
	last, nulls := 0.0, 0
	for _, key := range []string{"p50", "p90", "p99", "max"} {
		switch v := m[key].(type) {
		case float64:
			if v < last {
				return false
			}
			last = v
		case nil:
			if _, has := m[key]; !has {
				return false
			}
			nulls++
		}
	}
	return nulls == 0 || nulls == 4
}

// Every report keeps the contract, whatever policy decided and however it was run.
func TestReportsKeepTheContract(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, text string) *fairness.Report {
		t.Helper()
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%v in %.300q", err, text)
		}
		for _, b := range breaches(doc) {
			t.Error(b)
		}
		r := reportOf(t, text)
		conserved(t, r)
		agrees(t, r)
		return r
	}
	for _, policy := range limiter.Policies {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			got := fairgate(t, "simulate", "starvation", "--duration", "2s", "--policy", string(policy), "--shards", "2", "--format", "json", "--shadow", "fair-queue")
			r := check(t, got.out)
			if r.Mode != "simulated" || r.Started != nil || r.Seed != 14 || r.Limiter.Policy != string(policy) {
				t.Errorf("mode %q, started %v, seed %d, policy %q", r.Mode, r.Started, r.Seed, r.Limiter.Policy)
			}
			if own := policy == limiter.PerClient; r.Limiter.ClientRatePerS.Exists() != own {
				t.Errorf("a client's own rate is %v", r.Limiter.ClientRatePerS)
			}
			// What shadow policies would have done is a list of reports, without timelines.
			var doc struct {
				Shadow []map[string]any
			}
			if err := json.Unmarshal([]byte(got.out), &doc); err != nil || len(doc.Shadow) != 1 {
				t.Fatalf("%v, %d shadows", err, len(doc.Shadow))
			}
			shadow := doc.Shadow[0]
			if _, has := shadow["timeline"]; has {
				t.Error("the shadow has a timeline")
			}
			shadow["timeline"] = []any{map[string]any{"t_s": 0.0, "offered_rps": 0.0, "admitted_rps": 0.0, "jain": nil, "clients": []any{map[string]any{"admitted_rps": 0.0, "rejected_rps": 0.0}}}}
			shadow["expectations"] = []any{map[string]any{"expr": "-", "value": nil, "ok": nil}} // nobody expects anything of a shadow
			if shadow["source"] == "" {
				shadow["source"] = "-"
			}
			for _, b := range breaches(any(shadow)) {
				t.Errorf("shadow: %s", b)
			}
		})
	}
	t.Run("golden", func(t *testing.T) {
		got := fairgate(t, "simulate", here(t, "lesson.yaml"), "--duration", "3s", "--warm-up", "2s", "--shadow", "fair-queue", "--format", "json")
		golden(t, "report.json", strings.ReplaceAll(got.out, here(t, "lesson.yaml"), "lesson.yaml"))
	})
	t.Run("live", func(t *testing.T) {
		t.Parallel()
		before := time.Now()
		got := fairgate(t, "run", "starvation", "--headless", "--duration", "400ms", "--format", "json")
		r := check(t, got.out)
		if r.Mode != "live" || r.Started == nil || r.Started.Before(before.Add(-time.Second)) || r.Started.After(time.Now()) {
			t.Errorf("mode %q, started %v", r.Mode, r.Started)
		}
	})
}

// The check can fail: a document that has nothing breaches every line of the contract, and a wrong kind or a falling quantile its own.
func TestTheContractCanBeBroken(t *testing.T) {
	t.Parallel()
	if n := len(breaches(map[string]any{})); n != len(contract) {
		t.Errorf("%d breaches of %d", n, len(contract))
	}
	for text, kind := range map[string]string{
		`{"a": "1"}`: "number", `{"a": null}`: "number", `{"a": ""}`: "text", `{"a": {}}`: "list", `{"b": 1}`: "number?",
		`{"a": {"p50": 1, "p90": 2, "p99": 1, "max": 3}}`: "quantiles", `{"a": {"p50": null, "p90": 2, "p99": 3, "max": 3}}`: "quantiles",
		`{"a": {"p50": null, "p90": null, "p99": null}}`: "quantiles", `{"a": 1}`: "truth?",
	} {
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if len(breach(doc, []string{"a"}, kind, "a")) == 0 {
			t.Errorf("%s passes for a %s", text, kind)
		}
	}
}

// agrees checks that the figures of a report agree with each other, as far as rounding to nine digits lets them.
func agrees(t *testing.T, r *fairness.Report) {
	t.Helper()
	near := func(what string, a, b fairness.Number) {
		t.Helper()
		if math.Abs(float64(a-b)) > 1e-6*math.Max(1, math.Abs(float64(b))) {
			t.Errorf("%s: %v, and it follows from the rest as %v", what, a, b)
		}
	}
	seconds, a := r.Duration, &r.Aggregate
	near("offered_rps", a.Offered, fairness.Number(a.Attempts)/seconds)
	near("admitted_rps", a.Admitted, fairness.Number(a.AdmittedCount)/seconds)
	near("rejected_rps", a.Rejected, fairness.Number(a.RejectedCount)/seconds)
	near("error_rps", a.Errors, fairness.Number(a.ErrorCount)/seconds)
	near("utilization", a.Utilization, a.Admitted/a.Limit)
	share, least := fairness.Number(0), fairness.None
	for _, c := range r.Clients {
		share += c.Share
		near(c.Name+".share", c.Share, fairness.Number(c.Admitted)/fairness.Number(a.AdmittedCount))
		near(c.Name+".admitted_rps", c.AdmittedRate, fairness.Number(c.Admitted)/seconds)
		near(c.Name+".satisfaction", c.Satisfaction, c.AdmittedRate/c.Entitled)
		near(c.Name+".reject_ratio", c.RejectRatio, fairness.Number(c.Rejected)/fairness.Number(c.Attempts))
		near(c.Name+".amplification", c.Amplification, fairness.Number(c.Attempts)/fairness.Number(c.Requests))
		if c.Attempts != c.Requests+c.Retries {
			t.Errorf("%s: %d attempts are not %d requests and %d retries", c.Name, c.Attempts, c.Requests, c.Retries)
		}
		var by, told int64
		for _, n := range c.RejectedBy {
			by += n
		}
		for _, one := range c.RetryAfter.Told {
			told += one.Count
		}
		if by != c.Rejected || told > c.Rejected {
			t.Errorf("%s: %d rejected, %d by a limit, %d told to come back", c.Name, c.Rejected, by, told)
		}
		if !least.Exists() || c.Satisfaction < least {
			least = c.Satisfaction
		}
	}
	near("the sum of the shares", share, 1)
	near("min_satisfaction", r.Fairness.MinSatisfaction, least)
	if len(r.Timeline) > 600 {
		t.Errorf("%d points in the timeline", len(r.Timeline))
	}
	for _, p := range r.Timeline {
		if len(p.Clients) != len(r.Clients) {
			t.Errorf("%d clients in the timeline at %v, and %d in the report", len(p.Clients), p.T, len(r.Clients))
		}
	}
}
