package limiter

import (
	"math"
	"math/bits"
	"time"
)

// A TokenBucket holds up to a burst of tokens, regains them at a rate, and may be taken below zero: it is then in
// debt, and what comes in pays the debt first.
//
// Its bound: over any window of length T, admissions add up to at most burst + rate × T when it refills greedily,
// and to at most one period's tokens more when it refills by periods.
//
// Nothing is rounded away. With greedy refill the level is a whole number of tokens and a
// remainder, counted in parts of a token as small as one nanosecond of refill needs:
//
//	rate 100/s = 1 token every 10,000,000 ns      level 3, rem 2,500,000: 3.25 tokens
//
// A full bucket holds exactly the burst: what comes in above is lost, the remainder too.
//
// The state is 32 bytes; the plan is shared. A TokenBucket may be copied, and the copy goes its own way.
// Asking changes nothing. Only Take, Add, ForceAdd, Refill and Replace do, and they
// never move the bucket's own time back: an earlier now counts as no time passed, and a wait asked for then is
// the longer by what the clock lacks.
type TokenBucket struct {
	plan  *BucketPlan
	level int64         // whole tokens, negative in debt; above the burst only after ForceAdd
	rem   uint64        // parts of a token, below plan.per; always 0 on a grid and when full
	last  time.Duration // refilled up to here; on a grid always a point of it
}

// NewTokenBucket is a bucket of its own plan as it begins its life at now. For many buckets of one configuration make
// the plan once: see BucketConfig.Plan and BucketPlan.New.
func NewTokenBucket(cfg BucketConfig, now time.Duration) (*TokenBucket, error) {
	plan, err := cfg.Plan()
	if err != nil {
		return nil, err
	}
	b := plan.New(now)
	return &b, nil
}

// Plan is what the bucket fills by.
func (b *TokenBucket) Plan() *BucketPlan { return b.plan }

// Wait is the exact time until cost tokens are there if nobody else takes any, rounded up to the next nanosecond: 0 when they
// are there now, Never when cost is above the burst, or when the wait is longer than a time.Duration
// can say. A cost of zero or less only looks, and never waits.
func (b *TokenBucket) Wait(now time.Duration, cost int64) time.Duration {
	if cost <= b.level || cost <= 0 {
		return 0
	}
	if cost > b.plan.burst {
		return Never
	}
	return b.until(now, cost)
}

// until is the time until the level is target, which is above b.level and at most the burst.
func (b *TokenBucket) until(now time.Duration, target int64) time.Duration {
	if b.reaches(now, target) { // most who ask may pass: tell them without dividing
		return 0
	}
	after := b.plan.regain(target, b.level, b.rem)
	if now >= b.last {
		return clampWait(after - (uint64(now) - uint64(b.last)))
	}
	behind := uint64(b.last) - uint64(now)
	if after > math.MaxUint64-behind {
		return Never
	}
	return clampWait(after + behind)
}

func clampWait(ns uint64) time.Duration {
	if ns > math.MaxInt64 {
		return Never
	}
	return time.Duration(ns)
}

// Holds reports whether cost tokens are there now: whether Wait is 0. It is cheaper than Wait, for it does not divide.
func (b *TokenBucket) Holds(now time.Duration, cost int64) bool {
	return cost <= b.level || cost <= 0 || cost <= b.plan.burst && b.reaches(now, cost)
}

// TryTake takes cost tokens if they are there now.
func (b *TokenBucket) TryTake(now time.Duration, cost int64) bool {
	if !b.Holds(now, cost) {
		return false
	}
	b.Take(now, cost)
	return true
}

// reaches reports whether the level is target at now, which is above b.level and at most the burst.
func (b *TokenBucket) reaches(now time.Duration, target int64) bool {
	p := b.plan
	if now <= b.last {
		return false
	}
	passed := uint64(now) - uint64(b.last)
	if p.grid {
		return p.regain(target, b.level, b.rem) <= passed
	}
	missHi, missLo := bits.Mul64(uint64(target)-uint64(b.level), p.per)
	gainHi, gainLo := bits.Mul64(passed, p.tokens)
	gainLo, carry := bits.Add64(gainLo, b.rem, 0)
	gainHi += carry
	return gainHi > missHi || gainHi == missHi && gainLo >= missLo
}

// Take takes cost tokens, also below zero. A cost of zero or less takes nothing. A debt of more than
// 2⁶³ tokens stays at 2⁶³.
func (b *TokenBucket) Take(now time.Duration, cost int64) {
	b.advance(now)
	if cost <= 0 {
		return
	}
	if b.level < math.MinInt64+cost {
		b.level = math.MinInt64
		return
	}
	b.level -= cost
}

