package fairness

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A tenant of a test's run: it sends evenly, and each refusal is retried at once, so many times.
type tenant struct {
	name    string
	rate    float64 // requests per second
	poisson bool
	cost    int64
	weight  int64
	retries int
	from    time.Duration
	until   time.Duration
	clump   int // requests that come at once; 0: 1
}

type event struct {
	at     time.Duration
	client int
	left   int
	first  bool
}

// schedule is a heap of events by time.
type schedule []event

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, k int) bool { return s[i].at < s[k].at }
func (s schedule) Swap(i, k int)      { s[i], s[k] = s[k], s[i] }
func (s *schedule) Push(e any)        { *s = append(*s, e.(event)) }
func (s *schedule) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// plan draws the moments of all requests.
func plan(tenants []tenant, length time.Duration, seed uint64) []event {
	var events []event
	for i, c := range tenants {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		clump := max(c.clump, 1)
		gap := float64(time.Second) / c.rate * float64(clump)
		at := float64(c.from) + r.Float64()*gap
		until := length
		if c.until > 0 {
			until = min(until, c.until)
		}
		for at < float64(until) {
			for range clump {
				events = append(events, event{at: time.Duration(at), client: i, left: c.retries, first: true})
			}
			if c.poisson {
				at += r.ExpFloat64() * gap
			} else {
				at += gap
			}
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	return events
}

// A decider is a limiter of a test: whether an attempt is admitted, and else by which reason.
type decider func(at time.Duration, client int) (ok bool, by uint8)

// lottery admits by arrival order from one bucket.
func lottery(tenants []tenant, rate, burst float64) decider {
	level, last := burst, time.Duration(0)
	return func(at time.Duration, client int) (bool, uint8) {
		level = min(burst, level+(at-last).Seconds()*rate)
		last = at
		if cost := float64(max(tenants[client].cost, 1)); level >= cost-1e-9 {
			level -= cost
			return true, 0
		}
		return false, 0
	}
}

// each gives every client a bucket of its own.
func each(tenants []tenant, rates []float64, burst float64) decider {
	own := make([]decider, len(tenants))
	for i := range own {
		own[i] = lottery(tenants, rates[i], burst)
	}
	return func(at time.Duration, client int) (bool, uint8) {
		ok, _ := own[client](at, client)
		return ok, 1
	}
}

func clientsOf(tenants []tenant) []Client {
	var clients []Client
	for _, c := range tenants {
		clients = append(clients, Client{Name: c.name, Kind: "test", Weight: max(c.weight, 1), Cost: max(c.cost, 1), Expected: c.rate})
	}
	return clients
}

func global(rate float64, burst int64) Limit {
	return Limit{Policy: "global", Algorithm: "token-bucket", RatePerS: Number(rate), Burst: burst, ClientRatePerS: None, Shards: 1, RetryAfter: "exact", Capacity: rate}
}

const trip = time.Millisecond // from sending to seeing, half of it each way

// drive runs the tenants against a decider and counts all in the tally; at, if given, sees every moment.
func drive(t *Tally, tenants []tenant, d decider, length time.Duration, seed uint64, at func(time.Duration)) {
	events := plan(tenants, length, seed)
	type answer struct {
		o    Outcome
		left int
	}
	var answers []answer // in order of Seen, since every trip is as long
	var retries schedule
	r := rand.New(rand.NewPCG(seed, 1<<32))
	next := time.Duration(0)
	settle := func(now time.Duration) {
		for len(answers) > 0 && answers[0].o.Seen <= now {
			a := answers[0]
			answers = answers[1:]
			t.Observe(a.o)
			switch {
			case a.o.Kind == Admitted:
				t.Ended(a.o.Seen, a.o.Client, Served)
			case a.left > 0:
				// Somewhat later, so that retries do not walk in step with the bucket.
				heap.Push(&retries, event{at: a.o.Seen + time.Duration(r.Int64N(int64(10*trip))), client: a.o.Client, left: a.left - 1})
			default:
				t.Ended(a.o.Seen, a.o.Client, GaveUp)
			}
		}
	}
	for {
		now := length
		if len(events) > 0 {
			now = min(now, events[0].at)
		}
		if len(retries) > 0 {
			now = min(now, retries[0].at)
		}
		if len(answers) > 0 {
			now = min(now, answers[0].o.Seen)
		}
		for at != nil && next <= now {
			at(next)
			next += 100 * time.Millisecond
		}
		if now >= length {
			return
		}
		settle(now)
		for {
			var e event
			if len(retries) > 0 && retries[0].at <= now {
				e = heap.Pop(&retries).(event)
			} else if len(events) > 0 && events[0].at <= now {
				e, events = events[0], events[1:]
			} else {
				break
			}
			t.Sent(e.at, 0, e.client, e.first)
			decided := e.at + trip/2
			ok, by := d(decided, e.client)
			o := Outcome{Client: e.client, Kind: Admitted, Sent: e.at, Decided: decided, Seen: e.at + trip, Retry: !e.first}
			if !ok {
				o.Kind, o.By, o.Told, o.Needed = Rejected, by, time.Second, 3*time.Millisecond
			}
			answers = append(answers, answer{o, e.left})
		}
	}
}

var starvation = []tenant{
	{name: "batch", rate: 5000, poisson: true},
	{name: "web", rate: 100, poisson: true},
	{name: "mobile", rate: 100, poisson: true},
	{name: "sync", rate: 100, poisson: true},
}

func BenchmarkAttempt(b *testing.B) {
	for _, live := range []bool{false, true} {
		name := "report"
		if live {
			name = "live"
		}
		b.Run(name, func(b *testing.B) {
			clients := clientsOf(starvation)
			tally := NewTally(clients, global(1000, 100), Options{Reasons: []string{"global", "client"}, Live: live})
			b.ReportAllocs()
			for i := range b.N {
				at := time.Duration(i) * 20 * time.Microsecond
				c := i & 3
				o := Outcome{Client: c, Sent: at, Decided: at + 500*time.Microsecond, Seen: at + time.Millisecond}
				if i%5 != 0 {
					o.Kind, o.Told, o.Needed = Rejected, time.Second, time.Duration(i%5000)*time.Microsecond
				}
				tally.Sent(at, 10*time.Microsecond, c, true)
				tally.Observe(o)
				tally.Ended(at, c, Served)
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{4, 100, 1000} {
		b.Run(fmt.Sprint(n, " clients"), func(b *testing.B) {
			tally := busy(n, Options{Reasons: []string{"global", "client", "in-flight", "queue-full", "wait"}, Live: true})
			b.ReportAllocs()
			for b.Loop() {
				tally.Snapshot(20 * time.Second)
			}
		})
	}
}

func BenchmarkReport(b *testing.B) {
	for _, n := range []int{4, 1000, 100_000} {
		b.Run(fmt.Sprint(n, " clients"), func(b *testing.B) {
			tally := busy(n, Options{Reasons: []string{"global", "client", "in-flight", "queue-full", "wait"}})
			b.ReportAllocs()
			for b.Loop() {
				tally.Report(20 * time.Second)
			}
		})
	}
}

// busy is a tally after twenty seconds of 20,000 attempts each.
func busy(n int, o Options) *Tally {
	clients := make([]Client, n)
	for i := range clients {
		clients[i].Name = fmt.Sprint("c", i)
	}
	tally := NewTally(clients, global(1000, 100), o)
	for i := range 400_000 {
		at, c := time.Duration(i)*50*time.Microsecond, i%n
		out := Outcome{Client: c, Sent: at, Decided: at, Seen: at + time.Duration(i%1000)*time.Microsecond}
		if i%20 != 0 {
			out.Kind, out.Told, out.Needed = Rejected, time.Second, time.Duration(i%5000)*time.Microsecond
		}
		tally.Sent(at, 0, c, true)
		tally.Observe(out)
		tally.Ended(at, c, Served)
	}
	return tally
}
