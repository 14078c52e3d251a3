package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairgate/profiles"
	"fairgate/tui"
)

// clientCalled is the place in the profile of a client as the screen names it; a copy stands for all of its kind.
func clientCalled(p *profiles.Profile, name string) int {
	return slices.IndexFunc(p.Clients, func(c profiles.Client) bool {
		if c.Copies <= 1 {
			return c.Name == name
		}
		number, ok := strings.CutPrefix(name, c.Name+"-")
		_, err := strconv.Atoi(number)
		return ok && err == nil
	})
}

// changeClient makes a change to one client.
func (t *tuner) changeClient(c tui.Command) error {
	switch c := c.(type) {
	case tui.ScaleDemand:
		return t.editClient(c.Client, func(client *profiles.Client) error { return scaleDemand(client, c.Num, c.Den) })
	case tui.StepWeight:
		return t.editClient(c.Client, func(client *profiles.Client) error {
			client.Weight = max(1, client.Weight+int64(c.By))
			return nil
		})
	case tui.StepCost:
		return t.editClient(c.Client, func(client *profiles.Client) error {
			client.Cost = max(1, client.Cost+int64(c.By))
			return nil
		})
	case tui.StepRetries:
		return t.editClient(c.Client, func(client *profiles.Client) error {
			on := client.Retry.On
			client.Retry = manners[(int(mannerOf(client.Retry))+c.By+len(manners))%len(manners)]
			client.Retry.On = on
			return nil
		})
	case tui.Storm:
		return t.editClient(c.Client, func(client *profiles.Client) error {
			t.storm(client)
			return nil
		})
	case tui.Switch:
		now := t.run.Snapshot().Now
		return t.editClient(c.Client, func(client *profiles.Client) error {
			t.turn(client, now, !isOff(*client, now))
			return nil
		})
	}
	return fmt.Errorf("this run cannot carry out %T", c)
}

// editClient edits one client of the profile.
func (t *tuner) editClient(name string, edit func(*profiles.Client) error) (err error) {
	p := t.run.Profile()
	i := clientCalled(p, name)
	if i < 0 {
		return fmt.Errorf("there is no client %q", name)
	}
	if err := edit(&p.Clients[i]); err != nil {
		return err
	}
	return t.run.Edit(func(q *profiles.Profile) { q.Clients = p.Clients })
}

// scaleDemand makes a client ask for num/den times as much.
func scaleDemand(c *profiles.Client, num, den int64) error {
	a := &c.Arrivals
	switch a.Process {
	case profiles.Trace:
		return fmt.Errorf("%s sends at the times of a trace, which have no rate", c.Name)
	case profiles.Closed:
		a.Workers = max(1, int(times(int64(a.Workers), num, den)))
	case profiles.Once:
		a.Count = max(1, int(times(int64(a.Count), num, den)))
	case profiles.Ramp:
		if !a.From.IsZero() && a.From.Tokens > 0 {
			a.From = a.From.Scaled(num, den)
		}
		a.To = a.To.Scaled(num, den)
	default:
		a.Rate = a.Rate.Scaled(num, den)
	}
	return nil
}

// manners are the ways of taking a refusal that a key walks through: never again, at once, later and later, and when told.
var manners = [...]profiles.Retry{
	{Backoff: profiles.NoBackoff, Jitter: profiles.NoJitter},
	{Attempts: 3, Backoff: profiles.NoBackoff, Jitter: profiles.NoJitter},
	{Attempts: 5, Backoff: profiles.Exponential, Base: 100 * time.Millisecond, Max: 5 * time.Second, Jitter: profiles.FullJitter},
	{Attempts: 5, Backoff: profiles.Exponential, Base: 100 * time.Millisecond, Max: 5 * time.Second, Jitter: profiles.FullJitter, HonorRetryAfter: true},
}

// mannerOf is which of manners comes nearest.
func mannerOf(r profiles.Retry) int {
	switch {
	case r.Attempts == 0:
		return 0
	case r.HonorRetryAfter:
		return 3
	case r.Backoff != profiles.NoBackoff:
		return 2
	}
	return 1
}

// storm lets a client ask again at once and without end, or makes it what it was before.
func (t *tuner) storm(c *profiles.Client) {
	if storming := c.Retry.Attempts == profiles.Unlimited && c.Retry.Backoff == profiles.NoBackoff && !c.Retry.HonorRetryAfter; storming {
		calm, known := t.calm[c.Name]
		if !known {
			calm = manners[0]
			calm.On = c.Retry.On
		}
		c.Retry = calm
		return
	}
	t.calm[c.Name] = c.Retry
	c.Retry = profiles.Retry{Attempts: profiles.Unlimited, Backoff: profiles.NoBackoff, Jitter: profiles.NoJitter, On: c.Retry.On}
}

// isOff reports whether a client has stopped, or will as soon as it has begun.
func isOff(c profiles.Client, now time.Duration) bool {
	return c.Stop > 0 && c.Stop <= max(now, c.Start+1)
}

// turn turns a client off, which is a stop at this moment, or on again.
func (t *tuner) turn(c *profiles.Client, now time.Duration, off bool) {
	switch is := isOff(*c, now); {
	case off && !is:
		t.stops[c.Name] = c.Stop
		c.Stop = max(now.Truncate(time.Millisecond), c.Start+1)
	case !off && is:
		if c.Stop = t.stops[c.Name]; isOff(*c, now) {
			c.Stop = 0 // it had ended by itself: it begins anew, and goes on
		}
	}
}

// holdLoad turns all clients off, or when all are off, on.
func (t *tuner) holdLoad(was *profiles.Profile) error {
	now := t.run.Snapshot().Now
	clients := was.Clone().Clients
	for i := range clients {
		t.turn(&clients[i], now, !t.held)
	}
	return t.run.Edit(func(p *profiles.Profile) { p.Clients = clients })
}

// asIfOn is a profile with the stops that clients have of their own, without those that a key made.
func (t *tuner) asIfOn(p *profiles.Profile, now time.Duration) *profiles.Profile {
	for i := range p.Clients {
		c := &p.Clients[i]
		if stop, turned := t.stops[c.Name]; turned && isOff(*c, now) {
			c.Stop = stop
		}
	}
	return p
}
