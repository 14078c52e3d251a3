package importer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A node is a value of a tree, with its line. A mapping's keys keep their spelling; get does not look at it.
type node struct {
	line   int
	text   string // of a scalar
	kind   kind
	fields []*field
	items  []*node
}

type kind int

const (
	nothing kind = iota
	scalar
	mapping
	list
)

type field struct {
	key   string
	line  int
	value *node
}

// get is the value of a key in any of its spellings, or nil. It may be asked of nil.
func (n *node) get(key string) *node {
	if f := n.field(key); f != nil {
		return f.value
	}
	return nil
}

func (n *node) field(key string) *field {
	if n == nil {
		return nil
	}
	key = normal(key)
	for _, f := range n.fields {
		if normal(f.key) == key {
			return f
		}
	}
	return nil
}

// find are all mappings that have a key, in the order of the file, parents first.
func (n *node) find(key string) []*node {
	var all []*node
	n.walk(func(at *node) {
		if at.field(key) != nil {
			all = append(all, at)
		}
	})
	return all
}

// walk visits every value, parents first.
func (n *node) walk(visit func(*node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, f := range n.fields {
		f.value.walk(visit)
	}
	for _, item := range n.items {
		item.walk(visit)
	}
}

const maxColons = 10_000 // the parser takes time by the square of a mapping's keys

// tree reads YAML, or what has only lines of key=value, as one tree. Several documents of a file become a list.
func (s *source) tree(text string) (root *node, err error) {
	if isProperties(text) {
		return s.properties()
	}
	if n := strings.Count(text, ":"); n > maxColons {
		return nil, s.fail(1, "has %d colons: at most %d are read; cut out the part that limits", n, maxColons)
	}
	for i, line := range s.lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t-?"))
		if tab := strings.IndexByte(line[:indent], '\t'); tab >= 0 && strings.TrimSpace(line) != "" {
			return nil, s.fail(i+1, "is indented by a tab: YAML is indented by spaces")
		}
		if indent > 400 {
			return nil, s.fail(i+1, "is indented by more than 400 signs: is it a configuration?")
		}
	}
	// The parser is not ours; should a strange file make it panic, that file is what is wrong.
	defer func() {
		if v := recover(); v != nil {
			root, err = nil, s.fail(1, "cannot be read as YAML: indent by spaces, and close every quote and bracket")
		}
	}()
	file, perr := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if perr != nil {
		return nil, s.syntax(perr)
	}
	t := treeBuilder{source: s}
	root = &node{line: 1, kind: list}
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		root.items = append(root.items, t.build(doc.Body, 0))
	}
	return root, t.err
}

// syntax is the parser's error in our form.
func (s *source) syntax(err error) error {
	const remedy = "indent by spaces, write `key: value` with a space after the colon, and close every quote and bracket"
	var y yaml.Error
	if !errors.As(err, &y) {
		return s.fail(1, "is no valid YAML: %s", remedy)
	}
	return s.fail(lineOf(y.GetToken()), "is no valid YAML (%s): %s", strings.TrimRight(strings.ReplaceAll(y.GetMessage(), "\n", " "), ". "), remedy)
}

func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 1
	}
	return max(1, t.Position.Line)
}

// A treeBuilder turns the parser's tree into ours and keeps the first error.
type treeBuilder struct {
	*source
	err error
}

func (t *treeBuilder) refuse(tk *token.Token, text string) *node {
	if t.err == nil {
		t.err = t.fail(lineOf(tk), "%s", text)
	}
	return &node{line: lineOf(tk)}
}

