package profiles

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fairgate/limiter"
)

// arrivalKeys are the keys of all processes; processes says whose they are.
var arrivalKeys = object[Arrivals]{
	word("process", func(a *Arrivals) *Process { return &a.Process }, processNames...),
	rate("rate", func(a *Arrivals) *limiter.Rate { return &a.Rate }),
	fraction("jitter", 1, func(a *Arrivals) *float64 { return &a.Jitter }),
	duration("on", above, func(a *Arrivals) *time.Duration { return &a.On }),
	duration("off", above, func(a *Arrivals) *time.Duration { return &a.Off }),
	rateFromZero("from", func(a *Arrivals) *limiter.Rate { return &a.From }),
	rateFromZero("to", func(a *Arrivals) *limiter.Rate { return &a.To }),
	duration("over", above, func(a *Arrivals) *time.Duration { return &a.Over }),
	fraction("amplitude", 1, func(a *Arrivals) *float64 { return &a.Amplitude }),
	duration("period", above, func(a *Arrivals) *time.Duration { return &a.Period }),
	whole("workers", 1, maxClients, func(a *Arrivals) *int { return &a.Workers }),
	duration("think", 0, func(a *Arrivals) *time.Duration { return &a.Think }),
	whole("count", 1, maxRequests, func(a *Arrivals) *int { return &a.Count }),
	{key: "at", read: readAt, write: writeAt},
	{key: "file", read: readTraceFile, write: func(a *Arrivals) *node {
		if a.File == "" {
			return nil
		}
		return quotedNode(a.File)
	}},
}

// processes says which keys, beside process, each process has.
var processes = map[Process][]string{
	Constant: {"rate", "jitter"},
	Poisson:  {"rate"},
	OnOff:    {"rate", "on", "off"},
	Ramp:     {"from", "to", "over"},
	Sine:     {"rate", "amplitude", "period"},
	Closed:   {"workers", "think"},
	Once:     {"count", "at"},
	Trace:    {"at", "file"},
}

var processNames = []Process{Constant, Poisson, OnOff, Ramp, Sine, Closed, Once, Trace}

// hasRate reports whether the process has one rate that it keeps to.
func (p Process) hasRate() bool { return slices.Contains(processes[p], "rate") }

// defaultsOf is a client as its kind has it.
func defaultsOf(kind Kind) Client {
	c := Client{
		Kind: kind, Weight: 1, Cost: 1, Copies: 1,
		Arrivals: Arrivals{Process: Poisson, Rate: limiter.PerSecond(50)},
		Retry:    Retry{Backoff: NoBackoff, Jitter: NoJitter, On: []int{429, 503}},
	}
	switch kind {
	case Batch: // a job that pushes: evenly, much, and again at once
		c.Arrivals = Arrivals{Process: Constant, Rate: limiter.PerSecond(500), Jitter: 0.1}
		c.Retry.Attempts = 3
	case Retrying: // a client that does what a good client should
		c.Retry.Attempts = 5
		c.Retry.Backoff, c.Retry.Base, c.Retry.Max = Exponential, defaultBase, defaultMax
		c.Retry.Jitter, c.Retry.HonorRetryAfter = FullJitter, true
	}
	return c
}

// What a back-off that needs them begins with and grows to.
const (
	defaultBase = 100 * time.Millisecond
	defaultMax  = 5 * time.Second
)

// readClients reads a list of clients over those that are there: a client of a
// name that is known is changed, another one is added.
func readClients(r *reader, n *node, path string, p *Profile) {
	if !r.isList(n, path, "[{name: web, kind: interactive}]") {
		return
	}
	if len(n.items) == 0 {
		r.fail(n.at, path, "is empty: a profile needs at least one client, as in [{name: web, kind: interactive}]")
		return
	}
	seen := make(map[string]position, len(n.items))
	index := make(map[string]int, len(p.Clients))
	for i, c := range p.Clients {
		index[c.Name] = i
	}
	for k, item := range n.items {
		if !r.isMapping(item, fmt.Sprintf("%s[%d]", path, k), clientKeys.keys()) {
			return
		}
		name := item.get("name")
		if name == nil {
			r.fail(item.at, fmt.Sprintf("%s[%d]", path, k), "has no name: write for example name: web")
			return
		}
		i, known := index[name.text]
		if first, twice := seen[name.text]; twice {
			r.fail(name.at, fmt.Sprintf("%s[%d].name", path, k), "%s is here a second time (first in line %d): every client needs a name of its own; for several that are alike write copies: 3", quote(name.text), first.line)
			return
		}
		if !known {
			i = len(p.Clients)
			p.Clients = append(p.Clients, defaultsOf(Interactive))
		}
		seen[name.text] = name.at
		at := fmt.Sprintf("%s[%d]", path, i)
		r.places[at] = item.at
		readClient(r, item, at, &p.Clients[i])
		if r.err != nil {
			return
		}
	}
}

