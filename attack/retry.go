package attack

import (
	"math"
	"slices"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

// A budget is counted in millionths of a retry, so that a tenth of a retry per request
// is exact: after 10,000 requests exactly 1,000 retries have been earned.
const (
	oneRetry = 1_000_000
	// budgetCap is how many retries may be saved up, times what one request earns where that is more than one: a quiet
	// hour buys no storm.
	budgetCap = 10
)

// leastPolite is what a client that honours Retry-After waits when it was told nothing usable and has no back-off
// of its own. Obeying "0" to the letter is how a client that means well becomes a flood.
const leastPolite = time.Second

// retrier decides whether a refused attempt is made again, and after what wait.
type retrier struct {
	spec    profiles.Retry
	key     uint64 // of the client's draws
	earning int64  // millionths per request; 0: no budget
	most    int64
	credit  int64
}

func newRetrier(spec profiles.Retry, seed uint64, name string) retrier {
	r := retrier{key: keyOf(seed, name+"/retry")}
	r.change(spec)
	return r
}

// change keeps what was earned, up to the new cap.
func (r *retrier) change(spec profiles.Retry) {
	if len(spec.On) == 0 {
		spec.On = []int{429, 503}
	}
	r.spec = spec
	r.earning = int64(math.Round(spec.Budget * oneRetry))
	r.most = budgetCap * max(oneRetry, r.earning)
	r.credit = min(r.credit, r.most)
}

// earn adds what one new request brings to the budget.
func (r *retrier) earn() {
	if r.earning > 0 {
		r.credit = min(r.credit+r.earning, r.most)
	}
}

// spend takes one retry from the budget; false when there is none left. Without a budget there always is.
func (r *retrier) spend() bool {
	switch {
	case r.earning == 0:
		return true
	case r.credit < oneRetry:
		return false
	}
	r.credit -= oneRetry
	return true
}

// allows reports whether an attempt with this answer is one to be made again, budget and deadline aside.
func (r *retrier) allows(try, status int) bool {
	return (try < r.spec.Attempts || r.spec.Attempts == profiles.Unlimited) && slices.Contains(r.spec.On, status)
}

// wait is how long the client waits after a refused attempt was observed.
func (r *retrier) wait(a Attempt, told time.Duration) time.Duration {
	if r.spec.Attempts == profiles.Unlimited {
		return max(instant, r.planned(a, told))
	}
	return r.planned(a, told)
}

// planned is the wait that its settings ask for. A told wait that is honoured takes the
// place of the back-off and is only ever lengthened by jitter: coming back before the promised moment would be refused for certain.
func (r *retrier) planned(a Attempt, told time.Duration) time.Duration {
	backoff := r.backoff(a)
	if r.spec.HonorRetryAfter {
		switch {
		case told > 0 && (r.spec.Jitter == profiles.FullJitter || r.spec.Jitter == profiles.Decorrelated):
			return later(told, r.draw(a, max(told, backoff)))
		case told > 0:
			return told
		case backoff == 0:
			return leastPolite
		}
	}
	switch {
	case backoff == 0:
		return 0
	case r.spec.Jitter == profiles.FullJitter:
		return r.draw(a, backoff)
	case r.spec.Jitter == profiles.Decorrelated:
		return min(r.longest(), r.spec.Base+r.draw(a, backoff-r.spec.Base))
	}
	return backoff
}

// backoff is the wait without jitter, or with jitter its upper end.
func (r *retrier) backoff(a Attempt) time.Duration {
	base := r.spec.Base
	switch {
	case r.spec.Backoff == profiles.NoBackoff || r.spec.Backoff == "" || base <= 0:
		return 0
	case r.spec.Jitter == profiles.Decorrelated:
		last := max(a.waited, base)
		if last > limiter.Never/3 {
			return limiter.Never
		}
		return 3 * last
	case r.spec.Backoff == profiles.Fixed:
		return base
	}
	most := r.longest()
	if a.Try >= 62 || base > most>>a.Try {
		return most
	}
	return base << a.Try
}

// longest is the longest wait of the back-off.
func (r *retrier) longest() time.Duration {
	if r.spec.Max > 0 {
		return r.spec.Max
	}
	return limiter.Never
}

func (r *retrier) draw(a Attempt, n time.Duration) time.Duration {
	return below(keyed(r.key, a.Request, a.Try), n)
}
