package fairness

import "math"

// want is what a client asked for and got in a stretch, as far as its entitlement goes.
type want struct {
	client   int
	requests int64 // begun, and pending when the stretch began
	admitted int64
	active   bool
	present  float64 // the part of the stretch in which a closed loop was there; 0 counts as 1
}

// demand is a client's demand in requests per second. A closed loop sends no more than it is served, so what it was seen to ask
// for says little; its demand is what its workers would do unhindered, at most the whole limit.
func (t *terms) demand(w want, length float64) float64 {
	if !w.active || length <= 0 {
		return 0
	}
	if closed := t.closed[w.client]; closed > 0 {
		if w.present > 0 {
			closed *= w.present
		}
		return math.Min(closed, t.capacity/t.cost[w.client])
	}
	return float64(w.requests) / length
}

// entitle gives the demand and the entitlement of each, in requests per second: weighted max-min in tokens, where a
// claim is the demand's tokens and at most what the policy allows the client.
func (t *terms) entitle(wants []want, length float64) (demands, entitled []float64) {
	if t.measured {
		t.measure(wants, length)
	}
	n := len(wants)
	demands = make([]float64, n)
	claims, weights := make([]float64, n), make([]float64, n)
	for k, w := range wants {
		demands[k] = t.demand(w, length)
		claims[k] = math.Min(demands[k]*t.cost[w.client], t.ceiling[w.client])
		weights[k] = t.weight[w.client]
	}
	entitled = MaxMin(t.capacity, claims, weights)
	for k, w := range wants {
		entitled[k] /= t.cost[w.client]
	}
	return demands, entitled
}

// measure takes for the capacity what was admitted in sum. That is fair to say as long as the service refuses for lack of capacity alone.
func (t *terms) measure(wants []want, length float64) {
	t.capacity = 0
	for _, w := range wants {
		t.capacity += float64(w.admitted) * t.cost[w.client]
	}
	if t.capacity = t.capacity / length; !(length > 0) {
		t.capacity = 0
	}
	for i := range t.ceiling {
		t.ceiling[i] = t.capacity
	}
}

// jain is the index over the satisfactions of those who are active.
func (t *terms) jain(wants []want, length float64) Number {
	if length <= 0 {
		return None
	}
	_, entitled := t.entitle(wants, length)
	var satisfactions []float64
	for k, w := range wants {
		if w.active && entitled[k] > 0 {
			satisfactions = append(satisfactions, float64(w.admitted)/length/entitled[k])
		}
	}
	return Jain(satisfactions)
}

// rate is a count per second; there is none over no time.
func rate(n int64, seconds float64) Number { return ratio(float64(n), seconds) }

// ratio is a/b, or none when b is not positive.
func ratio(a, b float64) Number {
	if !(b > 0) {
		return None
	}
	return Number(a / b)
}
