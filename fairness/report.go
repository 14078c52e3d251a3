package fairness

import "time"

// Limit describes the limit in force, for measures and for people.
type Limit struct {
	Policy         string `json:"policy"`
	Algorithm      string `json:"algorithm"`
	RatePerS       Number `json:"rate_per_s"`
	Burst          int64  `json:"burst"`
	ClientRatePerS Number `json:"client_rate_per_s"` // none where the policy gives no limit of a client's own
	Shards         int    `json:"shards"`
	RetryAfter     string `json:"retry_after"`

	RateText    string        `json:"-"` // the rate as it was written: "1000/s"
	ClientText  string        `json:"-"` // the client's rate as it was written, or ""
	Capacity    float64       `json:"-"` // tokens per second that are shared out: the global limit, or the sum that the shards enforce
	Measured    bool          `json:"-"` // the limit is not known: what is shared out is what was admitted in sum, in each stretch anew
	MaxInFlight int64         `json:"-"` // attempts of a client in flight at once; 0: not bounded
	ServiceTime time.Duration `json:"-"` // what an admitted attempt takes; 0: not known
	ClientCaps  []Number      `json:"-"` // tokens per second that the policy allows each client at most (index: client); none: no such cap; nil: for nobody
}

// Report is the whole of a run: the contract of the JSON output, schema version 1.
type Report struct {
	Schema   int        `json:"schema"`
	Profile  string     `json:"profile"`
	Title    string     `json:"title"`
	Mode     string     `json:"mode"` // live, simulated, recorded
	Seed     uint64     `json:"seed"`
	Started  *time.Time `json:"started"`
	Duration Number     `json:"duration_s"`
	WarmUp   Number     `json:"warm_up_s"` // the beginning that no count and no rate covers: they are of the duration less this
	Limiter  Limit      `json:"limiter"`
	Measures
	Generator    Generator     `json:"generator"`
	Timeline     []Point       `json:"timeline"`
	Changes      []Change      `json:"changes"`
	Expectations []Expectation `json:"expectations"`
	Source       string        `json:"source"` // where the profile came from: a file, or "built-in"

	Stretches []Stretch  `json:"stretches"` // each stretch between two changes by itself; empty when nothing was changed
	Diagnosis Diagnosis  `json:"diagnosis"`
	Gate      GateResult `json:"gate"`      // whether limits like these can be fair to so many clients as were active
	Goodput   Goodput    `json:"goodput"`   // what was served, by first attempts and by retries
	Honesty   []Promises `json:"honesty"`   // of each client: did Retry-After tell the truth?
	Herd      Herd       `json:"herd"`      // did many come back at the moment that they were told?
	Recovery  []Recovery `json:"recovery"`  // how long it took until all was well again
	Overshoot Number     `json:"overshoot"` // tokens by which the worst interval went beyond limit × time + burst; 0: never; none: not known

	ErrorsBy map[string]int64 `json:"errors_by,omitzero"` // errors by kind, where they are told apart: against a target
	Target   *Target          `json:"target,omitzero"`    // the service that was attacked; nil: a limiter of our own
}

// Stretch is the part of a run between two changes, or several such parts where there are more than are kept. What is pending and in flight when it begins is
// counted in it too, and so in both of two neighbours.
type Stretch struct {
	From    Number `json:"from_s"`
	To      Number `json:"to_s"`
	Merged  int    `json:"merged"`  // so many parts between changes are one here; mostly 1
	Limiter Limit  `json:"limiter"` // of a merged one: what all its limits have in common; the rest says Several, or does not exist
	Measures
	Diagnosis Diagnosis `json:"diagnosis"`
}

// Measures are the figures over one stretch of time: a window, or the whole run.
type Measures struct {
	Aggregate Aggregate        `json:"aggregate"`
	Fairness  Judgement        `json:"fairness"`
	Clients   []ClientMeasures `json:"clients"`
	Load      Load             `json:"-"`
}

// Aggregate is what monitoring sees.
type Aggregate struct {
	Offered     Number `json:"offered_rps"` // attempts per second, retries included
	Demand      Number `json:"demand_rps"`  // requests per second
	Admitted    Number `json:"admitted_rps"`
	Rejected    Number `json:"rejected_rps"`
	Errors      Number `json:"error_rps"`
	Limit       Number `json:"limit_rps"`
	Utilization Number `json:"utilization"` // admitted tokens over the tokens that the limit allows

	AdmittedCount int64 `json:"admitted"`
	RejectedCount int64 `json:"rejected"`
	ErrorCount    int64 `json:"errors"`
	InFlight      int64 `json:"in_flight"`
	Attempts      int64 `json:"attempts"`
	Requests      int64 `json:"requests"`
}

// Judgement is what the clients see.
type Judgement struct {
	Jain            Number   `json:"jain"`
	MinSatisfaction Number   `json:"min_satisfaction"`
	Starved         []string `json:"starved"` // never nil
	Verdict         Verdict  `json:"verdict"`
	Why             string   `json:"why"` // one sentence

	Worst  string `json:"-"` // the client with the smallest satisfaction, "" when there is none
	Active int    `json:"-"` // how many clients were active
	Advice string `json:"-"` // what to do about it, one sentence; "" when nothing is to be done
}

// Verdict is the judgement in one word.
type Verdict string

// The verdicts; see doc.go for their definitions.
const (
	Fair      Verdict = "fair"
	Contended Verdict = "contended"
	Starved   Verdict = "starved"
	Idle      Verdict = "idle"
	Unknown   Verdict = "unknown"
)

