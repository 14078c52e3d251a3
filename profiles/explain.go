package profiles

import (
	"fmt"
	"strings"
)

// YAML is the profile in full, with every default written out. Read back it
// is the same profile. The error is of a step whose Set is no YAML.
func (p *Profile) YAML() ([]byte, error) {
	for i := range p.Lesson {
		if _, _, err := p.Lesson[i].change(); err != nil {
			return nil, err
		}
	}
	return emit(profileKeys.write(p), nil), nil
}

// Explain is the profile in full, every value with where it came from: a line of
// a file, the kind of the client, or the default. What it prints is itself a
// profile. The texts of a lesson are left out.
func Explain(p *Profile) string {
	q := p.Clone()
	q.Lesson = nil
	unsaid := p.Limiter
	q.Limiter = p.Limiter.WithDefaults()
	text := emit(profileKeys.write(q), func(path string) string {
		if at, ok := p.places[path]; ok {
			return fmt.Sprintf("%s:%d", at.src.name, at.line)
		}
		switch {
		case path == "limiter.burst" && unsaid.Burst == 0,
			path == "limiter.client.burst" && unsaid.Client.Burst == 0,
			strings.HasPrefix(path, "limiter.bandwidths[") && strings.HasSuffix(path, "].burst"):
			return "default: one second's worth"
		case path == "name":
			return "the file's name"
		case path == "title":
			return "the name"
		}
		for i := range p.Clients {
			client := fmt.Sprintf("clients[%d].", i)
			rest, mine := strings.CutPrefix(path, client)
			switch {
			case !mine:
			case strings.HasPrefix(rest, "arrivals."):
				if _, said := p.places[client+"arrivals.process"]; said {
					return "default of " + string(p.Clients[i].Arrivals.Process) + " for a client of kind " + string(p.Clients[i].Kind)
				}
				return "default of kind " + string(p.Clients[i].Kind)
			case strings.HasPrefix(rest, "retry."):
				return "default of kind " + string(p.Clients[i].Kind)
			}
		}
		return "default"
	})
	if n := len(p.Lesson); n > 0 {
		text = fmt.Appendf(text, "# and a lesson of %d steps\n", n)
	}
	return string(text)
}
