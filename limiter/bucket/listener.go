package bucket

import (
	"sync/atomic"
	"time"
)

// A Listener is told what becomes of takings, in the goroutine that takes: it must be quick, and safe
// for the goroutines that share the bucket. Looking and giving back tell it nothing.
//
// A taking calls Consumed or Rejected, with tokens. A blocking one that must wait calls Consumed, BeforeParking, and when the
// wait is over Parked, or Interrupted when it was cut short; one whose wait would be too long, and is not begun,
// calls Rejected. A scheduled one that must wait calls Consumed and Delayed.
type Listener interface {
	Consumed(tokens int64)
	Rejected(tokens int64)
	Delayed(wait time.Duration)
	BeforeParking(wait time.Duration)
	Parked(wait time.Duration)
	Interrupted(err error)
}

// Silence hears everything and does nothing. Embed it to implement a part of Listener.
type Silence struct{}

// Consumed does nothing.
func (Silence) Consumed(int64) {}

// Rejected does nothing.
func (Silence) Rejected(int64) {}

// Delayed does nothing.
func (Silence) Delayed(time.Duration) {}

// BeforeParking does nothing.
func (Silence) BeforeParking(time.Duration) {}

// Parked does nothing.
func (Silence) Parked(time.Duration) {}

// Interrupted does nothing.
func (Silence) Interrupted(error) {}

// A Counter is a Listener that adds up: for one bucket, or for many together. The zero value is ready.
type Counter struct {
	consumed, rejected, delayed, parked, interrupted atomic.Int64
}

var _ Listener = (*Counter)(nil)

// Counts are the sums of a Counter.
type Counts struct {
	Consumed, Rejected int64         // tokens, not calls
	Delayed, Parked    time.Duration // waits of scheduled and of blocking takings
	Interrupted        int64         // calls
}

// Counts reads the sums.
func (c *Counter) Counts() Counts {
	return Counts{
		Consumed: c.consumed.Load(), Rejected: c.rejected.Load(),
		Delayed: time.Duration(c.delayed.Load()), Parked: time.Duration(c.parked.Load()),
		Interrupted: c.interrupted.Load(),
	}
}

// Consumed adds up tokens that were taken.
func (c *Counter) Consumed(tokens int64) { c.consumed.Add(tokens) }

// Rejected adds up tokens that were refused.
func (c *Counter) Rejected(tokens int64) { c.rejected.Add(tokens) }

// Delayed adds up the waits of scheduled takings.
func (c *Counter) Delayed(wait time.Duration) { c.delayed.Add(int64(wait)) }

// BeforeParking counts nothing: Parked will.
func (c *Counter) BeforeParking(time.Duration) {}

// Parked adds up the waits of blocking takings that were waited to the end.
func (c *Counter) Parked(wait time.Duration) { c.parked.Add(int64(wait)) }

// Interrupted counts waits that were cut short.
func (c *Counter) Interrupted(error) { c.interrupted.Add(1) }

// Listening is a view of the same bucket whose takings are told to l, and to l only: the listener of b
// does not hear of them. With nil nobody does.
func (b *Bucket) Listening(l Listener) *Bucket { return &Bucket{core: b.core, listener: l} }
