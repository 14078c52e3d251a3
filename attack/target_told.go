package attack

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairgate/fairness"
)

// A toldLimit is what a service says in its answers of a limit of its own.
type toldLimit struct {
	field     string // the header field that tells
	name      string // as the service calls it; "": it has no name
	quota     int64
	window    time.Duration // 0: not told
	remaining int64         // −1: not told
	reset     time.Duration // from the answer until it is as fresh again; −1: not told
}

// mostToldLimits is how many limits are read off one answer, and remembered of a run.
const mostToldLimits = 8

// limitsIn reads what an answer tells of limits, in the shapes that are in use:
//
//	RateLimit-Policy: "burst";q=100;w=60         RateLimit: "burst";r=50;t=30           draft-ietf-httpapi-ratelimit-headers-11
//	RateLimit: limit=100, remaining=50, reset=30                                        draft 07
//	RateLimit-Limit: 100, 100;w=60               RateLimit-Remaining: 50  RateLimit-Reset: 30     up to draft 06
//	X-RateLimit-Limit: 100                       X-RateLimit-Remaining: 50  X-RateLimit-Reset: 30, or a moment in seconds or ms since 1970
//	X-RateLimit-Limit-Minute: 100                X-RateLimit-Remaining-Minute: 50
//
// The first that is there counts. What cannot be read is left out.
func limitsIn(h http.Header, clock func() time.Time) []toldLimit {
	for _, read := range []func(http.Header, func() time.Time) []toldLimit{listed, assigned, older("Ratelimit"), older("X-Ratelimit"), older("X-Rate-Limit"), perUnit} {
		if limits := read(h, clock); len(limits) > 0 {
			return limits[:min(len(limits), mostToldLimits)]
		}
	}
	return nil
}

// listed reads RateLimit-Policy and RateLimit as lists of named limits.
func listed(h http.Header, _ func() time.Time) []toldLimit {
	var limits []toldLimit
	for _, item := range items(h["Ratelimit-Policy"]) {
		l := toldLimit{field: "RateLimit-Policy", name: item.name, quota: -1, remaining: -1, reset: -1}
		if n, ok := item.number("q"); ok {
			l.quota = n
		} else if n, ok := natural(item.name); ok { // up to draft 07 the quota stands in the place of the name
			l.quota, l.name = n, ""
		}
		if w, ok := item.number("w"); ok {
			l.window = seconds(w)
		}
		if l.quota >= 0 {
			limits = append(limits, l)
		}
	}
	for _, item := range items(h["Ratelimit"]) {
		for i := range limits {
			if limits[i].name == item.name {
				if n, ok := item.number("r"); ok {
					limits[i].remaining = n
				}
				if t, ok := item.number("t"); ok {
					limits[i].reset = seconds(t)
				}
			}
		}
	}
	return limits
}

// assigned reads RateLimit as limit=…, remaining=…, reset=….
func assigned(h http.Header, _ func() time.Time) []toldLimit {
	l := toldLimit{field: "RateLimit", quota: -1, remaining: -1, reset: -1}
	for _, item := range items(h["Ratelimit"]) {
		key, value, _ := strings.Cut(item.name, "=")
		n, ok := natural(strings.TrimSpace(value))
		switch key = strings.TrimSpace(key); {
		case !ok:
		case key == "limit":
			l.quota = n
		case key == "remaining":
			l.remaining = n
		case key == "reset":
			l.reset = seconds(n)
		}
	}
	if l.quota < 0 {
		return nil
	}
	return []toldLimit{l}
}

// older reads the three fields that begin with prefix. The limit may be followed by its policies: "100, 100;w=60, 1000;w=3600".
func older(prefix string) func(http.Header, func() time.Time) []toldLimit {
	return func(h http.Header, clock func() time.Time) []toldLimit {
		list := items(h[prefix+"-Limit"])
		if len(list) == 0 {
			return nil
		}
		n, ok := natural(list[0].name)
		if !ok {
			return nil
		}
		l := toldLimit{field: strings.Replace(prefix, "limit", "Limit", 1) + "-Limit", quota: n, remaining: -1, reset: -1}
		for _, item := range list { // the policy of that quota says its window
			if w, ok := item.number("w"); ok && item.name == list[0].name && l.window == 0 {
				l.window = seconds(w)
			}
		}
		if n, ok := natural(first(h[prefix+"-Remaining"])); ok {
			l.remaining = n
		}
		if n, ok := natural(first(h[prefix+"-Reset"])); ok {
			l.reset = untilReset(n, clock)
		}
		return []toldLimit{l}
	}
}

