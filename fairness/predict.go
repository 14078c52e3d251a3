package fairness

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Forecast is the question that Predict answers: requests arrive at random, independently of
// each other, and a limit counts them in windows.
type Forecast struct {
	Rate     float64       // the limit, per second
	Arrivals float64       // requests per second, first attempts only
	Shards   int           // instances that the limit is divided among; at least 1
	Retries  int           // how often a refused request is tried again, each time in a later window
	Window   time.Duration // over which the limit counts; 0: a second
	AtMost   float64       // part of the attempts that may be refused, for SmallestLimit; 0: 0.001
}

// Prediction is what to expect; rates are per second, over all shards.
type Prediction struct {
	Schema       int    `json:"schema"` // 1
	Rate         Number `json:"rate_per_s"`
	Arrivals     Number `json:"arrivals_per_s"`
	Shards       int    `json:"shards"`
	Window       Number `json:"window_s"`
	Retries      int    `json:"retries"`
	FullWindow   Number `json:"full_window_probability"`      // that a shard refuses somebody in a window, without retries
	Rejected     Number `json:"rejected_per_s"`               // without retries
	NaiveRetries Number `json:"rejected_per_s_naive_retries"` // as if each rejection simply came so many times more
	WithRetries  Number `json:"rejected_per_s_with_retries"`  // with retries that meet the limit like all others
	RejectRatio  Number `json:"reject_ratio"`                 // rejections over attempts, with retries
	Enforced     Number `json:"enforced_per_s"`               // what the shards admit at most together

	Attempts      Number       `json:"attempts_per_s"`            // with retries
	Failed        Number       `json:"failed_per_s"`              // requests that fail for good
	PerShard      Number       `json:"rejected_per_s_per_shard"`  // without retries
	ShardLimit    int64        `json:"shard_limit"`               // of one shard in one window
	Crowd         Number       `json:"arrivals_in_a_full_window"` // E[X | X > limit] of one shard, without retries
	AtMost        Number       `json:"at_most"`                   // the part that SmallestLimit keeps to
	SmallestLimit Number       `json:"smallest_rate_per_s"`       // the smallest limit at which no larger part of the attempts is refused, retries included
	ByShards      []ShardCount `json:"by_shards"`
	Assumptions   []string     `json:"assumptions"`
}

// ShardCount is a line of the table over numbers of shards.
type ShardCount struct {
	Shards      int    `json:"shards"`
	Rejected    Number `json:"rejected_per_s"`
	WithRetries Number `json:"rejected_per_s_with_retries"`
	Enforced    Number `json:"enforced_per_s"`
}

// mostArrivals bounds the mean of a window, up to which the sums are exact and quick.
const mostArrivals = 1e6

// check reports what is wrong with the question.
func (f *Forecast) check() error {
	if f.Window == 0 {
		f.Window = time.Second
	}
	if f.AtMost == 0 {
		f.AtMost = 0.001
	}
	per := f.Window.Seconds()
	switch {
	case f.Window < 0:
		return fmt.Errorf("window %v must be above zero, as 1s", f.Window)
	case !(f.Rate > 0) || math.IsInf(f.Rate, 0):
		return fmt.Errorf("rate %v must be above zero, as 150/s", f.Rate)
	case !(f.Arrivals > 0) || math.IsInf(f.Arrivals, 0):
		return fmt.Errorf("arrivals %v must be above zero, as 136.28/s", f.Arrivals)
	case f.Arrivals*per > mostArrivals || f.Rate*per > mostArrivals:
		return fmt.Errorf("arrivals of %v/s at a limit of %v/s are more than %v in a window of %v: make the window shorter", f.Arrivals, f.Rate, mostArrivals, f.Window)
	case f.Shards < 1:
		return fmt.Errorf("shards %d must be 1 or more", f.Shards)
	case f.Shards > 100_000:
		return fmt.Errorf("shards %d are more than 100000", f.Shards)
	case f.Retries < 0 || f.Retries > 1000:
		return fmt.Errorf("retries %d must be from 0 to 1000", f.Retries)
	case f.AtMost < 0 || f.AtMost >= 1:
		return fmt.Errorf("the part %v that may be refused must lie between 0 and 1, as 0.001", f.AtMost)
	}
	return nil
}

