package profiles

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzParse feeds Parse anything: it must not panic nor hang, an error must be an
// *Error with a message fit for a terminal, and a profile must pass Check and
// read back from what it writes.
func FuzzParse(f *testing.F) {
	for _, name := range names {
		text, _ := Text(name)
		f.Add(text)
	}
	for _, s := range []string{
		"clients: [{name: web}]",
		"clients:\n- name: a\n  kind: batch\n",
		"a: &a [*a]", "{a: {b: {c: [1, 2", "? a\n: b\n", "- - - -\n", "%YAML 1.2\n---\n", "a: |\n  b\n c", "\ufeffclients: []",
		"clients: [{name: a, arrivals: {process: trace, at: [1s, 2s]}}]\nlesson: [{say: a, set: {limiter: {rate: 5/s}}}]",
		"clients: [{name: a, copies: 99999, zipf: 1}]",
		strings.Repeat("[", 2000), strings.Repeat("- ", 500), strings.Repeat("{a: ", 60),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		started := time.Now()
		p, err := Parse("fuzz.yaml", data)
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("took %s for %d bytes", took, len(data))
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Msg == "" || e.File != "fuzz.yaml" {
				t.Fatalf("not one message of the file: %#v", err)
			}
			if strings.ContainsFunc(strings.ReplaceAll(err.Error(), "\n", ""), isControl) {
				t.Fatalf("a message that a terminal would obey: %q", err)
			}
			return
		}
		if err := p.Check(); err != nil {
			t.Fatalf("Parse let through what Check refuses: %v", err)
		}
		for _, c := range p.Clients {
			if c.Arrivals.File != "" {
				return // files are not the fuzzer's
			}
		}
		readsBack(t, p)
	})
}

// Bombs must cost a moment, not the machine.
func TestBombsAreRefused(t *testing.T) {
	lol := "a: &a [x]\n"
	for c := 'b'; c < 'z'; c++ {
		lol += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 9) + "]\n"
	}
	for name, text := range map[string]string{
		"billion laughs":   lol,
		"brackets":         strings.Repeat("[", 130_000),
		"braces":           strings.Repeat("{a: ", 60_000),
		"brackets by line": strings.Repeat("[\n", 130_000),
		"dashes":           strings.Repeat("- ", 130_000),
		"questions":        strings.Repeat("? ", 130_000),
		"stairs":           stairs(2000),
		"many keys":        manyKeys(9_900),
		"many documents":   strings.Repeat("---\na: 1\n", 9_900),
		"a long list":      "clients:\n" + strings.Repeat("- {}\n", 45_000),
		"a long name":      "clients: [{name: " + strings.Repeat("a", 250_000) + "}]",
		"a long key":       strings.Repeat("a", 250_000) + ": 1",
		"a long quote":     `title: "` + strings.Repeat(`\x41`, 60_000) + `"`,
		"colons":           strings.Repeat(":", 130_000),
		"tags":             strings.Repeat("!a ", 80_000),
		"anchors":          strings.Repeat("&a ", 80_000),
		"quotes":           strings.Repeat(`"`, 130_000),
		"commas":           "[" + strings.Repeat(",", 130_000),
	} {
		t.Run(name, func(t *testing.T) {
			started := time.Now()
			_, err := Parse("bomb.yaml", []byte(text))
			if err == nil {
				t.Fatal("was accepted")
			}
			if took := time.Since(started); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
			if len(err.Error()) > 1500 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", min(i, 250)) + "a:\n")
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + ": 1\n")
	}
	return b.String()
}
