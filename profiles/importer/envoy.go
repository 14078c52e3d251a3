package importer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
)

// envoy reads the token_bucket of Envoy's local rate limit: max_tokens, tokens_per_fill (1 where it is left out) and fill_interval.
func (s *source) envoy(root *node) (*draft, error) {
	d := &draft{origin: "Envoy local rate limit"}
	holders := root.find("token_bucket")
	var chosen *node
	for _, h := range holders {
		if h.field("entries") == nil { // the bucket of one descriptor
			chosen = h
			break
		}
	}
	if len(holders) == 0 {
		return nil, s.fail(1, "holds no token_bucket: write for example token_bucket: {max_tokens: 100, tokens_per_fill: 100, fill_interval: 1s}")
	}
	if chosen == nil {
		chosen = holders[0]
		d.note(chosen.line, "is the bucket of a descriptor and counts only what matches it: taken for all attempts")
	}
	for _, h := range holders {
		f := h.field("token_bucket")
		switch {
		case h == chosen:
		case h.field("entries") != nil:
			d.note(f.line, "the token_bucket of a descriptor (%s): left out, a profile has no limits by descriptor", entries(h))
		default:
			d.note(f.line, "a second token_bucket: left out; import it by itself")
		}
	}
	at := chosen.field("token_bucket")
	bucket := at.value
	if bucket.kind != mapping {
		return nil, s.fail(at.line, "token_bucket should be a mapping with max_tokens and fill_interval")
	}
	if bucket.field("max_tokens") == nil {
		return nil, s.needs(bucket, "max_tokens", "100")
	}
	if bucket.field("fill_interval") == nil {
		return nil, s.needs(bucket, "fill_interval", "1s")
	}
	burst, burstLine, err := s.count(bucket, "max_tokens", 0)
	if err != nil {
		return nil, err
	}
	fill, fillLine, err := s.count(bucket, "tokens_per_fill", 1)
	if err != nil {
		return nil, err
	}
	every, everyLine, err := s.protoDuration(bucket.field("fill_interval"))
	if err != nil {
		return nil, err
	}
	filled := fmt.Sprintf("tokens_per_fill (%d)", fillLine)
	if bucket.field("tokens_per_fill") == nil {
		filled = "1 token, since tokens_per_fill is left out,"
	}
	d.line, d.rate, d.burst = at.line, limiter.Rate{Tokens: fill, Per: every}, burst
	if yes(chosen.word("local_rate_limit_per_downstream_connection")) {
		d.set("policy", "per-client", "a bucket for each connection (%d): each client is taken for one connection", chosen.field("local_rate_limit_per_downstream_connection").line)
		d.set("algorithm", "token-bucket", "token_bucket (%d)", at.line)
		d.set("refill", "interval", "all of tokens_per_fill at once, each fill_interval (%d)", everyLine)
		d.cap(false)
		d.set("client.rate", d.rate.String(), "%s each fill_interval (%d)", filled, everyLine)
		d.set("client.burst", strconv.FormatInt(burst, 10), "max_tokens (%d)", burstLine)
	} else {
		d.set("policy", "global", "one bucket for all that a proxy sees (%d)", at.line)
		d.set("algorithm", "token-bucket", "token_bucket (%d)", at.line)
		d.set("refill", "interval", "all of tokens_per_fill at once, each fill_interval (%d)", everyLine)
		d.set("rate", d.rate.String(), "%s each fill_interval (%d)", filled, everyLine)
		d.set("burst", strconv.FormatInt(burst, 10), "max_tokens (%d)", burstLine)
		d.note(at.line, "every Envoy counts for itself: for several write policy: sharded, shards: N, divide: false")
	}
	d.note(everyLine, "recent Envoys fill the bucket evenly: for those write refill: greedy")
	s.envoyRest(d, chosen)
	return d, nil
}

// envoyRest notes what stands beside the bucket.
func (s *source) envoyRest(d *draft, n *node) {
	for _, key := range []string{"filter_enabled", "filter_enforced"} {
		f := n.field(key)
		if f == nil {
			continue
		}
		if v := f.value.get("default_value"); v.word0("numerator") != "100" || v.word0("denominator") != "" && v.word0("denominator") != "HUNDRED" {
			d.note(f.line, "%s is for a part of the requests: left out, the profile's limiter takes them all", key)
		}
	}
	if f := n.field("status"); f != nil {
		if code := f.value.word("code"); code != "" && code != "429" && code != "TooManyRequests" {
			d.note(f.line, "refuses with %s: fairgate refuses with 429", quote(code))
		}
	}
	for _, key := range []string{"rate_limited_as_resource_exhausted", "request_headers_to_add_when_not_enforced", "response_headers_to_add", "local_cluster_rate_limit"} {
		if f := n.field(key); f != nil {
			d.note(f.line, "%s: left out", f.key)
		}
	}
}

// word0 is word of what may be nil.
func (n *node) word0(key string) string {
	if n == nil {
		return ""
	}
	return n.word(key)
}

// entries are what a descriptor matches, in words.
func entries(n *node) string {
	var words []string
	for _, e := range n.get("entries").itemsOr() {
		words = append(words, e.word("key")+"="+e.word("value"))
	}
	return clean(strings.Join(words, ", "))
}

func (n *node) itemsOr() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

func yes(text string) bool { return strings.EqualFold(text, "true") || strings.EqualFold(text, "yes") }

// protoDuration reads a duration of protobuf: 0.5s, or {seconds: 1, nanos: 500000000}.
func (s *source) protoDuration(f *field) (time.Duration, int, error) {
	if f.value.kind == mapping {
		var total time.Duration
		for _, part := range []struct {
			key  string
			unit time.Duration
		}{{"seconds", time.Second}, {"nanos", 1}} {
			text := f.value.word(part.key)
			if text == "" {
				continue
			}
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 || n > int64(mostTime/part.unit) {
				return 0, f.line, s.fail(f.value.get(part.key).line, "%s: %s is no count: write for example seconds: 1", part.key, quote(text))
			}
			total += time.Duration(n) * part.unit
		}
		if total <= 0 {
			return 0, f.line, s.fail(f.line, "%s is no time above zero: write for example 1s", f.key)
		}
		return total, f.line, nil
	}
	every, err := time.ParseDuration(f.value.text)
	if err != nil || every <= 0 || every > mostTime {
		return 0, f.line, s.fail(f.line, "%s: %s is no length of time: write for example 1s or 0.5s", f.key, quote(f.value.text))
	}
	return every, f.line, nil
}

// mostTime is the longest period of a rate that is read.
const mostTime = 10_000 * time.Hour
