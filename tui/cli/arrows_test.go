package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows are what each package may import of the module's other packages and of other modules ("charm" stands for the terminal libraries).
// A package that is not named here may import what the nearest folder above it may, and that folder's packages.
//
// The standard library is free to all but where purity is the point: see pure.
var arrows = map[string][]string{
	".":                  {"tui/cli"},
	"limiter":            {},
	"limiter/redislimit": {"limiter", "github.com/redis/go-redis/v9"},
	"fairness":           {},
	"profiles":           {"limiter", "github.com/goccy/go-yaml"},
	"profiles/importer":  {"profiles", "limiter", "github.com/goccy/go-yaml"},
	"attack":             {"limiter", "limiter/httplimit", "fairness", "profiles", "github.com/tsenart/vegeta/v12", "golang.org/x/sys", "golang.org/x/net", "github.com/prometheus/client_golang"},
	"tui":                {"fairness", "charm"},
	"tui/report":         {"fairness", "charm"},
	"tui/termbg":         {"github.com/charmbracelet/lipgloss"},
	"tui/cli":            {"*"},
}

// charm are the terminal libraries.
var charm = []string{
	"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/bubbles", "github.com/charmbracelet/lipgloss",
	"github.com/charmbracelet/x/ansi", "github.com/muesli/termenv", "github.com/mattn/go-runewidth",
}

// pure are packages whose core knows no clock, no lock, no goroutine and no network, so that the simulation can drive it; with what they may
// not import therefore.
var pure = map[string][]string{
	"fairness": {"sync", "sync/atomic", "context", "net", "net/http", "os", "math/rand", "math/rand/v2"},
	"limiter":  {"sync", "sync/atomic", "context", "net", "net/http", "os", "math/rand"},
}

// TestImportsFollowTheArrows reads every package's imports (tests aside) and compares them with the arrows above.
func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		for _, spec := range file.Imports {
			seen++
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(pkg, imported); why != "" {
				t.Errorf("%s imports %q: %s", path, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Errorf("only %d imports were seen: the walk went past the code", seen)
	}
}

// forbidden is why pkg may not import a path; "" when it may.
func forbidden(pkg, imported string) string {
	allowed, from, ok := allowedFor(pkg)
	if !ok {
		return "there is no arrow for " + pkg + ": add one"
	}
	ours, isOurs := strings.CutPrefix(imported, "fairgate/")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case slices.Contains(allowed, "*"):
		return ""
	case isOurs:
		if slices.Contains(allowed, ours) || from != pkg && (ours == from || strings.HasPrefix(ours, from+"/")) {
			return ""
		}
		return pkg + " may import of this module only " + oneOf(allowed)
	case !strings.Contains(first, "."): // the standard library
		if slices.Contains(pure[pkg], imported) {
			return pkg + " is pure: time is an argument, and nothing runs by itself"
		}
		return ""
	}
	for _, a := range allowed {
		modules := []string{a}
		if a == "charm" {
			modules = charm
		}
		for _, m := range modules {
			if imported == m || strings.HasPrefix(imported, m+"/") {
				return ""
			}
		}
	}
	return pkg + " may import of other modules only " + oneOf(allowed)
}

// allowedFor is what a package may import, and the package whose arrows those are.
func allowedFor(pkg string) (allowed []string, from string, ok bool) {
	for from = pkg; ; from = from[:strings.LastIndexByte(from, '/')] {
		if allowed, ok = arrows[from]; ok {
			return allowed, from, true
		}
		if !strings.Contains(from, "/") {
			return nil, "", false
		}
	}
}

// TestTheArrowsForbid shows that the rules above can fail.
func TestTheArrowsForbid(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		ok            bool
	}{
		{"limiter", "math/bits", true},
		{"limiter", "sync", false},
		{"limiter", "fairgate/fairness", false},
		{"limiter", "golang.org/x/time/rate", false},
		{"limiter/httplimit", "fairgate/limiter", true},
		{"limiter/httplimit", "sync", true},
		{"limiter/httplimit", "fairgate/attack", false},
		{"limiter/quota", "fairgate/limiter/bucket", true},
		{"limiter", "fairgate/limiter/bucket", false},
		{"limiter/redislimit", "github.com/redis/go-redis/v9", true},
		{"fairness", "time", true},
		{"fairness", "context", false},
		{"fairness", "fairgate/limiter", false},
		{"profiles", "github.com/goccy/go-yaml/ast", true},
		{"attack", "github.com/tsenart/vegeta/v12/lib", true},
		{"attack", "github.com/tsenart/vegeta/v123", false},
		{"attack", "fairgate/tui", false},
		{"tui", "fairgate/limiter", false},
		{"tui", "fairgate/attack", false},
		{"tui", "github.com/charmbracelet/bubbletea", true},
		{"tui/report", "fairgate/tui", false},
		{"tui/termbg", "github.com/charmbracelet/bubbletea", false},
		{"tui/cli", "fairgate/attack", true},
		{".", "fairgate/tui/cli", true},
		{".", "fairgate/attack", false},
		{"stray", "fmt", false},
	} {
		if why := forbidden(c.pkg, c.imported); (why == "") != c.ok {
			t.Errorf("%s importing %s: %q, want allowed %v", c.pkg, c.imported, why, c.ok)
		}
	}
}