// perUnit reads one limit for each unit of time.
func perUnit(h http.Header, _ func() time.Time) []toldLimit {
	var limits []toldLimit
	for _, unit := range []struct {
		name   string
		window time.Duration
	}{{"Second", time.Second}, {"Minute", time.Minute}, {"Hour", time.Hour}, {"Day", 24 * time.Hour}} {
		n, ok := natural(first(h["X-Ratelimit-Limit-"+unit.name]))
		if !ok {
			continue
		}
		l := toldLimit{field: "X-RateLimit-Limit-" + unit.name, quota: n, window: unit.window, remaining: -1, reset: -1}
		if n, ok := natural(first(h["X-Ratelimit-Remaining-"+unit.name])); ok {
			l.remaining = n
		}
		limits = append(limits, l)
	}
	return limits
}

// untilReset is how far away a reset is: a small number is seconds from now, a large one a moment in seconds since 1970, a very large one the same in
// milliseconds.
func untilReset(n int64, clock func() time.Time) time.Duration {
	const longest = 1_000_000_000 // seconds; 31 years
	switch {
	case n < longest:
		return seconds(n)
	case n < 1000*longest:
		return max(time.Unix(n, 0).Sub(clock()), 0)
	}
	return max(time.UnixMilli(n).Sub(clock()), 0)
}

// seconds is a told number of seconds, at most a year.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(mostTold/time.Second))) * time.Second
}

// natural reads a whole number from 0 up; some write it with decimals.
func natural(s string) (int64, bool) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
	if strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(whole, 10, 63)
	return int64(n), err == nil
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// An item of a list field: a name, or a bare value, and its parameters.
type item struct {
	name       string
	parameters []string // k=v
}

// number is a parameter that is a whole number.
func (it *item) number(key string) (int64, bool) {
	for _, p := range it.parameters {
		if k, v, _ := strings.Cut(p, "="); strings.TrimSpace(k) == key {
			return natural(strings.Trim(strings.TrimSpace(v), `"`))
		}
	}
	return 0, false
}

// items reads a list field: items set apart by commas, their parameters by semicolons, neither of which count in quotes.
func items(values []string) []item {
	var list []item
	for _, value := range values {
		for _, text := range split(value, ',') {
			parts := split(text, ';')
			name := strings.TrimSpace(parts[0])
			if unquoted, ok := strings.CutPrefix(name, `"`); ok {
				name = strings.ReplaceAll(strings.TrimSuffix(unquoted, `"`), `\"`, `"`)
			}
			if name != "" && len(list) < 4*mostToldLimits {
				list = append(list, item{name, parts[1:]})
			}
		}
	}
	return list
}

// split cuts s at a separator where that is not within quotes.
func split(s string, separator byte) []string {
	var parts []string
	quoted, from := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == separator && !quoted:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// A toldBook remembers what a service said of its limits: which there are, and their last state.
type toldBook struct {
	mu     sync.Mutex
	limits []toldLimit
	counts []int64 // of the answers that told each
}

// hear takes in an answer.
func (b *toldBook) hear(h http.Header) { b.hearAt(h, time.Now) }

// hearAt is hear of an answer that came at some other time.
func (b *toldBook) hearAt(h http.Header, clock func() time.Time) {
	limits := limitsIn(h, clock)
	if len(limits) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range limits {
		if i := b.findLocked(&l); i >= 0 {
			b.limits[i] = l
			b.counts[i]++
		}
	}
}

// findLocked is the place of a limit, which is another when quota or window are; −1 when there are too many to remember one more.
func (b *toldBook) findLocked(l *toldLimit) int {
	for i := range b.limits {
		k := &b.limits[i]
		if k.field == l.field && k.name == l.name && k.quota == l.quota && k.window == l.window {
			return i
		}
	}
	if len(b.limits) == mostToldLimits {
		return -1
	}
	b.limits = append(b.limits, *l)
	b.counts = append(b.counts, 0)
	return len(b.limits) - 1
}

func (b *toldBook) report() []fairness.ToldLimit {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []fairness.ToldLimit{}
	for i, l := range b.limits {
		t := fairness.ToldLimit{
			Field: l.field, Name: l.name, Quota: l.quota, Answers: b.counts[i],
			Window: fairness.None, Remaining: fairness.None, Reset: fairness.None,
		}
		if l.window > 0 {
			t.Window = fairness.Number(l.window.Seconds())
		}
		if l.remaining >= 0 {
			t.Remaining = fairness.Number(l.remaining)
		}
		if l.reset >= 0 {
			t.Reset = fairness.Number(l.reset.Seconds())
		}
		all = append(all, t)
	}
	return all
}
