package profiles

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"fairgate/limiter"
)

// Expand is the clients one by one: a client with copies becomes NAME-1 … NAME-N,
// its rate spread over them as Zipf says, a client without stays as it is. What
// it returns shares nothing with the profile but traces, which nobody changes.
func (p *Profile) Expand() []Client {
	var all []Client
	for i := range p.Clients {
		c := &p.Clients[i]
		part := zipfParts(c.Copies, c.Zipf)
		for k := range c.Copies {
			one := c.clone()
			one.Name, one.Copies, one.Zipf = c.copyName(k+1), 1, 0
			if c.Zipf > 0 {
				one.Arrivals.Rate = scaled(one.Arrivals.Rate, part[k])
				one.Arrivals.From = scaled(one.Arrivals.From, part[k])
				one.Arrivals.To = scaled(one.Arrivals.To, part[k])
			}
			all = append(all, one)
		}
	}
	return all
}

// copyName is the name of the k-th copy, from 1.
func (c *Client) copyName(k int) string {
	if c.Copies == 1 {
		return c.Name
	}
	return fmt.Sprintf("%s-%d", c.Name, k)
}

// zipfParts is by what the rate of each of n copies is multiplied: in proportion
// to 1/rank^s, and n in sum.
func zipfParts(n int, s float64) []float64 {
	parts := make([]float64, n)
	var sum float64
	for i := range parts {
		parts[i] = math.Pow(float64(i+1), -s)
		sum += parts[i]
	}
	for i := range parts {
		parts[i] *= float64(n) / sum
	}
	return parts
}

// scaled is a rate times a positive factor: to the thousandth of a token where
// that keeps three digits, and otherwise by stretching the period.
func scaled(r limiter.Rate, factor float64) limiter.Rate {
	if r.Tokens <= 0 || r.Per <= 0 {
		return r
	}
	if milli := float64(r.Tokens) * factor * 1000; milli >= 1000 {
		if exact := r.Scaled(int64(math.Round(factor*1e9)), 1e9); exact.Check() == nil {
			return exact
		}
	}
	per := float64(r.Per) / factor
	if per >= float64(limiter.Never) {
		return limiter.Rate{Tokens: 1, Per: limiter.Never}
	}
	return limiter.Rate{Tokens: r.Tokens, Per: time.Duration(math.Round(max(per, float64(r.Tokens))))}
}

// Clone is a copy that shares nothing with the profile but traces, which nobody
// changes.
func (p *Profile) Clone() *Profile {
	q := *p
	q.Limiter.Bandwidths = slices.Clone(p.Limiter.Bandwidths)
	q.Limiter.Initial = clonePointer(p.Limiter.Initial)
	q.Limiter.MaxReserved = clonePointer(p.Limiter.MaxReserved)
	q.Clients = make([]Client, len(p.Clients))
	for i := range p.Clients {
		q.Clients[i] = p.Clients[i].clone()
	}
	q.Expect = slices.Clone(p.Expect)
	q.Lesson = make([]Step, len(p.Lesson))
	for i, s := range p.Lesson {
		s.Choice = slices.Clone(s.Choice)
		s.Set = slices.Clone(s.Set)
		q.Lesson[i] = s
	}
	if p.Lesson == nil {
		q.Lesson = nil
	}
	if p.Clients == nil {
		q.Clients = nil
	}
	q.places = maps.Clone(p.places)
	return &q
}

func (c *Client) clone() Client {
	d := *c
	d.Headers = maps.Clone(c.Headers)
	d.Retry.On = slices.Clone(c.Retry.On)
	return d
}

func clonePointer(v *int64) *int64 {
	if v == nil {
		return nil
	}
	w := *v
	return &w
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
