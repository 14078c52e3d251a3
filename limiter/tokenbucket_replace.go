package limiter

import (
	"fmt"
	"math/big"
	"time"
)

// Replace changes the configuration of a living bucket. What it holds is carried over as inherit says, fractions of tokens
// and debts too, to the last part that the new rate can count, rounded down. A wrong configuration
// or an unknown strategy is an error and changes nothing.
func (b *TokenBucket) Replace(now time.Duration, cfg BucketConfig, inherit Inherit) error {
	plan, err := cfg.Plan()
	if err != nil {
		return err
	}
	return b.ReplacePlan(now, plan, inherit)
}

// ReplacePlan is Replace with a plan that many buckets share. With before tokens at hand and a burst that
// goes from old to new, the bucket then holds
//
//	proportional   before × new / old
//	as-is          before
//	additive       before, and new − old when the burst grows
//	reset          what a new bucket holds
//
// and never more than new. A refill by periods has no use for fractions: they are dropped.
func (b *TokenBucket) ReplacePlan(now time.Duration, plan *BucketPlan, inherit Inherit) error {
	if p := b.plan; !p.aligned || b.last >= p.start { // else its time has not begun
		now = max(now, b.last)
	}
	b.advance(now)
	next := TokenBucket{plan: plan, last: plan.begin(now)}
	switch inherit {
	case "", Proportional:
		next.set(b.scaled(plan.burst, b.plan.burst))
	case AsIs:
		next.set(b.scaled(1, 1))
	case Additive:
		next.set(b.scaled(1, 1))
		next.Add(next.last, plan.burst-b.plan.burst) // nothing when the burst shrinks
	case Reset:
		next = plan.New(now)
	default:
		return fmt.Errorf("inherit %q is unknown: write %s, %s, %s or %s", inherit, Proportional, AsIs, Additive, Reset)
	}
	*b = next
	return nil
}

// scaled is the level multiplied by num/den, as an exact fraction. Changes of configuration are rare: big
// integers keep this plain, where 192 bits would be needed.
func (b *TokenBucket) scaled(num, den int64) *big.Rat {
	per := new(big.Int).SetUint64(b.plan.per)
	parts := new(big.Int).Mul(big.NewInt(b.level), per)
	parts.Add(parts, new(big.Int).SetUint64(b.rem))
	parts.Mul(parts, big.NewInt(num))
	return new(big.Rat).SetFrac(parts, per.Mul(per, big.NewInt(den)))
}

// set makes the level the largest that the plan can count and that is not above tokens, cut to the burst.
func (b *TokenBucket) set(tokens *big.Rat) {
	per := new(big.Int).SetUint64(b.plan.per)
	if b.plan.grid {
		per.SetInt64(1)
	}
	parts := new(big.Int).Mul(tokens.Num(), per)
	parts.Div(parts, tokens.Denom()) // rounds down, below zero too
	whole, rem := parts.DivMod(parts, per, new(big.Int))
	if whole.Cmp(big.NewInt(b.plan.burst)) >= 0 {
		b.level, b.rem = b.plan.burst, 0
		return
	}
	if whole.IsInt64() {
		b.level, b.rem = whole.Int64(), rem.Uint64()
		return
	}
	b.level, b.rem = -1<<63, 0 // only a debt can be that large
}
