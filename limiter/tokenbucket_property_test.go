package limiter

import (
	"math"
	"math/big"
	"testing"
	"time"

	xrate "golang.org/x/time/rate"
	"pgregory.net/rapid"
)

// rationalBucket is a greedy token bucket in arithmetic without limits: the oracle.
type rationalBucket struct {
	perNs, burst, level *big.Rat
	last                time.Duration
}

func newRational(cfg BucketConfig, now time.Duration) *rationalBucket {
	initial := cfg.Burst
	if cfg.Initial != nil {
		initial = *cfg.Initial
	}
	return &rationalBucket{big.NewRat(cfg.Rate.Tokens, int64(cfg.Rate.Per)), rational(cfg.Burst), rational(initial), now}
}

func rational(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func (b *rationalBucket) at(now time.Duration) *big.Rat {
	if now <= b.last || b.level.Cmp(b.burst) >= 0 {
		return b.level
	}
	passed := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(int64(now)), big.NewInt(int64(b.last))))
	level := passed.Add(passed.Mul(passed, b.perNs), b.level)
	if level.Cmp(b.burst) > 0 {
		return b.burst
	}
	return level
}

func (b *rationalBucket) set(now time.Duration, level *big.Rat) {
	b.level, b.last = level, max(now, b.last)
}

// wait is the time from now on until the level is cost, rounded up.
func (b *rationalBucket) wait(now time.Duration, cost int64) time.Duration {
	missing := new(big.Rat).Sub(rational(cost), b.level)
	switch {
	case cost <= 0 || missing.Sign() <= 0:
		return 0
	case rational(cost).Cmp(b.burst) > 0:
		return Never
	}
	missing.Quo(missing, b.perNs)
	ns, rest := new(big.Int).QuoRem(missing.Num(), missing.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		ns.Add(ns, big.NewInt(1))
	}
	ns.Add(ns, new(big.Int).Sub(big.NewInt(int64(b.last)), big.NewInt(int64(now))))
	switch {
	case ns.Sign() <= 0:
		return 0
	case !ns.IsInt64():
		return Never
	}
	return time.Duration(ns.Int64())
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// agree fails when bucket and oracle differ in anything at now.
func agree(t interface {
	Helper()
	Fatalf(string, ...any)
}, b *TokenBucket, want *rationalBucket, now time.Duration, cost int64) {
	t.Helper()
	whole, part, of := b.Exact(now)
	got := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), new(big.Int).SetUint64(of))
	if got.Add(got, rational(whole)); got.Cmp(want.at(now)) != 0 {
		t.Fatalf("at %d ns it holds %v tokens, want %v", now, got, want.at(now))
	}
	if got, want := b.Wait(now, cost), want.wait(now, cost); got != want {
		t.Fatalf("at %d ns %d tokens are %d ns away, want %d", now, cost, got, want)
	}
	if full := want.burst.Num().Int64(); want.at(now).Cmp(want.burst) < 0 {
		if got, want := b.Reset(now), want.wait(now, full); got != want {
			t.Fatalf("at %d ns it is full in %d ns, want %d", now, got, want)
		}
	}
}

// drawBucket draws rates from one a day to 10⁹ a second.
func drawBucket(t *rapid.T) BucketConfig {
	per := time.Duration(rapid.SampledFrom([]int64{1, 7, 1000, 1e6, 1e9, 30e9, 3600e9, 86400e9}).Draw(t, "per"))
	burst := rapid.OneOf(rapid.Int64Range(1, 1000), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "burst")
	initial := rapid.Int64Range(0, burst).Draw(t, "initial")
	return BucketConfig{
		Rate:  Rate{Tokens: rapid.Int64Range(1, int64(per)).Draw(t, "tokens"), Per: per},
		Burst: burst, Initial: &initial,
	}
}

func TestTokenBucketIsTheRationalOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawBucket(t)
		b, err := NewTokenBucket(cfg, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := newRational(cfg, 0)
		costs := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, cfg.Burst))
		passing := rapid.OneOf(
			rapid.Int64Range(0, 2*int64(cfg.Rate.Per)),
			rapid.Int64Range(0, int64(5*365*24*time.Hour)),
			rapid.Int64Range(-int64(time.Hour), 0), // the clock steps back
		)
		for now := time.Duration(0); ; {
			cost := costs.Draw(t, "cost")
			agree(t, b, want, now, cost)
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0:
				b.Add(now, cost)
				if sum := new(big.Rat).Add(want.at(now), rational(cost)); sum.Cmp(want.burst) < 0 {
					want.set(now, sum)
				} else {
					want.set(now, want.burst)
				}
			case 1:
				b.Refill(now)
				want.set(now, want.burst)
			case 2:
				if floor(want.at(now)).Cmp(big.NewInt(math.MinInt64/2)) > 0 {
					b.Take(now, cost) // into debt
					want.set(now, new(big.Rat).Sub(want.at(now), rational(cost)))
				}
			default:
				before := *b
				if took := b.TryTake(now, cost); took != (want.wait(now, cost) == 0) || !took && *b != before {
					t.Fatalf("at %d ns taking %d is %v, with a wait of %d ns", now, cost, took, want.wait(now, cost))
				} else if took {
					want.set(now, new(big.Rat).Sub(want.at(now), rational(cost)))
				}
			}
			agree(t, b, want, now, cost)
			next := now + time.Duration(passing.Draw(t, "passed"))
			if next < now-2*time.Hour || rapid.IntRange(0, 30).Draw(t, "end") == 0 {
				return
			}
			now = next
		}
	})
}

