package attack

import (
	"time"

	"fairgate/limiter"
)

// An event is something that will happen to the attempt in a slot.
type event struct {
	at   time.Duration
	slot int32
}

// A line holds the events of one kind in the order of their times, those of one time in the order in which they were added.
// Since every attempt takes as long for the same way, each comes in after the last: adding is appending to a ring. Only when the
// delays were just made shorter does an event have to go past others.
type line struct {
	at         time.Duration // of the first event; limiter.Never: none
	ring       []event       // its length is a power of two
	head, size int
}

func newLine() line { return line{at: limiter.Never, ring: make([]event, 64)} }

func (l *line) add(at time.Duration, slot int32) {
	if l.size == len(l.ring) {
		l.grow()
	}
	mask := len(l.ring) - 1
	i := l.head + l.size
	for ; i > l.head && l.ring[(i-1)&mask].at > at; i-- {
		l.ring[i&mask] = l.ring[(i-1)&mask]
	}
	l.ring[i&mask] = event{at, slot}
	l.size++
	l.at = l.ring[l.head].at
}

// take takes out the first event; the caller knows that there is one.
func (l *line) take() int32 {
	mask := len(l.ring) - 1
	slot := l.ring[l.head].slot
	l.head = (l.head + 1) & mask
	l.size--
	l.at = limiter.Never
	if l.size > 0 {
		l.at = l.ring[l.head].at
	}
	return slot
}

func (l *line) grow() {
	ring := make([]event, 2*len(l.ring))
	n := copy(ring, l.ring[l.head:])
	copy(ring[n:], l.ring[:l.head])
	l.ring, l.head = ring, 0
}

// agenda is a heap of numbered things and the time of each: which client sends next, which waiting attempt's deadline comes first. Of two at one time the
// smaller number is first. A thing whose time is limiter.Never is in it too, at the bottom.
type agenda struct {
	entries []entry // a heap in which each entry has four below it
	place   []int32 // where in entries each number is; −1: nowhere
}

type entry struct {
	at     time.Duration
	number int32
}

func (e entry) before(o entry) bool { return e.at < o.at || e.at == o.at && e.number < o.number }

// at is the time of the first; limiter.Never when there is none.
func (a *agenda) at() time.Duration {
	if len(a.entries) == 0 {
		return limiter.Never
	}
	return a.entries[0].at
}

// set gives a number its time, whether it had one or not.
func (a *agenda) set(number int32, at time.Duration) {
	for int(number) >= len(a.place) {
		a.place = append(a.place, -1)
	}
	i := a.place[number]
	if i < 0 {
		i = int32(len(a.entries))
		a.entries = append(a.entries, entry{limiter.Never, number})
		a.place[number] = i
	} else if a.entries[i].at == at {
		return
	}
	e := entry{at, number}
	if e.before(a.entries[i]) || i > 0 && e.before(a.entries[(i-1)/4]) {
		a.up(i, e)
	} else {
		a.down(i, e)
	}
}

// drop takes a number out, if it is in.
func (a *agenda) drop(number int32) {
	if int(number) >= len(a.place) || a.place[number] < 0 {
		return
	}
	i := a.place[number]
	a.place[number] = -1
	last := a.entries[len(a.entries)-1]
	a.entries = a.entries[:len(a.entries)-1]
	if last.number == number {
		return
	}
	if i > 0 && last.before(a.entries[(i-1)/4]) {
		a.up(i, last)
	} else {
		a.down(i, last)
	}
}

func (a *agenda) up(i int32, e entry) {
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(a.entries[up]) {
			break
		}
		a.entries[i] = a.entries[up]
		a.place[a.entries[i].number] = i
		i = up
	}
	a.entries[i] = e
	a.place[e.number] = i
}

func (a *agenda) down(i int32, e entry) {
	n := int32(len(a.entries))
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		best := first
		for k := first + 1; k < min(first+4, n); k++ {
			if a.entries[k].before(a.entries[best]) {
				best = k
			}
		}
		if !a.entries[best].before(e) {
			break
		}
		a.entries[i] = a.entries[best]
		a.place[a.entries[i].number] = i
		i = best
	}
	a.entries[i] = e
	a.place[e.number] = i
}
