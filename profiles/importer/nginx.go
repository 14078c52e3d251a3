package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairgate/limiter"
)

// A directive is one of nginx's: its words, and what block it stands in.
type directive struct {
	words []string
	line  int
	block int // number of the innermost block
}

// nginx reads limit_req_zone and limit_req.
//
// nginx keeps for each key an excess, in thousandths of a request, that leaks at the rate; a request adds one and is refused when
// the excess would exceed the burst. The first request adds nothing, so that a burst of b is a bucket of b + 1. Without nodelay a request
// waits until what is in excess of delay has leaked (ngx_http_limit_req_module.c: the lookup, and ngx_http_limit_req_account).
func (s *source) nginx(text string) (*draft, error) {
	all, err := s.directives(text)
	if err != nil {
		return nil, err
	}
	zones := map[string]*zone{}
	var order []*zone
	var uses []*use
	d := &draft{origin: "nginx limit_req"}
	status := 0
	for _, dir := range all {
		switch dir.words[0] {
		case "limit_req_zone":
			z, err := s.zone(d, dir)
			if err != nil {
				return nil, err
			}
			if first := zones[z.name]; first != nil {
				return nil, s.fail(dir.line, "zone %s is there a second time (first in line %d): give it another name", quote(z.name), first.line)
			}
			zones[z.name] = z
			order = append(order, z)
		case "limit_req":
			u, err := s.use(dir)
			if err != nil {
				return nil, err
			}
			uses = append(uses, u)
		case "limit_req_status":
			if status = dir.line; len(dir.words) == 2 && dir.words[1] != "429" {
				d.note(dir.line, "refuses with status %s: fairgate refuses with 429", dir.words[1])
			}
		case "limit_req_dry_run":
			if len(dir.words) == 2 && dir.words[1] == "on" {
				d.note(dir.line, "limit_req_dry_run on only counts: the profile's limiter refuses; a policy under --shadow counts only")
			}
		case "limit_conn":
			d.note(dir.line, "limit_conn bounds what is in flight: left out; policy: concurrency with client.max_in_flight does that")
		case "limit_rate", "limit_rate_after":
			d.note(dir.line, "%s bounds bytes per second: left out, fairgate counts requests", dir.words[0])
		}
	}
	switch {
	case len(order) == 0 && len(uses) == 0:
		return nil, s.fail(1, "holds neither limit_req_zone nor limit_req: write for example limit_req_zone $binary_remote_addr zone=one:10m rate=10r/s;")
	case len(uses) == 0:
		d.note(order[0].line, "no limit_req uses the zone: taken as limit_req zone=%s", order[0].name)
		uses = append(uses, &use{zone: order[0].name, line: order[0].line})
	}
	for _, u := range uses {
		if zones[u.zone] == nil {
			return nil, s.fail(u.line, "zone %s is nowhere defined: add its line, limit_req_zone $binary_remote_addr zone=%s:10m rate=10r/s;", quote(u.zone), u.zone)
		}
	}
	if status == 0 {
		d.note(uses[0].line, "without limit_req_status nginx refuses with 503: fairgate refuses with 429")
	}
	s.chooseNginx(d, zones, uses)
	return d, nil
}

