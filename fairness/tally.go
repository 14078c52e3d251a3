package fairness

import "time"

// Client is what the tally knows of a client before anything happened.
type Client struct {
	Name   string
	Kind   string
	Weight int64 // at least 1
	Cost   int64 // tokens of an attempt, at least 1
	// ClosedDemand is the demand of a closed-loop client in requests per second (workers / (think + service + round trip));
	// 0 for all others, whose demand is measured.
	ClosedDemand float64
	// Expected is about how many requests per second it will send; it only decides who is among the 50 largest of the timeline.
	Expected float64
	// RetryAfter says whether it comes back when it was told to.
	RetryAfter Honor
}

// Honor says whether a client honours Retry-After.
type Honor uint8

// What is known of that.
const (
	HonorUnknown Honor = iota // it is judged by what it does: see honour
	Honors
	Ignores // a retry of it that comes after the told moment comes then by chance
)

// Options of a tally. The zero value is good for tests.
type Options struct {
	WarmUp  time.Duration // what happened before is not in the report
	Reasons []string      // names of the limits that refuse; Outcome.By is an index into it
	Faults  []string      // names of the kinds of errors; Outcome.Fault is an index into it; none: errors are not told apart
	Live    bool          // keep the window and the last minute, for Snapshot; a report alone needs neither
	End     time.Duration // planned end: what happens at or after it does not count; 0: none
	// InOrder: whoever drives the tally calls Admit for each admission as it is decided. Outcomes are observed late and out of order, by as much as the
	// machine stalls, and no bucket can be held to its limit by them; without such a driver they are all there is.
	InOrder bool
	// Afar: the limiter is somebody else's, and when it decided is not known. So admissions cannot be held against its limit, and the
	// overshoot is none.
	Afar bool
}

// Kind of an outcome.
type Kind uint8

// What came of an attempt.
const (
	Admitted Kind = iota
	Rejected
	Failed // neither: transport error, 5xx, time-out
)

// Outcome is what came of one attempt. All times are offsets from the start of the run.
type Outcome struct {
	Client  int
	Kind    Kind
	By      uint8         // of a rejection: index into Options.Reasons
	Fault   uint8         // of an error: index into Options.Faults
	Sent    time.Duration // when it was sent
	Decided time.Duration // when the limiter answered; where that is not known, as Seen
	Seen    time.Duration // when the client had the outcome
	Waited  time.Duration // in a queue, before it was decided
	Queued  bool          // whether it waited in a queue at all
	Told    time.Duration // of a rejection: Retry-After, whole seconds; 0: nothing was told
	Needed  time.Duration // of a rejection: the exact wait; Never; 0: not known

	Retry    bool          // it was not the first attempt of its request
	Promised time.Duration // of a retry: the moment at which the refusal before it had told the client to come back; 0: it had told nothing
	Late     time.Duration // sent so long after it was planned, which is the generator's doing and not the client's
}

// Never is the needed wait of what no waiting would cure.
const Never = time.Duration(1<<63 - 1)

// End says how a request ended.
type End uint8

// The ends of a request.
const (
	Served End = iota
	GaveUp
)
