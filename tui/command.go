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

// ScaleServiceTime makes the time that an admitted request takes Num/Den times what it is.
type ScaleServiceTime struct{ Num, Den int64 }

// ScaleDemand makes what a client asks for Num/Den times what it is. Clients are named as the snapshot names them; one of several copies
// stands for all of them, here and below.
type ScaleDemand struct {
	Client   string
	Num, Den int64
}

// StepWeight makes a client's weight greater (By 1) or smaller (By -1) by one, down to 1.
type StepWeight struct {
	Client string
	By     int
}

// StepCost makes each of a client's requests cost one token more (By 1) or less (By -1), down to 1.
type StepCost struct {
	Client string
	By     int
}

// StepRetries goes on to the next way in which a client takes a refusal (By 1), or back (By -1).
type StepRetries struct {
	Client string
	By     int
}

// Storm lets a client ask again at once and without end when it is refused, or ends that.
type Storm struct{ Client string }

// Switch turns a client off, or on again.
type Switch struct{ Client string }

// HoldLoad turns all clients off, or on again.
type HoldLoad struct{}

// Restart begins the run anew with everything that was changed still in force: with the same seed, or with another one.
type Restart struct{ NewSeed bool }

// ToggleShadows lets every other policy that can work decide beside the one in force, or ends that.
type ToggleShadows struct{}

// Set gives a setting a value, as a profile would write it. Name is one of those that Options.Settings lists.
type Set struct{ Client, Name, Value string }

func (StepPolicy) command()       {}
func (ScaleRate) command()        {}
func (StepAlgorithm) command()    {}
func (ScaleBurst) command()       {}
func (ScaleClientRate) command()  {}
func (StepRetryAfter) command()   {}
func (Undo) command()             {}
func (ScaleServiceTime) command() {}
func (ScaleDemand) command()      {}
func (StepWeight) command()       {}
func (StepCost) command()         {}
func (StepRetries) command()      {}
func (Storm) command()            {}
func (Switch) command()           {}
func (HoldLoad) command()         {}
func (Restart) command()          {}
func (ToggleShadows) command()    {}
func (Set) command()              {}
