package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of what is read. They are far above every real profile; they keep a
// hostile or mistaken file from costing more than a moment.
const (
	maxBytes  = 256 << 10
	maxDepth  = 64
	maxColons = 10_000 // the parser takes time by the square of a mapping's keys
	// maxOpen bounds brackets before the parser recurses into them; they are
	// counted without looking at quotes and comments, hence the room.
	maxOpen = 1000
)

type nodeKind int

const (
	scalarNode nodeKind = iota
	nullNode
	mappingNode
	sequenceNode
)

// A node is a value of a YAML file with its place. It is what this package
// needs of YAML and no more: no anchors, tags or merges.
type node struct {
	kind   nodeKind
	text   string // of a scalar
	plain  bool   // a scalar without quotes
	at     position
	fields []entry // of a mapping, in the order of the file
	items  []*node // of a sequence
}

// An entry is a key of a mapping and its value.
type entry struct {
	key   string
	at    position // of the key
	value *node
}

// get is the value of a key, or nil.
func (n *node) get(key string) *node {
	for _, e := range n.fields {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// what names the node's type in a message.
func (n *node) what() string {
	switch n.kind {
	case nullNode:
		return "nothing"
	case mappingNode:
		return "a mapping"
	case sequenceNode:
		return "a list"
	}
	return quote(n.text)
}

// parseTree reads the one document of a file.
func parseTree(src *source, data []byte) (root *node, err error) {
	if e := prescan(src, data); e != nil {
		return nil, e
	}
	// The parser is not ours; should a strange file make it panic, that file
	// is what is wrong, and the user gets a message as for any other.
	defer func() {
		if v := recover(); v != nil {
			root, err = nil, &Error{File: src.name, Msg: "cannot be read as YAML: see `fairgate profiles starvation` for a profile that can"}
		}
	}()
	file, perr := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if perr != nil {
		return nil, syntaxError(src, perr)
	}
	empty := &Error{File: src.name, Msg: "is empty: a profile needs at least a client, as in `clients: [{name: web, kind: interactive}]`"}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		if _, ok := doc.Body.(*ast.CommentGroupNode); ok {
			continue
		}
		if body != nil {
			return nil, (&treeBuilder{src: src}).build(doc.Body, 0).at.place(&Error{Msg: secondDocument})
		}
		body = doc.Body
	}
	if body == nil {
		return nil, empty
	}
	t := treeBuilder{src: src}
	root = t.build(body, 0)
	if t.err != nil {
		return nil, t.err
	}
	if root.kind == nullNode {
		return nil, empty
	}
	return root, nil
}

const secondDocument = "a second document begins here: a file holds one profile, so leave out the --- and what follows"

// prescan refuses what the parser would answer with a riddle, or with its whole
// stack: size, tabs as indentation, control characters, depth.
func prescan(src *source, data []byte) *Error {
	if len(data) > maxBytes {
		return &Error{File: src.name, Msg: fmt.Sprintf("has %d bytes: a profile has at most %d; keep long traces in a file of their own (arrivals: {process: trace, file: times.csv})", len(data), maxBytes)}
	}
	if n := bytes.Count(data, []byte(":")); n > maxColons {
		return &Error{File: src.name, Msg: fmt.Sprintf("has %d colons: a profile has at most %d; for many clients that are alike write copies: 1000", n, maxColons)}
	}
	depth, documents := 0, 0
	for i, text := range src.lines {
		text = strings.TrimSuffix(text, "\r")
		indent := len(text) - len(strings.TrimLeft(text, " \t-?"))
		if tab := strings.IndexByte(text[:indent], '\t'); tab >= 0 {
			return position{src, i + 1, tab + 1}.place(&Error{Msg: "a tab: YAML is indented by spaces, so put spaces here"})
		}
		if indent > 4*maxDepth {
			return position{src, i + 1, 1}.place(&Error{Msg: fmt.Sprintf("is nested more than %d deep: a profile needs no more than 8", maxDepth)})
		}
		if strings.HasPrefix(text, "---") {
			if documents++; documents > 2 {
				return position{src, i + 1, 1}.place(&Error{Msg: secondDocument})
			}
		}
		column := 0
		for _, c := range text {
			column++
			switch {
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth = max(0, depth-1)
			case c == '\t':
			case isControl(c):
				return position{src, i + 1, column}.place(&Error{Msg: fmt.Sprintf("an invisible character (%U): take it out", c)})
			case c == 0xfffd:
				return position{src, i + 1, column}.place(&Error{Msg: "is not UTF-8: save the file as UTF-8"})
			}
			if depth > maxOpen {
				return position{src, i + 1, column}.place(&Error{Msg: fmt.Sprintf("is nested more than %d deep: a profile needs no more than 8", maxDepth)})
			}
		}
	}
	return nil
}

// at is the position of a token.
func (s *source) at(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{s, 1, 1}
	}
	return position{s, max(1, t.Position.Line), max(1, t.Position.Column)}
}

