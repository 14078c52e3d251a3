package profiles

import "fmt"

// stepKeys are the keys of a step of a lesson.
var stepKeys = object[Step]{
	text("say", func(s *Step) *string { return &s.Say }),
	{key: "set", read: readSet, write: func(s *Step) *node { n, _, _ := s.change(); return n }},
	text("ask", func(s *Step) *string { return &s.Ask }),
	{key: "choices", read: readChoices, write: writeChoices},
	text("reveal", func(s *Step) *string { return &s.Reveal }),
}

// setKeys are what a step may change.
var setKeys = object[Profile]{
	durationKey,
	warmUpKey,
	in("limiter", limiterKeys, func(p *Profile) *Profile { return p }),
	in("service", serviceKeys, func(p *Profile) *Service { return &p.Service }),
	withoutKey,
	{key: "clients", read: readClients, write: writeClients},
}

const maxSteps = 100

func readLesson(r *reader, n *node, path string, p *Profile) {
	if !r.isList(n, path, "[{say: …, ask: …, reveal: …}]") {
		return
	}
	if len(n.items) > maxSteps {
		r.fail(n.items[maxSteps].at, path, "has %d steps: a lesson has at most %d", len(n.items), maxSteps)
		return
	}
	r.forget(path)
	steps := make([]Step, len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.places[at] = item.at
		stepKeys.read(r, item, at, &steps[i])
		s := &steps[i]
		switch {
		case r.err != nil:
			return
		case s.Say == "" && s.Ask == "":
			r.fail(item.at, at, "says nothing: give the step a text, as in say: \"…\"")
		case s.Choice != nil && s.Ask == "":
			r.fail(item.get("choices").at, at+".choices", "answer no question: add ask: \"…\"")
		}
	}
	p.Lesson = steps
}

func writeLesson(p *Profile) *node {
	if len(p.Lesson) == 0 {
		return nil
	}
	n := &node{kind: sequenceNode}
	for i := range p.Lesson {
		n.items = append(n.items, stepKeys.write(&p.Lesson[i]))
	}
	return n
}

func readSet(r *reader, n *node, path string, s *Step) {
	if !r.isMapping(n, path, setKeys.keys()) {
		return
	}
	s.set, s.path = n, path
	s.Set = emit(n, nil)
}

func readChoices(r *reader, n *node, path string, s *Step) {
	if !r.isList(n, path, `["about half", "nearly all"]`) {
		return
	}
	s.Choice = []string{}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !r.isScalar(item, at, "a text") {
			return
		}
		choice, err := readText(item.text)
		if err != nil {
			r.fail(item.at, at, "%s", err)
			return
		}
		s.Choice = append(s.Choice, choice)
	}
	if len(s.Choice) < 2 || len(s.Choice) > 9 {
		r.fail(n.at, path, "has %d: write two to nine of them", len(s.Choice))
	}
}

func writeChoices(s *Step) *node {
	if len(s.Choice) == 0 {
		return nil
	}
	n := &node{kind: sequenceNode}
	for _, c := range s.Choice {
		n.items = append(n.items, quotedNode(c))
	}
	return n
}

// change is what the step sets, nil for nothing, and the key that it stands at.
func (s *Step) change() (set *node, path string, err error) {
	if s.set != nil || len(s.Set) == 0 {
		return s.set, s.path, nil
	}
	set, err = parseTree(newSource("set", s.Set), s.Set)
	return set, "set", err
}

// Apply is the profile after the step's change; p itself stays as it is. What
// the change does not name stays too: mappings are merged key by key, clients by
// their name, and a client of a new name is added. The error is an *Error with
// the place in the file that the step was read from.
func (s *Step) Apply(p *Profile) (*Profile, error) {
	q := p.Clone()
	set, path, err := s.change()
	if err != nil {
		return nil, err
	}
	if set == nil {
		return q, nil
	}
	if q.places == nil {
		q.places = make(map[string]position)
	}
	r := reader{prefix: path + ".", places: q.places}
	setKeys.read(&r, set, "", q)
	if r.err != nil {
		return nil, r.err
	}
	e := q.check()
	if e == nil {
		e = q.checkTimes()
	}
	if e != nil {
		e = q.locate(e)
		e.Path = path + "." + e.Path
		if e.Line == 0 {
			e = set.at.place(e)
		}
		return nil, e
	}
	return q, nil
}

// checkLesson applies the steps one after the other, as a teacher would, and
// checks that what they reveal can be measured there.
func (p *Profile) checkLesson() error {
	q := p
	for i := range p.Lesson {
		next, err := p.Lesson[i].Apply(q)
		if err != nil {
			return err
		}
		q = next
		if err := checkReveal(p.Lesson[i].Reveal, q.clientNames(), i == 0); err != nil {
			return p.locate(wrong(fmt.Sprintf("lesson[%d].reveal", i), "%s", err))
		}
	}
	return nil
}
