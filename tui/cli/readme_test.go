package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairgate/profiles"

	"github.com/spf13/pflag"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What the README calls a command or a flag is one, and it leaves none out.
func TestTheReadmeNamesWhatThereIs(t *testing.T) {
	text := readme(t)
	known := map[string]bool{}
	for _, c := range commands {
		groups := &flagGroups{}
		c.flags(groups)
		groups.merged(c.name).VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		if !strings.Contains(text, "fairgate "+c.name) && !strings.Contains(text, "fairgate ["+c.name+"]") && c != helpCommand {
			t.Errorf("the command %s is not in the README", c.name)
		}
	}
	for _, m := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
		if name := m[1]; !known[name] && name != "help" && name != "version" {
			t.Errorf("the README names --%s, which no command has", name)
		}
	}
	for _, c := range []*command{runCommand, simulateCommand, compareCommand} {
		groups := &flagGroups{}
		c.flags(groups)
		groups.merged(c.name).VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(text, "--"+f.Name) {
				t.Errorf("--%s of %s is not in the README", f.Name, c.name)
			}
		})
	}
}

// The command lines in the README are understood.
func TestTheReadmesCommandsAreUnderstood(t *testing.T) {
	n := 0
	for _, line := range strings.Split(readme(t), "\n") {
		line, _, _ = strings.Cut(line, "   ") // what follows is a comment
		line, _, _ = strings.Cut(line, " > ")
		line = strings.TrimSpace(strings.TrimPrefix(line, "$ "))
		rest, ok := strings.CutPrefix(line, "fairgate ")
		if !ok || strings.Contains(rest, "[") || strings.Contains(rest, "FILE...") {
			continue
		}
		args := shellWords(rest)
		if cmd, operands := pick(args); cmd != nil {
			groups := &flagGroups{}
			cmd.flags(groups)
			all := groups.merged(cmd.name)
			if err := all.Parse(operands); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if slices.ContainsFunc(all.Args(), func(a string) bool { _, builtin := profiles.Text(a); return !builtin && !strings.Contains(a, ".") }) && n > 0 {
				continue // prose that begins with the program's name
			}
			n++
		}
	}
	if n < 6 {
		t.Errorf("only %d command lines were found", n)
	}
}

// The README's list of the JSON report's keys has all that a report has.
func TestTheReadmeListsEveryKeyOfTheReport(t *testing.T) {
	t.Parallel()
	got := fairgate(t, "simulate", "starvation", "--duration", "1s", "--format", "json", "--shadow", "fair-queue")
	var doc any
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatal(err)
	}
	text := readme(t)
	listed := func(key string) bool { return strings.Contains(text, `"`+key+`"`) }
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				if !listed(key) {
					t.Errorf("%s.%s is not in the README", path, key)
				}
				if path+"."+key != ".shadow" && // a list of reports
					!strings.HasPrefix(path, ".goodput") && key != "told_minus_needed_ms" { // named, and not spelt out
					walk(path+"."+key, inner)
				}
			}
		case []any:
			if len(v) > 0 {
				walk(path, v[0])
			}
		}
	}
	walk("", doc)
}

// The profiles in the README are profiles.
func TestTheReadmesProfilesAreRight(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	if len(blocks) < 2 {
		t.Fatalf("%d profiles", len(blocks))
	}
	for _, m := range blocks {
		text := m[1]
		if !strings.Contains(text, "clients:") { // a limiter alone, as import writes one
			text += "clients: [{name: web}]\n"
		}
		if _, err := profiles.Parse("README.md", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// What the README shows as printed is printed.
func TestTheReadmeShowsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	text := readme(t)
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before.json"), filepath.Join(dir, "after.json")
	fairgate(t, "simulate", "--output", before)
	fairgate(t, "simulate", "--policy", "fair-queue", "--output", after)
	for _, c := range []struct {
		begins string // how the block in the README begins
		args   []string
	}{
		{"Step 2 of 8", []string{"simulate", "starvation", "--lesson"}},
		{"Coming back: ", []string{"profiles"}},
		{"not fair: ", []string{"gate", "--per-client", "100", "--active", "10", "--cap", "999", "--buckets"}},
		{"a limit of 150/s", []string{"predict", "--measured", "poisson", "--shards", "6", "--at-most", "1%"}},
		{"                verdict  worst", []string{"compare"}},
		{"what changed", []string{"report", before, after}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			_, block, _ := strings.Cut(text, "```\n"+c.begins)
			block, _, found := strings.Cut(block, "```")
			if !found {
				t.Fatalf("no block begins with %q", c.begins)
			}
			if got := fairgate(t, c.args...); !strings.Contains(got.out, c.begins+block) {
				t.Errorf("the README has\n%s\nwhich is not in\n%s", c.begins+block, got.out)
			}
		})
	}
}