// Who is told to wait w and comes again at w is admitted, and 1 ns earlier is not; a refusal and a look change nothing; for each way of
// refilling, whatever the clock does.
func TestTokenBucketKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawBucket(t)
		cfg.Refill = rapid.SampledFrom([]Refill{Greedy, Interval, Aligned}).Draw(t, "refill")
		cfg.Start = time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start"))
		b, err := NewTokenBucket(cfg, 0)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			cost := rapid.Int64Range(1, cfg.Burst).Draw(t, "cost")
			before := *b
			wait := b.Wait(now, cost)
			if *b != before {
				t.Fatal("asking changed the bucket")
			}
			if wait == 0 {
				b.Take(now, cost)
			} else if wait < Never-now {
				if b.Wait(now+wait-1, cost) != 1 {
					t.Fatalf("told to wait %d ns, and 1 ns before that %d ns", wait, b.Wait(now+wait-1, cost))
				}
				if b.Wait(now+wait, cost) != 0 {
					t.Fatalf("told to wait %d ns, and then %d ns", wait, b.Wait(now+wait, cost))
				}
			}
			now = max(0, now+time.Duration(rapid.Int64Range(-int64(time.Second), 3*int64(cfg.Rate.Per)).Draw(t, "passed")))
			level := b.Level(now)
			if b.Take(now-time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "back")), 0); b.Level(now) != level {
				t.Fatalf("an earlier look changed %d tokens to %d", level, b.Level(now))
			}
		}
	})
}

// Over any window of length T admissions add up to at most burst + rate × T, and one period's tokens more
// when it refills by periods.
func TestTokenBucketStaysWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		refill := rapid.SampledFrom([]Refill{Greedy, Interval, Aligned}).Draw(t, "refill")
		per := time.Duration(rapid.Int64Range(1, 1000).Draw(t, "per"))
		tokens, burst := rapid.Int64Range(1, int64(per)).Draw(t, "tokens"), rapid.Int64Range(1, 50).Draw(t, "burst")
		b, err := NewTokenBucket(BucketConfig{
			Rate: Rate{Tokens: tokens, Per: per}, Burst: burst, Refill: refill,
			Start: time.Duration(rapid.Int64Range(0, 2000).Draw(t, "start")),
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		type admission struct {
			at   time.Duration
			cost int64
		}
		var admitted []admission
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "attempts") {
			if cost := rapid.Int64Range(1, burst).Draw(t, "cost"); b.Wait(now, cost) == 0 {
				b.Take(now, cost)
				admitted = append(admitted, admission{now, cost})
			}
			now += time.Duration(rapid.Int64Range(0, 2*int64(per)).Draw(t, "passed"))
		}
		for i, first := range admitted {
			sum := int64(0)
			for _, last := range admitted[i:] {
				sum += last.cost
				bound := burst*int64(per) + tokens*int64(last.at-first.at)
				if refill != Greedy {
					bound += tokens * int64(per)
				}
				if sum*int64(per) > bound {
					t.Fatalf("%d admitted within %d ns of %d tokens every %d ns, burst %d", sum, last.at-first.at, tokens, per, burst)
				}
			}
		}
	})
}

