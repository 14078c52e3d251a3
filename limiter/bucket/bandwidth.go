package bucket

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"fairgate/limiter"
)

// A Bandwidth is one limit of a bucket.
type Bandwidth struct {
	// ID pairs this bandwidth with its predecessor when the configuration is replaced. Ids differ within a
	// bucket. No id is an id of its own as long as only one bandwidth has none.
	ID string

	Rate   limiter.Rate
	Burst  int64          // the most that it holds, at least 1
	Refill limiter.Refill // "": greedy

	// Initial is what it holds at first, 0 … Burst; nil: the burst.
	Initial *int64

	// FirstRefill is the moment of the first refill with aligned refill. When it has passed, the next
	// moment that is whole periods later takes its place.
	FirstRefill time.Time

	// Adaptive, with aligned refill, counts the part of the first period that is gone as spent.
	Adaptive bool
}

// Tokens is for the field Initial, which tells none (nil) from nothing (0).
func Tokens(n int64) *int64 { return &n }

// configuration is a checked list of bandwidths. Nothing of it changes but next.
type configuration struct {
	bandwidths []Bandwidth
	plans      []*limiter.BucketPlan
	ids        map[string]int             // -1 where several have none
	next       atomic.Pointer[transition] // set before the next one comes into force
}

// configure checks bandwidths. Periods that nothing aligns are counted from now, or go on as before when the
// configuration that is replaced counted periods too.
func configure(bandwidths []Bandwidth, wallClock bool, now time.Duration, before *configuration) (*configuration, error) {
	if len(bandwidths) == 0 {
		return nil, errors.New("a bucket needs at least one bandwidth")
	}
	c := &configuration{
		bandwidths: append([]Bandwidth(nil), bandwidths...),
		ids:        make(map[string]int, len(bandwidths)),
	}
	for i, bw := range bandwidths {
		if _, taken := c.ids[bw.ID]; taken {
			if bw.ID != "" {
				return nil, fmt.Errorf("two bandwidths have the id %q: give each an id of its own", bw.ID)
			}
			c.ids[""] = -1
		} else {
			c.ids[bw.ID] = i
		}
		cfg := limiter.BucketConfig{
			Rate: bw.Rate, Burst: bw.Burst, Refill: bw.Refill,
			Initial: bw.Initial, Adaptive: bw.Adaptive, Start: now,
		}
		switch {
		case bw.Refill == limiter.Aligned && !wallClock:
			return nil, fmt.Errorf("%s: aligned refill needs a wall clock: set Clock to WallClock or to one whose IsWallClock is true", bw.name(i))
		case bw.Refill == limiter.Aligned && bw.FirstRefill.IsZero():
			return nil, fmt.Errorf("%s: aligned refill needs FirstRefill", bw.name(i))
		case bw.Refill == limiter.Aligned:
			cfg.Start = time.Duration(bw.FirstRefill.UnixNano())
		case !bw.FirstRefill.IsZero():
			return nil, fmt.Errorf("%s: FirstRefill is for aligned refill only", bw.name(i))
		}
		if old := before.pair(c, i); old >= 0 && bw.Refill == limiter.Interval {
			if was := before.plans[old].Config(); was.Refill != limiter.Greedy {
				cfg.Start = was.Start
			}
		}
		plan, err := cfg.Plan()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", bw.name(i), err)
		}
		c.plans = append(c.plans, plan)
	}
	return c, nil
}

// pair is the index of the bandwidth that next's i-th one replaces, -1 when it replaces none.
func (c *configuration) pair(next *configuration, i int) int {
	if c == nil {
		return -1
	}
	id := next.bandwidths[i].ID
	old, ok := c.ids[id]
	if !ok || old < 0 || id == "" && next.unnamed() > 1 {
		return -1
	}
	return old
}

func (c *configuration) unnamed() int {
	n := 0
	for _, bw := range c.bandwidths {
		if bw.ID == "" {
			n++
		}
	}
	return n
}

func (b Bandwidth) name(i int) string {
	if b.ID != "" {
		return fmt.Sprintf("bandwidth %q", b.ID)
	}
	return fmt.Sprintf("bandwidth %d", i+1)
}
