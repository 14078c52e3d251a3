package importer

import (
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
)

// fallback reads a rate-limit.fallback block: an algorithm, a capacity and a rate in requests per second, for each address and endpoint.
//
// The leaky bucket there is a queue that only counts: a request is let through at once, and whole slots leak. That is a leaky bucket
// without shape.
func (s *source) fallback(root *node) (*draft, error) {
	d := &draft{origin: "rate-limit.fallback"}
	found := root.find("fallback")
	if len(found) == 0 {
		found = root.find("flowRate")
	} else if n := found[0].get("fallback"); n.kind == mapping {
		found = []*node{n}
	}
	if len(found) == 0 || found[0].kind != mapping {
		return nil, s.fail(1, "holds no rate-limit.fallback: write for example rate-limit: {fallback: {algorithm: LEAKY_BUCKET, capacity: 50, flowRate: 5}}")
	}
	n := found[0]
	alg := n.field("algorithm")
	if alg == nil {
		return nil, s.needs(n, "algorithm", "LEAKY_BUCKET")
	}
	var algorithm, key string
	switch normal(alg.value.text) {
	case "leakybucket":
		algorithm, key = "leaky-bucket", "flowRate"
	case "tokenbucket":
		algorithm, key = "token-bucket", "refillRate"
	default:
		return nil, s.fail(alg.line, "algorithm %s is not read: LEAKY_BUCKET (capacity, flowRate) and TOKEN_BUCKET (capacity, refillRate) are", quote(alg.value.text))
	}
	for _, need := range []struct{ key, example string }{{"capacity", "50"}, {key, "5"}} {
		if n.field(need.key) == nil {
			return nil, s.needs(n, need.key, need.example)
		}
	}
	burst, burstLine, err := s.count(n, "capacity", 0)
	if err != nil {
		return nil, err
	}
	f := n.field(key)
	rate, bad := limiter.ParseRate(f.value.text + "/s")
	if bad != nil || f.value.kind != scalar || len(f.value.text) > 20 || rate.Tokens > mostWhole {
		return nil, s.fail(f.line, "%s: %s is no number of requests per second: write for example 5", f.key, quote(f.value.text))
	}
	d.line, d.rate, d.burst = alg.line, rate, burst
	d.set("policy", "per-client", "each address and endpoint counts for itself")
	d.set("algorithm", algorithm, "%s (%d)", clean(alg.value.text), alg.line)
	d.cap(false)
	d.set("client.rate", rate.String(), "%s (%d), per second", f.key, f.line)
	d.set("client.burst", strconv.FormatInt(burst, 10), "capacity (%d)", burstLine)
	d.note(alg.line, "the key there is address and endpoint: here it is the client, whatever endpoint it asks for")
	if algorithm == "leaky-bucket" {
		d.note(alg.line, "nothing is delayed: the queue only counts, as it does there; shape: true would really keep requests back")
	}
	s.fallbackRest(d, root, n)
	return d, nil
}

// fallbackRest notes what stands around the block. A TTL that is shorter than the time to drain makes the limiter forget.
func (s *source) fallbackRest(d *draft, root, n *node) {
	drain := time.Duration(float64(d.burst) / d.rate.PerSecond() * float64(time.Second))
	for _, at := range root.find("ttl") {
		f := at.field("ttl")
		ttl, err := time.ParseDuration(strings.TrimSpace(f.value.text))
		switch {
		case err != nil:
			d.note(f.line, "ttl %s has no unit and is left out; it should not be shorter than the time to drain, %s: what is forgotten early is admitted twice", quote(f.value.text), drain)
		case ttl > 0 && ttl < drain:
			d.set("forget_after", ttl.String(), "ttl (%d)", f.line)
			d.note(f.line, "ttl %s is shorter than the time to drain, %s: a client that pauses so long finds an empty bucket", ttl, drain)
		default:
			d.note(f.line, "ttl %s is not shorter than the time to drain, %s: left out, it changes nothing", ttl, drain)
		}
	}
	for _, f := range n.fields {
		switch normal(f.key) {
		case "algorithm", "capacity", "flowrate", "refillrate", "ttl":
		default:
			d.note(f.line, "%s: not known, left out", f.key)
		}
	}
	for _, key := range []string{"rules", "policies", "endpoints", "overrides"} {
		for _, at := range root.find(key) {
			d.note(at.field(key).line, "%s: only the fallback is read", key)
		}
	}
}
