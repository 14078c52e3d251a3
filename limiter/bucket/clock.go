package bucket

import "time"

// A Clock tells a bucket the time, as an offset from a moment of the clock's own choice. It may be called by several
// goroutines at once. A clock that steps back does no harm: that counts as no time passed.
type Clock interface {
	Now() time.Duration

	// IsWallClock reports whether Now counts from the Unix epoch, so that others agree on it.
	// Aligned refill needs that.
	IsWallClock() bool
}

// WallClock is the system's time of day.
var WallClock Clock = wallClock{}

type wallClock struct{}

func (wallClock) Now() time.Duration { return time.Duration(time.Now().UnixNano()) }
func (wallClock) IsWallClock() bool  { return true }

// steadyClock is the clock of a bucket that was given none: the time since the bucket was made, which never steps. It
// is a type of its own, called directly, because reading the time is most of the price of a decision.
type steadyClock struct{ start time.Time }

func (c steadyClock) Now() time.Duration { return time.Since(c.start) }
