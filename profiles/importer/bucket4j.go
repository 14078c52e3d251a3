package importer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairgate/limiter"
)

// units are those of java.time.temporal.ChronoUnit and of its TimeUnit.
var units = map[string]time.Duration{
	"nanos": 1, "nanoseconds": 1, "micros": time.Microsecond, "microseconds": time.Microsecond, "millis": time.Millisecond, "milliseconds": time.Millisecond,
	"second": time.Second, "seconds": time.Second, "minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour,
	"day": 24 * time.Hour, "days": 24 * time.Hour,
}

// A band is one bandwidth of a bucket.
type band struct {
	id       string
	line     int
	rate     limiter.Rate
	burst    int64
	interval bool
	initial  int64 // -1: not said
	why      string
}

// bucket4j reads the bandwidths of a Bucket4j configuration.
func (s *source) bucket4j(root *node) (*draft, error) {
	d := &draft{origin: "Bucket4j bandwidths"}
	found := root.find("bandwidths")
	if len(found) == 0 {
		return nil, s.fail(1, "holds no bandwidths: write for example bandwidths: [{capacity: 10, time: 1, unit: seconds}]")
	}
	holder := found[0]
	for _, other := range found[1:] {
		d.note(other.field("bandwidths").line, "the bandwidths of another bucket: left out; import them by themselves")
	}
	f := holder.field("bandwidths")
	items := f.value.items
	if f.value.kind == mapping {
		items = []*node{f.value}
	}
	if len(items) == 0 {
		return nil, s.fail(f.line, "bandwidths is empty: write for example bandwidths: [{capacity: 10, time: 1, unit: seconds}]")
	}
	if len(items) > 16 {
		return nil, s.fail(f.line, "bandwidths has %d: at most 16 are counted at once", len(items))
	}
	var bands []*band
	for _, item := range items {
		b, err := s.band(d, item)
		if err != nil {
			return nil, err
		}
		bands = append(bands, b)
	}
	first := bands[0]
	d.line, d.rate, d.burst = first.line, first.rate, first.burst
	key := holder.field("cache_key")
	if key == nil {
		key = holder.field("expression")
	}
	if key != nil && len(bands) == 1 {
		d.bucketForEach(key, first)
	} else {
		d.bucketForAll(key, bands)
	}
	for _, k := range []string{"skip_condition", "execute_condition", "execute_predicates", "skip_predicates", "post_execute_condition", "tokens_inheritance_strategy"} {
		if f := holder.field(k); f != nil {
			d.note(f.line, "%s: left out, every attempt of every client is counted", f.key)
		}
	}
	if f := holder.field("num_tokens"); f != nil && f.value.text != "1" {
		cost, line, err := s.count(holder, "num_tokens", 1)
		if err != nil {
			return nil, err
		}
		d.cost, d.costFrom = cost, fmt.Sprintf("%s (%d)", f.key, line)
	}
	return d, nil
}

// bucketForEach is one bandwidth for each key.
func (d *draft) bucketForEach(key *field, b *band) {
	d.set("policy", "per-client", "%s %s: each counts for itself (%d)", key.key, quote(key.value.text), key.line)
	d.set("algorithm", "token-bucket", "a bandwidth (%d)", b.line)
	d.set("refill", b.refill(), "refill-speed (%d)", b.line)
	d.cap(false)
	d.set("client.rate", b.rate.String(), "%s", b.why)
	d.set("client.burst", strconv.FormatInt(b.burst, 10), "capacity (%d)", b.line)
	if b.initial >= 0 {
		d.note(b.line, "initial tokens: left out, a client's own bucket starts full")
	}
}

