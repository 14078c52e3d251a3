package attack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// A turn is somebody who waits at the gate.
type turn struct {
	m      moment
	client int
	number uint64
	after  int // how many turns had been taken when the same attempt had its last
	open   chan struct{}
}

func (t *turn) before(o *turn) bool {
	return cmp.Or(cmp.Compare(t.m, o.m), cmp.Compare(t.after, o.after), cmp.Compare(t.client, o.client), cmp.Compare(t.number, o.number)) < 0
}

// oneByOne is a gate for virtual time: it waits until nobody moves any more, lets through who comes first, and waits again. So everything that falls
// on one nanosecond happens in the order of the simulation, whatever the scheduler does: by moment, then in the order in which the attempts passed
// their last station, which for those that are sent at one moment is by client.
type oneByOne struct {
	arrived chan *turn
	turns   int
	sent    map[int]uint64    // by client
	last    map[[2]uint64]int // by client and number of the attempt
}

func newGate() *oneByOne {
	return &oneByOne{arrived: make(chan *turn, 100_000), sent: map[int]uint64{}, last: map[[2]uint64]int{}}
}

func (g *oneByOne) pass(m moment, client int, number uint64) {
	t := &turn{m: m, client: client, number: number, open: make(chan struct{})}
	g.arrived <- t
	<-t.open
}

func (g *oneByOne) run(done <-chan struct{}) {
	var waiting []*turn
	for {
		select {
		case t := <-g.arrived:
			waiting = append(waiting, g.placed(t))
		case <-done:
			return
		}
		for len(waiting) > 0 {
			synctest.Wait()
			for len(g.arrived) > 0 {
				waiting = append(waiting, g.placed(<-g.arrived))
			}
			first := 0
			for i, t := range waiting {
				if t.before(waiting[first]) {
					first = i
				}
			}
			g.open(waiting[first])
			waiting = append(waiting[:first], waiting[first+1:]...)
		}
	}
}

func (g *oneByOne) placed(t *turn) *turn {
	if t.m != atSend {
		t.after = g.last[[2]uint64{uint64(t.client), t.number}]
	}
	return t
}

func (g *oneByOne) open(t *turn) {
	g.turns++
	number := t.number
	if t.m == atSend { // before which an attempt has no number yet
		number = g.sent[t.client]
		g.sent[t.client]++
	}
	g.last[[2]uint64{uint64(t.client), number}] = g.turns
	close(t.open)
}

// TestLiveChangesAreSimulatedOnes: the same changes at the same moments lead to the same counts, whatever they change.
func TestLiveChangesAreSimulatedOnes(t *testing.T) {
	p := builtin(t, "starvation", 600*time.Millisecond)
	changes := []func(*profiles.Profile){
		func(p *profiles.Profile) { p.Limiter.Policy = limiter.FairQueue },
		func(p *profiles.Profile) { p.Limiter.Rate = limiter.PerSecond(500) },
		func(p *profiles.Profile) { p.Clients[1].Arrivals.Rate = limiter.PerSecond(400) },
		func(p *profiles.Profile) {
			p.Service.Time, p.Service.RoundTrip = 3*time.Millisecond, 5*time.Millisecond
		},
		func(p *profiles.Profile) { p.Limiter.Policy = limiter.Concurrency },
		func(p *profiles.Profile) { p.Clients[0].Stop = 500 * time.Millisecond },
		func(p *profiles.Profile) {
			p.Service.RoundTrip = time.Millisecond
			p.Limiter.Policy = limiter.PerClient
		},
	}
	const every = 77_777_777 * time.Nanosecond // nothing else falls on its multiples

	s, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range changes {
		s.Advance(time.Duration(i+1) * every)
		if err := s.Edit(change); err != nil {
			t.Fatal(err)
		}
	}
	s.Advance(p.Duration)
	simulated := s.Report()

	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := live(t, p, Options{gate: g})
		go func() {
			for _, change := range changes {
				time.Sleep(every)
				if err := r.Edit(change); err != nil {
					t.Error(err)
				}
			}
		}()
		g.run(r.Done())
		lived := r.Report()
		lived.Mode, lived.Started = simulated.Mode, nil
		if diff := gocmp.Diff(text(t, simulated), text(t, lived)); diff != "" {
			t.Errorf("simulated (-) and live (+) differ:\n%s", diff)
		}
	})
	if len(simulated.Changes) != len(changes) {
		t.Errorf("%d changes are told: %+v", len(simulated.Changes), simulated.Changes)
	}
}

