// Package quota keeps named limits, each for any number of keys: "ten failed logins an hour for each address".
//
//	limits, err := quota.New(quota.Config{Limits: map[string]quota.Limit{
//		"failed-logins": {Rate: limiter.Rate{Tokens: 10, Per: time.Hour}},
//		"messages":      {Rate: limiter.Rate{Tokens: 10, Per: time.Minute}, Capacity: 3},
//	}})
//	…
//	if err := limits.Require("failed-logins", quota.Request{Key: address}); err != nil {
//		return err // *Exceeded: it knows when to come again
//	}
//	…
//	limits.Reset("failed-logins", address) // the password was right
//
// A limit is a token bucket, or a fixed window: the same thing with a refill of the whole rate at the end of each
// period. A capacity above the rate lets what was not used roll over.
//
// # Reserving
//
// A request may reserve instead of being refused: it is charged now, into debt, and told when it may be carried out. The limit's
// MaxReserved says how far the debt may go. Without reservations the level never goes below 0; with them never
// below −MaxReserved. A reservation that is refused is told when it would pass as one, which is sooner than when the
// tokens are there, and not at all only above the capacity and MaxReserved together (the shares of one shard).
//
// # Shards
//
// A limit may be split as if by m independent instances: each has an m-th of rate, capacity and MaxReserved. So that
// nothing is lost by dividing, a shard counts in m-ths of a token: its bucket has the undivided rate and
// capacity, and a request of one token costs m.
//
//	capacity 2 in 4 shards, in quarters:   [2] [2] [2] [2]      one token = 4 quarters
//	one request, two shards at random:      └──┴─ neither holds 4, both together do: [0] [0] [2] [2]
//
// From three shards on, two at random are looked at and the fuller one is charged; with two, both are looked
// at. When neither has enough, they pay together. A reservation goes into the debt of the fuller one. A refusal can still happen while
// other shards hold plenty, and its wait is exact for the two that were looked at only: the next request for the key
// draws anew. The draw depends on the seed, the key and how often it was asked, so that Check sees
// the shards that Take will.
package quota
