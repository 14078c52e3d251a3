package fairness

import "fmt"

// explain gives the mechanism of a cause in a sentence, and the cure that the figures support.
func explain(c Cause, l Limit, m *Measures, worst *ClientMeasures) (reason string, cure Cure) {
	capacity := m.Aggregate.Limit
	queue := Cure{Policy: "fair-queue", Text: "a fair queue " + gives(worst.Name, worst.Entitled, worst.Demand)}
	switch c {
	case Bursts:
		return fmt.Sprintf("%s asks in bursts: at the moments when it asked, %s of what it is entitled to on average could be admitted by anybody",
				worst.Name, percent(worst.Attainable/worst.Expected)),
			Cure{Text: fmt.Sprintf("a burst that holds %s's, or a queue that lets it wait, would help; who shares the limit does not matter", worst.Name)}
	case ShortQueue:
		return fmt.Sprintf("%s's queue turned away what a longer one, or a longer wait, would have served", worst.Name),
			Cure{Text: "raise queue.per_client or queue.max_wait"}
	case Backlog:
		reason = fmt.Sprintf("%s waits instead of being refused: no errors is not healthy", worst.Name)
		if worst.QueueWait.P99.Exists() {
			reason = fmt.Sprintf("%s waits instead of being refused, up to %s ms: no errors is not healthy", worst.Name, figure(worst.QueueWait.Max))
		}
		if l.Policy == "fair-queue" || m.Fairness.Active == 1 {
			return reason, Cure{Text: "more capacity, fewer requests, or a shorter queue that says no in time; with several clients, a queue for each instead of one line"}
		}
		return reason, queue
	case LimitItself:
		return fmt.Sprintf("%s is refused although nobody takes more than its part and the limit is not used up", worst.Name),
			Cure{Text: "a larger burst would let the same rate pass less evenly"}
	case Shards:
		return fmt.Sprintf("each of %d shards decides apart, and refuses while others have tokens left", l.Shards), queue
	case InFlight:
		reason = "a number in flight bounds no rate: whoever is quick to come back takes the slots, and the limit behind them goes by arrival order"
		return reason, queue
	case Guarantees:
		return fmt.Sprintf("what the hierarchy guarantees %s is less than its fair part, and the rest is borrowed by who asks more often", worst.Name), queue
	case Oversubscribed:
		sum := Number(float64(l.ClientRatePerS) * float64(m.Fairness.Active))
		reason = fmt.Sprintf("%d buckets of %s/s add up to %s/s, and the cap is %s/s: at the cap, arrival order decides",
			m.Fairness.Active, figure(l.ClientRatePerS), figure(sum), figure(capacity))
		if sum <= capacity*(1+1e-9) {
			reason = fmt.Sprintf("%s is refused by a bucket of its own", worst.Name)
			queue.Text = "a fair queue would hold what its own bucket refuses"
			return reason, queue
		}
		queue.Text = fmt.Sprintf("a cap of %s/s would hold all of them; at %s/s %s", figure(sum), figure(capacity), queue.Text)
		return reason, queue
	case CostOrder:
		return fmt.Sprintf("an attempt of %s costs %d tokens, and cheaper ones take each token before so many are saved up", worst.Name, worst.Cost),
			Cure{Policy: "fair-queue", Text: fmt.Sprintf("a fair queue, which counts cost, %s", gives(worst.Name, worst.Entitled, worst.Demand))}
	}
	reason = "rejections are decided by arrival order: each attempt has the same chance, so who sends most gets most"
	part := ratio(float64(capacity), float64(m.Fairness.Active))
	if part.Exists() && float64(worst.Demand)*float64(worst.Cost) <= float64(part) {
		queue.Text = fmt.Sprintf("a bucket of %s/s per client (%d × %s/s = %s/s), or a fair queue, %s",
			figure(part), m.Fairness.Active, figure(part), figure(capacity), gives(worst.Name, worst.Entitled, worst.Demand))
	}
	return reason, queue
}

// advice is the cure in half a line, "" when nothing is to be done.
func advice(l Limit, m *Measures) string {
	if m.Fairness.Verdict != Starved && m.Fairness.Verdict != Contended {
		return ""
	}
	victims := suffering(m)
	if len(victims) == 0 {
		return ""
	}
	worst := victims[0]
	gets := gives(worst.Name, worst.Entitled, worst.Demand)
	switch cause(l, m, victims, taker(m.Clients)) {
	case Bursts, LimitItself:
		return fmt.Sprintf("a larger burst, or a queue, would let %s's bursts pass", worst.Name)
	case ShortQueue:
		return fmt.Sprintf("%s's queue is too short: raise queue.per_client or queue.max_wait", worst.Name)
	case Backlog:
		return fmt.Sprintf("%s waits and waits: less demand, more capacity, or a queue that says no in time", worst.Name)
	case Shards:
		return "each shard decides apart: a fair queue before one limit " + gets
	case InFlight:
		return "a number in flight bounds no rate: a bucket per client or a fair queue " + gets
	case Guarantees:
		return fmt.Sprintf("a guarantee of %s/s for %s, or a fair queue, %s", figure(worst.Entitled), worst.Name, gets)
	case Oversubscribed:
		if sum := l.ClientRatePerS * Number(m.Fairness.Active); sum > m.Aggregate.Limit*(1+1e-9) {
			return fmt.Sprintf("%d buckets of %s/s need a cap of %s/s, and it is %s/s: raise it, or a fair queue %s",
				m.Fairness.Active, figure(l.ClientRatePerS), figure(sum), figure(m.Aggregate.Limit), gets)
		}
		return "a fair queue would hold what its own bucket refuses " + worst.Name
	case CostOrder:
		return "cheap attempts leave no tokens for dear ones: a fair queue, which counts cost, " + gets
	}
	return "arrival order decides: a bucket per client or a fair queue " + gets
}

// gives says how much of its demand a client's entitlement is.
func gives(name string, entitled, demand Number) string {
	if entitled < 0.95*demand {
		return fmt.Sprintf("would give %s %s/s of the %s/s that it asks", name, figure(entitled), figure(demand))
	}
	return fmt.Sprintf("would give %s all it asks", name)
}