// bucketForAll is a bucket of one bandwidth or several. Several cannot be counted for each client apart, so that such a profile has one client.
func (d *draft) bucketForAll(key *field, bands []*band) {
	first := bands[0]
	switch {
	case key != nil:
		d.alone = true
		d.set("policy", "global", "the bucket of one key")
		d.note(key.line, "%s gives each key a bucket of %d bandwidths; fairgate counts several bandwidths for all clients together, so the profile has one client: one key", key.key, len(bands))
	default:
		d.set("policy", "global", "one bucket (%d)", first.line)
	}
	d.set("algorithm", "token-bucket", "a bandwidth (%d)", first.line)
	d.set("refill", first.refill(), "refill-speed (%d)", first.line)
	d.set("rate", first.rate.String(), "%s", first.why)
	d.set("burst", strconv.FormatInt(first.burst, 10), "capacity (%d)", first.line)
	if first.initial >= 0 {
		d.set("initial", strconv.FormatInt(min(first.initial, first.burst), 10), "tokens at the start (%d)", first.line)
	}
	if first.id != "" {
		d.note(first.line, "the id %s: left out, the first limit is called global", quote(first.id))
	}
	if len(bands) == 1 {
		return
	}
	var words []string
	for i, b := range bands[1:] {
		id := b.id
		if id == "" {
			id = fmt.Sprintf("line-%d-%d", b.line, i+2)
		}
		words = append(words, fmt.Sprintf("{id: %s, rate: %s, burst: %d, refill: %s}", strconv.Quote(id), b.rate, b.burst, b.refill()))
		if b.initial >= 0 {
			d.note(b.line, "initial tokens: left out, a further bandwidth starts full")
		}
	}
	d.set("bandwidths", "["+strings.Join(words, ", ")+"]", "every attempt must pass them all (%d)", bands[1].line)
}

func (b *band) refill() string {
	if b.interval {
		return "interval"
	}
	return "greedy"
}

func (s *source) band(d *draft, n *node) (*band, error) {
	if n.kind != mapping {
		return nil, s.fail(n.line, "a bandwidth should be a mapping with capacity, time and unit")
	}
	if n.field("capacity") == nil {
		return nil, s.needs(n, "capacity", "10")
	}
	b := &band{line: n.line, initial: -1, id: n.word("id")}
	var err error
	if b.burst, b.line, err = s.count(n, "capacity", 0); err != nil {
		return nil, err
	}
	refill, refillLine, err := s.count(n, "refill_capacity", b.burst)
	if err != nil {
		return nil, err
	}
	length, timeLine, err := s.count(n, "time", 1)
	if err != nil {
		return nil, err
	}
	unit := units["seconds"]
	if f := n.field("unit"); f != nil {
		if unit = units[strings.ToLower(f.value.text)]; unit == 0 {
			return nil, s.fail(f.line, "unit %s is not known: write seconds, minutes, hours or days", quote(f.value.text))
		}
	} else if n.field("time") == nil {
		return nil, s.needs(n, "time", "1 and unit: seconds")
	}
	if length > int64(mostTime/unit) {
		return nil, s.fail(timeLine, "time %d is too long: write at most %s", length, mostTime)
	}
	b.rate.Tokens, b.rate.Per = refill, unit*time.Duration(length)
	b.why = fmt.Sprintf("capacity (%d) in time and unit (%d)", b.line, timeLine)
	if n.field("refill_capacity") != nil {
		b.why = fmt.Sprintf("refill-capacity (%d) in time and unit (%d)", refillLine, timeLine)
	}
	if f := n.field("refill_speed"); f != nil {
		switch normal(f.value.text) {
		case "greedy":
		case "interval":
			b.interval = true
		case "intervalaligned", "intervallyaligned":
			b.interval = true
			d.note(f.line, "%s fills at a moment of the clock: here periods are counted from the start; refill: aligned with start: does that within a run", clean(f.value.text))
		default:
			return nil, s.fail(f.line, "refill-speed %s is not known: write greedy or interval", quote(f.value.text))
		}
	}
	if f := n.field("initial_capacity"); f != nil {
		if f.value.text == "0" {
			b.initial = 0
		} else if b.initial, _, err = s.count(n, "initial_capacity", 0); err != nil {
			return nil, err
		}
	}
	if len(b.id) > 40 || clean(b.id) != b.id {
		return nil, s.fail(n.line, "id %s is no name: write a short one, as minute", quote(b.id))
	}
	return b, nil
}
