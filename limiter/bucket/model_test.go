package bucket

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"fairgate/limiter"
)

func drawBandwidth(t *rapid.T, label string) Bandwidth {
	per := rapid.SampledFrom([]time.Duration{7, 1000, time.Millisecond, time.Second, 30 * time.Second, time.Minute, 24 * time.Hour}).Draw(t, label+" per")
	tokens := rapid.Int64Range(1, min(int64(per), 2000)).Draw(t, label+" tokens")
	burst := rapid.Int64Range(1, 300).Draw(t, label+" burst")
	return Bandwidth{
		Rate: limiter.Rate{Tokens: tokens, Per: per}, Burst: burst,
		Initial: Tokens(rapid.Int64Range(0, burst).Draw(t, label+" initial")),
	}
}

func drawOp(t *rapid.T) op {
	return op{
		kind:    kind(rapid.IntRange(int(look), int(forceAdd)).Draw(t, "kind")),
		tokens:  rapid.Int64Range(1, 400).Draw(t, "tokens"),
		longest: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "longest")),
		detail:  true,
	}
}

// What one word says is what the exact bucket says, to the nanosecond, whatever happens to it, also where
// the word ends: above the burst, beyond its horizon, under another configuration.
func TestWordIsTheExactBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bw := drawBandwidth(t, "first")
		config, err := configure(only(bw), false, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		word, exact := &core{sync: LockFree}, &core{sync: Mutex}
		word.current.Store(word.settle(newState(config, 0), change{}))
		exact.current.Store(newState(config, 0))
		if word.current.Load().cell == nil && bw.Rate.Per < time.Minute {
			t.Fatalf("%s with burst %d is not kept in a word", bw.Rate, bw.Burst)
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "pause") {
			case 0: // none
			case 1:
				now += time.Duration(rapid.Int64Range(0, int64(10*365*24*time.Hour)).Draw(t, "years"))
			default:
				now += time.Duration(rapid.Int64Range(0, 3*int64(bw.Rate.Per)).Draw(t, "passed"))
			}
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				bw = drawBandwidth(t, "next")
				next, err := configure(only(bw), false, now, config)
				if err != nil {
					t.Fatal(err)
				}
				config = next
				inherit := rapid.SampledFrom([]limiter.Inherit{limiter.Proportional, limiter.AsIs, limiter.Additive, limiter.Reset}).Draw(t, "inherit")
				for _, c := range []*core{word, exact} {
					c.change(change{at: now, to: next, inherit: inherit})
				}
			case 1:
				for _, c := range []*core{word, exact} {
					c.change(change{at: now, to: config, filled: true})
				}
			case 2, 3, 4:
				tokens := rapid.Int64Range(1, 400).Draw(t, "tokens")
				want := exact.doAt(now, op{kind: tryTake, tokens: tokens}).taken > 0
				cell, got, done := word.current.Load().cell, false, false
				if cell != nil {
					got, done = cell.tryTake(now, tokens)
				}
				if !done {
					got = word.doAt(now, op{kind: tryTake, tokens: tokens}).taken > 0
				}
				if got != want {
					t.Fatalf("at %v tryTake(%d) is %v, want %v", now, tokens, got, want)
				}
			default:
				o := drawOp(t)
				got, want := word.doAt(now, o), exact.doAt(now, o)
				got.config, want.config = nil, nil
				if got != want {
					t.Fatalf("at %v operation %+v: %+v, want %+v", now, o, got, want)
				}
			}
		}
	})
}

// A reservation that is cancelled leaves the bucket as if it had never been.
func TestCancelledReservationsLeaveNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bandwidths := []Bandwidth{drawBandwidth(t, "a").with("a"), drawBandwidth(t, "b").with("b")}
		clock := &manualClock{}
		var pair [2]*Bucket
		for i := range pair {
			b, err := New(Config{Bandwidths: bandwidths, Clock: clock, Sync: Mutex})
			if err != nil {
				t.Fatal(err)
			}
			pair[i] = b
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if n := rapid.Int64Range(1, 50).Draw(t, "tokens"); rapid.Bool().Draw(t, "reserve") {
				if r, ok := pair[0].Reserve(n, limiter.Never); ok && !r.Cancel() {
					t.Fatal("not cancelled")
				}
			} else if pair[0].TryTake(n) != pair[1].TryTake(n) {
				t.Fatal("told apart by a taking")
			}
			clock.advance(time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "passed")))
			if a, b := pair[0].Probe(1), pair[1].Probe(1); a != b {
				t.Fatalf("%+v, want %+v", a, b)
			}
		}
	})
}

// Over any window, what was taken stays within burst + rate × T for each bandwidth; a refusal's wait is the first
// moment at which it would be taken; estimates are what probes answer; refusals take nothing.
func TestBucketKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bandwidths := []Bandwidth{drawBandwidth(t, "a").with("a"), drawBandwidth(t, "b").with("b")}
		clock := &manualClock{}
		b, err := New(Config{Bandwidths: bandwidths, Clock: clock, Sync: rapid.SampledFrom([]Sync{LockFree, Mutex, None}).Draw(t, "sync")})
		if err != nil {
			t.Fatal(err)
		}
		type taking struct {
			at time.Duration
			n  int64
		}
		var takings []taking
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n := rapid.Int64Range(1, 60).Draw(t, "tokens")
			before, estimated := b.Available(), b.Estimate(n)
			p := b.Probe(n)
			switch {
			case p.Taken != estimated.Taken || p.Wait != estimated.Wait:
				t.Fatalf("estimated %+v, probed %+v", estimated, p)
			case p.Taken:
				takings = append(takings, taking{clock.Now(), n})
				if p.Remaining != before-n {
					t.Fatalf("%d of %d taken, %d left", n, before, p.Remaining)
				}
			case p.Remaining != before:
				t.Fatalf("a refusal changed %d to %d", before, p.Remaining)
			case p.Wait != limiter.Never && p.Wait < time.Hour:
				clock.advance(p.Wait - 1)
				if b.Estimate(n).Taken {
					t.Fatalf("taken 1 ns before the wait of %v was over", p.Wait)
				}
				clock.advance(1)
				if !b.TryTake(n) {
					t.Fatalf("refused after the wait of %v", p.Wait)
				}
				takings = append(takings, taking{clock.Now(), n})
			}
			clock.advance(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "passed")))
		}
		for i := range takings {
			sum := int64(0)
			for _, last := range takings[i:] {
				sum += last.n
				for _, bw := range bandwidths {
					gained := float64(last.at-takings[i].at) * float64(bw.Rate.Tokens) / float64(bw.Rate.Per)
					if float64(sum) > float64(bw.Burst)+gained+1e-3 {
						t.Fatalf("%d taken within %v from %s with burst %d", sum, last.at-takings[i].at, bw.Rate, bw.Burst)
					}
				}
			}
		}
	})
}
