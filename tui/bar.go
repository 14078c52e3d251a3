package tui

import (
	"math"

	"fairgate/fairness"
)

// A scale says what the width of a client's bar stands for.
type scale uint8

const (
	ownRequests scale = iota // all that this client asks for
	linear                   // so many attempts per second, the same for all clients
	logarithmic              // the same, a decade a step
	scales
)

func (s scale) String() string {
	return [...]string{"own requests", "linear", "logarithmic"}[s]
}

func (s scale) short() string {
	return [...]string{"own", "linear", "log"}[s]
}

// A fate is what one bar shows, in parts of its width: from 0 to admitted what was let through, from there to asked
// what was refused, and at entitled the mark. A negative entitled means no mark.
type fate struct{ admitted, asked, entitled float64 }

// eighths are the blocks that fill a cell from the left by so many eighths.
var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// drawBar draws a fate over w columns. What was admitted is exact to an eighth of a column, and
// anything admitted shows at least that much, so that little differs from nothing.
func drawBar(w int, f fate) []cell {
	if w <= 0 {
		return nil
	}
	bar := make([]cell, w)
	n := int(math.Round(clamp01(f.admitted) * float64(w) * 8))
	if n == 0 && f.admitted > 0 {
		n = 1
	}
	asked := max((n+7)/8, int(math.Round(clamp01(f.asked)*float64(w))))
	for i := range bar {
		switch {
		case i < n/8:
			bar[i] = cell{"█", inkServed}
		case i == n/8 && n%8 > 0:
			bar[i] = cell{eighths[n%8], inkServed}
		case i < asked:
			bar[i] = cell{"░", inkRefused}
		default:
			bar[i] = cell{" ", inkPlain}
		}
	}
	if f.entitled >= 0 {
		at := int(math.Ceil(clamp01(f.entitled)*float64(w)-1e-9)) - 1
		bar[max(0, at)] = cell{"│", inkMark}
	}
	return bar
}

// clamp01 is v within 0 and 1, and 0 for what is no number.
func clamp01(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// An axis turns rates into parts of a bar's width.
type axis struct {
	scale  scale
	lo, hi float64 // of the common scales: the rates at the left and right edge
}

// newAxis finds the axis on which every client's bar has room.
func newAxis(s scale, clients []fairness.ClientMeasures) axis {
	smallest, largest := math.Inf(1), 0.0
	for i := range clients {
		c := &clients[i]
		largest = max(largest, attempts(c), c.Demand.Float(0), c.Entitled.Float(0))
		if v := c.AdmittedRate.Float(0); v > 0 {
			smallest = min(smallest, v)
		}
		if v := c.Entitled.Float(0); v > 0 {
			smallest = min(smallest, v)
		}
	}
	if largest <= 0 {
		largest = 1
	}
	a := axis{scale: s, hi: roundUp(largest)}
	if s == logarithmic {
		a.hi = math.Pow(10, math.Ceil(math.Log10(largest)-1e-9))
		a.lo = math.Pow(10, math.Floor(math.Log10(min(smallest, a.hi/10))))
		a.lo = max(a.lo, a.hi/1e6)
	}
	return a
}

// attempts is everything that a client sent, retries included, per second.
func attempts(c *fairness.ClientMeasures) float64 {
	return c.AdmittedRate.Float(0) + c.RejectedRate.Float(0)
}

// roundUp is the next of 1, 2, 2.5, 5 times a power of ten.
func roundUp(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range [...]float64{1, 2, 2.5, 5} {
		if v <= step*p*(1+1e-9) {
			return step * p
		}
	}
	return 10 * p
}

// at is where a rate lies on a common scale.
func (a axis) at(rate float64) float64 {
	if a.scale == logarithmic {
		if rate <= a.lo {
			return 0
		}
		return clamp01(math.Log(rate/a.lo) / math.Log(a.hi/a.lo))
	}
	return clamp01(rate / a.hi)
}

// fate is what the bar of a client shows on this axis: requests where the scale is its own, attempts on a common one.
func (a axis) fate(c *fairness.ClientMeasures) fate {
	admitted, entitled := c.AdmittedRate.Float(0), c.Entitled.Float(-1)
	if a.scale != ownRequests {
		f := fate{a.at(admitted), a.at(max(attempts(c), c.Demand.Float(0))), -1}
		if entitled > 0 {
			f.entitled = a.at(entitled)
		}
		return f
	}
	asked := max(c.Demand.Float(0), entitled)
	if asked <= 0 {
		if admitted > 0 { // answers to what was asked for before the window began
			return fate{1, 1, -1}
		}
		return fate{0, 0, -1}
	}
	f := fate{admitted / asked, 1, -1}
	if entitled > 0 {
		f.entitled = entitled / asked
	}
	return f
}
