package limiter

import "time"

// Verdict is the limiter's answer to an attempt.
type Verdict uint8

// The answers.
const (
	Admitted Verdict = iota
	Rejected
	Queued // neither yet: Settle will hand it out
)

// Reason names the limit that refused, or that an admission was counted by.
type Reason uint8

// The reasons, in the order of Reasons.
const (
	ByGlobal    Reason = iota // the global limit (of the shard, when sharded)
	ByClient                  // the client's own limit
	ByInFlight                // too many of the client in flight
	ByQueueFull               // the client's queue is full
	ByWait                    // it would have waited, or has waited, longer than the longest wait
	reasons
)

// Reasons are the names of the reasons as the report writes them.
var Reasons = [reasons]string{"global", "client", "in-flight", "queue-full", "wait"}

func (r Reason) String() string { return Reasons[r] }

// An Attempt is one hit on the limiter.
type Attempt struct {
	Client int    // the handle that Join returned
	ID     uint64 // unique among the attempts that are waiting or in flight
	Cost   int64  // tokens, at least 1
}

// A Decision is the answer to an attempt.
type Decision struct {
	Verdict Verdict
	By      Reason        // of a rejection: the limit that refused
	Wait    time.Duration // of a rejection: the needed wait, exact, or Never
	Told    time.Duration // of a rejection: what Retry-After says, whole seconds, at least 1 s; 0 when nothing is to be promised (Never)
}

// A Quota is the state of one limit, for the headers of an answer.
type Quota struct {
	Name      string // "global" or "client"
	Rate      Rate
	Burst     int64
	Remaining int64         // whole tokens left, at least 0
	Reset     time.Duration // until it is as fresh again
}

// A Limiter decides on attempts. It holds no clock, no lock and no goroutine: time is
// an argument, an offset from the start of the run, and the caller keeps
// calls apart. Time that goes back counts as no time passed.
//
// The way of an attempt: Arrive answers it. An admitted attempt is in flight until Release.
// A queued one is handed out by Settle when its time has come (Due says when), admitted or rejected,
// or is taken back with Cancel.
type Limiter interface {
	// Join makes a client known and returns its handle, a small number from 0 up. A name that is known
	// already keeps its handle and takes on the new settings.
	Join(now time.Duration, c Client) int

	// Arrive answers an attempt.
	Arrive(now time.Duration, a Attempt) Decision

	// Release tells that an admitted attempt has ended, however it ended.
	Release(now time.Duration, a Attempt)

	// Due is when Settle has something to hand out next; false when nothing waits.
	Due() (time.Duration, bool)

	// Settle hands out one queued attempt that is due at now; false when there is none (left).
	// Call it until it returns false.
	Settle(now time.Duration) (Attempt, Decision, bool)

	// Cancel takes back an attempt that still waits; false when it does not wait.
	Cancel(now time.Duration, a Attempt) bool

	// Quotas appends the state of each limit that counts for the client, the tightest first.
	Quotas(now time.Duration, client int, to []Quota) []Quota

	// Reconfigure changes everything that the configuration names while the limiter runs. Levels are carried over by
	// cfg.Inherit. An invalid configuration is an error and changes nothing. Attempts that wait stay in
	// line where the new policy queues, and otherwise are decided by it at the next Settle.
	Reconfigure(now time.Duration, cfg Config) error

	// Config is the configuration in force, with the defaults filled in.
	Config() Config
}