// Predict says how many rejections a limit makes that is, on average, not reached. In a window a shard meets a Poisson
// number X of attempts and refuses (X − limit)+ of them, whose mean is P(X > limit) × E[X − limit | X > limit].
//
// Retries come in a later window and are as random as the rest, so the attempts per second a are the solution of
//
//	a = arrivals × (1 + r + … + r^retries),  r = rejected(a) / a
//
// which is found by starting without retries and letting them come until nothing changes: the smallest solution, the one that a
// system reaches that was not overloaded before.
func Predict(f Forecast) (Prediction, error) {
	if err := f.check(); err != nil {
		return Prediction{}, err
	}
	per := f.Window.Seconds()
	mean := f.Arrivals * per / float64(f.Shards)
	limit := f.shardLimit(f.Shards)
	tail, excess := poissonExcess(mean, limit)
	attempts, rejected := f.settle(f.Shards, limit)
	p := Prediction{
		Schema: 1, Rate: Number(f.Rate), Arrivals: Number(f.Arrivals), Shards: f.Shards, Window: Number(per), Retries: f.Retries,
		FullWindow: Number(tail), Rejected: Number(excess * float64(f.Shards) / per), PerShard: Number(excess / per),
		NaiveRetries: Number(excess * float64(f.Shards) / per * float64(f.Retries+1)),
		WithRetries:  Number(rejected), RejectRatio: ratio(rejected, attempts), Attempts: Number(attempts),
		Failed:     Number(f.Arrivals * math.Pow(rejected/attempts, float64(f.Retries+1))),
		Enforced:   Number(float64(limit*int64(f.Shards)) / per),
		ShardLimit: limit, Crowd: None,
		AtMost: Number(f.AtMost), SmallestLimit: Number(f.smallest()),
	}
	if tail > 0 {
		p.Crowd = Number(float64(limit) + excess/tail)
	}
	for _, m := range f.table() {
		l := f.shardLimit(m)
		_, e := poissonExcess(f.Arrivals*per/float64(m), l)
		_, again := f.settle(m, l)
		p.ByShards = append(p.ByShards, ShardCount{
			Shards: m, Rejected: Number(e * float64(m) / per), WithRetries: Number(again), Enforced: Number(float64(l*int64(m)) / per),
		})
	}
	p.Assumptions = f.assumptions()
	return p, nil
}

// shardLimit is what each of so many shards admits in a window: whole attempts only.
func (f *Forecast) shardLimit(shards int) int64 {
	whole := f.Rate * f.Window.Seconds()
	if r := math.Round(whole); math.Abs(whole-r) < 1e-9*whole {
		whole = r
	}
	return int64(whole) / int64(shards)
}

// settle finds attempts and rejections per second when refused requests come again.
func (f *Forecast) settle(shards int, limit int64) (attempts, rejected float64) {
	scale := float64(shards) / f.Window.Seconds() // from a shard's window to all shards' second
	attempts = f.Arrivals
	for range 5000 {
		_, excess := poissonExcess(attempts/scale, limit)
		rejected = excess * scale
		if f.Retries == 0 {
			break
		}
		r := rejected / attempts
		next := f.Arrivals * tries(r, f.Retries)
		if math.Abs(next-attempts) <= 1e-12*next {
			break
		}
		attempts = next
	}
	return attempts, rejected
}

// tries is 1 + r + … + r^retries: the attempts that a request makes when each is refused with probability r.
func tries(r float64, retries int) float64 {
	if r >= 1 {
		return float64(retries + 1)
	}
	return (1 - math.Pow(r, float64(retries+1))) / (1 - r)
}

// smallest is the smallest rate, in whole attempts for each shard and window, that refuses no larger part than AtMost.
func (f *Forecast) smallest() float64 {
	refuses := func(limit int64) bool {
		attempts, rejected := f.settle(f.Shards, limit)
		return rejected > f.AtMost*attempts
	}
	low, high := int64(0), int64(1)
	for refuses(high) {
		low, high = high, 2*high
	}
	for low+1 < high {
		if middle := (low + high) / 2; refuses(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return float64(high*int64(f.Shards)) / f.Window.Seconds()
}

// table are the numbers of shards to compare: the asked one among some usual ones.
func (f *Forecast) table() []int {
	counts := []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, f.Shards}
	slices.Sort(counts)
	return slices.Compact(counts)
}

func (f *Forecast) assumptions() []string {
	a := []string{
		"requests arrive independently of each other (Poisson), at the same rate all the time",
		fmt.Sprintf("the limit counts in windows of %v that begin anew, and refused attempts are not counted", f.Window),
	}
	if f.Shards > 1 {
		a = append(a, fmt.Sprintf("each request meets one of %d shards at random, and each shard admits %d in a window, whatever the others do", f.Shards, f.shardLimit(f.Shards)))
	}
	if f.Retries > 0 {
		a = append(a, "a retry comes in a later window, at random, and is refused with the same probability as any other attempt; retries at once meet the same full window and do worse")
	}
	return a
}
