package profiles

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairgate/limiter"
)

// Bounds of a profile as a whole.
const (
	maxClients  = 100_000
	maxRequests = 10_000_000
	maxAttempts = 1000
)

// Check reports the first thing in the profile that makes no sense. Parse has
// called it already; whoever changes a profile, as flags do, calls it again. The
// *Error names the key and no place, since the value may not be the file's.
func (p *Profile) Check() error {
	if e := p.check(); e != nil {
		return e
	}
	return nil
}

func wrong(path, format string, args ...any) *Error {
	return &Error{Path: path, Msg: fmt.Sprintf(format, args...)}
}

func (p *Profile) check() *Error {
	if err := checkName(p.Name); err != nil {
		return wrong("name", "%s", err)
	}
	switch {
	case p.Duration <= 0:
		return wrong("duration", "%s must be above zero: write for example 30s", p.Duration)
	case p.Duration > maxTime:
		return wrong("duration", "%s is more than %s, the longest run", p.Duration, shortDuration(maxTime))
	case p.WarmUp < 0:
		return wrong("warm_up", "%s must not be below zero: write for example 2s", p.WarmUp)
	case p.WarmUp >= p.Duration:
		return wrong("warm_up", "%s leaves nothing of the duration, %s, to measure: make it shorter", p.WarmUp, p.Duration)
	case p.Service.Time < 0 || p.Service.Time > maxTime:
		return wrong("service.time", "%s is out of range: write for example 2ms", p.Service.Time)
	case p.Service.RoundTrip < 0 || p.Service.RoundTrip > maxTime:
		return wrong("service.round_trip", "%s is out of range: write for example 1ms", p.Service.RoundTrip)
	case len(p.Clients) == 0:
		return wrong("clients", "there are none: write for example clients: [{name: web, kind: interactive}]")
	}
	total := 0
	for i := range p.Clients {
		if e := p.checkClient(i); e != nil {
			return e
		}
		if total += p.Clients[i].Copies; total > maxClients {
			return wrong(fmt.Sprintf("clients[%d].copies", i), "makes %d clients: there may be %d at most", total, maxClients)
		}
	}
	if e := p.checkNames(); e != nil {
		return e
	}
	if e := p.checkLimiter(); e != nil {
		return e
	}
	return p.checkExpect()
}

// checkName reports what a name may not hold. It goes into headers, into
// expectations (web.satisfaction >= 0.9) and onto the screen.
func checkName(s string) error {
	switch {
	case s == "":
		return errors.New("is empty: write for example web")
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Errorf("%s is longer than %d characters: shorten it", quote(s), maxName)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) || unicode.IsSpace(c) }):
		return fmt.Errorf("%s holds a space or an invisible character: write letters, digits, - and _, as in web-1", quote(s))
	case strings.ContainsAny(s, `"'\<>=!`):
		return fmt.Errorf("%s holds one of \" ' \\ < > = !: write letters, digits, - and _, as in web-1", quote(s))
	}
	return nil
}

func (p *Profile) checkClient(i int) *Error {
	c := &p.Clients[i]
	path := fmt.Sprintf("clients[%d]", i)
	if err := checkName(c.Name); err != nil {
		return wrong(path+".name", "%s", err)
	}
	switch {
	case !slices.Contains(kinds, c.Kind):
		return wrong(path+".kind", "%s", noSuch(string(c.Kind), words(kinds)))
	case c.Weight < 1 || c.Weight > 1_000_000:
		return wrong(path+".weight", "%d is out of range: it goes from 1 to 1000000", c.Weight)
	case c.Cost < 1:
		return wrong(path+".cost", "%d is too small: an attempt costs 1 token or more", c.Cost)
	case c.Copies < 1 || c.Copies > maxClients:
		return wrong(path+".copies", "%d is out of range: it goes from 1 to %d", c.Copies, maxClients)
	case c.Zipf < 0 || c.Zipf > 10 || c.Zipf != c.Zipf:
		return wrong(path+".zipf", "%g is out of range: it goes from 0 to 10", c.Zipf)
	case c.Zipf > 0 && !c.Arrivals.Process.hasRate() && c.Arrivals.Process != Ramp:
		return wrong(path+".zipf", "spreads a rate over copies, and process %s has none: take zipf out", c.Arrivals.Process)
	case c.Start < 0:
		return wrong(path+".start", "%s must not be below zero: write for example 10s", c.Start)
	case c.Stop < 0:
		return wrong(path+".stop", "%s must not be below zero: write for example 20s", c.Stop)
	case c.Stop > 0 && c.Stop <= c.Start:
		return wrong(path+".stop", "%s is not after the start, %s: %s would never send", c.Stop, c.Start, c.Name)
	case c.Deadline < 0:
		return wrong(path+".deadline", "%s must not be below zero: write for example 10s", c.Deadline)
	}
	if e := checkArrivals(&c.Arrivals, path+".arrivals"); e != nil {
		return e
	}
	return checkRetry(&c.Retry, path+".retry")
}

