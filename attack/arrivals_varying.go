package attack

import (
	"math"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

// On-off clients live on a clock of their own that runs only while they are on. wakeful reads that clock,
// awake tells when it will show u.

// wakeful is how long the client has been on at now, in nanoseconds since its origin.
func (a *arrivals) wakeful(now time.Duration) time.Duration {
	cycle := a.spec.On + a.spec.Off
	since := max(now-a.origin, 0)
	if cycle <= 0 || a.spec.On <= 0 {
		return since
	}
	return since/cycle*a.spec.On + min(since%cycle, a.spec.On)
}

// awake is when the client will have been on for u.
func (a *arrivals) awake(u time.Duration) time.Duration {
	u = max(u, 0)
	on := a.spec.On
	if on <= 0 {
		return later(a.origin, u)
	}
	rounds := u / on
	if a.spec.Off > 0 && rounds > (limiter.Never/2)/(on+a.spec.Off) {
		return limiter.Never
	}
	return later(a.origin, rounds*(on+a.spec.Off)+u%on)
}

// phase is how far the client would be into its cycle at now if on and off lasted as long as in next: as long on, or off,
// as it has been, but no longer than they last.
func (a *arrivals) phase(now time.Duration, next profiles.Arrivals) time.Duration {
	cycle := a.spec.On + a.spec.Off
	if cycle <= 0 {
		return 0
	}
	in := max(now-a.origin, 0) % cycle
	if in < a.spec.On {
		return min(in, next.On)
	}
	return next.On + min(in-a.spec.On, next.Off)
}

// Poisson arrivals at a rate that varies: with Λ the integral of the rate, the next request comes when Λ has grown by an exponentially distributed
// number of mean 1. That is exact, and takes one draw for each request. expected is that growth between two times, drawn is its inverse.

// expected is how many requests the process expects between two times.
func (a *arrivals) expected(from, to time.Duration) float64 {
	switch a.spec.Process {
	case profiles.Poisson:
		return float64(to-from) * perNano(a.spec.Rate)
	case profiles.Ramp:
		return a.climbed(to) - a.climbed(from)
	case profiles.Sine:
		t := float64(from - a.origin)
		return a.swing(t, float64(to-from))
	}
	return 0
}

// drawn is the time at which the process will have expected so many requests since t. It carries the part of a
// nanosecond on, so that rounding favours no side.
func (a *arrivals) drawn(t time.Duration, requests float64) time.Duration {
	if t == limiter.Never {
		return limiter.Never
	}
	var wait float64
	switch a.spec.Process {
	case profiles.Poisson:
		wait = requests / perNano(a.spec.Rate)
	case profiles.Ramp:
		wait = a.climb(float64(t-a.origin), requests)
	case profiles.Sine:
		wait = a.unswing(float64(t-a.origin), requests)
	}
	whole, rest := whole(wait + a.carry)
	a.carry = rest
	return later(t, whole)
}

// climbed is how many requests a ramp expects from its origin to t.
func (a *arrivals) climbed(t time.Duration) float64 {
	x, over := float64(max(t-a.origin, 0)), float64(a.spec.Over)
	from, to := perNano(a.spec.From), perNano(a.spec.To)
	if x >= over {
		return (from+to)/2*over + to*(x-over)
	}
	return from*x + (to-from)/(2*over)*x*x
}

// climb is how long after t (since the origin) a ramp has expected so many requests more.
func (a *arrivals) climb(t, requests float64) float64 {
	over := float64(a.spec.Over)
	from, to := perNano(a.spec.From), perNano(a.spec.To)
	done := 0.0
	if t < over {
		slope := (to - from) / over
		rate := from + slope*t
		rest := over - t
		if most := (rate + to) / 2 * rest; requests > most {
			requests -= most
			done = rest
		} else {
			// rate·x + slope/2·x² = requests, in the form that loses no digits.
			root := math.Sqrt(max(rate*rate+2*slope*requests, 0))
			return 2 * requests / (rate + root)
		}
	}
	if to <= 0 {
		return math.Inf(1)
	}
	return done + requests/to
}

// swing is how many requests a sine expects in the time wait after t (since the origin).
func (a *arrivals) swing(t, wait float64) float64 {
	w := 2 * math.Pi / float64(a.spec.Period)
	// cos(wt) − cos(w(t+wait)) as a product, which keeps its digits when wait is short.
	waves := 2 * math.Sin(w*(t+wait/2)) * math.Sin(w*wait/2)
	return perNano(a.spec.Rate) * (wait + a.spec.Amplitude/w*waves)
}

// unswing is the wait after t in which a sine expects so many requests: Newton's steps, kept
// between bounds that are halved where a step would leave them.
func (a *arrivals) unswing(t, requests float64) float64 {
	rate := perNano(a.spec.Rate)
	t = math.Mod(t, float64(a.spec.Period))
	w := 2 * math.Pi / float64(a.spec.Period)
	// The waves never add more than 2·amplitude/w to the time, nor take more away.
	low, high := max(0, requests/rate-2*a.spec.Amplitude/w), requests/rate+2*a.spec.Amplitude/w
	x := requests / rate
	for range 100 {
		miss := a.swing(t, x) - requests
		if miss > 0 {
			high = min(high, x)
		} else {
			low = max(low, x)
		}
		slope := rate * (1 + a.spec.Amplitude*math.Sin(w*(t+x)))
		next := x - miss/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-x) < 1e-3 || next == x {
			return next
		}
		x = next
	}
	return x
}

// perNano is a rate in requests per nanosecond; 0 where it is not set.
func perNano(r limiter.Rate) float64 {
	if r.Per <= 0 {
		return 0
	}
	return float64(r.Tokens) / float64(r.Per)
}
