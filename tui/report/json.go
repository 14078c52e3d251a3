package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"fairgate/fairness"
)

// JSON is the report as one JSON object with a final newline. The upper levels are indented and what lies deeper, as each
// client and each step of the timeline, has a line of its own, so that a person can read it and diff it.
//
// A list that is empty is [], never null; a quantity that does not exist is null. Reports of shadow policies, where there are any, become "shadow", a
// list of reports without timelines.
func JSON(r *fairness.Report, shadows ...*fairness.Report) ([]byte, error) {
	if len(shadows) == 0 {
		return Encode(whole(r), 2)
	}
	doc := struct {
		*fairness.Report
		Shadow []json.RawMessage `json:"shadow"`
	}{Report: whole(r)}
	for _, s := range shadows {
		b, err := WithoutTimeline(s)
		if err != nil {
			return nil, err
		}
		doc.Shadow = append(doc.Shadow, b)
	}
	return Encode(doc, 2)
}

// Encode writes any value as JSON as this package does: the upper levels, down to depth, indented, and what lies deeper on the line of
// its parent.
func Encode(value any, depth int) ([]byte, error) {
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false) // "<" in an expectation stays "<"
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("report as JSON: %w", err)
	}
	return layout(bytes.TrimSuffix(compact.Bytes(), []byte("\n")), depth), nil
}

// whole is a shallow copy of r in which no list is nil.
func whole(r *fairness.Report) *fairness.Report {
	c := *r
	c.Fairness.Starved = some(c.Fairness.Starved)
	c.Timeline = some(c.Timeline)
	c.Changes = some(c.Changes)
	c.Expectations = some(c.Expectations)
	c.Stretches = some(c.Stretches)
	c.Diagnosis.Victims = some(c.Diagnosis.Victims)
	c.Diagnosis.Text = some(c.Diagnosis.Text)
	c.Goodput.Clients = some(c.Goodput.Clients)
	c.Honesty = some(c.Honesty)
	c.Recovery = some(c.Recovery)
	c.Clients = slices.Clone(some(c.Clients))
	for i := range c.Clients {
		m := &c.Clients[i]
		m.RetryAfter.Told = some(m.RetryAfter.Told)
		if m.RejectedBy == nil {
			m.RejectedBy = map[string]int64{}
		}
	}
	return &c
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// unescaped are the characters that JSON for web pages writes as escapes.
var unescaped = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// layout breaks compact JSON into lines down to depth levels of nesting and leaves what lies deeper on the line of its parent.
func layout(compact []byte, depth int) []byte {
	var out bytes.Buffer
	level, quoted := 0, false
	newline := func() {
		out.WriteByte('\n')
		for range level {
			out.WriteString("  ")
		}
	}
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		if quoted {
			if plain, ok := unescaped[string(compact[i:min(i+6, len(compact))])]; ok {
				out.WriteByte(plain) // of a value that encodes itself, whom the encoder cannot tell to leave them
				i += 5
				continue
			}
			out.WriteByte(c)
			switch c {
			case '\\':
				i++
				out.WriteByte(compact[i])
			case '"':
				quoted = false
			}
			continue
		}
		switch c {
		case '"':
			quoted = true
			out.WriteByte(c)
		case '{', '[':
			level++
			out.WriteByte(c)
			if next := compact[i+1]; level <= depth && next != '}' && next != ']' {
				newline()
			}
		case '}', ']':
			level--
			if last := compact[i-1]; level < depth && last != '{' && last != '[' {
				newline()
			}
			out.WriteByte(c)
		case ',':
			out.WriteByte(c)
			if level <= depth {
				newline()
			} else {
				out.WriteByte(' ')
			}
		case ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('\n')
	return out.Bytes()
}
