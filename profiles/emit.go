package profiles

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An emitter writes nodes as YAML: mappings in block style, lists of scalars on
// one line. With a comment function every scalar line ends with its comment.
type emitter struct {
	b       strings.Builder
	comment func(path string) string
}

// emit is the YAML of a mapping.
func emit(n *node, comment func(path string) string) []byte {
	e := emitter{comment: comment}
	e.mapping(n, "", "", false)
	return []byte(e.b.String())
}

func (e *emitter) mapping(n *node, indent, path string, inList bool) {
	for i, f := range n.fields {
		if i > 0 || !inList {
			e.b.WriteString(indent)
		}
		e.b.WriteString(scalarText(f.key, true) + ":")
		e.value(f.value, indent, join(path, f.key))
	}
}

// value writes what follows a colon.
func (e *emitter) value(n *node, indent, path string) {
	switch {
	case n.kind == mappingNode && len(n.fields) > 0:
		e.b.WriteString("\n")
		e.mapping(n, indent+"  ", path, false)
	case n.kind == sequenceNode && len(n.items) > 0 && n.items[0].kind != scalarNode:
		e.b.WriteString("\n")
		for i, item := range n.items {
			at := fmt.Sprintf("%s[%d]", path, i)
			e.b.WriteString(indent + "  - ")
			if item.kind == mappingNode && len(item.fields) > 0 {
				e.mapping(item, indent+"    ", at, true)
			} else {
				e.b.WriteString(inline(item))
				e.end(at)
			}
		}
	default:
		e.b.WriteString(" " + inline(n))
		e.end(path)
	}
}

// end closes a line, with its comment.
func (e *emitter) end(path string) {
	if e.comment != nil {
		if c := e.comment(path); c != "" {
			line := e.b.String()
			line = line[strings.LastIndexByte(line, '\n')+1:]
			e.b.WriteString(strings.Repeat(" ", max(2, 44-utf8.RuneCountInString(line))) + "# " + c)
		}
	}
	e.b.WriteString("\n")
}

// inline is a node on one line, in flow style.
func inline(n *node) string {
	switch n.kind {
	case nullNode:
		return "null"
	case mappingNode:
		parts := make([]string, len(n.fields))
		for i, f := range n.fields {
			parts[i] = scalarText(f.key, true) + ": " + inline(f.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case sequenceNode:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = inline(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalarText(n.text, n.plain)
}

// scalarText is a scalar that reads back as itself: as it is where that is
// safe in every style, and otherwise in double quotes.
func scalarText(s string, plain bool) string {
	if plain && safePlain(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case isControl(c):
			b.WriteString(`\u` + fmt.Sprintf("%04x", c))
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// safePlain reports whether a scalar needs no quotes anywhere.
func safePlain(s string) bool {
	if s == "" {
		return false
	}
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 && c != '-' && c != '.' || !strings.ContainsRune("-_./%", c)) {
			return false
		}
	}
	return s != "-" && !strings.HasPrefix(s, "--") && !strings.HasPrefix(s, "..")
}

// join is a key below a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Nodes for writing.

func plainNode(text string) *node  { return &node{text: text, plain: true} }
func quotedNode(text string) *node { return &node{text: text} }

func floatNode(f float64) *node { return plainNode(strconv.FormatFloat(f, 'f', -1, 64)) }
