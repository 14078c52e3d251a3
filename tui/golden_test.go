package tui

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairgate/fairness"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
)

var update = flag.Bool("update", false, "write the golden files anew")

// still is a source whose picture does not change.
type still struct {
	snap *fairness.Snapshot
	did  []Command
	err  error
}

func (s *still) Snapshot() *fairness.Snapshot { return s.snap }

func (s *still) Can(Command) bool { return true }

func (s *still) Do(c Command) error {
	s.did = append(s.did, c)
	return s.err
}

func renderer(p termenv.Profile) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	return r
}

// showing is a model of w × h that shows a picture.
func showing(s *fairness.Snapshot, o Options, w, h int) Model {
	m := New(&still{snap: s}, o)
	m = tell(m, tea.WindowSizeMsg{Width: w, Height: h})
	return tell(m, frameMsg{s})
}

// full are the options with which every key does something.
var full = Options{
	Keep: func(string, string) (string, error) { return "a file", nil },
	Save: func() (string, error) { return "another file", nil },
	Settings: func(client string) []Setting {
		return []Setting{{"", "rate", "1000/s"}, {"", "burst", "100"}, {"", "service time", "2ms"}, {client, "rate", "5000/s"}, {client, "weight", "1"}}
	},
}

// tell gives a model a message and carries out the commands that follow from a key, not the waiting for the next frame.
func tell(m Model, msg tea.Msg) Model {
	next, cmd := m.Update(msg)
	m = next.(Model)
	if _, isFrame := msg.(frameMsg); cmd == nil || isFrame {
		return m
	}
	switch answer := cmd().(type) {
	case doneMsg, settingsMsg, keptMsg, toldMsg:
		return tell(m, answer)
	}
	return m
}

func press(m Model, names ...string) Model {
	for _, name := range names {
		m = tell(m, keyNamed(name))
	}
	return m
}

func keyNamed(name string) tea.KeyMsg {
	for t, n := range map[tea.KeyType]string{tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyPgUp: "pgup", tea.KeyPgDown: "pgdown", tea.KeyEsc: "esc",
		tea.KeyCtrlC: "ctrl+c", tea.KeyCtrlZ: "ctrl+z", tea.KeySpace: " ", tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab", tea.KeyEnter: "enter", tea.KeyBackspace: "backspace"} {
		if n == name {
			if t == tea.KeySpace {
				return tea.KeyMsg{Type: t, Runes: []rune{' '}}
			}
			return tea.KeyMsg{Type: t}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// mustFit fails unless the picture is exactly as large as the screen.
func mustFit(t *testing.T, screen string, w, h int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines on a screen of %d×%d:\n%s", len(lines), w, h, screen)
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != w {
			t.Fatalf("line %d takes %d columns on a screen of %d×%d: %q", i+1, got, w, h, line)
		}
	}
}

var sizes = [][2]int{{40, 10}, {60, 16}, {80, 24}, {120, 40}, {200, 60}}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./tui -update writes it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s looks different (go test ./tui -update, then look at it):\n%s", file, diff)
	}
}

// ended gives every line of a screen a visible end, so that no editor strips the spaces that belong to it.
func ended(screen string) string { return strings.ReplaceAll(screen, "\n", "¶\n") + "¶\n" }

func TestScreens(t *testing.T) {
	pictures := []struct {
		name string
		snap *fairness.Snapshot
		keys []string
	}{
		{"starved", starvedPicture(), nil},
		{"starved-linear", starvedPicture(), []string{"v"}},
		{"starved-log", starvedPicture(), []string{"v", "v"}},
		{"cured", curedPicture(), nil},
		{"one", onePicture(), nil},
		{"idle", idlePicture(), nil},
		{"many", manyPicture(30), []string{"pgdown"}},
		{"wide", widePicture(), nil},
		{"silent", silentPicture(), nil},
		{"paused", starvedPicture(), []string{" "}},
		{"help", starvedPicture(), []string{"?"}},
		{"clients", starvedPicture(), []string{"2"}},
		{"clients-many", manyPicture(30), []string{"o", "o", "o", "down"}},
		{"retry", starvedPicture(), []string{"3"}},
		{"retry-herd", herdPicture(), []string{"3"}},
		{"events", curedPicture(), []string{"6"}},
		{"limiter", insidePicture(), []string{"4"}},
		{"limiter-shards", shardsPicture(), []string{"4", "down"}},
		{"limiter-unknown", starvedPicture(), []string{"4"}},
		{"compare", comparedPicture(), []string{"5"}},
		{"compare-none", starvedPicture(), []string{"5"}},
		{"form", starvedPicture(), []string{"e", "down", "2", "5"}},
	}
	for _, p := range pictures {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", p.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := press(showing(p.snap, full, size[0], size[1]), p.keys...)
				screen := m.View()
				mustFit(t, screen, size[0], size[1])
				golden(t, name, ended(screen))
			})
		}
	}
}

