package attack

import (
	"sync"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

// A metronome makes timers go off on time. On Linux an idle Go program sleeps in whole milliseconds, so that everything due within one
// wakes up together, in an order of the scheduler's making; and where there is not enough for all, order decides who gets it. With ticks of a
// fraction of a millisecond, who comes first is again a matter of when he was due.
//
// The ticks cost a part of a core. So they are on only while they matter: while the clients together ask for more than the
// limit, and more often than every millisecond.
type metronome struct {
	mu   sync.Mutex
	stop func() // not nil: it is on
	end  bool
}

// period of the ticks.
const period = 250 * time.Microsecond

// set turns the ticks on or off.
func (m *metronome) set(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case on && m.stop == nil && !m.end && clockIsReal():
		m.stop = beat(period)
	case !on:
		m.offLocked()
	}
}

// close turns the ticks off for good.
func (m *metronome) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end = true
	m.offLocked()
}

func (m *metronome) offLocked() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// orderDecides reports whether it matters, at these settings, which of two attempts within a millisecond comes first.
func orderDecides(cfg limiter.Config, clients []profiles.Client) bool {
	const often = 1000 // attempts a second
	var attempts, tokens float64
	for _, c := range clients {
		rate := expectedRate(c)
		attempts += rate
		tokens += rate * float64(max(c.Cost, 1))
	}
	return len(clients) > 1 && attempts >= often && tokens > capacity(cfg)
}
