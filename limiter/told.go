package limiter

import "time"

// A teller says what a refused client is told in Retry-After: whole seconds, at least one; 0, no promise at all, when no
// waiting would help.
type teller interface {
	tell(now, needed time.Duration, m *member) time.Duration
}

func newTeller(c Config) teller {
	switch c.RetryAfter {
	case RetryAdaptive:
		return &adaptive{told: 1}
	case RetrySlot:
		return &slots{each: perSecondUp(c.Enforced())}
	}
	return exact{}
}

// exact tells the needed wait, rounded up.
type exact struct{}

func (exact) tell(_, needed time.Duration, _ *member) time.Duration {
	if needed == Never {
		return 0
	}
	return wholeSeconds(needed)
}

// wholeSeconds is d rounded up to whole seconds, at least one.
func wholeSeconds(d time.Duration) time.Duration {
	if d <= time.Second {
		return time.Second
	}
	if d > Never-time.Second {
		return d / time.Second * time.Second
	}
	return (d + time.Second - 1) / time.Second * time.Second
}

// adaptive tells everybody the same, and doubles it while many are refused: the more come, the longer they stay away. Every second it
// looks back, with r the seconds that it tells:
//
//	r seconds have passed since it was last doubled, and in the last r there were at least 3r refusals   → 2r, at most 32
//	fewer than r refusals in the last r seconds                                                         → r − 1, at least 1
//
// The second that is running does not count yet. This is what the Kubernetes API server tells clients it drops.
type adaptive struct {
	told    int64 // r
	raised  int64 // second of the last doubling
	second  int64 // that is running
	dropped [longestTold + 1]tick
	now     int64 // refusals in it
}

// A tick is a second and its refusals.
type tick struct{ second, count int64 }

const longestTold = 32

func (a *adaptive) tell(now, needed time.Duration, _ *member) time.Duration {
	if second := int64(now / time.Second); second > a.second {
		a.dropped[a.second%int64(len(a.dropped))] = tick{a.second, a.now}
		a.second, a.now = second, 0
		a.adapt()
	}
	a.now++
	if needed == Never {
		return 0
	}
	return time.Duration(a.told) * time.Second
}

func (a *adaptive) adapt() {
	recent := int64(0)
	for _, t := range a.dropped {
		if age := a.second - t.second; age > 0 && age <= a.told {
			recent += t.count
		}
	}
	switch {
	case a.second-a.raised >= a.told && recent >= 3*a.told:
		a.told = min(2*a.told, longestTold)
		a.raised = a.second
	case recent < a.told && a.told > 1:
		a.told--
	}
}

// slots gives every refused client a place of its own in the future, so that nobody comes back at the same moment: in each
// second there are as many places as the limit admits in one, rounded up. A client gets the first second, from its needed
// wait on, that has one left; if it comes too early it is told the same place again.
//
// Places are kept for an hour or so ahead. Whoever needs longer is told what it needs, and whoever finds all
// taken is told the end of it.
type slots struct {
	each  uint32
	ahead [horizon]slot // by second, modulo horizon
}

type slot struct {
	second int64
	taken  uint32
	next   int64 // once all are taken: the second to look at instead
}

const horizon = 4096 // seconds

// perSecondUp is the whole tokens of one second at a rate, rounded up.
func perSecondUp(r Rate) uint32 {
	perSecond := oneSecond(r)
	if timeFor(r, perSecond) < time.Second && perSecond < 1<<32-1 {
		perSecond++
	}
	return uint32(min(perSecond, 1<<32-1))
}

func (s *slots) tell(now, needed time.Duration, m *member) time.Duration {
	if needed == Never {
		return 0
	}
	told := wholeSeconds(needed)
	if m.slot > now && m.slot-now >= needed { // its place is to come
		return wholeSeconds(m.slot - now)
	}
	present := int64(now / time.Second)
	first := int64((timeUp(now, told)) / time.Second)
	if first-present >= horizon {
		return told
	}
	second := s.free(first, present+horizon)
	told += time.Duration(second-first) * time.Second
	if second == present+horizon {
		return told
	}
	s.at(second).taken++
	m.slot = now + told
	return told
}

// at is the slot of a second, emptied when it was last used for one long past.
func (s *slots) at(second int64) *slot {
	p := &s.ahead[second%horizon]
	if p.second != second {
		*p = slot{second: second, next: second + 1}
	}
	return p
}

// free is the first second, from first on, that has a place left; end when there is none. Full seconds remember where the search
// ended, so that a long row of them is walked only once.
func (s *slots) free(first, end int64) int64 {
	second := first
	for second < end && s.at(second).taken >= s.each {
		second = s.at(second).next
	}
	second = min(second, end)
	for walked := first; walked < second; {
		p := s.at(walked)
		walked, p.next = p.next, second
	}
	return second
}