// What a change carries over is what its strategy says, rounded down, and not a part of a token more.
func TestReplacingMintsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawBucket(t)
		b, err := NewTokenBucket(old, 0)
		if err != nil {
			t.Fatal(err)
		}
		oracle := newRational(old, 0)
		taken := rapid.Int64Range(0, math.MaxInt64).Draw(t, "taken")
		b.Take(0, taken)
		oracle.set(0, new(big.Rat).Sub(oracle.level, rational(taken)))
		now := time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "now"))
		before := oracle.at(now)

		next := drawBucket(t)
		next.Refill = rapid.SampledFrom([]Refill{Greedy, Interval}).Draw(t, "refill")
		inherit := rapid.SampledFrom([]Inherit{Proportional, AsIs, Additive, Reset}).Draw(t, "inherit")
		if err := b.Replace(now, next, inherit); err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat).Set(before)
		switch inherit {
		case Proportional:
			want.Mul(want, big.NewRat(next.Burst, old.Burst))
		case Additive:
			want.Add(want, rational(max(0, next.Burst-old.Burst)))
		case Reset:
			want = rational(*next.Initial)
		}
		if want.Cmp(rational(next.Burst)) > 0 {
			want = rational(next.Burst)
		}
		whole, part, of := b.Exact(now)
		if want.Cmp(rational(math.MinInt64)) < 0 {
			if whole != math.MinInt64 {
				t.Fatalf("a debt that cannot be counted became %d", whole)
			}
			return
		}
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), new(big.Int).SetUint64(of))
		lost := new(big.Rat).Sub(want, got.Add(got, rational(whole)))
		step := big.NewRat(1, 1)
		if next.Refill == Greedy {
			step.SetFrac(big.NewInt(1), new(big.Int).SetUint64(of))
		}
		if lost.Sign() < 0 || lost.Cmp(step) >= 0 {
			t.Fatalf("%s: %v tokens became %v, want %v rounded down", inherit, before, got, want)
		}
	})
}

// golang.org/x/time/rate counts in floating point. With rates and times that are powers of two it is exact, and there
// we agree to the nanosecond.
func TestTokenBucketAgreesWithXTimeRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := int64(1) << rapid.IntRange(0, 9).Draw(t, "log2 of the rate")
		burst := rapid.Int64Range(1, 1000).Draw(t, "burst")
		b, err := NewTokenBucket(BucketConfig{Rate: PerSecond(perSecond), Burst: burst}, 0)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Unix(1_000_000, 0)
		theirs := xrate.NewLimiter(xrate.Limit(perSecond), int(burst))
		const tick = time.Second / 512
		now := time.Duration(0)
		for range rapid.IntRange(1, 80).Draw(t, "attempts") {
			cost := rapid.Int64Range(1, burst+1).Draw(t, "cost")
			at := start.Add(now)
			if tokens, level := theirs.TokensAt(at), b.Level(now); int64(math.Floor(tokens)) != level {
				t.Fatalf("at %v: %d tokens, and %v by x/time/rate", now, level, tokens)
			}
			wait := b.Wait(now, cost)
			reservation := theirs.ReserveN(at, int(cost))
			if !reservation.OK() {
				if wait != Never {
					t.Fatalf("at %v cost %d: wait %v, and never by x/time/rate", now, cost, wait)
				}
			} else if delay := reservation.DelayFrom(at); delay != wait {
				t.Fatalf("at %v cost %d: wait %v, and %v by x/time/rate", now, cost, wait, delay)
			} else if wait == 0 || rapid.Bool().Draw(t, "reserve") {
				b.Take(now, cost)
			} else {
				reservation.CancelAt(at)
			}
			now += tick * time.Duration(rapid.Int64Range(0, 1024).Draw(t, "ticks"))
		}
	})
}

// FuzzTokenBucketExtremes looks for a number that makes the arithmetic wrap.
func FuzzTokenBucketExtremes(f *testing.F) {
	f.Add(int64(1), int64(24*time.Hour), int64(1), int64(1), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Add(int64(1_000_000_000), int64(time.Second), int64(math.MaxInt64), int64(math.MaxInt64), int64(3*365*24*time.Hour), int64(1))
	f.Add(int64(999_999_937), int64(1_000_000_000), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(5))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(10), int64(10), int64(7), int64(-3))
	f.Add(int64(math.MaxInt64-1), int64(math.MaxInt64), int64(math.MaxInt64), int64(0), int64(1), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, tokens, per, burst, cost, passed, second int64) {
		cfg := BucketConfig{Rate: Rate{Tokens: tokens, Per: time.Duration(per)}, Burst: burst}
		b, err := NewTokenBucket(cfg, 0)
		if err != nil {
			return
		}
		oracle := newRational(cfg, 0)
		now := time.Duration(0)
		for _, c := range []int64{cost, second, cost, second} {
			agree(t, b, oracle, now, c)
			if c > 0 && floor(oracle.at(now)).Cmp(new(big.Int).Add(big.NewInt(math.MinInt64), big.NewInt(c))) >= 0 {
				b.Take(now, c)
				oracle.set(now, new(big.Rat).Sub(oracle.at(now), rational(c)))
			}
			agree(t, b, oracle, now, second)
			if now <= math.MaxInt64-time.Duration(max(0, passed)) {
				now += time.Duration(passed)
			}
			agree(t, b, oracle, max(0, now), cost)
			now = max(0, now)
		}
	})
}
