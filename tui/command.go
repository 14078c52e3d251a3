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

// A Command is what a user asks of the run.
type Command interface{ command() }

// StepPolicy goes on to the next policy that makes sense (By 1), or back (By -1).
type StepPolicy struct{ By int }

// ScaleRate makes the limit's rate Num/Den times what it is.
type ScaleRate struct{ Num, Den int64 }

func (StepPolicy) command() {}
func (ScaleRate) command()  {}
