package attack

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

// arrivals is one client's arrival process: when its next request comes.
//
// What is left of the interval before the next request can be told in requests: half an
// interval at 20/s is half a request, and is half an interval at 100/s too. A live change carries that number over
// from the old process to the new (ahead, resume), which is why it neither bunches requests nor leaves a hole.
type arrivals struct {
	at   time.Duration // of the next request; limiter.Never: there is none, or none until a request ends
	due  time.Duration // as at, but that the client's stop is not looked at
	stop time.Duration // nothing is sent from here on; limiter.Never: no such time

	spec   profiles.Arrivals
	origin time.Duration // where the process began: zero of its waves, windows, ramps and traces
	source *rand.PCG
	random *rand.Rand // over source, for what needs more than bits

	grid    grid    // constant, on-off
	offset  float64 // of the next request from its place on the grid, in intervals: −1/2 to 1/2 times the jitter
	carry   float64 // poisson, ramp, sine: the part of a nanosecond that was not waited yet
	done    int     // once, trace: requests used up
	workers workers // closed
	loop    uint32  // number of the closed loop: what an earlier one sent frees no worker of this
}

// begin starts the process of a new client.
func (a *arrivals) begin(spec profiles.Client, source *rand.PCG) {
	a.source, a.random = source, rand.New(source)
	a.spec = spec.Arrivals
	a.origin = max(spec.Start, 0)
	a.setStop(spec.Stop)
	a.fresh(a.origin)
}

func (a *arrivals) setStop(stop time.Duration) {
	a.stop = limiter.Never
	if stop > 0 {
		a.stop = stop
	}
}

// fresh plans the first request of the process from now on, at a phase of its own.
func (a *arrivals) fresh(now time.Duration) {
	a.done, a.carry = 0, 0
	switch a.spec.Process {
	case profiles.Constant, profiles.OnOff:
		a.offset = 0
		a.resume(now, unit(a.source.Uint64()))
		a.jitter()
		a.plan(max(now, a.placed()))
	case profiles.Poisson, profiles.Ramp, profiles.Sine:
		a.resume(now, a.random.ExpFloat64())
	case profiles.Closed:
		a.workers = workers{}
		a.loop++
		a.workers.resize(now, a.spec.Workers, func() time.Duration { return below(a.source.Uint64(), a.spec.Think) })
		a.plan(a.workers.next())
	default:
		a.skip(now)
	}
}

// plan sets the next request's time, if the client still runs then.
func (a *arrivals) plan(due time.Duration) {
	a.due, a.at = due, due
	if due >= a.stop {
		a.at = limiter.Never
	}
}

// take uses up the request that is planned and plans the next.
func (a *arrivals) take() {
	switch a.spec.Process {
	case profiles.Constant, profiles.OnOff:
		a.grid.step()
		a.jitter()
		a.plan(max(a.due, a.placed()))
	case profiles.Poisson, profiles.Ramp, profiles.Sine:
		a.plan(a.drawn(a.due, a.random.ExpFloat64()))
	case profiles.Closed:
		a.workers.take()
		a.plan(a.workers.next())
	default:
		a.done++
		a.plan(a.listed())
	}
}

// jitter draws how far from its place on the grid the next request is.
func (a *arrivals) jitter() {
	if a.spec.Jitter > 0 {
		a.offset = a.spec.Jitter * (unit(a.source.Uint64()) - 0.5)
	} else {
		a.offset = 0
	}
}

// placed is where the request of the grid's present place is to be sent.
func (a *arrivals) placed() time.Duration {
	at := a.grid.at + a.grid.part(a.offset)
	if a.spec.Process == profiles.OnOff {
		return a.awake(at)
	}
	return at
}

// ended tells the process that a request has ended: the worker of the closed loop that it was sent by starts thinking.
func (a *arrivals) ended(now time.Duration, loop uint32) {
	if a.spec.Process != profiles.Closed || loop != a.loop {
		return
	}
	a.workers.free(now, max(a.spec.Think, instant))
	a.plan(a.workers.next())
}

// change goes over to new settings.
func (a *arrivals) change(now time.Duration, spec profiles.Client) {
	asleep := now >= a.stop
	a.setStop(spec.Stop)
	same := sameArrivals(a.spec, spec.Arrivals)
	start := max(spec.Start, 0)
	switch {
	case start > now || now < a.origin: // it has not begun, or is to begin anew
		if same && start == a.origin {
			a.plan(a.due)
			return
		}
		a.spec, a.origin = spec.Arrivals, max(start, now)
		a.fresh(a.origin)
	case asleep:
		a.spec, a.origin = spec.Arrivals, now
		a.fresh(now)
	case same:
		a.plan(a.due) // the stop may have been moved
	case a.spec.Process != spec.Arrivals.Process:
		a.turn(now, spec.Arrivals)
	default:
		a.adjust(now, spec.Arrivals)
	}
}