// readClient reads the kind first, since it brings the defaults of all others.
func readClient(r *reader, n *node, path string, c *Client) {
	if kind := n.get("kind"); kind != nil && slices.Contains(kinds, Kind(kind.text)) && Kind(kind.text) != c.Kind {
		d := defaultsOf(Kind(kind.text))
		c.Kind, c.Arrivals, c.Retry = d.Kind, d.Arrivals, d.Retry
		r.forget(path + ".arrivals")
		r.forget(path + ".retry")
	}
	clientKeys.read(r, n, path, c)
}

func writeClients(p *Profile) *node {
	n := &node{kind: sequenceNode}
	for i := range p.Clients {
		n.items = append(n.items, clientKeys.write(&p.Clients[i]))
	}
	return n
}

// readArrivals reads the process first: another process starts from its own
// defaults and keeps of the old one the rate alone.
func readArrivals(r *reader, n *node, path string, c *Client) {
	if !r.isMapping(n, path, arrivalKeys.keys()) {
		return
	}
	a := &c.Arrivals
	if v := n.get("process"); v != nil && slices.Contains(processNames, Process(v.text)) && Process(v.text) != a.Process {
		fresh := processDefaults(Process(v.text))
		at, kept := r.places[path+".rate"]
		r.forget(path)
		if fresh.Process.hasRate() {
			fresh.Rate = a.Rate
			if kept {
				r.places[path+".rate"] = at
			}
		}
		*a = fresh
	}
	// A misspelt process is told by its own field, before keys that would
	// belong to it.
	if v := n.get("process"); v == nil || Process(v.text) == a.Process {
		for _, e := range n.fields {
			own := processes[a.Process]
			if e.key != "process" && !slices.Contains(own, e.key) && slices.Contains(arrivalKeys.keys(), e.key) {
				r.fail(e.at, join(path, e.key), "has no meaning for process %s, whose keys are %s%s", a.Process, strings.Join(own, ", "), processesWith(e.key))
				return
			}
		}
	}
	arrivalKeys.read(r, n, path, a)
}

// processDefaults is a process as it is when nothing more is said.
func processDefaults(p Process) Arrivals {
	a := Arrivals{Process: p}
	switch p {
	case Ramp:
		a.From.Per = time.Second // 0/s
	case Sine:
		a.Amplitude = 0.5
	case Closed:
		a.Workers = 1
	}
	return a
}

// processesWith says which processes a key belongs to.
func processesWith(key string) string {
	var with []Process
	for _, p := range processNames {
		if slices.Contains(processes[p], key) {
			with = append(with, p)
		}
	}
	return " (" + key + " belongs to " + strings.ReplaceAll(list(words(with)), " or ", " and ") + ")"
}

func writeArrivals(c *Client) *node {
	all := arrivalKeys.write(&c.Arrivals)
	n := &node{kind: mappingNode}
	for _, f := range all.fields {
		if f.key == "process" || slices.Contains(processes[c.Arrivals.Process], f.key) {
			if f.key == "at" && c.Arrivals.File != "" {
				continue // the file says it
			}
			n.fields = append(n.fields, f)
		}
	}
	return n
}

// readRetry reads the back-off first: another one begins with its own base and
// bound, as far as it has them.
func readRetry(r *reader, n *node, path string, c *Client) {
	if !r.isMapping(n, path, retryKeys.keys()) {
		return
	}
	t := &c.Retry
	if v := n.get("backoff"); v != nil && slices.Contains(backoffs, Backoff(v.text)) && Backoff(v.text) != t.Backoff {
		t.Backoff = Backoff(v.text)
		switch t.Backoff {
		case NoBackoff:
			t.Base, t.Max = 0, 0
		case Fixed:
			t.Base, t.Max = cmp.Or(t.Base, defaultBase), 0
		case Exponential:
			t.Base, t.Max = cmp.Or(t.Base, defaultBase), cmp.Or(t.Max, max(t.Base, defaultMax))
		}
		delete(r.places, path+".base")
		delete(r.places, path+".max")
	}
	for _, e := range n.fields {
		switch {
		case e.key == "base" && t.Backoff == NoBackoff:
			r.fail(e.at, join(path, e.key), "has no meaning with backoff none, which waits for nothing: write backoff: fixed or backoff: exponential")
		case e.key == "max" && t.Backoff != Exponential:
			r.fail(e.at, join(path, e.key), "has no meaning with backoff %s, whose wait does not grow: write backoff: exponential", t.Backoff)
		}
	}
	retryKeys.read(r, n, path, t)
	if t.Backoff == Exponential && n.get("max") == nil && t.Max < t.Base {
		if n.get("base") != nil && math.MaxInt64/50 > int64(t.Base) {
			t.Max = 50 * t.Base // as the defaults are to each other
		}
	}
}
