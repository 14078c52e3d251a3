package attack

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"fairgate/limiter/httplimit"
)

// scrape reads metrics as Prometheus does, and fails where it would, or would advise against something.
func scrape(t *testing.T, at string) map[string]*dto.MetricFamily {
	t.Helper()
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%s answers %d, %q, %v", at, resp.StatusCode, resp.Header.Get("Content-Type"), err)
	}
	families, err := new(expfmt.TextParser).TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	problems, err := promlint.New(strings.NewReader(string(body))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "fairgate_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	return families
}

// sample is the value of a series: a counter, a gauge, or the count of a histogram; −1: there is none.
func sample(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		var got []string
		for _, l := range m.GetLabel() {
			got = append(got, l.GetName()+"="+l.GetValue())
		}
		if strings.Join(got, ",") != strings.Join(labels, ",") {
			continue
		}
		switch {
		case m.Counter != nil:
			return m.Counter.GetValue()
		case m.Gauge != nil:
			return m.Gauge.GetValue()
		case m.Histogram != nil:
			return float64(m.Histogram.GetSampleCount())
		}
	}
	return -1
}

func TestMetrics(t *testing.T) {
	g := guarded(t, hourly(t, "per-client"), GuardOptions{Metrics: true})
	for _, name := range []string{"web", "web", "zoe", "zoe", "", "batch"} {
		visitor(t, g.URL(), name)
	}
	got := scrape(t, g.MetricsURL())
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{2, "fairgate_requests_total", []string{"client=web", "outcome=admitted"}},
		{0, "fairgate_requests_total", []string{"client=web", "outcome=rejected"}},
		{1, "fairgate_requests_total", []string{"client=zoe", "outcome=admitted"}},
		{1, "fairgate_requests_total", []string{"client=zoe", "outcome=rejected"}},
		{1, "fairgate_requests_total", []string{"client=batch", "outcome=rejected"}},
		{0, "fairgate_requests_total", []string{"client=batch", "outcome=error"}},
		{1, "fairgate_rejections_total", []string{"client=zoe", "limit=global"}},
		{2, "fairgate_request_duration_seconds", []string{"client=web", "outcome=admitted"}},
		{1, "fairgate_request_duration_seconds", []string{"client=zoe", "outcome=rejected"}},
		{1, "fairgate_nameless_requests_total", nil},
		{60.0 / 3600, "fairgate_limit_tokens_per_second", nil},
		{0, "fairgate_overshoot_tokens", nil},
		{3, "fairgate_active_clients", nil},
		{0, "fairgate_client_satisfaction_ratio", []string{"client=batch"}},
		{-1, "fairgate_client_satisfaction_ratio", []string{"client=adam"}},
		{0, "fairgate_client_in_flight_requests", []string{"client=web"}},
	} {
		if v := sample(got, c.name, c.labels...); v != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.labels, v, c.want)
		}
	}
	verdicts := 0.0
	for _, v := range []string{"fair", "contended", "starved", "idle", "unknown"} {
		verdicts += sample(got, "fairgate_verdict", "verdict="+v)
	}
	if verdicts != 1 {
		t.Errorf("the verdicts add up to %v, want 1", verdicts)
	}
	if sample(got, "fairgate_jain_index") < 0 || sample(got, "process_resident_memory_bytes") <= 0 && got["process_start_time_seconds"] != nil {
		t.Error("there is no Jain index, or no memory of the process")
	}
	if n := sample(scrape(t, g.MetricsURL()), "fairgate_nameless_requests_total"); n != 1 {
		t.Errorf("looking at the metrics counts as a request: %v nameless", n)
	}
}

// TestMetricsOfManyClients: however many names there are, the label client takes as many values as there are places.
func TestMetricsOfManyClients(t *testing.T) {
	g := guarded(t, hourly(t, "global"), GuardOptions{MetricsListen: "127.0.0.1:0"})
	const names = 1000
	for i := range names {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, from(fmt.Sprint("stranger-", i)))
	}
	got := scrape(t, g.MetricsURL())
	if n := len(got["fairgate_requests_total"].GetMetric()); n != goodPlaces*len(outcomes) {
		t.Errorf("%d series for %d places", n, goodPlaces)
	}
	sum := 0.0
	for _, m := range got["fairgate_requests_total"].GetMetric() {
		sum += m.Counter.GetValue()
	}
	rest := sample(got, "fairgate_requests_total", "client="+httplimit.Rest, "outcome=rejected")
	if want := float64(names - (goodPlaces - 3)); sum != names || rest != want {
		t.Errorf("%v requests are counted of %d, %v of the others, want %v", sum, names, rest, want)
	}
	if resp := visitor(t, g.URL()+"metrics", "web"); resp.StatusCode != 429 {
		t.Errorf("with an address of their own the metrics are still at the service's: %d", resp.StatusCode)
	}
}
