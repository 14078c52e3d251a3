package tui

import (
	"math"

	"fairgate/fairness"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// wish is what a key asks of the run; nil when it asks nothing.
// client is the one that is marked.
func (k *keys) wish(msg tea.KeyMsg, client string) wish {
	always := func(c Command) wish { return func(*fairness.Snapshot) Command { return c } }
	switch {
	case key.Matches(msg, k.policy):
		return always(StepPolicy{By: 1})
	case key.Matches(msg, k.policyBack):
		return always(StepPolicy{By: -1})
	case key.Matches(msg, k.faster):
		return func(s *fairness.Snapshot) Command { return stepRate(s, 1) }
	case key.Matches(msg, k.slower):
		return func(s *fairness.Snapshot) Command { return stepRate(s, -1) }
	case key.Matches(msg, k.algorithm):
		return always(StepAlgorithm{By: 1})
	case key.Matches(msg, k.burstUp):
		return func(s *fairness.Snapshot) Command { return stepBurst(s, 1) }
	case key.Matches(msg, k.burstDown):
		return func(s *fairness.Snapshot) Command { return stepBurst(s, -1) }
	case key.Matches(msg, k.clientUp):
		return func(s *fairness.Snapshot) Command { return ScaleClientRate(step(s.Limiter.ClientRatePerS.Float(0), 1)) }
	case key.Matches(msg, k.clientDown):
		return func(s *fairness.Snapshot) Command {
			return ScaleClientRate(step(s.Limiter.ClientRatePerS.Float(0), -1))
		}
	case key.Matches(msg, k.retryAfter):
		return always(StepRetryAfter{By: 1})
	case key.Matches(msg, k.undo):
		return always(Undo{})
	case key.Matches(msg, k.serviceUp):
		return always(ScaleServiceTime{Num: 3, Den: 2})
	case key.Matches(msg, k.serviceDown):
		return always(ScaleServiceTime{Num: 2, Den: 3})
	case key.Matches(msg, k.shadows):
		return always(ToggleShadows{})
	case key.Matches(msg, k.hold):
		return always(HoldLoad{})
	case key.Matches(msg, k.restart):
		return always(Restart{})
	case key.Matches(msg, k.reseed):
		return always(Restart{NewSeed: true})
	case client == "":
	case key.Matches(msg, k.demandUp):
		return always(ScaleDemand{client, 2, 1})
	case key.Matches(msg, k.demandDown):
		return always(ScaleDemand{client, 1, 2})
	case key.Matches(msg, k.heavier):
		return always(StepWeight{client, 1})
	case key.Matches(msg, k.lighter):
		return always(StepWeight{client, -1})
	case key.Matches(msg, k.dearer):
		return always(StepCost{client, 1})
	case key.Matches(msg, k.cheaper):
		return always(StepCost{client, -1})
	case key.Matches(msg, k.retries):
		return always(StepRetries{client, 1})
	case key.Matches(msg, k.storm):
		return always(Storm{client})
	case key.Matches(msg, k.onOff):
		return always(Switch{client})
	}
	return nil
}

// niceRates are the steps between 1 and 10 that + and − take: about 10% each, in two digits (the E24 series of preferred numbers).
var niceRates = [...]int64{10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91, 100}

// stepRate goes to the next nice rate above (by 1) or below (by −1) the one in force.
func stepRate(s *fairness.Snapshot, by int) ScaleRate {
	return ScaleRate(step(s.Limiter.RatePerS.Float(0), by))
}

// stepBurst does the same with the burst, which is a whole number of tokens.
func stepBurst(s *fairness.Snapshot, by int) ScaleBurst {
	burst := s.Limiter.Burst
	if burst <= 0 {
		return ScaleBurst{1, 1}
	}
	f := step(float64(burst), by)
	next := int64(math.Round(float64(burst) * float64(f.Num) / float64(f.Den)))
	if next == burst { // below ten, steps of a tenth are less than a token
		next += int64(by)
	}
	return ScaleBurst{max(1, next), burst}
}

// A ratio is what a limit is multiplied by.
type ratio struct{ Num, Den int64 }

// step is the ratio from a value to the next nice one.
func step(rate float64, by int) ratio {
	if !(rate > 0) {
		return ratio{1, 1}
	}
	// From here on rate = digits × power of ten, digits in [10, 100).
	power := math.Pow(10, math.Floor(math.Log10(rate)+1e-12)-1)
	digits := rate / power
	target := int64(0)
	if by > 0 {
		for _, n := range niceRates {
			if float64(n) > digits*(1+1e-6) {
				target = n
				break
			}
		}
		if target == 0 {
			target = 110
		}
	} else {
		target = 9 // below 10: 9.1, in tenths further down
		for _, n := range niceRates {
			if float64(n) < digits*(1-1e-6) {
				target = n
			}
		}
		if target < 10 {
			return ratio{91, int64(math.Round(digits * 10))}
		}
	}
	return ratio{target * 10000, int64(math.Round(digits * 10000))}
}
