package profiles

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
)

// The keys of a profile file, object by object. A key is added here and nowhere
// else: reading, writing, suggestions and explanations follow.

var profileKeys = object[Profile]{
	{key: "extends", read: func(*reader, *node, string, *Profile) {}, write: nothing}, // see base
	text("name", func(p *Profile) *string { return &p.Name }),
	text("title", func(p *Profile) *string { return &p.Title }),
	text("about", func(p *Profile) *string { return &p.About }),
	durationKey,
	warmUpKey,
	scalar("seed", "a whole number", func(p *Profile) *uint64 { return &p.Seed }, readSeed,
		func(v uint64) *node { return plainNode(strconv.FormatUint(v, 10)) }),
	in("limiter", limiterKeys, func(p *Profile) *Profile { return p }),
	in("service", serviceKeys, func(p *Profile) *Service { return &p.Service }),
	withoutKey,
	{key: "clients", read: readClients, write: writeClients},
	{key: "expect", read: readExpect, write: writeExpect},
	{key: "lesson", read: readLesson, write: writeLesson},
}

// Keys of a profile that a step of a lesson may set too.
var (
	durationKey = duration("duration", above, func(p *Profile) *time.Duration { return &p.Duration })
	warmUpKey   = sparse(duration("warm_up", 0, func(p *Profile) *time.Duration { return &p.WarmUp }))
	withoutKey  = field[Profile]{key: "without", read: readWithout, write: nothing}
)

// nothing writes keys that are no values of a profile but say how it came about.
func nothing(*Profile) *node { return nil }

var serviceKeys = object[Service]{
	duration("time", 0, func(s *Service) *time.Duration { return &s.Time }),
	duration("round_trip", 0, func(s *Service) *time.Duration { return &s.RoundTrip }),
}

var clientKeys = object[Client]{
	{key: "name", read: readName, write: func(c *Client) *node { return quotedOrPlain(c.Name) }},
	word("kind", func(c *Client) *Kind { return &c.Kind }, kinds...),
	whole("weight", 1, 1_000_000, func(c *Client) *int64 { return &c.Weight }),
	whole("cost", 1, maxWhole, func(c *Client) *int64 { return &c.Cost }),
	{key: "arrivals", read: readArrivals, write: writeArrivals},
	{key: "retry", read: readRetry, write: func(c *Client) *node { return retryKeys.write(&c.Retry) }},
	{key: "headers", read: readHeaders, write: writeHeaders},
	text("endpoint", func(c *Client) *string { return &c.Endpoint }),
	sparse(duration("start", 0, func(c *Client) *time.Duration { return &c.Start })),
	sparse(duration("stop", 0, func(c *Client) *time.Duration { return &c.Stop })),
	sparse(duration("deadline", 0, func(c *Client) *time.Duration { return &c.Deadline })),
	whole("copies", 1, maxClients, func(c *Client) *int { return &c.Copies }),
	sparse(fraction("zipf", 10, func(c *Client) *float64 { return &c.Zipf })),
	rate("guarantee", func(c *Client) *limiter.Rate { return &c.Guarantee }),
	rate("ceiling", func(c *Client) *limiter.Rate { return &c.Ceiling }),
}

var retryKeys = object[Retry]{
	{key: "attempts", read: readAttempts, write: func(t *Retry) *node {
		if t.Attempts == Unlimited {
			return plainNode("unlimited")
		}
		return plainNode(strconv.Itoa(t.Attempts))
	}},
	word("backoff", func(t *Retry) *Backoff { return &t.Backoff }, backoffs...),
	sparse(duration("base", above, func(t *Retry) *time.Duration { return &t.Base })),
	sparse(duration("max", above, func(t *Retry) *time.Duration { return &t.Max })),
	word("jitter", func(t *Retry) *Jitter { return &t.Jitter }, jitters...),
	yesNo("honor_retry_after", func(t *Retry) *bool { return &t.HonorRetryAfter }),
	sparse(fraction("budget", 100, func(t *Retry) *float64 { return &t.Budget })),
	{key: "on", read: readCodes, write: func(t *Retry) *node {
		list := &node{kind: sequenceNode}
		for _, code := range t.On {
			list.items = append(list.items, plainNode(strconv.Itoa(code)))
		}
		return list
	}},
}

// The words that a profile may use, beside those that limiter lists.
var (
	kinds       = []Kind{Batch, Interactive, Retrying}
	backoffs    = []Backoff{NoBackoff, Fixed, Exponential}
	jitters     = []Jitter{NoJitter, FullJitter, Decorrelated}
	refills     = []limiter.Refill{limiter.Greedy, limiter.Interval, limiter.Aligned}
	retryAfters = []limiter.RetryAfter{limiter.RetryExact, limiter.RetryAdaptive, limiter.RetrySlot}
	inherits    = []limiter.Inherit{limiter.Proportional, limiter.AsIs, limiter.Additive, limiter.Reset}
	routings    = []limiter.Routing{limiter.Random, limiter.RoundRobin, limiter.Pinned, limiter.TwoChoices, limiter.TwoChoicesCombine}
)

