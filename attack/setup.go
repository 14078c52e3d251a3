package attack

import (
	"cmp"
	"slices"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// expand is the clients one by one: what a profile says in copies is written out.
func expand(clients []profiles.Client) []profiles.Client {
	p := profiles.Profile{Clients: slices.Clone(clients)}
	for i := range p.Clients {
		p.Clients[i].Copies = max(p.Clients[i].Copies, 1)
	}
	return p.Expand()
}

// limiterConfig is the profile's limiter. What it draws by chance comes from the run's seed, as all else does.
func limiterConfig(p *profiles.Profile) limiter.Config {
	cfg := p.Limiter
	cfg.Seed = keyOf(p.Seed, "limiter")
	return cfg
}

// limiterClient is what the limiter is to know of a client.
func limiterClient(c profiles.Client) limiter.Client {
	return limiter.Client{
		Name: c.Name, Weight: c.Weight, MaxCost: c.Cost,
		Guarantee: c.Guarantee, Ceiling: c.Ceiling,
	}
}

// tallyClients is what the tally is to know of the clients.
func tallyClients(cfg limiter.Config, svc profiles.Service, clients []profiles.Client) []fairness.Client {
	all := make([]fairness.Client, len(clients))
	for i, c := range clients {
		all[i] = tallyClient(cfg, svc, c)
	}
	return all
}

func tallyClient(cfg limiter.Config, svc profiles.Service, c profiles.Client) fairness.Client {
	cost := max(c.Cost, 1)
	t := fairness.Client{
		Name: c.Name, Kind: string(c.Kind), Weight: max(c.Weight, 1), Cost: cost,
		Expected: expectedRate(c), RetryAfter: fairness.Ignores,
	}
	if c.Retry.HonorRetryAfter {
		t.RetryAfter = fairness.Honors
	}
	if c.Arrivals.Process == profiles.Closed {
		most := capacity(cfg) / float64(cost)
		t.ClosedDemand = most
		if cycle := c.Arrivals.Think + svc.Time + svc.RoundTrip; cycle > 0 {
			t.ClosedDemand = min(most, float64(c.Arrivals.Workers)/cycle.Seconds())
		}
		t.Expected = t.ClosedDemand
	}
	return t
}

// expectedRate is about how many requests a second a client sends while it is on.
func expectedRate(c profiles.Client) float64 {
	a := c.Arrivals
	switch a.Process {
	case profiles.Ramp:
		return max(a.From.PerSecond(), a.To.PerSecond())
	case profiles.OnOff:
		if cycle := a.On + a.Off; cycle > 0 {
			return a.Rate.PerSecond() * a.On.Seconds() / cycle.Seconds()
		}
	case profiles.Once:
		return float64(a.Count) / 10
	case profiles.Trace:
		if n := len(a.Trace); n > 0 {
			return float64(n) / max(a.Trace[n-1].Seconds(), 1)
		}
	}
	return a.Rate.PerSecond()
}

// capacity is how many tokens a second a configuration has for all clients together.
func capacity(cfg limiter.Config) float64 { return cfg.Enforced().PerSecond() }

// describe tells measures and people about the limit in force.
func describe(cfg limiter.Config, svc profiles.Service, clients []profiles.Client) fairness.Limit {
	l := fairness.Limit{
		Policy:         string(cmp.Or(cfg.Policy, limiter.Global)),
		Algorithm:      string(cmp.Or(cfg.Algorithm, limiter.AlgorithmTokenBucket)),
		RatePerS:       fairness.Number(cfg.Rate.PerSecond()),
		Burst:          cfg.Burst,
		ClientRatePerS: fairness.None,
		Shards:         max(cfg.Shards, 1),
		RetryAfter:     string(cmp.Or(cfg.RetryAfter, limiter.RetryExact)),
		RateText:       cfg.Rate.String(),
		Capacity:       capacity(cfg),
		ServiceTime:    svc.Time,
	}
	switch cfg.Policy {
	case limiter.PerClient:
		own := fairness.Number(cfg.Client.Rate.PerSecond())
		l.ClientRatePerS, l.ClientText = own, cfg.Client.Rate.String()
		l.ClientCaps = make([]fairness.Number, len(clients))
		for i := range clients {
			l.ClientCaps[i] = own
		}
	case limiter.Concurrency:
		l.MaxInFlight = int64(cfg.Client.MaxInFlight)
	case limiter.Hierarchical:
		if !cfg.Ceiling.IsZero() {
			l.ClientRatePerS, l.ClientText = fairness.Number(cfg.Ceiling.PerSecond()), cfg.Ceiling.String()
		}
		l.ClientCaps = make([]fairness.Number, len(clients))
		for i, c := range clients {
			l.ClientCaps[i] = fairness.None
			if ceiling := cmp.Or(c.Ceiling, cfg.Ceiling); !ceiling.IsZero() {
				l.ClientCaps[i] = fairness.Number(ceiling.PerSecond())
			}
		}
	}
	return l
}
