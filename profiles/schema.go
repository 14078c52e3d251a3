package profiles

import (
	"fmt"
	"slices"
	"strings"
)

// A field is one key of a mapping: how it is read into a T, and how a T's is
// written. Reading, writing, unknown keys and their suggestions all follow from
// the one table of fields that an object is.
type field[T any] struct {
	key   string
	read  func(r *reader, n *node, path string, t *T)
	write func(t *T) *node // nil: there is nothing to write
}

// An object is a mapping with known keys.
type object[T any] []field[T]

// keys lists the object's keys.
func (o object[T]) keys() []string {
	keys := make([]string, len(o))
	for i, f := range o {
		keys[i] = f.key
	}
	return keys
}

// read reads a mapping over t: what the mapping leaves out stays as it is.
func (o object[T]) read(r *reader, n *node, path string, t *T) {
	if !r.isMapping(n, path, o.keys()) {
		return
	}
	for _, e := range n.fields {
		known := false
		for _, f := range o {
			known = known || f.key == e.key
		}
		if !known {
			r.unknown(e, path, o.keys())
			return
		}
	}
	for _, f := range o {
		if v := n.get(f.key); v != nil && r.err == nil {
			at := join(path, f.key)
			f.read(r, v, at, t)
			r.remember(n, f.key, at)
		}
	}
}

// write is t as a mapping.
func (o object[T]) write(t *T) *node {
	n := &node{kind: mappingNode}
	for _, f := range o {
		if v := f.write(t); v != nil {
			n.fields = append(n.fields, entry{key: f.key, value: v})
		}
	}
	return n
}

// in places an object in a field of another.
func in[T, V any](key string, o object[V], at func(*T) *V) field[T] {
	return field[T]{
		key:  key,
		read: func(r *reader, n *node, path string, t *T) { o.read(r, n, path, at(t)) },
		write: func(t *T) *node {
			if n := o.write(at(t)); len(n.fields) > 0 {
				return n
			}
			return nil
		},
	}
}

// part lets an object stand for keys of a larger one.
func part[T, V any](o object[V], at func(*T) *V) object[T] {
	fields := make(object[T], len(o))
	for i, f := range o {
		fields[i] = field[T]{
			key:   f.key,
			read:  func(r *reader, n *node, path string, t *T) { f.read(r, n, path, at(t)) },
			write: func(t *T) *node { return f.write(at(t)) },
		}
	}
	return fields
}

// A reader reads nodes into a profile. It keeps the first error, after which
// everything is skipped, and the place of every value that it read.
type reader struct {
	prefix string              // before every path in an error, as for the set of a step
	places map[string]position // by path in the profile
	err    *Error
}

func (r *reader) fail(at position, path, format string, args ...any) {
	if r.err == nil {
		r.err = at.place(&Error{Path: r.prefix + path, Msg: fmt.Sprintf(format, args...)})
	}
}

// remember keeps where the value of a key stands.
func (r *reader) remember(n *node, key, path string) {
	for _, e := range n.fields {
		if e.key == key {
			r.places[path] = e.value.at
		}
	}
}

// forget drops the places below a path, whose values have been replaced.
func (r *reader) forget(path string) {
	for p := range r.places {
		if strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[") {
			delete(r.places, p)
		}
	}
}

// rename gives the places of a value, and of all in it, to another path.
func (r *reader) rename(from, to string) {
	for p, at := range r.places {
		if rest, ok := strings.CutPrefix(p, from); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			delete(r.places, p)
			r.places[to+rest] = at
		}
	}
}

func (r *reader) isMapping(n *node, path string, keys []string) bool {
	key, _, colon := strings.Cut(n.text, ":")
	switch {
	case n.kind == mappingNode:
	case n.kind == nullNode:
		r.fail(n.at, path, "is empty: give it one of %s, or leave it out", list(keys))
	case path == "":
		r.fail(n.at, path, "is %s and should be a profile, a mapping with keys such as clients, limiter and duration", n.what())
	case n.kind == scalarNode && colon && slices.Contains(keys, key):
		r.fail(n.at, path, "is %s: write a space after the colon, as in %s: …", n.what(), key)
	default:
		r.fail(n.at, path, "is %s and should be a mapping with keys such as %s", n.what(), list(keys[:min(3, len(keys))]))
	}
	return r.err == nil
}

func (r *reader) isList(n *node, path, example string) bool {
	switch n.kind {
	case sequenceNode:
	case nullNode:
		r.fail(n.at, path, "is empty: write a list, as in %s, or leave the key out", example)
	default:
		r.fail(n.at, path, "is %s and should be a list, as in %s", n.what(), example)
	}
	return r.err == nil
}

func (r *reader) isScalar(n *node, path, should string) bool {
	switch n.kind {
	case scalarNode:
	case nullNode:
		r.fail(n.at, path, "is empty: write %s, or leave the key out", should)
	default:
		r.fail(n.at, path, "is %s and should be %s", n.what(), should)
	}
	return r.err == nil
}

func (r *reader) unknown(e entry, path string, keys []string) {
	if s := suggest(e.key, keys); s != "" {
		r.fail(e.at, join(path, printable(e.key)), "unknown key: did you mean %s?", s)
		return
	}
	r.fail(e.at, join(path, printable(e.key)), "unknown key: the keys here are %s", strings.Join(keys, ", "))
}

// printable is a text that is safe and short enough for a path.
func printable(s string) string {
	q := quote(s)
	if q == `"`+s+`"` {
		return s
	}
	return q
}
