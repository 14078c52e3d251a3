package importer

import (
	"regexp"
	"strconv"
	"strings"
)

// propertyLine is a line of a properties file: a dotted key, then = or :, then the value.
var propertyLine = regexp.MustCompile(`^\s*([\w.\-\[\]]+)\s*[=:]\s*(.*)$`)

// isProperties reports whether a text is Java properties: all its lines are key=value, and one of them is no YAML.
func isProperties(text string) bool {
	some := false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		m := propertyLine.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		key, _, _ := strings.Cut(line, "=")
		some = some || len(key) < len(line) && !strings.ContainsAny(key, ": ") || strings.HasPrefix(strings.TrimSpace(line[len(m[1]):]), "=")
	}
	return some
}

// maxIndex bounds a[7]: lists in properties are short.
const maxIndex = 100

const maxBrackets = 1000

// properties reads a.b[0].c=value as a tree. A line that ends in \ goes on in the next.
func (s *source) properties() (*node, error) {
	root := &node{line: 1, kind: mapping}
	if n := strings.Count(strings.Join(s.lines, ""), "["); n > maxBrackets {
		return nil, s.fail(1, "has %d places in lists: at most %d are read; cut out the part that limits", n, maxBrackets)
	}
	for i := 0; i < len(s.lines); i++ {
		at, line := i+1, strings.TrimSpace(s.lines[i])
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for strings.HasSuffix(line, `\`) && i+1 < len(s.lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(s.lines[i])
		}
		m := propertyLine.FindStringSubmatch(line)
		if m == nil {
			return nil, s.fail(at, "is no property: write key=value")
		}
		if err := s.property(root, m[1], strings.TrimSpace(m[2]), at); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// property sets one value.
func (s *source) property(at *node, key, value string, line int) error {
	parts := strings.Split(key, ".")
	if len(parts) > 100 {
		return s.fail(line, "%s is nested more than 100 deep: is it a configuration?", quote(key))
	}
	leaf := &node{line: line, kind: scalar, text: value}
	for i, part := range parts {
		name, indices, err := indexed(part)
		if err != "" {
			return s.fail(line, "%s: %s", quote(key), err)
		}
		last := i == len(parts)-1
		next := &node{line: line, kind: mapping}
		switch {
		case len(indices) > 0:
			next.kind = list
		case last:
			next = leaf
		}
		f := at.field(name)
		if f == nil {
			f = &field{name, line, next}
			at.fields = append(at.fields, f)
		} else if f.value.kind != next.kind || next.kind == scalar {
			return s.fail(line, "%s is here a second time (first in line %d): keep one of them", quote(key), f.line)
		}
		at = f.value
		for k, index := range indices {
			for len(at.items) <= index {
				at.items = append(at.items, &node{line: line})
			}
			item := at.items[index]
			want := mapping
			switch {
			case k < len(indices)-1:
				want = list
			case last:
				want = scalar
			}
			if item.kind == nothing {
				item.kind, item.line, item.text = want, line, ""
				if want == scalar {
					item.text = value
				}
			} else if item.kind != want || want == scalar {
				return s.fail(line, "%s is here a second time (first in line %d): keep one of them", quote(key), item.line)
			}
			at = item
		}
	}
	return nil
}

// indexed is a[0][1] as a, 0 and 1.
func indexed(part string) (name string, indices []int, err string) {
	name, rest, _ := strings.Cut(part, "[")
	if name == "" {
		return "", nil, "a part of the key is empty"
	}
	if rest == "" {
		if strings.ContainsAny(part, "[]") {
			return "", nil, "a bracket does not fit"
		}
		return name, nil, ""
	}
	for _, text := range strings.Split(rest, "[") {
		number, ok := strings.CutSuffix(text, "]")
		n, bad := strconv.Atoi(number)
		if !ok || bad != nil || n < 0 || n > maxIndex || len(indices) >= 4 {
			return "", nil, "write the place in a list as [0], at most [100]"
		}
		indices = append(indices, n)
	}
	return name, indices, ""
}
