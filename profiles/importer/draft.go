package importer

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"fairgate/limiter"
)

// A draft is a profile as it is put together.
type draft struct {
	name     string
	origin   string // what it was imported from, in words
	line     int    // of the limit itself, for errors about the whole
	settings []setting
	notes    []Note

	rate     limiter.Rate // what the first client is measured against: the client's own limit, or the only one
	burst    int64
	cost     int64 // tokens of an attempt; 0: 1
	costFrom string
	alone    bool // one client only, because several would share what the origin keeps apart
}

// A setting is a line of the limiter. Its key may be a path: client.rate.
type setting struct{ key, value, comment string }

func (d *draft) set(key, value, comment string, args ...any) {
	d.settings = append(d.settings, setting{key, value, clean(fmt.Sprintf(comment, args...))})
}

func (d *draft) note(line int, text string, args ...any) {
	d.notes = append(d.notes, Note{line, clean(fmt.Sprintf(text, args...))})
}

// cap is the limit for all of a policy per-client whose origin has none: one that never refuses and never delays. As a
// meter the sum of the clients' limits does that, whoever comes; a bucket that shapes would delay one client for what
// another has waiting, so there the rate is far beyond.
func (d *draft) cap(shaped bool) {
	clients := int64(len(d.clients()))
	if shaped {
		d.set("rate", limiter.PerSecond(beyond).String(), "there is no limit for all: far beyond, so that only a client's own delays it")
		d.set("burst", strconv.FormatInt(max(beyond, clients*d.burst), 10), "far beyond")
		d.note(d.line, "there is no limit for all clients together: the profile's is so large that it never counts, and what a report says of its use means nothing")
		return
	}
	d.set("rate", d.rate.Scaled(clients, 1).String(), "there is no limit for all: the sum of these clients', which never refuses")
	d.set("burst", strconv.FormatInt(clients*d.burst, 10), "the sum of these clients' bursts: raise both for more of them")
}

// beyond is the fastest rate that is counted: what all clients have waiting leaks out of it within a nanosecond each.
const beyond = 1_000_000_000

// A client is one to begin with.
type client struct{ name, kind, process, comment string }

// clients are two that show what the limit does: one that presses, one that asks for half of it.
func (d *draft) clients() []client {
	busy, calm := d.rate.Scaled(3, 1), d.rate.Scaled(1, 2)
	list := []client{
		{"busy", "batch", fmt.Sprintf("{process: constant, rate: %s, jitter: 0.1}", perCost(busy, d.cost)), "asks for three times the limit"},
		{"calm", "interactive", fmt.Sprintf("{process: poisson, rate: %s}", perCost(calm, d.cost)), "asks for half of it"},
	}
	if d.alone {
		return list[:1]
	}
	return list
}

// perCost is a rate of attempts for a rate of tokens.
func perCost(r limiter.Rate, cost int64) limiter.Rate { return r.Scaled(1, max(cost, 1)) }

// yaml is the draft as a profile.
func (d *draft) yaml(file string) []byte {
	d.name = nameOf(file)
	var b strings.Builder
	line := func(indent int, text, comment string) {
		text = strings.Repeat(" ", indent) + text
		if comment != "" {
			text += strings.Repeat(" ", max(2, 34-utf8.RuneCountInString(text))) + "# " + comment
		}
		b.WriteString(text + "\n")
	}
	line(0, "# Imported by fairgate import from "+clean(filepath.Base(file))+": "+d.origin+".", "")
	line(0, "# Numbers in brackets are its lines.", "")
	line(0, "name: "+d.name, "")
	line(0, "title: "+strconv.Quote(clean(d.origin)+", imported"), "")
	line(0, "duration: 30s", "")
	b.WriteByte('\n')
	line(0, "limiter:", "")
	group := ""
	for _, s := range d.settings {
		under, key, nested := strings.Cut(s.key, ".")
		switch {
		case !nested:
			group = ""
			line(2, s.key+": "+s.value, s.comment)
		default:
			if under != group {
				line(2, under+":", "")
				group = under
			}
			line(4, key+": "+s.value, s.comment)
		}
	}
	b.WriteByte('\n')
	line(0, "clients:", "to begin with: put your own here")
	for _, c := range d.clients() {
		line(2, "- name: "+c.name, c.comment)
		line(4, "kind: "+c.kind, "")
		if d.cost > 1 {
			line(4, fmt.Sprintf("cost: %d", d.cost), d.costFrom)
		}
		line(4, "arrivals: "+c.process, "")
	}
	return []byte(b.String())
}

// nameOf is a profile's name for a file: what is left of it when all that a name may not hold is taken out.
func nameOf(file string) string {
	base := filepath.Base(file)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, base)
	if name = strings.Trim(name, "-"); len(name) > 40 {
		name = name[:40]
	}
	if _, err := strconv.ParseFloat(name, 64); err == nil || strings.EqualFold(name, "null") || strings.EqualFold(name, "true") || strings.EqualFold(name, "false") {
		name = "limit-" + name // YAML would take it for something else than a text
	}
	return cmp.Or(name, "imported")
}