func (t *treeBuilder) build(n ast.Node, depth int) *node {
	if n == nil || t.err != nil {
		return &node{line: 1}
	}
	tk := n.GetToken()
	if depth > 200 {
		return t.refuse(tk, "is nested more than 200 deep: is it a configuration?")
	}
	at := lineOf(tk)
	switch n := n.(type) {
	case *ast.NullNode, *ast.CommentGroupNode:
		return &node{line: at}
	case *ast.LiteralNode:
		return &node{line: at, kind: scalar, text: n.Value.Value}
	case *ast.StringNode:
		return &node{line: at, kind: scalar, text: n.Value}
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{line: at, kind: scalar, text: tk.Value}
	case *ast.TagNode:
		return t.build(n.Value, depth+1)
	case *ast.AnchorNode:
		return t.build(n.Value, depth+1)
	case *ast.SequenceNode:
		all := &node{line: at, kind: list}
		for _, v := range n.Values {
			all.items = append(all.items, t.build(v, depth+1))
		}
		return all
	case *ast.MappingNode:
		return t.mapping(at, n.Values, depth)
	case *ast.MappingValueNode:
		return t.mapping(at, []*ast.MappingValueNode{n}, depth)
	case *ast.AliasNode, *ast.MergeKeyNode:
		return t.refuse(tk, "aliases (*) and merges (<<) are not followed: write the value out")
	}
	return t.refuse(tk, "is nothing that can be read: write `key: value`")
}

// dotted are keys that stand for a path, as Spring's do.
var dotted = regexp.MustCompile(`^[\w-]+(\.[\w-]+)+$`)

func (t *treeBuilder) mapping(at int, values []*ast.MappingValueNode, depth int) *node {
	m := &node{line: at, kind: mapping}
	for i, v := range values {
		tk := v.Key.GetToken()
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			return t.refuse(tk, "aliases (*) and merges (<<) are not followed: write the value out")
		}
		if i == 0 {
			m.line = lineOf(tk)
		}
		key := tk.Value
		value := t.build(v.Value, depth+1)
		if value.kind == nothing {
			value.line = lineOf(tk)
		}
		if t.err != nil {
			return m
		}
		path := []string{key}
		if dotted.MatchString(key) {
			path = strings.Split(key, ".")
		}
		if err := t.put(m, path, value, lineOf(tk)); err != nil {
			t.err = err
			return m
		}
	}
	return m
}

// put sets a value at a path of keys below a mapping.
func (s *source) put(m *node, path []string, value *node, line int) error {
	if len(path) > 200 {
		return s.fail(line, "is nested more than 200 deep: is it a configuration?")
	}
	for i, key := range path {
		f := m.field(key)
		last := i == len(path)-1
		switch {
		case f == nil && last:
			m.fields = append(m.fields, &field{key, line, value})
			return nil
		case f == nil:
			f = &field{key, line, &node{line: line, kind: mapping}}
			m.fields = append(m.fields, f)
		case last && f.value.kind == mapping && value.kind == mapping:
			for _, inner := range value.fields {
				if err := s.put(f.value, []string{inner.key}, inner.value, inner.line); err != nil {
					return err
				}
			}
			return nil
		case last || f.value.kind != mapping:
			return s.fail(line, "%s is here a second time (first in line %d): keep one of them", quote(strings.Join(path[:i+1], ".")), f.line)
		}
		m = f.value
	}
	return nil
}

// count is a whole number of a mapping, or instead where its key is missing.
func (s *source) count(n *node, key string, instead int64) (value int64, line int, err error) {
	f := n.field(key)
	if f == nil {
		return instead, n.line, nil
	}
	if f.value.kind != scalar {
		return 0, f.line, s.fail(f.line, "%s should be a whole number", f.key)
	}
	value, err = positive(strings.ReplaceAll(f.value.text, "_", ""))
	if err != nil {
		return 0, f.line, s.fail(f.value.line, "%s: %v", f.key, err)
	}
	return value, f.line, nil
}

// word is the text of a mapping's key, or "".
func (n *node) word(key string) string {
	if v := n.get(key); v != nil && v.kind == scalar {
		return v.text
	}
	return ""
}

// needs is the error of a key that is missing.
func (s *source) needs(n *node, key, example string) error {
	return s.fail(n.line, "%s is missing here: write for example %s", key, fmt.Sprintf("%s: %s", key, example))
}