// syntaxError is the parser's error in our form.
func syntaxError(src *source, err error) *Error {
	const remedy = "indent by spaces, write `key: value` with a space after the colon, and close every quote and bracket"
	var y yaml.Error
	if !errors.As(err, &y) {
		return &Error{File: src.name, Msg: "is no valid YAML: " + remedy}
	}
	msg := strings.TrimRight(strings.ReplaceAll(y.GetMessage(), "\n", " "), ". ")
	return src.at(y.GetToken()).place(&Error{Msg: fmt.Sprintf("is no valid YAML (%s): %s", msg, remedy)})
}

// A treeBuilder turns the parser's tree into ours and keeps the first error.
type treeBuilder struct {
	src *source
	err *Error
}

func (t *treeBuilder) fail(tk *token.Token, msg string) *node {
	at := t.src.at(tk)
	if t.err == nil {
		t.err = at.place(&Error{Msg: msg})
	}
	return &node{kind: nullNode, at: at}
}

func (t *treeBuilder) build(n ast.Node, depth int) *node {
	if n == nil {
		return &node{kind: nullNode, at: position{t.src, 1, 1}}
	}
	tk := n.GetToken()
	if depth > maxDepth {
		return t.fail(tk, fmt.Sprintf("is nested more than %d deep: a profile needs no more than 8", maxDepth))
	}
	at := t.src.at(tk)
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{kind: nullNode, at: at}
	case *ast.LiteralNode:
		return &node{text: n.Value.Value, at: at}
	case *ast.StringNode:
		quoted := tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType
		return &node{text: n.Value, plain: !quoted, at: at}
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{text: tk.Value, plain: true, at: at}
	case *ast.SequenceNode:
		list := &node{kind: sequenceNode, at: t.src.at(n.Start)}
		for _, v := range n.Values {
			list.items = append(list.items, t.build(v, depth+1))
		}
		return list
	case *ast.MappingNode:
		if n.IsFlowStyle {
			at = t.src.at(n.Start)
		}
		return t.mapping(at, n.IsFlowStyle, n.Values, depth)
	case *ast.MappingValueNode:
		return t.mapping(at, false, []*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return t.fail(tk, "anchors (&), aliases (*) and merges (<<) are not accepted: write the value out, or start from another profile by `extends: NAME`")
	case *ast.TagNode:
		return t.fail(tk, "tags (!) are not accepted: write the value alone")
	}
	return t.fail(tk, "is nothing that a profile holds: write `key: value`")
}

func (t *treeBuilder) mapping(at position, flow bool, values []*ast.MappingValueNode, depth int) *node {
	m := &node{kind: mappingNode, at: at}
	for i, v := range values {
		var text string
		tk := v.Key.GetToken()
		switch k := v.Key.(type) {
		case *ast.StringNode:
			text = k.Value
		case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.NullNode:
			// `on` and the like are keys here, whatever YAML makes of them.
			text = tk.Value
		default:
			return t.build(v.Key, depth+1)
		}
		key := entry{key: text, at: t.src.at(tk)}
		if i == 0 && !flow {
			m.at = key.at
		}
		for _, other := range m.fields {
			if other.key == text {
				return t.fail(tk, fmt.Sprintf("%s is here a second time (first in line %d): keep one of them", quote(text), other.at.line))
			}
		}
		if len(m.fields) >= 1000 {
			return t.fail(tk, "has more than 1000 keys: a profile needs no more than 30 in one place")
		}
		key.value = t.build(v.Value, depth+1)
		if key.value.kind == nullNode {
			key.value.at = key.at // what is missing has no place but its key's
		}
		m.fields = append(m.fields, key)
	}
	return m
}
