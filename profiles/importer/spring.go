package importer

import (
	"strconv"
	"strings"

	"fairgate/limiter"
)

// spring reads Spring Cloud Gateway's RedisRateLimiter, wherever in the file its replenishRate stands.
//
// Its script refills by whole seconds of the Redis server's clock: nothing within a second, and replenishRate at the next one,
// which is what refill: interval does. requestedTokens is what each attempt costs.
func (s *source) spring(root *node) (*draft, error) {
	d := &draft{origin: "Spring Cloud Gateway RedisRateLimiter"}
	found := root.find("replenishRate")
	root.walk(func(n *node) {
		if n.kind == scalar && strings.HasPrefix(n.text, "RequestRateLimiter=") {
			d.note(n.line, "RequestRateLimiter in short form is not understood by the gateway either: left out; write name and args")
		}
	})
	if len(found) == 0 {
		return nil, s.fail(1, "holds no replenishRate: write for example redis-rate-limiter.replenishRate: 10 among the args of RequestRateLimiter")
	}
	n := found[0]
	for _, other := range found[1:] {
		d.note(other.field("replenishRate").line, "the limit of another route: left out; import it by itself")
	}
	rate, rateLine, err := s.count(n, "replenishRate", 0)
	if err != nil {
		return nil, err
	}
	burst, burstLine, err := s.count(n, "burstCapacity", 1)
	if err != nil {
		return nil, err
	}
	cost, costLine, err := s.count(n, "requestedTokens", 1)
	if err != nil {
		return nil, err
	}
	if cost > burst {
		return nil, s.fail(costLine, "requestedTokens %d is more than burstCapacity %d: no request could ever pass; raise burstCapacity", cost, burst)
	}
	d.line, d.rate, d.burst, d.cost = rateLine, limiter.PerSecond(rate), burst, cost
	d.costFrom = "requestedTokens (" + strconv.Itoa(costLine) + ")"
	d.set("policy", "per-client", "each key of the key resolver counts for itself (%d)", rateLine)
	d.set("algorithm", "token-bucket", "RedisRateLimiter's (%d)", rateLine)
	d.set("refill", "interval", "its script counts whole seconds")
	d.cap(false)
	d.set("client.rate", d.rate.String(), "replenishRate (%d)", rateLine)
	if n.field("burstCapacity") == nil {
		d.set("client.burst", "1", "burstCapacity is left out, which means 1")
	} else {
		d.set("client.burst", strconv.FormatInt(burst, 10), "burstCapacity (%d)", burstLine)
	}
	d.note(rateLine, "when Redis is gone the gateway lets everything pass: fairgate run keeps its counters in the process")
	root.walk(func(at *node) {
		for _, f := range at.fields {
			switch normal(f.key) {
			case "keyresolver":
				d.note(f.line, "key-resolver %s says who counts as one: here every client of the profile does", quote(f.value.text))
			case "denyemptykey", "emptykeystatus", "emptykeystatuscode":
				d.note(f.line, "%s: left out, every client has a name", f.key)
			case "statuscode":
				if f.value.text != "429" && !strings.EqualFold(f.value.text, "TOO_MANY_REQUESTS") {
					d.note(f.line, "refuses with %s: fairgate refuses with 429", quote(f.value.text))
				}
			}
		}
	})
	return d, nil
}
