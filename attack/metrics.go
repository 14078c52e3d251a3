package attack

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fairgate/fairness"
	"fairgate/limiter"
)

// outcomes are the values of the label outcome; index: fairness.Kind.
var outcomes = [...]string{fairness.Admitted: "admitted", fairness.Rejected: "rejected", fairness.Failed: "error"}

// metrics are a Guard's figures for Prometheus: counters and histograms of all that came since the start, and the measures of fairness over the last
// ten seconds. The label client takes as many values as there are places.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	refusals *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	nameless prometheus.Counter
	of       []clientMetrics // of each place
	guard    *Guard
}

// clientMetrics are the lines of one client, found once.
type clientMetrics struct {
	ready    bool
	requests [len(outcomes)]prometheus.Counter
	seconds  [len(outcomes)]prometheus.Observer
	refusals [len(limiter.Reasons)]prometheus.Counter
}

func newMetrics(g *Guard) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(), guard: g, of: make([]clientMetrics, len(g.places.names)),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairgate_requests_total", Help: "Requests that were answered, by client and by what came of them.",
		}, []string{"client", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairgate_rejections_total", Help: "Rejected requests, by client and by the limit that refused.",
		}, []string{"client", "limit"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fairgate_request_duration_seconds", Help: "From the arrival of a request at the limiter to the end of its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"client", "outcome"}),
		nameless: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "fairgate_nameless_requests_total", Help: "Requests that did not say who was asking and were refused for it.",
		}),
	}
	m.registry.MustRegister(m.requests, m.refusals, m.seconds, m.nameless, &gauges{g},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.places.known {
		m.lineLocked(i) // so that a client that has not come yet counts 0
	}
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// lineLocked is the lines of a place; the guard's lock is held, for a place gets its name only once.
func (m *metrics) lineLocked(place int) *clientMetrics {
	c := &m.of[place]
	if c.ready {
		return c
	}
	name := m.guard.places.names[place]
	for k, outcome := range outcomes {
		c.requests[k] = m.requests.WithLabelValues(name, outcome)
		c.seconds[k] = m.seconds.WithLabelValues(name, outcome)
	}
	for k, limit := range limiter.Reasons {
		c.refusals[k] = m.refusals.WithLabelValues(name, limit)
	}
	c.ready = true
	return c
}

// observe counts an outcome.
func (m *metrics) observe(o *fairness.Outcome) {
	m.guard.mu.Lock()
	c := m.lineLocked(o.Client)
	m.guard.mu.Unlock()
	c.requests[o.Kind].Inc()
	c.seconds[o.Kind].Observe((o.Seen - o.Sent).Seconds())
	if o.Kind == fairness.Rejected {
		c.refusals[o.By].Inc()
	}
}

// gauges are the measures of the last ten seconds. One that does not exist is not there.
type gauges struct{ guard *Guard }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("fairgate_"+name, help, labels, nil)
}

var (
	gaugeLimit       = gauge("limit_tokens_per_second", "The limit that all clients share.")
	gaugeUtilization = gauge("utilization_ratio", "Admitted tokens over what the limit allows, over the last 10 s.")
	gaugeOvershoot   = gauge("overshoot_tokens", "By how many tokens the admissions since the start went, at the worst, beyond limit x time + burst.")
	gaugeJain        = gauge("jain_index", "Jain's index over the satisfactions of the active clients, over the last 10 s.")
	gaugeWorst       = gauge("min_satisfaction_ratio", "The smallest satisfaction of an active client, over the last 10 s.")
	gaugeVerdict     = gauge("verdict", "1 for the verdict on the last 10 s, 0 for the others.", "verdict")
	gaugeActive      = gauge("active_clients", "Clients that sent something in the last 10 s.")
	gaugeStarved     = gauge("starved_clients", "Clients that were starved in the last 10 s.")

	gaugeDemand       = gauge("client_demand_requests_per_second", "What the client asked for, over the last 10 s.", "client")
	gaugeEntitlement  = gauge("client_entitlement_requests_per_second", "The client's weighted max-min fair share, over the last 10 s.", "client")
	gaugeSatisfaction = gauge("client_satisfaction_ratio", "Admitted over entitled, over the last 10 s.", "client")
	gaugeClientStarve = gauge("client_starved", "1 when the client was starved in the last 10 s.", "client")
	gaugeInFlight     = gauge("client_in_flight_requests", "Requests of the client without an answer.", "client")

	allGauges = []*prometheus.Desc{
		gaugeLimit, gaugeUtilization, gaugeOvershoot, gaugeJain, gaugeWorst, gaugeVerdict, gaugeActive, gaugeStarved,
		gaugeDemand, gaugeEntitlement, gaugeSatisfaction, gaugeClientStarve, gaugeInFlight,
	}
)

// Describe implements prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range allGauges {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, n fairness.Number, labels ...string) {
		if n.Exists() {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
		}
	}
	s := g.guard.Snapshot()
	send(gaugeLimit, s.Aggregate.Limit)
	send(gaugeUtilization, s.Aggregate.Utilization)
	send(gaugeOvershoot, fairness.Number(s.Overshoot))
	send(gaugeJain, s.Fairness.Jain)
	send(gaugeWorst, s.Fairness.MinSatisfaction)
	send(gaugeActive, fairness.Number(s.Fairness.Active))
	send(gaugeStarved, fairness.Number(len(s.Fairness.Starved)))
	for _, v := range []fairness.Verdict{fairness.Fair, fairness.Contended, fairness.Starved, fairness.Idle, fairness.Unknown} {
		send(gaugeVerdict, oneIf(s.Fairness.Verdict == v), string(v))
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		send(gaugeDemand, c.Demand, c.Name)
		send(gaugeEntitlement, c.Entitled, c.Name)
		send(gaugeSatisfaction, c.Satisfaction, c.Name)
		send(gaugeClientStarve, oneIf(c.Starved), c.Name)
		send(gaugeInFlight, fairness.Number(c.InFlight), c.Name)
	}
}

func oneIf(yes bool) fairness.Number {
	if yes {
		return 1
	}
	return 0
}