// Add gives tokens back, up to the burst. A bucket above its burst stays as it is.
func (b *TokenBucket) Add(now time.Duration, tokens int64) {
	b.advance(now)
	if tokens <= 0 || b.level >= b.plan.burst {
		return
	}
	if uint64(tokens) >= uint64(b.plan.burst)-uint64(b.level) {
		b.level, b.rem = b.plan.burst, 0
		return
	}
	b.level += tokens
}

// ForceAdd gives tokens also above the burst, where they stay until they are taken. More
// than 2⁶³ − 1 it cannot hold.
func (b *TokenBucket) ForceAdd(now time.Duration, tokens int64) {
	b.advance(now)
	if tokens <= 0 {
		return
	}
	if b.level > math.MaxInt64-tokens {
		b.level = math.MaxInt64
	} else {
		b.level += tokens
	}
	if b.level >= b.plan.burst {
		b.rem = 0
	}
}

// Refill fills the bucket to its burst at once; tokens above the burst are gone too.
func (b *TokenBucket) Refill(now time.Duration) {
	b.advance(now)
	b.level, b.rem = b.plan.burst, 0
}

// Level is the whole tokens at now, negative in debt: −0.5 tokens are −1.
func (b *TokenBucket) Level(now time.Duration) int64 {
	at := *b
	at.advance(now)
	return at.level
}

// Exact is the level at now to the last part: whole + part/of tokens, part below of.
func (b *TokenBucket) Exact(now time.Duration) (whole int64, part, of uint64) {
	at := *b
	at.advance(now)
	return at.level, at.rem, at.plan.per
}

// Remaining is the whole tokens at now, at least 0.
func (b *TokenBucket) Remaining(now time.Duration) int64 { return max(0, b.Level(now)) }

// Reset is the time until the bucket is full, 0 when it is; Never when it is longer than a time.Duration can say.
func (b *TokenBucket) Reset(now time.Duration) time.Duration {
	if b.level >= b.plan.burst {
		return 0
	}
	return b.until(now, b.plan.burst)
}

// Repaid is the time until no debt is left: when what was reserved by Take may begin.
func (b *TokenBucket) Repaid(now time.Duration) time.Duration {
	if b.level >= 0 {
		return 0
	}
	return b.until(now, 0)
}

// Fresh reports whether a bucket that is built at now would be the same in all that it will ever answer. Only then may
// it be forgotten. A bucket that begins with less than its burst is not fresh when it is full.
func (b *TokenBucket) Fresh(now time.Duration) bool {
	at := *b
	at.advance(now)
	return at == b.plan.New(now)
}

// advance puts in what has come since last.
func (b *TokenBucket) advance(now time.Duration) {
	if now <= b.last {
		return
	}
	p := b.plan
	if p.grid {
		b.advancePeriods(now)
		return
	}
	passed := uint64(now) - uint64(b.last)
	b.last = now
	if b.level >= p.burst {
		return
	}
	hi, lo := bits.Mul64(passed, p.tokens)
	lo, carry := bits.Add64(lo, b.rem, 0)
	hi += carry
	if hi == 0 && lo < p.per { // no whole token yet: the usual case under load
		b.rem = lo
		return
	}
	room := uint64(p.burst) - uint64(b.level)
	roomHi, roomLo := bits.Mul64(room, p.per)
	if hi > roomHi || hi == roomHi && lo >= roomLo { // full: the usual case of a client that comes now and then
		b.level, b.rem = p.burst, 0
		return
	}
	var gain uint64
	if hi == 0 {
		gain = lo / p.per
		b.rem = lo - gain*p.per
	} else { // below per, for no rate is above a token a nanosecond
		gain, b.rem = bits.Div64(hi, lo, p.per)
	}
	b.level += int64(gain)
}

// advancePeriods puts in the tokens of the periods that have ended since last.
func (b *TokenBucket) advancePeriods(now time.Duration) {
	p := b.plan
	passed := uint64(now) - uint64(b.last)
	periods := passed / p.per
	if periods == 0 {
		return
	}
	b.last += time.Duration(periods * p.per)
	if b.level >= p.burst {
		return
	}
	gain := periods * p.tokens // below 2⁶⁴, for no rate is above a token a nanosecond
	if gain >= uint64(p.burst)-uint64(b.level) {
		b.level = p.burst
		return
	}
	b.level += int64(gain)
}
