package fairness

import "slices"

// Promises say whether Retry-After told one client the truth. A limiter that tells too little makes clients
// come in vain; one that tells too much lets them wait for nothing; one that tells all the same makes a herd.
type Promises struct {
	Name string `json:"name"`

	// Retries after a refusal that had told a moment, by what came of them. Kept and broken are promises to a client that honours
	// Retry-After only: who comes by a clock of its own has not taken the server at its word.
	Kept   int64 `json:"kept"`   // came then or later, and was admitted
	Broken int64 `json:"broken"` // came then or later, and was refused again
	Early  int64 `json:"early"`  // came before, whatever came of it

	KeptRatio Number     `json:"kept_ratio"` // kept / (kept + broken)
	Excess    Quantiles  `json:"excess_ms"`  // told above needed
	Shortfall Quantiles  `json:"shortfall_ms"`
	Bins      []Promised `json:"told_minus_needed_ms"`
}

// Promised counts refusals by what was told minus what was needed, in milliseconds: at or above From and below To.
type Promised struct {
	From  Number `json:"from"`
	To    Number `json:"to"`
	Count int64  `json:"count"`
}

// honesty lists the clients that were told anything.
func (t *Tally) honesty(all []sums) []Promises {
	told := []Promises{}
	clients := t.spells[len(t.spells)-1].clients
	for i := range all {
		s := &all[i]
		if len(s.spread.told.list) == 0 && s.kept+s.broken+s.early == 0 {
			continue
		}
		p := Promises{
			Name: clients[i].Name, Kept: s.kept, Broken: s.broken, Early: s.early,
			KeptRatio: ratio(float64(s.kept), float64(s.kept+s.broken)),
			Excess:    s.spread.excess.quantiles(), Shortfall: s.spread.shortfall.quantiles(), Bins: []Promised{},
		}
		short := s.spread.shortfall.coarse()
		slices.Reverse(short)
		for _, b := range short {
			p.Bins = append(p.Bins, Promised{From: -milliseconds(b.To), To: -milliseconds(b.From), Count: b.Count})
		}
		for _, b := range s.spread.excess.coarse() {
			p.Bins = append(p.Bins, Promised{From: milliseconds(b.From), To: milliseconds(b.To), Count: b.Count})
		}
		told = append(told, p)
	}
	return told
}

// Goodput tells what got through at the first attempt from what got through by trying again.
type Goodput struct {
	Served  Number          `json:"served_rps"`        // requests that ended well
	First   Number          `json:"first_attempt_rps"` // admissions of first attempts
	Retry   Number          `json:"retry_rps"`         // admissions of retries
	Clients []ClientGoodput `json:"clients"`
}

// ClientGoodput is the goodput of one client.
type ClientGoodput struct {
	Name          string `json:"name"`
	Served        int64  `json:"served"`
	FirstAdmitted int64  `json:"first_attempts_admitted"`
	RetryAdmitted int64  `json:"retries_admitted"`
	FirstRatio    Number `json:"first_attempt_admit_ratio"`
	RetryRatio    Number `json:"retry_admit_ratio"`
	ServedRatio   Number `json:"served_ratio"` // of requests
}

func (t *Tally) goodput(all []sums, length float64) Goodput {
	clients := t.spells[len(t.spells)-1].clients
	g := Goodput{Clients: make([]ClientGoodput, len(all))}
	var served, first, retry int64
	for i := range all {
		s := &all[i]
		served, first, retry = served+s.served, first+s.admitted-s.onRetry, retry+s.onRetry
		g.Clients[i] = ClientGoodput{
			Name: clients[i].Name, Served: s.served, FirstAdmitted: s.admitted - s.onRetry, RetryAdmitted: s.onRetry,
			FirstRatio:  ratio(float64(s.admitted-s.onRetry), float64(s.begun)),
			RetryRatio:  ratio(float64(s.onRetry), float64(s.sent-s.begun)),
			ServedRatio: ratio(float64(s.served), float64(s.requests())),
		}
	}
	g.Served, g.First, g.Retry = rate(served, length), rate(first, length), rate(retry, length)
	return g
}
