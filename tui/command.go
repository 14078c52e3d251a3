package tui

import "fairgate/fairness"

// A Source is what the dashboard draws and steers: a live run, or a simulation played back. All methods may be called at any time,
// also after the run has ended, and return at once.
type Source interface {
	// Snapshot is the picture of this moment. The dashboard never changes it.
	Snapshot() *fairness.Snapshot
	// Do carries out a command; an error is shown in the footer.
	Do(Command) error
}

// A Tuner is a Source that carries out more than StepPolicy and ScaleRate and says which commands these are. The keys of all others are
// off, and the help does not show them.
type Tuner interface {
	Source
	// Can reports whether commands of this type are carried out. It never changes during a run.
	Can(Command) bool
}

// A Command is what a user asks of the run.
type Command interface{ command() }

// StepPolicy goes on to the next policy that makes sense (By 1), or back (By -1).
type StepPolicy struct{ By int }

// ScaleRate makes the limit's rate Num/Den times what it is.
type ScaleRate struct{ Num, Den int64 }

// StepAlgorithm goes on to the next algorithm (By 1), or back (By -1).
type StepAlgorithm struct{ By int }

// ScaleBurst makes the limit's burst Num/Den times what it is; the result is a whole number of at least 1 token.
type ScaleBurst struct{ Num, Den int64 }

// ScaleClientRate makes the limit that each client has for its own Num/Den times what it is.
type ScaleClientRate struct{ Num, Den int64 }

// StepRetryAfter goes on to the next way of telling refused clients when to come back (By 1), or back (By -1).
type StepRetryAfter struct{ By int }

// Undo takes back the last change that a command made and was not taken back yet.
type Undo struct{}

func (StepPolicy) command()      {}
func (ScaleRate) command()       {}
func (StepAlgorithm) command()   {}
func (ScaleBurst) command()      {}
func (ScaleClientRate) command() {}
func (StepRetryAfter) command()  {}
func (Undo) command()            {}
