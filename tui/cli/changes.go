package cli

import (
	"fmt"
	"slices"
	"strings"

	"fairgate/profiles"

	"github.com/goccy/go-yaml"
)

// changes says in words what differs between two profiles, each setting by the name that it has in a file: "policy global → per-client",
// "web: arrivals rate 100/s → 7/s". A client that only one of them has is said as a whole.
func changes(was, is *profiles.Profile) ([]string, error) {
	before, order, err := flat(was)
	if err != nil {
		return nil, err
	}
	after, added, err := flat(is)
	if err != nil {
		return nil, err
	}
	for _, key := range added {
		if !slices.Contains(order, key) {
			order = append(order, key)
		}
	}
	gone, come := map[string]bool{}, map[string]bool{}
	for _, c := range was.Clients {
		gone[c.Name] = true
	}
	for _, c := range is.Clients {
		if come[c.Name] = !gone[c.Name]; !come[c.Name] {
			delete(gone, c.Name)
		}
	}
	var said []string
	for _, key := range order {
		x, y := before[key], after[key]
		if x == y || key.client != "" && (gone[key.client] || come[key.client]) {
			continue
		}
		said = append(said, fmt.Sprintf("%s %s → %s", key, unsaid(x, y), unsaid(y, x)))
	}
	for _, c := range was.Clients {
		if gone[c.Name] {
			said = append(said, "without "+c.Name)
		}
	}
	for _, c := range is.Clients {
		if come[c.Name] {
			said = append(said, newcomer(c))
		}
	}
	return said, nil
}

// unsaid is a value, or what it is when a file leaves it out, where the other profile has other.
func unsaid(s, other string) string {
	switch {
	case s != "":
		return s
	case other == "on":
		return "off"
	case other == "off":
		return "on"
	}
	return "none"
}

// newcomer says what a client is that was not there before.
func newcomer(c profiles.Client) string {
	words := []string{string(c.Kind), string(c.Arrivals.Process)}
	if !c.Arrivals.Rate.IsZero() {
		words = append(words, c.Arrivals.Rate.String())
	}
	if c.Start > 0 {
		words = append(words, "from "+c.Start.String()+" on")
	}
	return "with " + c.Name + ": " + strings.Join(words, ", ")
}

// A setting is the place of a value in a profile.
type setting struct{ client, path string }

func (s setting) String() string {
	words := strings.NewReplacer(".", " ", "_", " ").Replace(strings.TrimPrefix(s.path, "limiter."))
	if s.client != "" {
		return s.client + ": " + words
	}
	return words
}

// flat is every value of a profile that decides what a run does, and the order in which a file has them.
func flat(p *profiles.Profile) (map[setting]string, []setting, error) {
	text, err := p.YAML()
	if err != nil {
		return nil, nil, err
	}
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &doc, yaml.UseOrderedMap()); err != nil {
		return nil, nil, fmt.Errorf("profile %s written as YAML: %w", p.Name, err)
	}
	values := map[setting]string{{path: "limiter.shards"}: "1"} // where it does not count a file leaves it out
	var order []setting
	var walk func(client, path string, value any)
	walk = func(client, path string, value any) {
		m, mapping := value.(yaml.MapSlice)
		if !mapping {
			key := setting{client, path}
			values[key], order = written(value), append(order, key)
			return
		}
		for _, item := range m {
			walk(client, strings.TrimPrefix(path+"."+fmt.Sprint(item.Key), "."), item.Value)
		}
	}
	for _, item := range doc {
		key := fmt.Sprint(item.Key)
		list, isList := item.Value.([]any)
		switch {
		case slices.Contains([]string{"name", "title", "about", "expect", "lesson"}, key):
		case key == "clients" && isList:
			for i, one := range list {
				walk(p.Clients[i].Name, "", one)
			}
		default:
			walk("", key, item.Value)
		}
	}
	return values, order, nil
}

// written is a value as one writes it.
func written(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "on"
		}
		return "off"
	case []any:
		if len(v) > 6 {
			return fmt.Sprintf("%d of them", len(v))
		}
		words := make([]string, len(v))
		for i := range v {
			words[i] = written(v[i])
		}
		return strings.Join(words, ", ")
	case yaml.MapSlice:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = fmt.Sprintf("%v %s", item.Key, written(item.Value))
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(value)
}