// checkTimes finds clients that would never send. It is asked of files alone:
// whoever shortens a run by a flag may well cut off those who come late.
func (p *Profile) checkTimes() *Error {
	for i := range p.Clients {
		c := &p.Clients[i]
		path := fmt.Sprintf("clients[%d]", i)
		if c.Start >= p.Duration {
			return wrong(path+".start", "%s is not before the end of the run, %s: %s would never send", c.Start, p.Duration, c.Name)
		}
		if there := p.Duration - c.Start; c.Arrivals.Process == Once && c.Arrivals.At >= there {
			return wrong(path+".arrivals.at", "%s is not within the %s that %s is there", c.Arrivals.At, there, c.Name)
		}
	}
	return nil
}

// checkArrivals checks the settings that the process has.
func checkArrivals(a *Arrivals, path string) *Error {
	if !slices.Contains(processNames, a.Process) {
		return wrong(path+".process", "%s", noSuch(string(a.Process), words(processNames)))
	}
	if a.Process.hasRate() {
		if err := a.Rate.Check(); err != nil {
			return wrong(path+".rate", "%s", err)
		}
	}
	missing := func(key, example string) *Error {
		return wrong(path+"."+key, "is missing: process %s needs it, as in %s", a.Process, example)
	}
	switch a.Process {
	case Constant:
		if !(a.Jitter >= 0 && a.Jitter <= 1) {
			return wrong(path+".jitter", "%g is out of range: it goes from 0 to 1, a part of the time between two requests", a.Jitter)
		}
	case OnOff:
		if a.On <= 0 {
			return missing("on", "on: 1s")
		}
		if a.Off <= 0 {
			return missing("off", "off: 9s")
		}
	case Ramp:
		if a.To.IsZero() {
			return missing("to", "to: 200/s")
		}
		for _, end := range []struct {
			key  string
			rate limiter.Rate
		}{{"from", a.From}, {"to", a.To}} {
			if end.rate.Tokens != 0 {
				if err := end.rate.Check(); err != nil {
					return wrong(path+"."+end.key, "%s", err)
				}
			}
		}
		if a.From.Tokens == 0 && a.To.Tokens == 0 {
			return wrong(path+".to", "goes from 0/s to 0/s: one of the two must be above zero, as in to: 200/s")
		}
		if a.Over <= 0 {
			return missing("over", "over: 20s")
		}
	case Sine:
		if !(a.Amplitude >= 0 && a.Amplitude <= 1) {
			return wrong(path+".amplitude", "%g is out of range: it goes from 0 to 1, a part of the rate", a.Amplitude)
		}
		if a.Period <= 0 {
			return missing("period", "period: 20s")
		}
	case Closed:
		if a.Workers < 1 || a.Workers > maxClients {
			return wrong(path+".workers", "%d is out of range: it goes from 1 to %d", a.Workers, maxClients)
		}
		if a.Think < 0 {
			return wrong(path+".think", "%s must not be below zero: write for example 1s", a.Think)
		}
	case Once:
		if a.Count == 0 {
			return missing("count", "count: 100")
		}
		if a.Count < 0 || a.Count > maxRequests {
			return wrong(path+".count", "%d is out of range: it goes from 1 to %d", a.Count, maxRequests)
		}
		if a.At < 0 {
			return wrong(path+".at", "%s must not be below zero: write for example 5s", a.At)
		}
	case Trace:
		if len(a.Trace) == 0 {
			return missing("at", "at: [0s, 150ms], or file: times.csv")
		}
		if !slices.IsSorted(a.Trace) {
			return wrong(path+".at", "goes back in time: write the offsets in ascending order")
		}
	}
	return nil
}

func checkRetry(t *Retry, path string) *Error {
	switch {
	case t.Attempts < Unlimited || t.Attempts > maxAttempts:
		return wrong(path+".attempts", "%d is out of range: it goes from 0 to %d, or write unlimited", t.Attempts, maxAttempts)
	case !slices.Contains(backoffs, t.Backoff):
		return wrong(path+".backoff", "%s", noSuch(string(t.Backoff), words(backoffs)))
	case !slices.Contains(jitters, t.Jitter):
		return wrong(path+".jitter", "%s", noSuch(string(t.Jitter), words(jitters)))
	case t.Backoff != NoBackoff && t.Base <= 0:
		return wrong(path+".base", "is missing: backoff %s needs it, as in base: 100ms", t.Backoff)
	case t.Backoff == Exponential && t.Max < t.Base:
		return wrong(path+".max", "%s is below base, %s: the wait grows from base to max", t.Max, t.Base)
	case t.Jitter == Decorrelated && t.Backoff != Exponential:
		return wrong(path+".jitter", "decorrelated grows between base and max, which backoff %s does not have: write backoff: exponential, or jitter: full", t.Backoff)
	case !(t.Budget >= 0 && t.Budget <= 100):
		return wrong(path+".budget", "%g is out of range: it goes from 0 (none) to 100, retries per request", t.Budget)
	case t.Attempts != 0 && len(t.On) == 0:
		return wrong(path+".on", "is empty: write [429, 503]")
	}
	return nil
}

// checkNames finds clients of one name, those that copies make among them.
func (p *Profile) checkNames() *Error {
	seen := make(map[string]int, len(p.Clients))
	for i := range p.Clients {
		c := &p.Clients[i]
		for k := range c.Copies {
			name := c.copyName(k + 1)
			if other, twice := seen[name]; twice {
				return wrong(fmt.Sprintf("clients[%d].name", i), "%s is a second client of that name (the other is clients[%d]): every client needs a name of its own", quote(name), other)
			}
			seen[name] = i
		}
	}
	return nil
}
