package profiles

import "fmt"

// base is the profile that a file starts from: the defaults, or the built-in
// profile that it extends. Of that everything is taken but its name, what it
// expects and its lesson, which speak of the profile as it was.
func (r *reader) base(root *node) *Profile {
	n := root.get("extends")
	if n == nil || root.kind != mappingNode {
		return defaults()
	}
	const path = "extends"
	if !r.isScalar(n, path, "the name of a built-in profile") {
		return defaults()
	}
	if _, ok := Text(n.text); !ok {
		r.fail(n.at, path, "%s", noSuch(n.text, names))
		return defaults()
	}
	p, err := builtin(n.text)
	if err != nil {
		r.fail(n.at, path, "%s cannot be read: %s", n.text, err)
		return defaults()
	}
	p.Name, p.Expect, p.Lesson = "", nil, nil
	for _, key := range []string{"name", "expect", "lesson"} {
		delete(p.places, key)
		(&reader{places: p.places}).forget(key)
	}
	return p
}

// readWithout takes clients out of those that were there before.
func readWithout(r *reader, n *node, path string, p *Profile) {
	if !r.isList(n, path, "[web, sync]") {
		return
	}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !r.isScalar(item, at, "the name of a client") {
			return
		}
		if !r.leaveOut(item, at, p) {
			return
		}
	}
}

func (r *reader) leaveOut(n *node, path string, p *Profile) bool {
	for i := range p.Clients {
		if p.Clients[i].Name != n.text {
			continue
		}
		p.Clients = append(p.Clients[:i], p.Clients[i+1:]...)
		// The places follow those who moved up.
		r.forget(fmt.Sprintf("clients[%d]", i))
		delete(r.places, fmt.Sprintf("clients[%d]", i))
		for j := i; j < len(p.Clients); j++ {
			r.rename(fmt.Sprintf("clients[%d]", j+1), fmt.Sprintf("clients[%d]", j))
		}
		return true
	}
	if len(p.Clients) == 0 {
		r.fail(n.at, path, "there is no client to leave out: write without beside extends")
		return false
	}
	all := make([]string, len(p.Clients))
	for i, c := range p.Clients {
		all[i] = c.Name
	}
	r.fail(n.at, path, "client %s", noSuch(n.text, all))
	return false
}
