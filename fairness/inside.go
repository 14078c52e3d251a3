package fairness

import "time"

// Inside is what a limiter holds at one moment, for a screen: plain data, whatever limiter it came from.
type Inside struct {
	Levels      []Level        // the limit for all, its further bandwidths after it; of a sharded limit their sum
	Shards      []Level        // each instance of a sharded limit, at most MostInside of them
	ShardCount  int            // how many there are
	Clients     []InsideClient // in the order of Snapshot.Clients; nil when there are more than MostInside
	Waiting     int            // attempts that wait
	VirtualTime Number         // of fair queueing: tokens that a client of weight 1 with a backlog has been served; none elsewhere
}

// MostInside is how many clients and shards are pictured.
const MostInside = 1000

// Level is how full a limit is.
type Level struct {
	Name      string
	Rate      string // as it was written
	Capacity  int64
	Remaining int64         // whole tokens that could be taken
	Reset     time.Duration // until it is full again
	Demand    int64         // of a shard: attempts since the limit was last divided
}

// InsideClient is what the limiter holds of one client.
type InsideClient struct {
	Own      Level // its own limit; of no capacity where the policy gives it none
	Queued   int
	InFlight int
	Start    Number // of fair queueing: the virtual time at which its next attempt would be served; none elsewhere
}

// Alternative is what another policy would make of the same arrivals, over the same window.
type Alternative struct {
	Policy  string
	Limiter Limit
	Window  time.Duration
	Measures
}
