package redislimit

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"fairgate/limiter"
)

// exact is the largest integer up to which all are doubles.
const exact = 1 << 53

// A plan is what the script is told of a configuration.
type plan struct {
	config limiter.Config // with the defaults filled in
	limits []limit        // the global limit and its bandwidths, then the client's own
	ttl    time.Duration
}

// A limit is one counter of each decision, in the script's terms: a token is d parts, and n parts flow each µs. A window is d µs long.
type limit struct {
	by       limiter.Reason
	suffix   string // of the key
	field    string // of the configuration, for errors
	kind     limiter.Algorithm
	rate     limiter.Rate
	capacity int64
	n, d     uint64
	fill     time.Duration // from empty to as good as new, rounded up
}

func unfit(field, format string, args ...any) error {
	return &limiter.ConfigError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Check reports the first thing of a configuration that a store cannot count, as a *limiter.ConfigError; nil when New can.
func Check(cfg limiter.Config) error {
	_, err := newPlan(cfg, 0)
	return err
}

// newPlan translates a configuration; a ttl of 0 is chosen, one that is too short is raised.
func newPlan(cfg limiter.Config, ttl time.Duration) (*plan, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	c := cfg.WithDefaults()
	if err := fits(c); err != nil {
		return nil, err
	}
	p := &plan{config: c}
	all := []limit{{by: limiter.ByGlobal, field: "", rate: c.Rate, capacity: c.Burst}}
	windows := []time.Duration{c.Window}
	for i, b := range c.Bandwidths {
		id := b.ID
		if id == "" {
			id = strconv.Itoa(i + 1)
		}
		all = append(all, limit{by: limiter.ByGlobal, suffix: ":" + escape(id), field: fmt.Sprintf("bandwidths[%d].", i), rate: b.Rate, capacity: b.Burst})
		windows = append(windows, 0)
	}
	if c.Policy == limiter.PerClient {
		all = append(all, limit{by: limiter.ByClient, field: "client.", rate: c.Client.Rate, capacity: c.Client.Burst})
		windows = append(windows, 0)
	}
	need := time.Duration(0)
	for i := range all {
		l := &all[i]
		l.kind = c.Algorithm
		if err := l.scale(windows[i]); err != nil {
			return nil, err
		}
		need = max(need, l.fill)
	}
	p.limits = all
	// The last millisecond is never whole, and Redis counts in whole ones.
	need = (need/time.Millisecond + 1) * time.Millisecond
	if p.ttl = ttl; ttl == 0 {
		p.ttl = need + time.Second
	}
	p.ttl = max(p.ttl, need)
	return p, nil
}

// fits refuses what belongs to one process.
func fits(c limiter.Config) error {
	switch {
	case c.Policy != limiter.Global && c.Policy != limiter.PerClient:
		return unfit("policy", "%s keeps what waits, lends or is in flight in one process: with a store in Redis write global or per-client", c.Policy)
	case c.Algorithm == limiter.AlgorithmSlidingLog:
		return unfit("algorithm", "a sliding-log would keep every admission in the store: write sliding-window, which keeps two counts")
	case c.Shape:
		return unfit("shape", "a store in Redis answers at once and delays nothing: leave shape out")
	case c.Refill != limiter.Greedy:
		return unfit("refill", "%s counts periods from the start of a run, and a store in Redis outlives runs: write greedy, or a fixed-window", c.Refill)
	case c.Initial != nil && *c.Initial != c.Burst:
		return unfit("initial", "%d: a limit in Redis that nobody has used is full; leave initial out", *c.Initial)
	case c.Start != 0:
		return unfit("start", "%s counts from the start of a run, and a store in Redis outlives runs: leave start out", c.Start)
	case c.ForgetAfter != 0:
		return unfit("forget_after", "%s: a store in Redis forgets only what is full again; leave forget_after out", c.ForgetAfter)
	case c.RetryAfter != limiter.RetryExact:
		return unfit("retry_after", "%s remembers in one process what it has told: with a store in Redis write exact", c.RetryAfter)
	}
	for i, b := range c.Bandwidths {
		if b.Refill != limiter.Greedy {
			return unfit(fmt.Sprintf("bandwidths[%d].refill", i), "%s counts periods from the start of a run, and a store in Redis outlives runs: write greedy", b.Refill)
		}
	}
	return nil
}

// scale finds n and d; window is the length that the configuration gives it, 0: the rate's own period.
func (l *limit) scale(window time.Duration) error {
	if l.kind == limiter.AlgorithmFixedWindow || l.kind == limiter.AlgorithmSlidingWindow {
		return l.scaleWindow(window)
	}
	// tokens every per ns are 1000·tokens every per µs, in smallest terms
	n, d := l.rate.Reduced()
	g := gcd(d, 1000)
	d /= g
	if hi, lo := bits.Mul64(n, 1000/g); hi > 0 || lo > exact/2000 {
		return unfit(l.field+"rate", "%s is too finely divided to be counted exactly in Redis: write it with fewer digits", l.rate)
	} else {
		n = lo
	}
	// used parts and the cost of one attempt: twice the capacity
	if hi, lo := bits.Mul64(uint64(l.capacity), d); hi > 0 || lo > exact/2 {
		return unfit(l.field+"burst", "%d tokens at %s are more parts than Redis counts exactly (2⁵³): write a smaller burst or a rounder rate", l.capacity, l.rate)
	}
	l.n, l.d = n, d
	parts := uint64(l.capacity) * d
	l.fill = time.Duration((parts+n-1)/n) * time.Microsecond
	return nil
}

func (l *limit) scaleWindow(window time.Duration) error {
	if window == 0 {
		window = l.rate.Per
	}
	if window%time.Microsecond != 0 {
		return unfit(l.field+"rate", "a window of %s is no whole number of microseconds, the finest time of Redis: write a longer window", window)
	}
	// Config.Check made sure that this is a whole number that fits.
	hi, lo := bits.Mul64(uint64(l.rate.Tokens), uint64(window))
	tokens, _ := bits.Div64(hi, lo, uint64(l.rate.Per))
	length := uint64(window / time.Microsecond)
	if hi, lo := bits.Mul64(tokens, length); hi > 0 || lo > exact/2 || length > exact/2 {
		return unfit(l.field+"rate", "%d tokens in a window of %s are more than Redis counts exactly (2⁵³ when multiplied, in microseconds): write a shorter window", tokens, window)
	}
	l.capacity, l.n, l.d = int64(tokens), 1, length
	l.fill = window
	if l.kind == limiter.AlgorithmSlidingWindow {
		l.fill = 2 * window // its count is the previous one of the next window
	}
	return nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// fixed are the script's arguments that no attempt changes.
func (p *plan) fixed() []any {
	args := make([]any, 0, 5*len(p.limits))
	ttl := strconv.FormatInt(p.ttl.Milliseconds(), 10)
	for _, l := range p.limits {
		args = append(args, string(l.kind), strconv.FormatInt(l.capacity, 10), strconv.FormatUint(l.n, 10), strconv.FormatUint(l.d, 10), ttl)
	}
	return args
}
