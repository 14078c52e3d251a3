package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fairgate/profiles"
)

// The forms that are read.
const (
	Nginx    = "nginx"
	Envoy    = "envoy"
	Spring   = "spring"
	Bucket4j = "bucket4j"
	Fallback = "fallback"
)

// Formats lists the forms.
var Formats = []string{Nginx, Envoy, Spring, Bucket4j, Fallback}

// A Result is what came of an import.
type Result struct {
	Format  string
	YAML    []byte            // the profile, with comments that say where its values came from
	Profile *profiles.Profile // the same, read back
	Notes   []Note            // what could not be carried over, by line
}

// A Note says what became of a line of the configuration, where that is not what one would expect.
type Note struct {
	Line int // from 1; 0: the whole
	Text string
}

// maxBytes bounds what is read: far above every real configuration.
const maxBytes = 256 << 10

// Import reads a rate limit. file is the name that errors and comments say; format is one of Formats, or "" to go by the
// content. An error is always a *profiles.Error with a line.
func Import(file string, data []byte, format string) (*Result, error) {
	text := strings.TrimPrefix(string(data), "\ufeff")
	s := &source{name: file, lines: strings.Split(text, "\n")}
	if err := s.prescan(text); err != nil {
		return nil, err
	}
	if format == "" {
		format = detect(text)
	}
	var d *draft
	var err error
	switch format {
	case Nginx:
		d, err = s.nginx(text)
	case Envoy, Spring, Bucket4j, Fallback:
		var root *node
		if root, err = s.tree(text); err == nil {
			d, err = map[string]func(*node) (*draft, error){
				Envoy: s.envoy, Spring: s.spring, Bucket4j: s.bucket4j, Fallback: s.fallback,
			}[format](root)
		}
	case "":
		return nil, s.fail(1, "holds none of the rate limits that are read: nginx's limit_req, Envoy's token_bucket, Spring Cloud Gateway's "+
			"replenishRate, Bucket4j's bandwidths, or rate-limit.fallback")
	default:
		return nil, s.fail(1, "format %q is not known: write one of %s", format, strings.Join(Formats, ", "))
	}
	if err != nil {
		return nil, err
	}
	return s.finish(format, d)
}

// detect goes by the words that only one of the forms has; "" when there is none.
func detect(text string) string {
	plain := normal(text)
	for _, sign := range []struct{ word, format string }{
		{"limitreq", Nginx}, {"replenishrate", Spring}, {"requestratelimiter", Spring}, {"tokensperfill", Envoy}, {"maxtokens", Envoy},
		{"bandwidths", Bucket4j}, {"flowrate", Fallback}, {"fallback", Fallback},
	} {
		if strings.Contains(plain, sign.word) {
			return sign.format
		}
	}
	return ""
}

// finish reads back what was drafted.
func (s *source) finish(format string, d *draft) (*Result, error) {
	text := d.yaml(s.name)
	p, err := profiles.Parse(d.name+".yaml", text)
	if err != nil {
		msg, _, _ := strings.Cut(err.Error(), "\n")
		return nil, s.fail(d.line, "makes no limiter that could run: %s", msg)
	}
	slices.SortStableFunc(d.notes, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return &Result{Format: format, YAML: text, Profile: p, Notes: d.notes}, nil
}

// A source is the file, for messages.
type source struct {
	name  string
	lines []string
}

// fail is an error at a line, with the line itself.
func (s *source) fail(line int, format string, args ...any) error {
	line = max(1, min(line, len(s.lines)))
	e := &profiles.Error{File: s.name, Line: line, Column: 1, Msg: fmt.Sprintf(format, args...)}
	if text := clean(s.lines[line-1]); text != "" {
		e.Excerpt = fmt.Sprintf("%5d | %s", line, text)
	}
	e.Msg = clean(e.Msg)
	return e
}

// prescan refuses what no parser should be given: size, what is no text, depth.
func (s *source) prescan(text string) error {
	if len(text) > maxBytes {
		return s.fail(1, "has %d bytes: at most %d are read; cut out the part that limits", len(text), maxBytes)
	}
	if strings.TrimSpace(text) == "" {
		return s.fail(1, "is empty: it should hold a rate limit of nginx, Envoy, Spring Cloud Gateway or Bucket4j")
	}
	depth := 0
	for i, line := range s.lines {
		if !utf8.ValidString(line) {
			return s.fail(i+1, "is not UTF-8: save the file as UTF-8")
		}
		for _, c := range line {
			switch {
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth = max(0, depth-1)
			case c == '\t' || c == '\r':
			case invisible(c):
				return s.fail(i+1, "holds an invisible character (%U): take it out", c)
			}
			if depth > 200 {
				return s.fail(i+1, "is nested more than 200 deep: is it a configuration?")
			}
		}
	}
	return nil
}

// invisible reports whether a terminal would do something else than show a character.
func invisible(c rune) bool {
	return c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0x200e || c == 0x200f || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == 0xfeff
}

// clean is a text on one line that a terminal and a YAML comment can bear, cut where it is long.
func clean(text string) string {
	const most = 300
	out := make([]rune, 0, len(text))
	for _, c := range text {
		switch {
		case c == '\t' || c == '\n' || c == '\r':
			c = ' '
		case invisible(c) || c == utf8.RuneError:
			c = '?'
		}
		if out = append(out, c); len(out) > most {
			return string(out[:most]) + "…"
		}
	}
	return strings.TrimSpace(string(out))
}

// quote is a value of the file as a message shows it.
func quote(text string) string {
	if utf8.RuneCountInString(text) > 60 {
		text = string([]rune(text)[:60]) + "…"
	}
	return fmt.Sprintf("%q", clean(text))
}

// normal is a key without what relaxed spelling leaves open: case, hyphens and underscores.
func normal(key string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(key))
}