// chooseNginx takes the limits of one block, the first that has any: one for each key and one for all.
func (s *source) chooseNginx(d *draft, zones map[string]*zone, uses []*use) {
	var own, global *use
	for _, u := range uses {
		z := zones[u.zone]
		into := &own
		if z.shared() {
			into = &global
		}
		switch {
		case u.block != uses[0].block:
			d.note(u.line, "limit_req zone=%s stands in another block than the one in line %d: left out; import it by itself", u.zone, uses[0].line)
		case *into != nil:
			d.note(u.line, "limit_req zone=%s is a second limit for the same kind of key: left out, the one in line %d counts", u.zone, (*into).line)
		default:
			*into = u
		}
	}
	main := own
	if main == nil {
		main = global
	}
	z := zones[main.zone]
	d.line, d.rate, d.burst = main.line, z.rate, main.burst+1
	shaped := !main.nodelay && main.burst > 0
	if own != nil && global != nil && (own.nodelay != global.nodelay || own.delay != global.delay) {
		d.note(global.line, "delays otherwise than line %d: in fairgate both limits delay alike, as line %d says", own.line, own.line)
	}
	for name, other := range zones {
		if !slices.ContainsFunc(uses, func(u *use) bool { return u.zone == name }) {
			d.note(other.line, "zone %s is used by no limit_req: left out", name)
		}
	}

	if own != nil {
		d.set("policy", "per-client", "each %s counts for itself (%d)", z.key, z.line)
	} else {
		d.set("policy", "global", "the key %s is the same for all clients (%d)", z.key, z.line)
	}
	if shaped {
		d.set("algorithm", "leaky-bucket", "what is admitted beyond the rate waits (%d)", main.line)
		d.set("shape", "true", "since there is no nodelay (%d)", main.line)
		if main.delay > 0 {
			d.set("delay", strconv.FormatInt(main.delay, 10), "delay=%d (%d): so many in excess do not wait", main.delay, main.line)
		}
	} else if main.nodelay {
		d.set("algorithm", "leaky-bucket", "nodelay (%d): the bucket only counts", main.line)
	} else {
		d.set("algorithm", "leaky-bucket", "without burst there is nothing that could wait (%d)", main.line)
	}
	switch {
	case own == nil:
		d.set("rate", z.rate.String(), "%s", z.why())
		d.set("burst", strconv.FormatInt(d.burst, 10), "%s", main.why())
		return
	case global != nil:
		g := zones[global.zone]
		d.set("rate", g.rate.String(), "%s, for all together: key %s", g.why(), g.key)
		d.set("burst", strconv.FormatInt(global.burst+1, 10), "%s", global.why())
	default:
		d.cap(shaped)
	}
	d.set("client.rate", z.rate.String(), "%s", z.why())
	d.set("client.burst", strconv.FormatInt(d.burst, 10), "%s", main.why())
}

// A zone is a limit_req_zone.
type zone struct {
	key, name, written string
	rate               limiter.Rate
	exact              bool // the rate is what was written
	line               int
}

// shared reports whether the key is the same for all clients: a constant, or a variable of the server's.
func (z *zone) shared() bool {
	switch z.key {
	case "$server_name", "$host", "$http_host", "$server_addr", "$server_port", "$hostname", "$scheme":
		return true
	}
	return !strings.Contains(z.key, "$")
}

func (z *zone) why() string {
	if !z.exact {
		return fmt.Sprintf("rate=%s (%d): nginx counts whole thousandths a second", z.written, z.line)
	}
	return fmt.Sprintf("rate=%s (%d)", z.written, z.line)
}

func (s *source) zone(d *draft, dir directive) (*zone, error) {
	if len(dir.words) < 2 || strings.Contains(dir.words[1], "=") {
		return nil, s.fail(dir.line, "limit_req_zone has no key: write for example limit_req_zone $binary_remote_addr zone=one:10m rate=10r/s;")
	}
	z := &zone{key: dir.words[1], line: dir.line}
	for _, w := range dir.words[2:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "zone":
			z.name, _, _ = strings.Cut(value, ":")
		case "rate":
			var err error
			if z.rate, z.exact, err = nginxRate(value); err != nil {
				return nil, s.fail(dir.line, "%v", err)
			}
			z.written = value
		case "sync":
			d.note(dir.line, "sync shares the zone between servers: the profile has one; policy sharded shows several that share nothing")
		default:
			return nil, s.fail(dir.line, "limit_req_zone has no parameter %s: it has zone=NAME:SIZE and rate=10r/s", quote(w))
		}
	}
	switch {
	case z.name == "":
		return nil, s.fail(dir.line, "limit_req_zone has no zone: write zone=one:10m")
	case z.rate.IsZero():
		return nil, s.fail(dir.line, "limit_req_zone has no rate: write rate=10r/s or rate=30r/m")
	}
	return z, nil
}

// nginxRate reads 10r/s or 30r/m as nginx enforces it, in whole thousandths of a request per second, the rest cut off.
func nginxRate(text string) (r limiter.Rate, exact bool, err error) {
	number, unit, ok := strings.Cut(text, "r/")
	n, bad := strconv.ParseInt(number, 10, 64)
	seconds := map[string]int64{"s": 1, "m": 60}[unit]
	if !ok || bad != nil || n < 1 || n > 1_000_000_000 || seconds == 0 {
		return r, false, fmt.Errorf("rate %s is none of nginx's: write a whole number and r/s or r/m, as 10r/s", quote(text))
	}
	thousandths := n * 1000 / seconds
	if thousandths*seconds == n*1000 {
		r, err = limiter.ParseRate(fmt.Sprintf("%d/%s", n, unit))
		return r, true, err
	}
	r, err = limiter.ParseRate(fmt.Sprintf("%d.%03d/s", thousandths/1000, thousandths%1000))
	return r, false, err
}

