package redislimit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// A bus carries decisions to the server. What is asked while a round trip is on its way goes together with the next, in one write, so that many callers
// cost few round trips; each decision stays a script of its own, and a lone caller waits for nobody.
//
//	callers ──► waiting ──┬─► carrier ──► EVALSHA EVALSHA EVALSHA … ──► Redis
//	                      └─► carrier                                     (at most two on their way)
type bus struct {
	client  *redis.Client
	timeout time.Duration
	pulse   *pulse

	mu       sync.Mutex
	waiting  []*call
	carriers int
}

const (
	mostCarriers = 2   // one is filled while the other is on its way
	mostAtOnce   = 128 // decisions in one write
)

// A call is one decision on its way.
type call struct {
	keys   []string
	args   []any
	asked  time.Time
	left   atomic.Bool   // nobody waits for it any more
	done   chan struct{} // closed when answer or err is there
	answer []int64
	err    error
}

// errBusy is what becomes of a call that has waited half of its time and was not sent. What is sent has the other half to come back: an admission that is
// charged and comes too late would be lost to everybody.
var errBusy = errors.New("more decisions are asked than it answers in time")

// ask carries a call there and back. It returns ctx's error when that ends before; a call that has not been sent by then is not sent at all.
func (b *bus) ask(ctx context.Context, keys []string, args []any) ([]int64, error) {
	c := &call{keys: keys, args: args, asked: time.Now(), done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	if b.carriers < mostCarriers {
		b.carriers++
		go b.carry()
	}
	b.mu.Unlock()
	select {
	case <-c.done:
		return c.answer, c.err
	case <-ctx.Done():
		c.left.Store(true)
		return nil, ctx.Err()
	}
}

// carry goes until nobody waits.
func (b *bus) carry() {
	for {
		b.mu.Lock()
		n := min(len(b.waiting), mostAtOnce)
		if n == 0 {
			b.waiting = nil
			b.carriers--
			b.mu.Unlock()
			return
		}
		calls := append([]*call(nil), b.waiting[:n]...)
		b.waiting = b.waiting[n:]
		b.mu.Unlock()
		b.trip(calls)
	}
}

// trip is one round trip, and a second one for what met a server that does not know the script.
func (b *bus) trip(calls []*call) {
	now := time.Now()
	calls = keep(calls, func(c *call) bool {
		if now.Sub(c.asked) < b.timeout/2 {
			return !c.left.Load()
		}
		c.err = errBusy
		close(c.done)
		return false
	})
	if len(calls) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	send(ctx, b.client, calls)
	if forgot := keep(calls, func(c *call) bool { return redis.HasErrorPrefix(c.err, "NOSCRIPT") }); len(forgot) > 0 {
		if err := decide.Load(ctx, b.client).Err(); err == nil {
			send(ctx, b.client, forgot)
		}
	}
	answered, failure := 0, error(nil)
	for _, c := range calls {
		if c.err == nil {
			answered++
		} else {
			failure = c.err
		}
	}
	b.pulse.observe(time.Now(), answered, failure)
	for _, c := range calls {
		close(c.done)
	}
}

// send asks all at once.
func send(ctx context.Context, client *redis.Client, calls []*call) {
	pipe := client.Pipeline()
	answers := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		answers[i] = pipe.EvalSha(ctx, decide.Hash(), c.keys, c.args...)
	}
	pipe.Exec(ctx) // its error is that of one of them
	for i, c := range calls {
		c.answer, c.err = answers[i].Int64Slice()
	}
}

func keep(calls []*call, which func(*call) bool) []*call {
	var kept []*call
	for _, c := range calls {
		if which(c) {
			kept = append(kept, c)
		}
	}
	return kept
}
