package profiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folders sets up a working folder and a configuration folder of their own.
func folders(t *testing.T) (work, config string) {
	t.Helper()
	work, config = t.TempDir(), t.TempDir()
	t.Chdir(work)
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	return work, config
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const tiny = "clients:\n  - name: web\n    kind: batch\n"

// The nearest file wins, and the source says which it was.
func TestWhereAProfileIsLookedFor(t *testing.T) {
	_, home := folders(t)
	config, err := os.UserConfigDir()
	if err != nil || !strings.HasPrefix(config, home) {
		t.Skipf("the user's configuration cannot be moved here: %v", err)
	}
	found := func(arg, want string) {
		t.Helper()
		p, err := Load(arg)
		if err != nil {
			t.Fatal(err)
		}
		if p.Source != want {
			t.Errorf("Load(%q) read %q, want %q", arg, p.Source, want)
		}
	}
	found("agent", BuiltIn)
	mine := filepath.Join(config, "fairgate", "agent.yaml")
	put(t, mine, tiny)
	found("agent", mine)
	put(t, "profiles/agent.yml", tiny)
	found("agent", filepath.Join("profiles", "agent.yml"))
	put(t, "profiles/agent.yaml", tiny)
	found("agent", filepath.Join("profiles", "agent.yaml"))
	found("agent.yaml", filepath.Join("profiles", "agent.yaml"))
	put(t, "agent", tiny)
	found("agent", "agent")
	found("./agent", "./agent")

	// A folder of that name is no profile.
	if err := os.Mkdir("polite", 0o700); err != nil {
		t.Fatal(err)
	}
	found("polite", BuiltIn)
}

func TestWhatCannotBeLoaded(t *testing.T) {
	work, _ := folders(t)
	put(t, "broken.yaml", "clients: 5\n")
	put(t, "secret.yaml", tiny)
	if err := os.Chmod("secret.yaml", 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arg, want string }{
		{"", "no profile is named"},
		{"starvaton", "did you mean starvation?"},
		{"zebra", "the built-in ones are starvation, agent"},
		{"zebra.yaml", "zebra.yaml: there is no such file"},
		{"no/such/file", "there is no such file"},
		{work + "/", "is a folder"},
		{"broken.yaml", "broken.yaml:1:10: clients:"},
		{"a\x00b", `no profile "a\x00b"`},
		{"broken.yaml/x", "cannot be read"},
	} {
		_, err := Load(c.arg)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Load(%q) says %v, want it to hold %q", c.arg, err, c.want)
		}
	}
	if _, err := os.ReadFile("secret.yaml"); err != nil { // root reads all
		if _, err := Load("secret.yaml"); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("a file that may not be read says %v", err)
		}
	}
}

// What `fairgate profiles NAME` prints is a profile to start from.
func TestTheTextOfABuiltinIsAProfile(t *testing.T) {
	folders(t)
	var listed []string
	for _, info := range Builtins() {
		listed = append(listed, info.Name)
		text, ok := Text(info.Name)
		if !ok || !strings.HasPrefix(string(text), "#") {
			t.Errorf("%s has no text, or one without a comment at its top", info.Name)
		}
		put(t, "mine.yaml", string(text))
		p, err := Load("mine.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != info.Name || p.Source != "mine.yaml" {
			t.Errorf("%s came back as %s from %s", info.Name, p.Name, p.Source)
		}
		if info.Title == "" || info.Teaches == "" || info.Group == "" || len(info.Teaches) > 140 {
			t.Errorf("%s is listed as %+v", info.Name, info)
		}
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".yaml"); !slices.Contains(listed, name) {
			t.Errorf("%s is built in and not listed", name)
		}
	}
	if len(listed) != 19 {
		t.Errorf("%d are listed", len(listed))
	}
	if _, ok := Text("../go"); ok {
		t.Error("a path is taken for a name")
	}
}

// One client in three lines is a profile, and Explain says what was filled in.
func TestAProfileOfThreeLines(t *testing.T) {
	p, err := Parse("small.yaml", []byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	text := Explain(p)
	for _, want := range []string{
		"name: small  # the file's name",
		"duration: 30s  # default",
		"rate: 100/s  # default",
		"burst: 100  # default: one second's worth",
		"- name: web  # small.yaml:2",
		"kind: batch  # small.yaml:3",
		"rate: 500/s  # default of kind batch",
		"jitter: 0.1  # default of kind batch",
		"attempts: 3  # default of kind batch",
	} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, `"`, "")), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := Parse("explained.yaml", []byte(text)); err != nil {
		t.Errorf("what Explain prints is no profile: %v", err)
	}
}

func TestExtends(t *testing.T) {
	p, err := Parse("mine.yaml", []byte(`
extends: starvation
duration: 5s
without: [mobile]
limiter: {burst: 20}
clients:
  - name: sync
    weight: 3
  - name: cron
    kind: batch
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Clients {
		got = append(got, fmt.Sprintf("%s %d %s", c.Name, c.Weight, c.Arrivals.Rate))
	}
	if want := "batch 1 5000/s, web 1 100/s, sync 3 50/s, cron 1 500/s"; strings.Join(got, ", ") != want {
		t.Errorf("clients are %q, want %q", strings.Join(got, ", "), want)
	}
	if p.Name != "mine" || p.Limiter.Burst != 20 || p.Limiter.Rate.String() != "1000/s" || p.Lesson != nil || p.Expect != nil {
		t.Errorf("name %s, burst %d, rate %s, %d steps, expects %q", p.Name, p.Limiter.Burst, p.Limiter.Rate, len(p.Lesson), p.Expect)
	}
	// Places follow the clients who moved up.
	text := Explain(p)
	for _, want := range []string{"weight: 3", "mine.yaml:8"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