// inOrder lives a profile in virtual time, with a gate, beside shadows.
func inOrder(t *testing.T, p *profiles.Profile, policies ...limiter.Policy) (report *fairness.Report, shadows []*fairness.Report) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r, err := New(p, Options{gate: g})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Shadow(policies...); err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.run(r.Done())
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		report, shadows = r.Report(), r.Shadows()
	})
	return report, shadows
}

// TestShadowsOfLiveAndSimulatedAreOne: what nobody obeys is counted alike too.
func TestShadowsOfLiveAndSimulatedAreOne(t *testing.T) {
	p := builtin(t, "starvation", 300*time.Millisecond)
	policies := []limiter.Policy{limiter.PerClient, limiter.FairQueue, limiter.Concurrency}
	s, err := NewSimulation(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shadow(policies...); err != nil {
		t.Fatal(err)
	}
	s.Advance(p.Duration)
	_, lived := inOrder(t, p, policies...)
	for i, simulated := range s.Shadows() {
		if lived[i].Started == nil {
			t.Error("a shadow of a live run does not say when it began")
		}
		lived[i].Mode, lived[i].Started = simulated.Mode, nil
		if diff := gocmp.Diff(text(t, simulated), text(t, lived[i])); diff != "" {
			t.Errorf("%s: simulated (-) and live (+) differ:\n%s", policies[i], diff)
		}
	}
}

// lengths of the profiles that are not compared from beginning to end: under their own policy, and under each other. Both last until all that matters in a
// profile has happened, and are as short as that allows, since attempts through vegeta take their time.
var lengths = map[string]struct{ own, others time.Duration }{
	"starvation":      {2200 * time.Millisecond, 1150 * time.Millisecond}, // told to come back in a second, and told so again
	"phase-lock":      {8 * time.Second, 1500 * time.Millisecond},
	"newcomers":       {60 * time.Second, 21 * time.Second}, // the last starts at 20 s
	"poisson":         {300 * time.Second, 45 * time.Second},
	"agent":           {120 * time.Second, 90 * time.Second},
	"storm":           {60 * time.Second, 40 * time.Second},
	"four-algorithms": {10 * time.Second, 10 * time.Second},
}

// TestLiveAndSimulatedAreOne holds the two drivers of time to their promise: for one profile and one seed, vegeta with its goroutines
// and the event heap count the same, attempt for attempt. Every profile is compared under every policy, but for the pairs that are refused.
func TestLiveAndSimulatedAreOne(t *testing.T) {
	refused := map[string]bool{}
	cameBack, warmed := int64(0), 0
	for i, info := range profiles.Builtins() {
		for _, policy := range limiter.Policies {
			pair := fmt.Sprintf("%s/%s", info.Name, policy)
			p, err := profiles.Load(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			own := p.Limiter.Policy == policy
			if err := underPolicy(p, policy); err != nil {
				refused[pair] = true
				continue
			}
			if raced && (i > 1 || !own && policy != limiter.FairQueue) {
				continue // the detector makes it slow, and sees in these what there is to see
			}
			t.Run(pair, func(t *testing.T) {
				shorten(t, p, own)
				report := agree(t, p)
				if p.WarmUp > 0 {
					warmed++
				}
				for _, c := range report.Clients {
					if own && p.Clients[0].Copies <= 1 && c.Requests == 0 { // elsewhere it may have sent all in the warm-up
						t.Errorf("%s sent nothing in %v", c.Name, p.Duration)
					}
				}
				if info.Name == "starvation" && own {
					for _, k := range report.Honesty {
						cameBack += k.Kept + k.Broken
					}
				}
			})
		}
	}
	if cameBack == 0 && !raced {
		t.Error("nobody in starvation came back at the moment that it was told")
	}
	if warmed < 40 && !raced {
		t.Errorf("only %d pairs had a warm-up", warmed)
	}
	if diff := gocmp.Diff(refusedPairs, refused); diff != "" {
		t.Errorf("other pairs are refused (+) than are known to make no sense (-):\n%s", diff)
	}
}

// refusedPairs are the profiles that make no sense under a policy: hierarchical lends tokens that flow in steadily, and a cost of ten is beyond
// the burst of a shard.
var refusedPairs = map[string]bool{
	"blackout/hierarchical": true, "herd/hierarchical": true, "oversubscribed/hierarchical": true, "poisson/hierarchical": true,
	"shaper/hierarchical": true, "window-edge/hierarchical": true, "dear-calls/sharded": true,
}

// shorten gives a profile its length in these tests. Under a policy that is not its own it has a warm-up too.
func shorten(t *testing.T, p *profiles.Profile, own bool) {
	t.Helper()
	length := p.Duration
	if l, ok := lengths[p.Name]; ok {
		length = l.others
		if own || raced {
			length = l.own
		}
	}
	if raced && p.Name == "starvation" {
		length = 300 * time.Millisecond
	}
	p.Duration = min(length, p.Duration)
	if !own {
		p.WarmUp = p.Duration / 10
	}
	for _, c := range p.Clients {
		if c.Start >= p.Duration && !raced {
			t.Fatalf("%s starts at %v, after the end at %v", c.Name, c.Start, p.Duration)
		}
	}
}

// underPolicy puts the profile under a policy, with what the policy needs to know where the profile does not say it. The error says why the profile
// cannot be had under it.
func underPolicy(p *profiles.Profile, policy limiter.Policy) error {
	l := &p.Limiter
	l.Policy = policy
	if l.Client.Rate.IsZero() {
		l.Client.Rate, l.Client.Burst = l.Rate, l.Burst
	}
	if l.Client.MaxInFlight == 0 {
		l.Client.MaxInFlight = 2
	}
	if policy == limiter.Sharded {
		l.Shards = max(l.Shards, 2)
		l.Burst = max(l.Burst, int64(l.Shards))
	}
	if policy != limiter.Global && policy != limiter.PerClient {
		l.Shape, l.Delay = false, 0
	}
	p.Expect, p.Lesson = nil, nil
	if err := p.Check(); err != nil {
		return err
	}
	_, err := limiter.New(*l)
	return err
}

// agree fails the test unless the live run of a profile and its simulation agree. It returns what both say.
func agree(t *testing.T, p *profiles.Profile) *fairness.Report {
	t.Helper()
	simulated, err := Simulate(t.Context(), p, SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if simulated.Aggregate.Attempts > 50_000 {
		t.Fatalf("%d attempts take too long here", simulated.Aggregate.Attempts)
	}
	lived, _ := inOrder(t, p)
	lived.Mode, lived.Started = simulated.Mode, nil
	if diff := gocmp.Diff(text(t, simulated), text(t, lived)); diff != "" {
		t.Errorf("simulated (-) and live (+) differ over %d attempts:\n%s", simulated.Aggregate.Attempts, diff)
	}
	return simulated
}

// TestTheyAgreeWhereEverythingFallsOnOneInstant: nothing takes any time, everybody comes at once, queues overflow, deadlines come while others are served.
func TestTheyAgreeWhereEverythingFallsOnOneInstant(t *testing.T) {
	ms := time.Millisecond
	tick := profiles.Arrivals{Process: profiles.Constant, Rate: limiter.PerSecond(1000)}
	crowd := profiles.Arrivals{Process: profiles.Once, Count: 30, At: 100 * ms}
	loop := profiles.Arrivals{Process: profiles.Closed, Workers: 3, Think: 10 * ms}
	refusals := []int{429, 503}
	eager := profiles.Retry{Attempts: 2, Backoff: profiles.NoBackoff, Jitter: profiles.NoJitter, On: refusals}
	polite := profiles.Retry{Attempts: profiles.Unlimited, Backoff: profiles.Fixed, Base: 10 * ms, Jitter: profiles.NoJitter, HonorRetryAfter: true, On: refusals}
	for _, svc := range []profiles.Service{{}, {Time: 10 * ms}, {RoundTrip: 10 * ms}, {Time: 5 * ms, RoundTrip: 7}} {
		for _, policy := range limiter.Policies {
			t.Run(fmt.Sprintf("%s/%v+%v", policy, svc.Time, svc.RoundTrip), func(t *testing.T) {
				p := builtin(t, "starvation", 1500*ms)
				p.Service = svc
				p.Limiter = limiter.Config{
					Rate: limiter.PerSecond(100), Burst: 5, Queue: limiter.Queue{PerClient: 4, MaxWait: 60 * ms},
				}
				p.Expect, p.Clients = nil, nil
				for i, a := range []profiles.Arrivals{tick, crowd, crowd, loop} {
					c := profiles.Client{Name: fmt.Sprint("client-", i), Kind: profiles.Batch, Weight: 1, Cost: 1, Copies: 1, Arrivals: a, Retry: eager}
					switch i {
					case 1:
						c.Deadline = 40 * ms
					case 2:
						c.Retry = polite
						c.Cost = 2
					}
					p.Clients = append(p.Clients, c)
				}
				if err := underPolicy(p, policy); err != nil {
					if policy == limiter.Hierarchical {
						t.Skip(err)
					}
					t.Fatal(err)
				}
				report := agree(t, p)
				if c := report.Clients[1]; policy == limiter.FairQueue && c.Errors == 0 {
					t.Errorf("no deadline came: the test does not test what it says: %+v", c)
				}
			})
		}
	}
}

func text(t *testing.T, r *fairness.Report) string {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
