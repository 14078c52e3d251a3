package profiles

import (
	"embed"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// A Group is built-in profiles that teach one thing from several sides.
type Group struct {
	Title string
	Names []string
}

// Groups lists all built-in profiles, the default first, in an order in which
// they can be taught.
var Groups = []Group{
	{"Who gets it: one limit for many", []string{"starvation", "agent", "dear-calls", "heartbeat", "phase-lock", "oversubscribed", "newcomers"}},
	{"Coming back: retries and Retry-After", []string{"polite", "storm", "herd"}},
	{"How it counts: buckets and windows", []string{"four-algorithms", "window-edge", "blackout", "forgetful"}},
	{"Waiting instead of refusing", []string{"shaper", "slots"}},
	{"Many instances: a limit in pieces", []string{"shards", "fleet", "poisson"}},
}

// names is the built-in profiles in their order.
var names = func() []string {
	var all []string
	for _, g := range Groups {
		all = append(all, g.Names...)
	}
	return all
}()

// Info is what a list of the built-in profiles says of each.
type Info struct {
	Name    string
	Title   string
	Teaches string // the first sentence of About
	Group   string // the title of its Group
}

// BuiltIn is the Source of a profile that is part of the program.
const BuiltIn = "built-in"

// Builtins lists the profiles that are part of the program, group by group.
func Builtins() []Info {
	infos := make([]Info, 0, len(names))
	for _, g := range Groups {
		for _, name := range g.Names {
			p, err := builtin(name)
			if err != nil {
				panic("profiles: " + err.Error()) // a test parses them all
			}
			teaches, _, _ := strings.Cut(p.About, ". ")
			infos = append(infos, Info{Name: p.Name, Title: p.Title, Teaches: strings.TrimSuffix(teaches, "."), Group: g.Title})
		}
	}
	return infos
}

// Text is the YAML of a built-in profile with its comments.
func Text(name string) ([]byte, bool) {
	data, err := files.ReadFile(name + ".yaml")
	return data, err == nil
}

func builtin(name string) (*Profile, error) {
	data, _ := Text(name)
	p, err := Parse(name+".yaml", data)
	if err != nil {
		return nil, err
	}
	p.Source = BuiltIn
	return p, nil
}