// ClientMeasures are the figures of one client.
type ClientMeasures struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Weight int64  `json:"weight"`

	Requests   int64 `json:"requests"`
	Attempts   int64 `json:"attempts"`
	Admitted   int64 `json:"admitted"`
	Rejected   int64 `json:"rejected"`
	Errors     int64 `json:"errors"`
	InFlight   int64 `json:"in_flight"`
	Retries    int64 `json:"retries"`
	GaveUp     int64 `json:"gave_up"`
	Unfinished int64 `json:"unfinished"`

	Demand        Number `json:"demand_rps"`
	AdmittedRate  Number `json:"admitted_rps"`
	Share         Number `json:"share"`
	Entitled      Number `json:"entitled_rps"`
	Satisfaction  Number `json:"satisfaction"`
	RejectRatio   Number `json:"reject_ratio"`
	Amplification Number `json:"amplification"`
	LongestGap    Number `json:"longest_gap_s"`
	FirstAdmitted Number `json:"first_admitted_s"` // from its first attempt in the stretch, or the stretch's start when it had begun before, to its first admission

	RejectedBy map[string]int64 `json:"rejected_by"` // by limit; every name of Options.Reasons is there
	Latency    struct {
		Admitted Quantiles `json:"admitted"`
		Rejected Quantiles `json:"rejected"`
	} `json:"latency_ms"`
	QueueWait  Quantiles  `json:"queue_wait_ms"`
	RetryAfter RetryAfter `json:"retry_after"`

	OfferedRate  Number `json:"-"` // attempts per second
	RejectedRate Number `json:"-"`
	Cost         int64  `json:"-"` // tokens of an attempt
	Expected     Number `json:"-"` // admissions that it was entitled to
	Attainable   Number `json:"-"` // of these, what a fair sharer could have given it at the moments when it asked
	Dark         Number `json:"-"` // longest time in seconds in which it asked in vain, from the first to the last rejection in a row; 0 in windows
	Kept         int64  `json:"-"` // retries that came when told, or later, and were admitted
	Broken       int64  `json:"-"` // and that were refused again
	Active       bool   `json:"-"`
	Starved      bool   `json:"-"`
	ClosedLoop   bool   `json:"-"`
}

// Quantiles of a distribution, in milliseconds; none when nothing was counted.
type Quantiles struct {
	P50 Number `json:"p50"`
	P90 Number `json:"p90"`
	P99 Number `json:"p99"`
	Max Number `json:"max"`
}

// RetryAfter is what refused attempts were told, and what they would have needed.
type RetryAfter struct {
	Told   []Told    `json:"told_s"`
	Needed Quantiles `json:"needed_ms"`

	NeededBins []Bin `json:"-"` // the needed waits as a histogram, for the screen; coarse
	Never      int64 `json:"-"` // refusals that no wait would have cured
}

// Told counts how often a whole number of seconds was told.
type Told struct {
	Seconds int64 `json:"value"`
	Count   int64 `json:"count"`
}

// Bin counts what fell at or above From and below To.
type Bin struct {
	From, To time.Duration
	Count    int64
}

// Generator says how honest the load was.
type Generator struct {
	Lateness LatenessQuantiles `json:"lateness_ms"` // sent later than planned
	Missed   int64             `json:"missed"`      // planned, and never sent
	Achieved Number            `json:"achieved"`    // sent / planned
}

// LatenessQuantiles are milliseconds.
type LatenessQuantiles struct {
	P50 Number `json:"p50"`
	P99 Number `json:"p99"`
	Max Number `json:"max"`
}

// Point is one step of the timeline.
type Point struct {
	T        Number        `json:"t_s"` // the step's end
	Offered  Number        `json:"offered_rps"`
	Admitted Number        `json:"admitted_rps"`
	Jain     Number        `json:"jain"`
	Clients  []PointClient `json:"clients"` // in the order of Report.Clients; with more than 50, the 50 largest and then Rest
}

// PointClient is one client in a step of the timeline. Name is set only where the order of Report.Clients does not tell it.
type PointClient struct {
	Name     string `json:"name,omitempty"`
	Admitted Number `json:"admitted_rps"`
	Rejected Number `json:"rejected_rps"`
}

// Change is something that was changed while the run went on.
type Change struct {
	T    Number `json:"t_s"`
	What string `json:"what"` // "policy global → per-client"
}

// Expectation is one line of `expect`, judged.
type Expectation struct {
	Expr  string `json:"expr"`
	Value Number `json:"value"`
	OK    *bool  `json:"ok"` // nil: not evaluated
}

// Snapshot is a picture of a run at one moment, never changed after it was taken.
type Snapshot struct {
	Profile  string
	Title    string
	Mode     string // live or simulated
	Seed     uint64
	Now      time.Duration // since the start
	Duration time.Duration // planned; 0: until stopped
	Speed    float64       // 1: as fast as life
	Limiter  Limit
	Window   time.Duration // how much time Measures covers: at most 10 s, and nothing from before the last change
	Measures               // of the window
	Recent   []Sample      // the last 60 s, oldest first, in steps of SampleStep
	Changes  []Change
	// Overshoot is by how many tokens the admissions of the run so far went, at the worst, beyond limit × time + burst; 0: never.
	Overshoot float64
	Generator Generator
	Done      bool
	Held      bool          // the load is paused: all clients were turned off
	Herd      Herd          // of the run so far
	Inside    *Inside       // what the limiter holds; nil where nobody can look into it
	Beside    []Alternative // what further policies would do
}

// SampleStep is the time between two samples of Snapshot.Recent.
const SampleStep = 500 * time.Millisecond

// Sample is one step of the last minute.
type Sample struct {
	T        time.Duration // the step's end
	Offered  float64       // attempts per second
	Admitted float64       // per second
	Limit    float64       // tokens per second, in force at the step's end
	Jain     Number
	Clients  []float32 // admitted per second of each client, in their order; nil with more than 50 clients
}
