package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	golimiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"golang.org/x/time/rate"

	"fairgate/limiter"
	"fairgate/limiter/bucket"
	"fairgate/limiter/keyed"
)

const clients = 100_000

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// duels are the comparisons, each with the real clock. Refusing is measured apart from admitting, since
// an overload consists of refusals.
func duels() []duel {
	return []duel{
		{"alone, admitting", "x/time/rate", alone(ours(plenty)), alone(xtime(plenty)), 0.6},
		{"alone, refusing", "x/time/rate", alone(ours(scarce)), alone(xtime(scarce)), 0.6},
		{"two cores, admitting", "x/time/rate", contended(ours(plenty)), contended(xtime(plenty)), 0.6},
		{"two cores, refusing", "x/time/rate", contended(ours(scarce)), contended(xtime(scarce)), 0.6},
		{"100,000 keys, admitting", "go-limiter", walk(ourKeys(plenty)), walk(goLimiterKeys(plenty)), 0.7},
		{"100,000 keys, refusing", "go-limiter", walk(ourKeys(scarce)), walk(goLimiterKeys(scarce)), 0.7},
	}
}

// asides are comparisons without a target: what a decision costs when the time is given, as it is in a simulation.
func asides() []duel {
	return []duel{
		{"bucket, time given", "x/time/rate", timed(ourBucket()), timed(xtimeAt()), 0},
		{"engine, global policy, time given", "x/time/rate", timed(ourEngine(limiter.Global)), timed(xtimeAt()), 0},
		{"engine, per-client policy, time given", "x/time/rate", timed(ourEngine(limiter.PerClient)), timed(xtimeAt()), 0},
	}
}

func ourBucket() func(now time.Duration) bool {
	b := must(limiter.NewTokenBucket(limiter.BucketConfig{Rate: limiter.PerSecond(1_000_000), Burst: 1000}, 0))
	return func(now time.Duration) bool { return b.TryTake(now, 1) }
}

func xtimeAt() func(now time.Duration) bool {
	l, start := rate.NewLimiter(1_000_000, 1000), time.Now()
	return func(now time.Duration) bool { return l.AllowN(start.Add(now), 1) }
}

func ourEngine(p limiter.Policy) func(now time.Duration) bool {
	l := must(limiter.New(limiter.Config{
		Policy: p, Rate: limiter.PerSecond(1_000_000), Burst: 1000,
		Client: limiter.ClientLimit{Rate: limiter.PerSecond(1_000_000), Burst: 1000},
	}))
	client := l.Join(0, limiter.Client{Name: "ada"})
	id := uint64(0)
	return func(now time.Duration) bool {
		id++
		a := limiter.Attempt{Client: client, ID: id, Cost: 1}
		if l.Arrive(now, a).Verdict != limiter.Admitted {
			return false
		}
		l.Release(now, a)
		return true
	}
}

// timed lets 900 ns pass from one decision to the next: nine in ten are admitted.
func timed(decide func(now time.Duration) bool) func(b *testing.B) {
	now := time.Duration(0)
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			now += 900
			decide(now)
		}
	}
}

// plenty never runs out while it is measured, scarce is empty nearly all the time.
var (
	plenty = limiter.PerSecond(1_000_000_000)
	scarce = limiter.PerSecond(1)
)

func ours(r limiter.Rate) func() bool {
	b := must(bucket.New(bucket.Config{Bandwidths: []bucket.Bandwidth{{Rate: r, Burst: r.Tokens}}}))
	return func() bool { return b.TryTake(1) }
}

func xtime(r limiter.Rate) func() bool {
	return rate.NewLimiter(rate.Limit(r.PerSecond()), int(r.Tokens)).Allow
}

func alone(decide func() bool) func(b *testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decide()
		}
	}
}

func contended(decide func() bool) func(b *testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				decide()
			}
		})
	}
}

func ourKeys(r limiter.Rate) func(key string) bool {
	b := must(keyed.NewBuckets(limiter.BucketConfig{Rate: r, Burst: r.Tokens}))
	start := time.Now()
	return func(key string) bool { return b.TryTake(time.Since(start), key, 1) }
}

func goLimiterKeys(r limiter.Rate) func(key string) bool {
	store := must(goLimiter(r))
	ctx := context.Background()
	return func(key string) bool {
		_, _, _, ok, _ := store.Take(ctx, key)
		return ok
	}
}

func goLimiter(r limiter.Rate) (golimiter.Store, error) {
	return memorystore.New(&memorystore.Config{Tokens: uint64(r.Tokens), Interval: r.Per, SweepInterval: time.Hour, SweepMinTTL: time.Hour})
}

// walk asks for the keys one after the other. They are copies of those that the store holds, and were stored in
// another order: as with requests, the key at hand is near and what is stored is anywhere.
func walk(decide func(key string) bool) func(b *testing.B) {
	keys, stored := names(clients), names(clients)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(clients) {
		decide(stored[i])
	}
	return func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			decide(keys[i])
			if i++; i == clients {
				i = 0
			}
		}
	}
}

func names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("client-%d", i)
	}
	return names
}
