package limiter

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// A ConfigError says which field of a configuration makes no sense, so that whoever read it from a file can show
// the place.
type ConfigError struct {
	Field string // the path as a profile writes it: "rate", "client.burst", "bandwidths[1].rate"
	Msg   string
}

func (e *ConfigError) Error() string { return e.Field + ": " + e.Msg }

func wrong(field, format string, args ...any) error {
	return &ConfigError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// longestFill bounds the time in which a limit refills: half of what a time.Duration can say, so that a wait
// added to a moment of the run never wraps.
const longestFill = Never / 2

// Check reports the first thing that makes no sense, as a *ConfigError; nil when a Limiter can be built from c.
// Fields that the policy does not use must make sense too, for it may be changed while the limiter runs.
func (c Config) Check() error {
	c = c.WithDefaults()
	for _, check := range []func(Config) error{
		Config.checkNames, Config.checkGlobal, Config.checkClient, Config.checkShape, Config.checkHierarchy, Config.checkShards,
	} {
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}

// oneOf refuses a name that is not among those known.
func oneOf[S ~string](field string, got S, known ...S) error {
	if slices.Contains(known, got) {
		return nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	return wrong(field, "%q is unknown: write one of %s", string(got), strings.Join(names, ", "))
}

func (c Config) checkNames() error {
	for _, err := range []error{
		oneOf("policy", c.Policy, Policies...),
		oneOf("algorithm", c.Algorithm, Algorithms...),
		oneOf("refill", c.Refill, Greedy, Interval, Aligned),
		oneOf("order", c.Order, StartTime, DeficitRound, FIFO),
		oneOf("routing", c.Routing, Random, RoundRobin, Pinned, TwoChoices, TwoChoicesCombine),
		oneOf("inherit", c.Inherit, Proportional, AsIs, Additive, Reset),
		oneOf("retry_after", c.RetryAfter, RetryExact, RetryAdaptive, RetrySlot),
	} {
		if err != nil {
			return err
		}
	}
	return pathed("algorithm", Compatible(c.Policy, c.Algorithm))
}

// pathed gives an error from elsewhere a field, unless it has one.
func pathed(field string, err error) error {
	if err == nil {
		return nil
	}
	if ce, ok := err.(*ConfigError); ok {
		return ce
	}
	return &ConfigError{Field: field, Msg: err.Error()}
}

func (c Config) checkGlobal() error {
	switch {
	case c.Window < 0:
		return wrong("window", "%s must be above zero", c.Window)
	case c.Start < 0 || c.Start > longestFill:
		return wrong("start", "%s must be from 0 to 146 years after the start of the run", c.Start)
	case c.ForgetAfter < 0:
		return wrong("forget_after", "%s must be above zero, or left out", c.ForgetAfter)
	case c.MaxReserved != nil && *c.MaxReserved < 0:
		return wrong("max_reserved", "%d must be at least 0 (nothing may be reserved), or left out (no bound)", *c.MaxReserved)
	case c.MaxReserved != nil && *c.MaxReserved > 0:
		return wrong("max_reserved", "%d: a policy answers attempts at once or lets them wait, and reserves nothing: write 0, or leave it out", *c.MaxReserved)
	case c.Refill != Greedy && c.Algorithm != AlgorithmTokenBucket:
		return wrong("refill", "%s is a way of filling token buckets; %s has no refill: leave it out", c.Refill, c.Algorithm)
	case c.Initial != nil && c.Algorithm != AlgorithmTokenBucket:
		return wrong("initial", "%d: only a token bucket holds tokens at the start; leave it out with %s", *c.Initial, c.Algorithm)
	case c.Initial != nil && (*c.Initial < 0 || *c.Initial > c.Burst):
		return wrong("initial", "%d must be from 0 to the burst of %d", *c.Initial, c.Burst)
	}
	if err := c.checkLimit("", c.Rate, c.Burst, c.Refill, c.Window); err != nil {
		return err
	}
	ids := map[string]bool{}
	for i, b := range c.Bandwidths {
		path := fmt.Sprintf("bandwidths[%d].", i)
		if err := oneOf(path+"refill", b.Refill, Greedy, Interval, Aligned); err != nil {
			return err
		}
		if b.Refill != Greedy && c.Algorithm != AlgorithmTokenBucket {
			return wrong(path+"refill", "%s is a way of filling token buckets; leave it out with %s", b.Refill, c.Algorithm)
		}
		if b.ID != "" && ids[b.ID] {
			return wrong(path+"id", "%q is taken by another bandwidth: each needs a name of its own", b.ID)
		}
		ids[b.ID] = true
		// A further limit counts by windows of its own period.
		if err := c.checkLimit(path, b.Rate, b.Burst, b.Refill, 0); err != nil {
			return err
		}
	}
	return nil
}

// checkLimit checks one rate and burst.
func (c Config) checkLimit(path string, r Rate, burst int64, refill Refill, window time.Duration) error {
	if err := r.Check(); err != nil {
		return pathed(path+"rate", err)
	}
	if burst < 1 {
		return wrong(path+"burst", "%d must be at least 1 token", burst)
	}
	if c.Algorithm.windowed() {
		_, _, err := windowLimit(r, window)
		return pathed(path+"rate", err)
	}
	n, d := r.Reduced()
	if refill != Greedy {
		n, d = uint64(r.Tokens), uint64(r.Per)
	}
	if hi, lo := bits.Mul64(uint64(burst), d); hi >= n || div128(hi, lo, n) > uint64(longestFill) {
		return wrong(path+"burst", "%d at %s would take more than 146 years to refill: too long to be counted", burst, r)
	}
	return nil
}

func div128(hi, lo, by uint64) uint64 {
	q, _ := bits.Div64(hi, lo, by)
	return q
}

// windowLimit is how many tokens a window holds and how long it is; a window of 0 is the rate's own period. What a
// window holds must be a whole number.
func windowLimit(r Rate, window time.Duration) (tokens int64, length time.Duration, err error) {
	if window == 0 {
		if window = r.Per; r.Decimals > 0 {
			return 0, 0, fmt.Errorf("%s is no whole number of tokens in its period: a window counts whole tokens, so write a whole rate, or set the window (here %s)",
				r, shortDuration(r.Per))
		}
	}
	hi, lo := bits.Mul64(uint64(r.Tokens), uint64(window))
	if hi >= uint64(r.Per) {
		return 0, 0, fmt.Errorf("%s makes too many tokens in a window of %s", r, shortDuration(window))
	}
	q, rem := bits.Div64(hi, lo, uint64(r.Per))
	switch {
	case rem != 0 || q == 0:
		return 0, 0, fmt.Errorf("%s makes no whole number of tokens in a window of %s: a window counts whole tokens, so change the rate or the window",
			r, shortDuration(window))
	case q > math.MaxInt64/2 || window > longestFill/2:
		return 0, 0, fmt.Errorf("%s in a window of %s is too large to be counted", r, shortDuration(window))
	}
	return int64(q), window, nil
}

func (c Config) checkClient() error {
	if c.Client.Rate.IsZero() {
		if c.Policy == PerClient {
			return wrong("client.rate", "per-client gives each client a limit of its own and needs its rate: write for example 250/s")
		}
	} else if err := c.checkLimit("client.", c.Client.Rate, c.Client.Burst, c.Refill, 0); err != nil {
		return err
	}
	switch {
	case c.Client.MaxInFlight < 0 || c.Client.MaxInFlight > math.MaxInt32:
		return wrong("client.max_in_flight", "%d must be from 1 to %d", c.Client.MaxInFlight, math.MaxInt32)
	case c.Client.MaxInFlight == 0 && c.Policy == Concurrency:
		return wrong("client.max_in_flight", "concurrency limits how many attempts of a client are in flight and needs a number: write for example 2")
	case c.Queue.PerClient < 0 || c.Queue.PerClient > math.MaxInt32:
		return wrong("queue.per_client", "%d must be from 1 to %d", c.Queue.PerClient, math.MaxInt32)
	case c.Queue.MaxWait < 0 || c.Queue.MaxWait > longestFill:
		return wrong("queue.max_wait", "%s must be above zero", c.Queue.MaxWait)
	case c.Quantum < 0 || c.Quantum > math.MaxInt64/2:
		return wrong("quantum", "%d must be above zero, or left out (the largest cost)", c.Quantum)
	}
	return nil
}

func (c Config) checkShape() error {
	switch {
	case c.Delay < 0:
		return wrong("delay", "%d must be at least 0 attempts", c.Delay)
	case c.Delay > 0 && !c.Shape:
		return wrong("delay", "%d attempts that pass without delay: only a leaky bucket that shapes delays any; add shape: true", c.Delay)
	case !c.Shape:
		return nil
	case c.Algorithm != AlgorithmLeakyBucket:
		return wrong("shape", "only a leaky bucket delays what it admits, %s answers at once: write algorithm: leaky-bucket, or leave shape out", c.Algorithm)
	case c.Policy == FairQueue || c.Policy == Concurrency && c.Queue.ForSlot:
		return wrong("shape", "%s lets refused attempts wait in queues already: leave shape out, or choose the policy global or per-client", c.Policy)
	case c.Policy == Hierarchical:
		return wrong("shape", "hierarchical answers at once: leave shape out, or choose the policy global or per-client")
	}
	return nil
}

// Compatible reports whether a policy can work with an algorithm; the error says why not and what would. What else stands in
// a configuration (refill, shape) is for Check.
func Compatible(p Policy, a Algorithm) error {
	if p == Hierarchical && a != AlgorithmTokenBucket {
		return &ConfigError{"algorithm", fmt.Sprintf("hierarchical lends tokens that flow in steadily, and %s has none: write token-bucket", a)}
	}
	return nil
}

// windowed reports whether an algorithm counts tokens by windows of time, which know no burst.
func (a Algorithm) windowed() bool {
	return a == AlgorithmFixedWindow || a == AlgorithmSlidingWindow || a == AlgorithmSlidingLog
}

func (c Config) checkHierarchy() error {
	if c.Policy == Hierarchical {
		if c.Refill != Greedy {
			return wrong("refill", "hierarchical lends tokens that flow in steadily, %s refill brings them at once: write greedy", c.Refill)
		}
		if !c.Guarantee.IsZero() && c.Guarantee.Check() == nil && c.Guarantee.compare(c.Rate) > 0 {
			return wrong("guarantee", "%s is more than the whole rate of %s: what one client is guaranteed must fit into it", c.Guarantee, c.Rate)
		}
		if _, ok := newRain(0, c.Rate, c.Burst); !ok {
			return wrong("burst", "%d at %s is too finely divided to be lent exactly: write a rounder rate or a smaller burst", c.Burst, c.Rate)
		}
	}
	if !c.Guarantee.IsZero() {
		if err := c.Guarantee.Check(); err != nil {
			return pathed("guarantee", err)
		}
	}
	if !c.Ceiling.IsZero() {
		if err := c.Ceiling.Check(); err != nil {
			return pathed("ceiling", err)
		}
	}
	if !c.Guarantee.IsZero() && !c.Ceiling.IsZero() && c.Guarantee.compare(c.Ceiling) > 0 {
		return wrong("ceiling", "%s is below the guarantee of %s: a client may always have what it is guaranteed", c.Ceiling, c.Guarantee)
	}
	return nil
}

// compare is -1, 0 or 1 as r is slower than o, as fast, or faster.
func (r Rate) compare(o Rate) int {
	rHi, rLo := bits.Mul64(uint64(r.Tokens), uint64(o.Per))
	oHi, oLo := bits.Mul64(uint64(o.Tokens), uint64(r.Per))
	switch {
	case rHi != oHi && rHi < oHi || rHi == oHi && rLo < oLo:
		return -1
	case rHi == oHi && rLo == oLo:
		return 0
	}
	return 1
}

const mostShards = 1 << 16

func (c Config) checkShards() error {
	switch {
	case c.Shards < 1 || c.Shards > mostShards:
		return wrong("shards", "%d must be from 1 to %d", c.Shards, mostShards)
	case c.Exchange < 0:
		return wrong("exchange", "%s must be above zero, or left out", c.Exchange)
	case c.Policy != Sharded:
		return nil
	case c.Keep && c.Exchange > 0:
		return wrong("exchange", "%s: shards that each keep the whole limit have nothing to divide anew; write divide: true, or leave exchange out", c.Exchange)
	case c.Routing == TwoChoicesCombine && (c.Algorithm != AlgorithmTokenBucket || len(c.Bandwidths) > 0):
		return wrong("routing", "two-choices-combine joins what two token buckets have left, and counts nothing else: write two-choices, or algorithm: token-bucket without further bandwidths")
	}
	if c.Routing == TwoChoicesCombine && c.Exchange > 0 {
		return wrong("exchange", "%s: two-choices-combine joins shards of one size; write two-choices, or leave exchange out", c.Exchange)
	}
	var shares []int64
	if c.Exchange > 0 {
		shares = equal(1, int64(c.Shards))
	}
	each, err := c.shardConfigs(shares)
	if err != nil {
		return err
	}
	return each[0].checkGlobal()
}