// Colour must add nothing but colour: with it, every screen holds the same characters.
func TestColours(t *testing.T) {
	looks := []struct {
		name string
		o    Options
	}{
		{"16", Options{Renderer: renderer(termenv.ANSI)}},
		{"16-light", Options{Renderer: renderer(termenv.ANSI), LightBackground: true}},
		{"true", Options{Renderer: renderer(termenv.TrueColor)}},
		{"true-light", Options{Renderer: renderer(termenv.TrueColor), Theme: "light"}},
		{"256", Options{Renderer: renderer(termenv.ANSI256)}},
		{"ansi-theme", Options{Renderer: renderer(termenv.TrueColor), Theme: "ansi"}},
	}
	screens := []struct {
		name string
		snap *fairness.Snapshot
		keys []string
	}{
		{"", starvedPicture(), nil},
		{"-clients", starvedPicture(), []string{"2", "o", "o"}},
		{"-retry", herdPicture(), []string{"3"}},
		{"-limiter", insidePicture(), []string{"4"}},
		{"-compare", comparedPicture(), []string{"5"}},
		{"-events", curedPicture(), []string{"6"}},
		{"-help", starvedPicture(), []string{"?"}},
		{"-form", starvedPicture(), []string{"e", "1"}},
		{"-lesson", starvedPicture(), []string{"3"}},
	}
	for _, l := range looks {
		for _, s := range screens {
			for _, size := range sizes {
				name := fmt.Sprintf("colour%s-%s-%dx%d", s.name, l.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					o, uncoloured := full, full
					o.Renderer, o.LightBackground, o.Theme = l.o.Renderer, l.o.LightBackground, l.o.Theme
					if s.name == "-lesson" {
						o.Lesson, uncoloured.Lesson = demoLesson(nil), demoLesson(nil)
					}
					plain := press(showing(s.snap, uncoloured, size[0], size[1]), s.keys...).View()
					screen := press(showing(s.snap, o, size[0], size[1]), s.keys...).View()
					mustFit(t, screen, size[0], size[1])
					if ansi.Strip(screen) != plain {
						t.Error("colours changed the text")
					}
					if !strings.Contains(screen, "\x1b[") {
						t.Error("no colour at all")
					}
					if s.name == "" || size == [2]int{80, 24} { // what is coloured does not depend on the size
						golden(t, name, strings.ReplaceAll(ended(screen), "\x1b", "␛"))
					}
				})
			}
		}
	}
}

func TestASCII(t *testing.T) {
	for _, p := range []*fairness.Snapshot{starvedPicture(), curedPicture(), onePicture(), idlePicture(), manyPicture(30), silentPicture(), insidePicture(), shardsPicture(), comparedPicture()} {
		for _, size := range sizes {
			for _, keys := range [][]string{nil, {"v"}, {"v", "v"}, {"?"}, {" "}, {"2"}, {"/", "a"}, {"3"}, {"4"}, {"5"}, {"6"}} {
				m := press(showing(p, Options{ASCII: true}, size[0], size[1]), keys...)
				screen := m.View()
				mustFit(t, screen, size[0], size[1])
				for _, r := range screen {
					if r >= 0x80 {
						t.Fatalf("%q is no ASCII, keys %q, on\n%s", r, keys, screen)
					}
				}
			}
		}
	}
	golden(t, "ascii-80x24", ended(showing(starvedPicture(), Options{ASCII: true}, 80, 24).View()))
}

// Every height from 5 to 60, and widths from a sliver to a wall, with every picture: nothing overflows, and wherever the
// dashboard fits its headlines are the second and third line.
func TestEverySizeFits(t *testing.T) {
	pictures := []*fairness.Snapshot{starvedPicture(), curedPicture(), onePicture(), idlePicture(), manyPicture(30), manyPicture(500), widePicture(), silentPicture(), insidePicture(), shardsPicture(), comparedPicture()}
	for _, s := range pictures {
		for h := 1; h <= 60; h++ {
			for i, w := range []int{40, 80, 1, 7, 39, 41, 55, 60, 69, 70, 75, 76, 97, 120, 163, 200, 250} {
				if i >= 2 && (i+h)%4 != 0 { // each width comes with every fourth height
					continue
				}
				m := showing(s, full, w, h)
				m.view = view(h % int(views))
				if h%7 == 0 {
					m.view = overviewView
				}
				switch h % 5 {
				case 1:
					m = press(m, "?", "down")
				case 2:
					m = press(m, "e", "down", "7")
				}
				screen := m.View()
				mustFit(t, screen, w, h)
				if m.crash.err != nil {
					t.Fatal(m.crash.err)
				}
				if w < MinWidth || h < MinHeight {
					continue
				}
				lines := strings.Split(screen, "\n")
				if !strings.Contains(lines[1], "monitoring") || !strings.Contains(lines[2], "clients") {
					t.Fatalf("%d×%d: no headlines at the top:\n%s", w, h, screen)
				}
				if verdict := string(s.Fairness.Verdict); !strings.Contains(lines[2], verdict) {
					t.Fatalf("%d×%d: the verdict %q is missing:\n%s", w, h, verdict, screen)
				}
			}
		}
	}
}

func TestTooSmallSaysSo(t *testing.T) {
	for _, size := range [][2]int{{39, 24}, {80, 9}, {30, 8}} {
		screen := showing(starvedPicture(), Options{}, size[0], size[1]).View()
		if flat := strings.Join(strings.Fields(screen), " "); !strings.Contains(flat, "needs 40×10") {
			t.Errorf("%d×%d: %q", size[0], size[1], flat)
		}
	}
}