// A use is a limit_req.
type use struct {
	zone         string
	burst, delay int64
	nodelay      bool
	line, block  int
}

func (u *use) why() string {
	if u.burst == 0 {
		return fmt.Sprintf("no burst (%d): one at a time", u.line)
	}
	return fmt.Sprintf("burst=%d (%d), and the one that passes now", u.burst, u.line)
}

func (s *source) use(dir directive) (*use, error) {
	u := &use{line: dir.line, block: dir.block}
	for _, w := range dir.words[1:] {
		name, value, _ := strings.Cut(w, "=")
		var err error
		switch name {
		case "zone":
			u.zone = value
		case "burst":
			u.burst, err = positive(value)
		case "delay":
			u.delay, err = positive(value)
		case "nodelay":
			u.nodelay = true
		default:
			err = fmt.Errorf("it has zone=NAME, burst=N, delay=N and nodelay")
		}
		if err != nil {
			return nil, s.fail(dir.line, "limit_req %s: %v", quote(w), err)
		}
	}
	if u.zone == "" {
		return nil, s.fail(dir.line, "limit_req has no zone: write for example limit_req zone=one burst=20;")
	}
	if u.delay > 0 && u.delay >= u.burst { // what is in excess of the burst is refused, so nothing is ever delayed
		u.nodelay = true
	}
	return u, nil
}

// mostWhole bounds counts, as profiles do.
const mostWhole = 1_000_000_000

func positive(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 1 || n > mostWhole {
		return 0, fmt.Errorf("%s is no count: write a whole number from 1 to %d", quote(text), mostWhole)
	}
	return n, nil
}

// directives cuts nginx's text into its directives; blocks are numbered.
func (s *source) directives(text string) ([]directive, error) {
	var all []directive
	var words []string
	blocks, next, line, began := []int{0}, 1, 1, 1
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == ';' || c == '{':
			if len(words) > 0 {
				all = append(all, directive{words, began, blocks[len(blocks)-1]})
			}
			words = nil
			if c == '{' {
				blocks = append(blocks, next)
				next++
			}
			i++
		case c == '}':
			if len(words) > 0 {
				return nil, s.fail(began, "%s does not end: put a ; behind it", quote(words[0]))
			}
			if len(blocks) == 1 {
				return nil, s.fail(line, "a } closes nothing: take it out, or open its block")
			}
			blocks = blocks[:len(blocks)-1]
			i++
		default:
			if len(words) == 0 {
				began = line
			}
			word, size, lines := nginxWord(text[i:])
			if size == 0 {
				return nil, s.fail(line, "a quote does not end: close it")
			}
			words = append(words, word)
			line += lines
			i += size
		}
	}
	switch {
	case len(words) > 0:
		return nil, s.fail(began, "%s does not end: put a ; behind it", quote(words[0]))
	case len(blocks) > 1:
		return nil, s.fail(line, "a block does not end: close it by a }")
	}
	return all, nil
}

// nginxWord is the word at the beginning of a text, how long it is and how many lines it goes on. Size 0: its quote does not end.
func nginxWord(text string) (word string, size, lines int) {
	if q := text[0]; q == '"' || q == '\'' {
		var b strings.Builder
		for i := 1; i < len(text); i++ {
			switch c := text[i]; {
			case c == '\\' && i+1 < len(text):
				i++
				b.WriteByte(text[i])
			case c == q:
				return b.String(), i + 1, lines
			default:
				if c == '\n' {
					lines++
				}
				b.WriteByte(c)
			}
		}
		return "", 0, 0
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '$':
			if i+1 < len(text) && text[i+1] == '{' { // ${variable}
				if end := strings.IndexByte(text[i:], '}'); end > 0 && !strings.ContainsAny(text[i:i+end], " \t\r\n;") {
					i += end
				}
			}
		case ' ', '\t', '\r', '\n', ';', '{', '}':
			return text[:i], max(i, 1), 0
		}
	}
	return text, len(text), 0
}