func quotedOrPlain(s string) *node { return &node{text: s, plain: true} }

func readSeed(s string, plain bool) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || !plain {
		return 0, fmt.Errorf("%s is no seed: write a whole number from 0 to 18446744073709551615, as in 1", quote(s))
	}
	return n, nil
}

func readName(r *reader, n *node, path string, c *Client) {
	if !r.isScalar(n, path, "a name") {
		return
	}
	if err := checkName(n.text); err != nil {
		r.fail(n.at, path, "%s", err)
		return
	}
	c.Name = n.text
}

// readAttempts reads a number of retries, or "unlimited".
func readAttempts(r *reader, n *node, path string, t *Retry) {
	if !r.isScalar(n, path, "a whole number or unlimited") {
		return
	}
	if n.text == "unlimited" {
		t.Attempts = Unlimited
		return
	}
	if suggest(n.text, []string{"unlimited"}) != "" {
		r.fail(n.at, path, "%s is not known: did you mean unlimited?", quote(n.text))
		return
	}
	v, err := readWhole(n.text, n.plain, 0, maxAttempts)
	if err != nil {
		r.fail(n.at, path, "%s (or write unlimited)", err)
		return
	}
	t.Attempts = int(v)
}

func readCodes(r *reader, n *node, path string, t *Retry) {
	if !r.isList(n, path, "[429, 503]") {
		return
	}
	var codes []int
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !r.isScalar(item, at, "429 or 503") {
			return
		}
		code, err := strconv.Atoi(item.text)
		if err != nil || code != 429 && code != 503 {
			r.fail(item.at, at, "%s is not retried: write 429, 503 or both", item.what())
			return
		}
		if slices.Contains(codes, code) {
			r.fail(item.at, at, "%d is here a second time: keep one of them", code)
			return
		}
		codes = append(codes, code)
	}
	if len(codes) == 0 {
		r.fail(n.at, path, "is empty: write [429, 503], or attempts: 0 for a client that does not retry")
		return
	}
	t.On = codes
}

func readHeaders(r *reader, n *node, path string, c *Client) {
	if n.kind != mappingNode {
		r.fail(n.at, path, "is %s and should be a mapping, as in {X-Api-Key: secret}", n.what())
		return
	}
	headers := make(map[string]string, len(n.fields))
	for _, e := range n.fields {
		at := join(path, printable(e.key))
		if e.key == "" || strings.ContainsFunc(e.key, func(c rune) bool { return !isHeaderChar(c) }) {
			r.fail(e.at, at, "is no name of a header: write letters, digits and -, as in X-Api-Key")
			return
		}
		if !r.isScalar(e.value, at, "a text") {
			return
		}
		if v := e.value.text; len(v) > maxText || strings.ContainsFunc(v, func(c rune) bool { return isControl(c) || c > 0x7e }) {
			r.fail(e.value.at, at, "%s is no value of a header: write printable ASCII on one line, at most %d bytes", quote(v), maxText)
			return
		}
		headers[e.key] = e.value.text
	}
	c.Headers = headers
}

// isHeaderChar reports whether a field name may hold the character (the tokens of RFC 9110, 5.6.2).
func isHeaderChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

func writeHeaders(c *Client) *node {
	if len(c.Headers) == 0 {
		return nil
	}
	n := &node{kind: mappingNode}
	for _, key := range sortedKeys(c.Headers) {
		n.fields = append(n.fields, entry{key: key, value: quotedNode(c.Headers[key])})
	}
	return n
}

func readExpect(r *reader, n *node, path string, p *Profile) {
	if !r.isList(n, path, `["web.satisfaction >= 0.9"]`) {
		return
	}
	r.forget(path)
	var lines []string
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !r.isScalar(item, at, "a text such as `jain >= 0.9`") {
			return
		}
		r.places[at] = item.at
		lines = append(lines, strings.TrimSpace(item.text))
	}
	p.Expect = lines
}

func writeExpect(p *Profile) *node {
	if len(p.Expect) == 0 {
		return nil
	}
	n := &node{kind: sequenceNode}
	for _, line := range p.Expect {
		n.items = append(n.items, quotedNode(line))
	}
	return n
}

// nameOf is the name of a profile that does not say its own: its file's.
func nameOf(file string) string {
	base := filepath.Base(file)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if checkName(name) != nil || file == "" || file == "-" {
		return "profile"
	}
	return name
}