// turn goes from one process to another, which begins now.
func (a *arrivals) turn(now time.Duration, process profiles.Arrivals) {
	ahead, known := a.ahead(now)
	a.spec, a.origin = process, now
	if !known || !drawsIntervals(process.Process) {
		a.fresh(now)
		return
	}
	a.done, a.carry, a.offset = 0, 0, 0
	a.resume(now, ahead)
}

// adjust goes on with the same process under other settings.
func (a *arrivals) adjust(now time.Duration, process profiles.Arrivals) {
	switch a.spec.Process {
	case profiles.Closed:
		a.spec = process
		a.workers.resize(now, process.Workers, func() time.Duration { return 0 })
		a.plan(a.workers.next())
	case profiles.Once, profiles.Trace:
		a.spec = process
		a.skip(now)
	default:
		ahead, known := a.ahead(now)
		if a.spec.Process == profiles.OnOff {
			a.origin = now - a.phase(now, process)
		}
		if a.spec.Jitter > 0 {
			a.offset *= process.Jitter / a.spec.Jitter
		} else {
			a.offset = 0
		}
		a.spec = process
		if !known {
			a.fresh(now)
			return
		}
		a.resume(now, ahead)
	}
}

// ahead is what is left of the interval before the next request, in requests; false where a process knows no intervals or has
// nothing planned. It is below zero while requests are overdue: as many stay overdue under the new settings.
func (a *arrivals) ahead(now time.Duration) (float64, bool) {
	if a.due == limiter.Never || !drawsIntervals(a.spec.Process) {
		return 0, false
	}
	switch a.spec.Process {
	case profiles.Constant:
		return float64(a.due-now) / a.grid.interval(), true
	case profiles.OnOff:
		return float64(a.grid.at+a.grid.part(a.offset)-a.wakeful(now)) / a.grid.interval(), true
	case profiles.Poisson:
		return a.expected(now, a.due), true
	}
	return a.expected(now, max(a.due, now)), true
}

// resume plans the next request so many requests ahead of now. On a grid, the request's own offset is kept and the grid laid under it.
func (a *arrivals) resume(now time.Duration, ahead float64) {
	switch a.spec.Process {
	case profiles.Constant, profiles.OnOff:
		a.grid = newGrid(a.spec.Rate)
		from := now
		if a.spec.Process == profiles.OnOff {
			from = a.wakeful(now)
		}
		a.grid.at = from + a.grid.part(ahead) - a.grid.part(a.offset)
		a.plan(a.placed())
	default:
		a.plan(a.drawn(now, ahead))
	}
}

// drawsIntervals reports whether the process waits an interval after each request, as against a list or a loop.
func drawsIntervals(p profiles.Process) bool {
	switch p {
	case profiles.Constant, profiles.OnOff, profiles.Poisson, profiles.Ramp, profiles.Sine:
		return true
	}
	return false
}

// listed is the time of the next request of a process that has them in a list.
func (a *arrivals) listed() time.Duration {
	switch {
	case a.spec.Process == profiles.Once && a.done < a.spec.Count:
		return later(a.origin, a.spec.At)
	case a.spec.Process == profiles.Trace && a.done < len(a.spec.Trace):
		return later(a.origin, a.spec.Trace[a.done])
	}
	return limiter.Never
}

// skip goes past what is listed before now.
func (a *arrivals) skip(now time.Duration) {
	for a.listed() < now {
		a.done++
	}
	a.plan(a.listed())
}

func sameArrivals(a, b profiles.Arrivals) bool {
	return a.Process == b.Process && a.Rate == b.Rate && a.Jitter == b.Jitter && a.On == b.On && a.Off == b.Off &&
		a.From == b.From && a.To == b.To && a.Over == b.Over && a.Amplitude == b.Amplitude && a.Period == b.Period &&
		a.Workers == b.Workers && a.Think == b.Think && a.Count == b.Count && a.At == b.At && slices.Equal(a.Trace, b.Trace)
}

// whole splits x into whole nanoseconds and the part that is carried on.
func whole(x float64) (time.Duration, float64) {
	if !(x < math.MaxInt64/4) {
		return limiter.Never, 0
	}
	f := math.Floor(x)
	return time.Duration(f), x - f
}
