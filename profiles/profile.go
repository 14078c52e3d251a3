package profiles

import (
	"time"

	"fairgate/limiter"
)

// A Profile is one experiment: a limiter, the service behind it, and the clients that attack it.
// What a profile file leaves out has been filled in by the defaults of its kind.
type Profile struct {
	Name     string
	Title    string
	About    string
	Duration time.Duration
	WarmUp   time.Duration
	Seed     uint64
	Limiter  limiter.Config
	Store    Store
	Service  Service
	Clients  []Client
	Expect   []string
	Lesson   []Step

	// Source is where it was read from: a path, or "built-in".
	Source string

	// places says where the values stand that were read, by their keys.
	places map[string]position
}

// Store is where the limiter's counters are kept. The zero value is this process's memory. A file says it under limiter.
type Store struct {
	URL     string        // of a Redis server that several processes share, redis://host:port/db; "": memory
	OnError OnStoreError  // what answers when the server does not; "": closed
	TTL     time.Duration // how long a counter lives there after its last admission; 0: as long as it must. What is too short is raised
}

// OnStoreError is what becomes of attempts while the store is gone.
type OnStoreError string

// The ways of living without a store.
const (
	OpenWithoutStore   OnStoreError = "open"   // all are admitted
	ClosedWithoutStore OnStoreError = "closed" // all are rejected
)

// Service is what stands behind the limiter.
type Service struct {
	Time      time.Duration // what an admitted request takes
	RoundTrip time.Duration // the way there and back, for every attempt
}

// Kind of a client; it only brings defaults.
type Kind string

// The kinds.
const (
	Batch       Kind = "batch"
	Interactive Kind = "interactive"
	Retrying    Kind = "retrying"
)

// A Client is one tenant of the service, or with Copies above 1 several of them.
type Client struct {
	Name      string
	Kind      Kind
	Weight    int64 // 1 or more
	Cost      int64 // tokens of each attempt, 1 or more
	Arrivals  Arrivals
	Retry     Retry
	Headers   map[string]string
	Endpoint  string
	Start     time.Duration // when it begins
	Stop      time.Duration // when it ends; 0: with the run
	Deadline  time.Duration // a request gives up after it; 0: never
	Copies    int           // 1 or more; clients NAME-1 … NAME-N
	Zipf      float64       // spreads the rate over the copies by 1/rank^Zipf, the sum kept at Copies × rate; 0: all alike
	Guarantee limiter.Rate  // hierarchical: its own guarantee
	Ceiling   limiter.Rate  // hierarchical: its own ceiling
}

// Process is how requests arrive.
type Process string

// The arrival processes.
const (
	Constant Process = "constant" // Rate, Jitter: round a grid, the k-th at phase + k·T + U(−j/2, +j/2)·T
	Poisson  Process = "poisson"  // Rate
	OnOff    Process = "on-off"   // Rate (constant grid) during On, silence during Off
	Ramp     Process = "ramp"     // Poisson, its rate going linearly from From to To in Over, then staying
	Sine     Process = "sine"     // Poisson, its rate Rate·(1 + Amplitude·sin(2πt/Period))
	Closed   Process = "closed"   // Workers: each sends, waits for the end of its request, thinks for Think, and again
	Once     Process = "once"     // Count requests At one moment
	Trace    Process = "trace"    // at the offsets of Trace
)

// Arrivals are an arrival process and its settings; those of other processes are zero.
type Arrivals struct {
	Process   Process
	Rate      limiter.Rate
	Jitter    float64 // 0 to 1, part of the period
	On, Off   time.Duration
	From, To  limiter.Rate // From may be zero (0/s)
	Over      time.Duration
	Amplitude float64 // 0 to 1
	Period    time.Duration
	Workers   int
	Think     time.Duration
	Count     int
	At        time.Duration
	Trace     []time.Duration // ascending
	File      string          // where Trace was read from
}

// Backoff is how the wait before a retry grows.
type Backoff string

// The back-offs.
const (
	NoBackoff   Backoff = "none" // at once
	Fixed       Backoff = "fixed"
	Exponential Backoff = "exponential"
)

// Jitter is how the wait before a retry is spread.
type Jitter string

// The jitters.
const (
	NoJitter     Jitter = "none"
	FullJitter   Jitter = "full"         // U(0, wait); on a told wait only upward: told + U(0, max(told, wait))
	Decorrelated Jitter = "decorrelated" // min(Max, U(Base, 3 × the last wait)); on a told wait only upward
)

// Unlimited as Retry.Attempts: it never gives up (but for its deadline).
const Unlimited = -1

// Retry is what a client does when it is refused.
type Retry struct {
	Attempts        int // retries after the first attempt; Unlimited
	Backoff         Backoff
	Base            time.Duration
	Max             time.Duration
	Jitter          Jitter
	HonorRetryAfter bool
	Budget          float64 // retries as a part of requests; 0: no budget
	On              []int   // status codes that are retried: of 429, 503
}

// A Step of a lesson.
type Step struct {
	Say    string
	Ask    string
	Choice []string
	Reveal string
	Set    []byte // the YAML of the change, applied over the profile; nil: none

	// set is Set as it was read, with its places, and path is its key.
	set  *node
	path string
}
