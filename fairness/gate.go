package fairness

import (
	"encoding/json"
	"fmt"
	"time"
)

// Dispatch is what a request ought to be decided by.
type Dispatch string

// The modes that a gate recommends.
const (
	PerClientBuckets  Dispatch = "per-client-buckets"
	WeightedFairQueue Dispatch = "weighted-fair-queue"
	ConcurrencyCap    Dispatch = "concurrency"
)

// GateQuestion is a configuration of limits, and the clients that share it.
type GateQuestion struct {
	PerClient   Number        // rate of each client's own bucket; none when there is no such rate
	Active      int           // clients that are there at once
	Cap         Number        // rate of the cap over all
	Buckets     bool          // whether clients have buckets of their own
	MaxInFlight int64         // attempts of a client in flight at once; 0: not bounded
	ServiceTime time.Duration // what an attempt takes; with MaxInFlight it bounds a client's rate
	Shares      bool          // whether the policy shares by itself, as a fair queue does
}

// GateResult is the answer.
type GateResult struct {
	Schema      int      `json:"schema"` // 1
	Fair        bool     `json:"fair"`
	Mode        Dispatch `json:"mode"`
	Why         string   `json:"why"`
	RequiredCap Number   `json:"required_cap"` // the cap at which per-client buckets would be enough; none when there is no per-client rate
}

// Gate tells before any request is sent whether a configuration can be fair. Buckets of one's own protect everybody as
// long as the cap holds all of them at once; else who comes first at the cap decides, and it takes a fair queue. A number in
// flight protects only if the rate that it amounts to is within each client's part of the cap.
func Gate(q GateQuestion) GateResult {
	r := GateResult{Schema: 1, Mode: WeightedFairQueue, RequiredCap: None}
	sum := float64(q.PerClient) * float64(q.Active)
	if q.PerClient.Exists() {
		r.RequiredCap = Number(sum)
	}
	part := ratio(float64(q.Cap), float64(q.Active))
	inFlight := None
	if q.MaxInFlight > 0 && q.ServiceTime > 0 {
		inFlight = Number(float64(q.MaxInFlight) / q.ServiceTime.Seconds())
	}
	const rounding = 1e-9
	switch {
	case q.Shares:
		r.Fair, r.Why = true, "the policy itself shares the limit among whoever is there"
	case q.Active < 2 && !q.Buckets:
		r.Fair, r.Mode, r.Why = true, PerClientBuckets, "fewer than two clients: there is nobody to share with"
	case q.Buckets && q.PerClient.Exists() && float64(q.Cap) >= sum*(1-rounding):
		r.Fair, r.Mode = true, PerClientBuckets
		r.Why = fmt.Sprintf("global cap %s ≥ sum of per-client limits %s", plainly(q.Cap), plainly(Number(sum)))
	case inFlight.Exists() && part.Exists() && float64(inFlight) <= float64(part)*(1+rounding):
		r.Fair, r.Mode = true, ConcurrencyCap
		r.Why = fmt.Sprintf("%d in flight at %v is %s/s, within a client's part of %s/s", q.MaxInFlight, q.ServiceTime, plainly(inFlight), plainly(part))
	case q.Buckets && q.PerClient.Exists():
		r.Why = fmt.Sprintf("global cap %s < sum of per-client limits %s", plainly(q.Cap), plainly(Number(sum)))
	case inFlight.Exists():
		r.Why = fmt.Sprintf("%d in flight at %v is %s/s, above a client's part of %s/s", q.MaxInFlight, q.ServiceTime, plainly(inFlight), plainly(part))
	default:
		r.Why = "global bucket only: allocation is arrival-order dependent"
	}
	return r
}

// plainly is a rate without needless digits: 999, 1000, 33.3333.
func plainly(n Number) string {
	out, _ := json.Marshal(Number(nineDigits(float64(n))))
	return string(out)
}

// gate asks the gate about the limit in force and the clients that were active.
func (t *Tally) gate(m *Measures) GateResult {
	l := t.spells[len(t.spells)-1].limit
	return Gate(GateQuestion{
		PerClient: l.ClientRatePerS, Active: m.Fairness.Active, Cap: Number(l.Capacity),
		Buckets:     l.Policy == "per-client",
		Shares:      l.Policy == "fair-queue" || l.Policy == "hierarchical",
		MaxInFlight: l.MaxInFlight, ServiceTime: l.ServiceTime,
	})
}
