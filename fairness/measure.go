package fairness

import "time"

// sums are what was counted of one client in a stretch, whatever it was counted in.
type sums struct {
	carriedRequests, carriedAttempts int64 // pending, and in flight, when the stretch began

	begun, sent, admitted, rejected, failed, served, gaveUp, tokens, never int64

	onRetry, kept, broken, early int64

	attainable float64
	gap        time.Duration
	first      Number        // seconds to the first admission
	dark       time.Duration // longest row of rejections
	returning  float64       // seconds from an admission until the client has it, on average
	by         []int64
	spread     *spread // nil in a window, which merges one when it is asked for
}

func (s *sums) requests() int64 { return s.carriedRequests + s.begun }
func (s *sums) attempts() int64 { return s.carriedAttempts + s.sent }
func (s *sums) inFlight() int64 { return s.attempts() - s.admitted - s.rejected - s.failed }
func (s *sums) active() bool    { return s.sent > 0 || s.carriedRequests > 0 }

// measure works out the figures of a stretch. spreadOf gives a client's distributions, each once.
func (t *Tally) measure(from, to time.Duration, all []sums, l Load, spreadOf func(client int) *spread) Measures {
	var terms terms
	terms.over(t.spells, from, to)
	length := (to - from).Seconds()
	last := t.spellBefore(to)
	wants := make([]want, len(all))
	for i := range all {
		wants[i] = want{client: i, requests: all[i].requests(), admitted: all[i].admitted, active: all[i].active(), present: 1}
		if j := t.joined[i]; j > from && to > from {
			wants[i].present = (to - j).Seconds() / length
		}
	}
	demands, entitled := terms.entitle(wants, length)
	known := terms.capacity > 0

	m := Measures{Clients: make([]ClientMeasures, len(all)), Load: l}
	var total sums
	demand, tokens := 0.0, 0.0
	for i := range all {
		s := &all[i]
		total.add(s)
		demand += demands[i]
		tokens += float64(s.tokens)
		m.Clients[i] = s.client(&last.clients[i], length, t.options.Reasons, spreadOf(i))
		c := &m.Clients[i]
		c.Demand = ratio(demands[i]*length, length)
		c.Entitled = ratio(entitled[i]*length, length)
		if !known {
			c.Entitled = None
		}
		c.Satisfaction = None
		if s.active() && c.Entitled.Exists() {
			c.Satisfaction = ratio(float64(c.AdmittedRate), entitled[i])
		}
		c.ClosedLoop = last.clients[i].ClosedDemand > 0
	}
	for i := range m.Clients {
		m.Clients[i].Share = ratio(float64(all[i].admitted), float64(total.admitted))
	}
	m.Aggregate = Aggregate{
		Offered: rate(total.sent, length), Demand: ratio(demand*length, length),
		Admitted: rate(total.admitted, length), Rejected: rate(total.rejected, length), Errors: rate(total.failed, length),
		Limit: ratio(terms.capacity, 1), Utilization: ratio(tokens, terms.capacity*length),
		AdmittedCount: total.admitted, RejectedCount: total.rejected, ErrorCount: total.failed, InFlight: total.inFlight(),
		Attempts: total.attempts(), Requests: total.requests(),
	}
	shared := m.Aggregate.Limit
	if !known {
		m.Aggregate.Limit, shared = None, None
	}
	if terms.measured {
		m.Aggregate.Limit, m.Aggregate.Utilization = None, None // it is no limit, and always used up
	}
	standings := t.standings(m.Clients, all, length)
	for i := range standings {
		m.Clients[i].Expected, m.Clients[i].Attainable = Number(standings[i].Expected), Number(standings[i].Attainable)
	}
	m.Fairness = Judge(shared, standings)
	// The starved are named in the order of the clients, and every name is there once.
	names := m.Fairness.Starved
	for i := range m.Clients {
		if len(names) > 0 && m.Clients[i].Name == names[0] {
			m.Clients[i].Starved = true
			names = names[1:]
		}
	}
	m.doubt(standings, length)
	m.Fairness.Advice = advice(last.limit, &m)
	return m
}

// standings are what the verdict rests on.
func (t *Tally) standings(clients []ClientMeasures, all []sums, length float64) []Standing {
	standings := make([]Standing, len(all))
	// A client that has had no answer yet can only be judged by how long the others wait for theirs.
	slowest := 0.0
	for i := range all {
		slowest = max(slowest, all[i].returning)
	}
	for i := range all {
		s, c := &all[i], &clients[i]
		expected := c.Entitled.Float(0) * length
		// What it was admitted in the time of which it can have the answers, spread over the rest.
		unseen := float64(s.inFlight())
		if seen := length - s.returning; seen > 0 {
			unseen = float64(s.admitted) * s.returning / seen
		}
		if s.admitted == 0 {
			unseen = c.Entitled.Float(0) * slowest
		}
		standings[i] = Standing{
			Name: c.Name, Active: c.Active, Satisfaction: c.Satisfaction, Demand: c.Demand, Entitled: c.Entitled, Share: c.Share,
			Admitted: float64(s.admitted), Unseen: min(float64(s.inFlight()), unseen),
			Expected: expected, Attainable: min(expected, s.attainable),
			Answered: s.admitted+s.rejected+s.failed > 0,
		}
	}
	return standings
}

func (s *sums) add(o *sums) {
	s.carriedRequests += o.carriedRequests
	s.carriedAttempts += o.carriedAttempts
	s.begun += o.begun
	s.sent += o.sent
	s.admitted += o.admitted
	s.rejected += o.rejected
	s.failed += o.failed
}

// client are the figures that follow from a client's own counts.
func (s *sums) client(c *Client, length float64, reasons []string, of *spread) ClientMeasures {
	m := ClientMeasures{
		Name: c.Name, Kind: c.Kind, Weight: max(c.Weight, 1), Cost: max(c.Cost, 1),
		Requests: s.requests(), Attempts: s.attempts(), Admitted: s.admitted, Rejected: s.rejected, Errors: s.failed,
		InFlight: s.inFlight(), Retries: s.sent - s.begun, GaveUp: s.gaveUp, Unfinished: s.requests() - s.served - s.gaveUp,
		AdmittedRate:  rate(s.admitted, length),
		RejectRatio:   ratio(float64(s.rejected), float64(s.attempts())),
		Amplification: ratio(float64(s.attempts()), float64(s.requests())),
		LongestGap:    None, FirstAdmitted: s.first,
		RejectedBy:  make(map[string]int64, len(reasons)),
		QueueWait:   of.queued.quantiles(),
		OfferedRate: rate(s.sent, length), RejectedRate: rate(s.rejected, length),
		Kept: s.kept, Broken: s.broken, Dark: seconds(s.dark), Active: s.active(),
	}
	if m.Active && length > 0 {
		m.LongestGap = seconds(s.gap)
	}
	for r, name := range reasons {
		m.RejectedBy[name] = s.by[r]
	}
	m.Latency.Admitted = of.admitted.quantiles()
	m.Latency.Rejected = of.rejected.quantiles()
	m.RetryAfter = RetryAfter{
		Told: append([]Told{}, of.told.list...), Needed: of.needed.quantiles(),
		NeededBins: of.needed.coarse(), Never: s.never,
	}
	return m
}
