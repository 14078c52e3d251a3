package profiles

import (
	"errors"
	"fmt"
	"math/big"

	"fairgate/limiter"
)

// Locate gives an error of whoever builds the profile's limiter the place in the file where its value stands, as a *Error.
func (p *Profile) Locate(err error) error {
	if err == nil {
		return nil
	}
	return p.locate(ofLimiter(err))
}

func ofLimiter(err error) *Error {
	var at *limiter.ConfigError
	if errors.As(err, &at) {
		return wrong("limiter."+at.Field, "%s", at.Msg)
	}
	return wrong("limiter", "%s", err)
}

// checkLimiter checks the limiter, and the clients against it.
func (p *Profile) checkLimiter() *Error {
	if err := p.Limiter.Check(); err != nil {
		return ofLimiter(err)
	}
	if err := p.Store.check(); err != nil {
		return err
	}
	c := p.Limiter.WithDefaults()
	burst := mostAtOnce(&c, c.Rate, c.Burst)
	for i := range p.Clients {
		k := &p.Clients[i]
		path := fmt.Sprintf("clients[%d]", i)
		if k.Cost > burst {
			return wrong(path+".cost", "%d is above the burst, %d: no attempt of %s could ever be admitted; raise limiter.burst or lower the cost", k.Cost, burst, k.Name)
		}
		if own := mostAtOnce(&c, c.Client.Rate, c.Client.Burst); c.Policy == limiter.PerClient && k.Cost > own {
			return wrong(path+".cost", "%d is above the burst of a client, %d: no attempt of %s could ever be admitted; raise limiter.client.burst or lower the cost", k.Cost, own, k.Name)
		}
		for j, b := range c.Bandwidths {
			if most := mostAtOnce(&c, b.Rate, b.Burst); k.Cost > most {
				return wrong(path+".cost", "%d is above the burst of limiter.bandwidths[%d], %d: no attempt of %s could ever be admitted", k.Cost, j, most, k.Name)
			}
		}
		if s := c.Shards; c.Policy == limiter.Sharded && !c.Keep && c.Routing != limiter.TwoChoicesCombine && k.Cost > burst/int64(s) {
			return wrong(path+".cost", "%d is above the burst of one of %d shards, %d: no attempt of %s could ever be admitted; raise limiter.burst or lower the cost", k.Cost, s, burst/int64(s), k.Name)
		}
		guarantee, at := k.Guarantee, path+".guarantee"
		if guarantee.IsZero() {
			guarantee, at = c.Guarantee, "limiter.guarantee"
		}
		ceiling := k.Ceiling
		if ceiling.IsZero() {
			ceiling = c.Ceiling
		}
		// Guarantees that add up to more than there is are no mistake: they
		// are scaled down, and the rate may be lowered while they stand.
		if !guarantee.IsZero() && !ceiling.IsZero() && ratOf(guarantee).Cmp(ratOf(ceiling)) > 0 {
			return wrong(at, "%s is above the ceiling, %s: a client cannot be sure of more than it may have", guarantee, ceiling)
		}
	}
	return nil
}

// mostAtOnce is the largest cost that a limit can ever admit: its burst, or what
// a window holds where the algorithm counts by windows.
func mostAtOnce(c *limiter.Config, r limiter.Rate, burst int64) int64 {
	switch c.Algorithm {
	case limiter.AlgorithmFixedWindow, limiter.AlgorithmSlidingWindow, limiter.AlgorithmSlidingLog:
	default:
		return burst
	}
	if c.Window == 0 || r.Per <= 0 {
		return r.Tokens
	}
	n := new(big.Int).Mul(big.NewInt(r.Tokens), big.NewInt(int64(c.Window)))
	return n.Div(n, big.NewInt(int64(r.Per))).Int64()
}

func ratOf(r limiter.Rate) *big.Rat {
	if r.Per <= 0 {
		return new(big.Rat)
	}
	return big.NewRat(r.Tokens, int64(r.Per))
}
