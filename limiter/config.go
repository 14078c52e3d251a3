package limiter

import "time"

// Policy says who may have the capacity.
type Policy string

// The policies. doc.go tells what each is good for.
const (
	Global       Policy = "global"       // one limit for all: first come, first served
	PerClient    Policy = "per-client"   // a limit for each client, under a global cap
	FairQueue    Policy = "fair-queue"   // refused attempts wait in a queue of their client; weighted fair queueing
	Concurrency  Policy = "concurrency"  // at most so many of a client in flight, under the global limit
	Hierarchical Policy = "hierarchical" // a guaranteed rate for each client, the rest borrowed by weight
	Sharded      Policy = "sharded"      // instances that each count apart
)

// Policies lists all policies in the order in which the screen walks them.
var Policies = []Policy{Global, PerClient, FairQueue, Concurrency, Hierarchical, Sharded}

// Algorithm says how one limit is counted.
type Algorithm string

// The algorithms. doc.go gives the bound of each.
const (
	AlgorithmTokenBucket   Algorithm = "token-bucket"
	AlgorithmLeakyBucket   Algorithm = "leaky-bucket"
	AlgorithmGCRA          Algorithm = "gcra"
	AlgorithmFixedWindow   Algorithm = "fixed-window"
	AlgorithmSlidingWindow Algorithm = "sliding-window"
	AlgorithmSlidingLog    Algorithm = "sliding-log"
)

// Algorithms lists all algorithms in the order in which the screen walks them.
var Algorithms = []Algorithm{
	AlgorithmTokenBucket, AlgorithmLeakyBucket, AlgorithmGCRA,
	AlgorithmFixedWindow, AlgorithmSlidingWindow, AlgorithmSlidingLog,
}

// Refill says how a token bucket regains tokens.
type Refill string

// The ways of refilling. The zero value means greedy.
const (
	Greedy   Refill = "greedy"   // continuously, as fast as the rate
	Interval Refill = "interval" // all of a period's tokens at the period's end, periods counted from the start
	Aligned  Refill = "aligned"  // as interval, with the first refill at Config.Start
)

// RetryAfter says what a refused client is told.
type RetryAfter string

// The Retry-After policies. The zero value means exact.
const (
	RetryExact    RetryAfter = "exact"    // the needed wait, rounded up to whole seconds
	RetryAdaptive RetryAfter = "adaptive" // doubled under sustained drops, falling when quiet, at most 32 s
	RetrySlot     RetryAfter = "slot"     // a place of one's own in the future
)

// Inherit says what becomes of the tokens when a limit is changed while it runs.
type Inherit string

// The inheritance strategies. The zero value means proportional.
const (
	Proportional Inherit = "proportional" // the same part of the new capacity
	AsIs         Inherit = "as-is"        // as many tokens, at most the new capacity
	Additive     Inherit = "additive"     // as many, and what the capacity grew by
	Reset        Inherit = "reset"        // as if newly built
)

// Discipline is the order in which a fair queue serves.
type Discipline string

// The disciplines of the fair queue. The zero value means start-time fair queueing.
const (
	StartTime    Discipline = "start-time"    // smallest virtual start time first, by cost over weight
	DeficitRound Discipline = "deficit-round" // deficit round robin
	FIFO         Discipline = "fifo"          // one line for all: what waiting without fairness looks like
)

// Routing says which shard an attempt goes to.
type Routing string

// The ways of routing. The zero value means random.
const (
	Random            Routing = "random"
	RoundRobin        Routing = "round-robin"
	Pinned            Routing = "pinned"              // a client always meets the same shard
	TwoChoices        Routing = "two-choices"         // the fuller of two at random
	TwoChoicesCombine Routing = "two-choices-combine" // and when both refuse, the two together
)

// Bandwidth is a further limit that is counted beside the first: an attempt must pass all.
type Bandwidth struct {
	ID     string
	Rate   Rate
	Burst  int64 // 0: one second's worth, at least 1
	Refill Refill
}

// ClientLimit is what a policy gives each client for its own.
type ClientLimit struct {
	Rate        Rate  // per-client: the client's own rate; its windows are the rate's period
	Burst       int64 // 0: one second's worth, at least 1
	MaxInFlight int   // concurrency: attempts in flight
}

// Queue bounds the waiting of queueing policies.
type Queue struct {
	PerClient int           // attempts that may wait for each client; 0: 50
	MaxWait   time.Duration // longest wait; 0: 250ms. Who has waited exactly so long may still be admitted

	// ForSlot lets attempts beyond MaxInFlight wait for one of their client's to end, instead of
	// being refused; of concurrency.
	ForSlot bool
}

// Config is everything that a Limiter is built from. The zero value of a field means
// the default that its comment names; WithDefaults fills them in and Check
// reports what makes no sense.
type Config struct {
	Policy      Policy    // "": global
	Algorithm   Algorithm // "": token-bucket
	Rate        Rate
	Burst       int64 // 0: one second's worth, at least 1; windows have none: they hold rate × window
	Bandwidths  []Bandwidth
	Refill      Refill
	Initial     *int64        // token-bucket: tokens of the global limit at the start; nil: the burst
	Window      time.Duration // of the global limit of the window algorithms; 0: Rate.Per
	Start       time.Duration // where windows and aligned refills begin, from the start of the run
	Client      ClientLimit
	Queue       Queue
	Order       Discipline // of fair-queue
	Quantum     int64      // of deficit-round; 0: the largest cost that a client has announced
	Guarantee   Rate       // hierarchical: what each client has for certain
	Ceiling     Rate       // hierarchical: what a client may borrow up to; zero: the global rate
	Shards      int        // 0: 1
	Routing     Routing
	Keep        bool          // sharded: each instance enforces the whole rate (divide: false)
	Exchange    time.Duration // sharded: the limit is divided anew by demand this often; 0: never
	MaxReserved *int64        // how far a level may be reserved below zero; policies reserve nothing, so nil or 0 (quota has reservations)
	Shape       bool          // leaky-bucket: admitted attempts are really delayed
	Delay       int64         // shaping: so many attempts in excess pass without delay (nginx's delay=)
	ForgetAfter time.Duration // idle state is dropped after this, whatever it holds; 0: only when it equals a fresh one
	Inherit     Inherit
	RetryAfter  RetryAfter
	Seed        uint64 // of the random routing: the same seed routes alike
}

// A Client is what the limiter knows of one client.
type Client struct {
	Name      string
	Weight    int64 // 0: 1
	MaxCost   int64 // largest cost of its attempts; 0: 1
	Guarantee Rate  // zero: Config.Guarantee
	Ceiling   Rate  // zero: Config.Ceiling
}
