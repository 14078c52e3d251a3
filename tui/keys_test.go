package tui

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"fairgate/fairness"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"
)

func allBindings() []key.Binding {
	var all []key.Binding
	for _, g := range newKeys().groups() {
		all = append(all, g.bindings...)
	}
	return all
}

// Every binding is in the help, and no key is bound twice.
func TestHelpKnowsEveryBinding(t *testing.T) {
	bindings := 0
	v := reflect.ValueOf(newKeys())
	for i := range v.NumField() {
		switch f := v.Field(i); f.Type() {
		case reflect.TypeFor[key.Binding]():
			bindings++
		case reflect.TypeFor[[views]key.Binding]():
			bindings += f.Len()
		}
	}
	all := allBindings()
	if len(all) != bindings {
		t.Errorf("the help lists %d of %d bindings", len(all), bindings)
	}
	bound := map[string]string{}
	for _, b := range all {
		if b.Help().Key == "" || b.Help().Desc == "" || len(b.Keys()) == 0 {
			t.Errorf("a binding without key or meaning: %+v", b.Help())
		}
		for _, k := range b.Keys() {
			if before, twice := bound[k]; twice {
				t.Errorf("%q is bound to %q and to %q", k, before, b.Help().Desc)
			}
			bound[k] = b.Help().Desc
		}
	}
	screen := showing(starvedPicture(), full, 200, 100)
	taught := full
	taught.Lesson = demoLesson(nil)
	help := press(screen, "?").View() + press(showing(starvedPicture(), taught, 200, 100), "?").View()
	for _, b := range all {
		if !strings.Contains(help, b.Help().Desc) {
			t.Errorf("the help does not show %q", b.Help().Desc)
		}
	}
}

func TestKeysDoWhatTheHelpSays(t *testing.T) {
	source := &still{snap: manyPicture(30)}
	source.snap.Limiter.ClientRatePerS = 250
	start := func() Model {
		m := New(source, full)
		source.did = nil
		return tell(tell(m, tea.WindowSizeMsg{Width: 80, Height: 24}), frameMsg{source.snap})
	}
	commands := map[string]Command{
		"p": StepPolicy{By: 1}, "P": StepPolicy{By: -1},
		"+": ScaleRate{22 * 10000, 20 * 10000}, "=": ScaleRate{22 * 10000, 20 * 10000},
		"-": ScaleRate{18 * 10000, 20 * 10000}, "_": ScaleRate{18 * 10000, 20 * 10000},
		"a": StepAlgorithm{By: 1}, "b": ScaleBurst{110, 100}, "B": ScaleBurst{91, 100},
		"c": ScaleClientRate{27 * 10000, 25 * 10000}, "C": ScaleClientRate{24 * 10000, 25 * 10000},
		"t": StepRetryAfter{By: 1}, "u": Undo{}, "m": ScaleServiceTime{3, 2}, "M": ScaleServiceTime{2, 3}, "S": ToggleShadows{},
		"z": HoldLoad{}, "L": HoldLoad{}, "r": Restart{}, "R": Restart{NewSeed: true},
		"s": Storm{"crawler"}, "f": Switch{"crawler"}, ">": ScaleDemand{"crawler", 2, 1}, "<": ScaleDemand{"crawler", 1, 2},
		"y": StepRetries{"crawler", 1}, "g": StepWeight{"crawler", 1}, "G": StepWeight{"crawler", -1}, "d": StepCost{"crawler", 1}, "D": StepCost{"crawler", -1},
	}
	for k, want := range commands {
		press(start(), k)
		if len(source.did) != 1 || source.did[0] != want {
			t.Errorf("%q did %v, want %v", k, source.did, want)
		}
	}
	if press(start(), "down", "down", "s"); len(source.did) != 1 || source.did[0] != (Storm{"tenant-2"}) {
		t.Errorf("the storm of the client marked: %v", source.did)
	}
	if press(start(), "e", "down", "2", "5", "backspace", "0", " ", "enter"); len(source.did) != 1 || source.did[0] != (Set{"", "burst", "20"}) {
		t.Errorf("the form set %v", source.did)
	}
	walks := []struct {
		keys  string
		holds func(Model) bool
	}{
		{"v", func(m Model) bool { return m.scale == linear && strings.Contains(m.View(), "linear [v]") }},
		{"v v", func(m Model) bool { return m.scale == logarithmic && strings.Contains(m.View(), "log") }},
		{"v v v", func(m Model) bool { return m.scale == ownRequests }},
		{"down", func(m Model) bool { return m.top == 0 && strings.Contains(m.View(), "▸tenant-1 ") }},
		{"down down down down down down down down down", func(m Model) bool { return m.top == 1 && !strings.Contains(m.View(), "crawler     ") }},
		{"down up", func(m Model) bool { return m.top == 0 && strings.Contains(m.View(), "▸crawler ") }},
		{"up", func(m Model) bool { return m.top == 0 && m.chosen == 0 }},
		{"o o o down", func(m Model) bool { return m.chosen != 1 && m.chosen == m.listed()[1] }},
		{"e", func(m Model) bool { return m.form.open && strings.Contains(m.View(), "▸ rate") }},
		{": down 9", func(m Model) bool { return strings.Contains(m.View(), "→ 9▁") }},
		{"e esc", func(m Model) bool { return !m.form.open && !strings.Contains(m.View(), "exact value") }},
		{"w", func(m Model) bool { return strings.Contains(m.View(), "written: another file") }},
		{"x", func(m Model) bool { return strings.Contains(m.View(), "written: a file") }},
		{"pgdown", func(m Model) bool { return m.top == m.visibleRows()-1 }},
		{"pgdown pgdown pgdown pgdown", func(m Model) bool { return m.top == 30-m.visibleRows() && strings.Contains(m.View(), "tenant-29") }},
		{"pgdown pgup", func(m Model) bool { return m.top == 0 }},
		{"?", func(m Model) bool { return m.help && strings.Contains(m.View(), "max-min") }},
		{"? ?", func(m Model) bool { return !m.help }},
		{"? esc", func(m Model) bool { return !m.help }},
		{"tab", func(m Model) bool { return m.view == clientsView }},
		{"tab tab", func(m Model) bool { return m.view == retryView && strings.Contains(m.View(), "needed p50") }},
		{"tab tab tab", func(m Model) bool { return m.view == insideView }},
		{"4", func(m Model) bool { return m.view == insideView && strings.Contains(m.View(), "Nobody can look into") }},
		{"5", func(m Model) bool { return m.view == besideView && strings.Contains(m.View(), "Only global decides") }},
		{"tab tab tab tab tab tab", func(m Model) bool { return m.view == overviewView }},
		{"shift+tab", func(m Model) bool { return m.view == eventsView && strings.Contains(m.View(), "verdict starved") }},
		{"2", func(m Model) bool { return m.view == clientsView && strings.Contains(m.View(), "1–13 of 30 clients") }},
		{"3", func(m Model) bool { return m.view == retryView }},
		{"6", func(m Model) bool { return m.view == eventsView }},
		{"6 1", func(m Model) bool { return m.view == overviewView }},
		{"o", func(m Model) bool {
			return m.view == clientsView && m.order.by == 1 && strings.Contains(m.View(), "client▼")
		}},
		{"o o", func(m Model) bool {
			return strings.Contains(m.View(), "asks▼") && strings.Contains(row(m, 6), "crawler")
		}},
		{"o o O", func(m Model) bool {
			return strings.Contains(m.View(), "asks▲") && !strings.Contains(row(m, 6), "crawler")
		}},
		{"O", func(m Model) bool { return m.view == clientsView }},
		{"/", func(m Model) bool { return m.typing && strings.Contains(m.View(), "enter keeps the filter") }},
		{"/ B A T C enter", func(m Model) bool {
			return !m.typing && m.order.filter == "BATC" && strings.Contains(m.View(), "1 client ") && strings.Contains(row(m, 6), "crawler")
		}},
		{"/ q x backspace", func(m Model) bool {
			return m.typing && m.order.filter == "q" && m.exit == Quit && strings.Contains(m.View(), "no client")
		}},
		{"/ q esc", func(m Model) bool { return !m.typing && m.order.filter == "" }},
		{"? down", func(m Model) bool { return m.helpTop == 1 && m.top == 0 }},
	}
	for _, w := range walks {
		if m := press(start(), strings.Fields(w.keys)...); !w.holds(m) {
			t.Errorf("after %q:\n%s", w.keys, m.View())
		}
	}
	for k, want := range map[string]Exit{"q": Quit, "ctrl+c": Interrupted} {
		next, cmd := start().Update(keyNamed(k))
		if cmd == nil || cmd() != tea.Quit() || next.(Model).exit != want {
			t.Errorf("%q does not leave with %v", k, want)
		}
	}
	if _, cmd := start().Update(keyNamed("ctrl+z")); cmd == nil || cmd() != tea.Suspend() {
		t.Error("ctrl+z does not suspend")
	}
}

// In every view every key of the help does something or, where there is nothing to do, leaves the screen alone; the picture
// fits all the same, and the two headlines stay.
func TestEveryKeyInEveryView(t *testing.T) {
	for v := range views {
		for _, b := range allBindings() {
			for _, k := range b.Keys() {
				for _, s := range []*fairness.Snapshot{starvedPicture(), manyPicture(60)} {
					m := showing(s, full, 80, 24).show(v)
					m = press(m, k)
					screen := m.View()
					mustFit(t, screen, 80, 24)
					if m.crash.err != nil {
						t.Fatalf("view %d, key %q: %v", v, k, m.crash.err)
					}
					if lines := strings.Split(screen, "\n"); !strings.Contains(lines[1], "monitoring sees") || !strings.Contains(lines[2], "clients see") {
						t.Errorf("view %d, key %q: the headlines are gone:\n%s", v, k, screen)
					}
					if m.trouble != "" {
						t.Errorf("view %d, key %q: %s", v, k, m.trouble)
					}
				}
			}
		}
	}
}

// row is line n of the screen, counted from 0.
func row(m Model, n int) string { return strings.Split(m.View(), "\n")[n] }

// Keys typed faster than the terminal is read come as one message, and are all taken, in their order.
func TestFastKeys(t *testing.T) {
	source := &still{snap: starvedPicture()}
	m := tell(tell(New(source, full), tea.WindowSizeMsg{Width: 80, Height: 24}), frameMsg{source.snap})
	next, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pv+u")})
	for cmd != nil {
		next, cmd = next.Update(cmd())
	}
	if len(source.did) != 3 || source.did[0] != (StepPolicy{By: 1}) || source.did[2] != (Undo{}) || next.(Model).scale != linear {
		t.Errorf("did %v, scale %v", source.did, next.(Model).scale)
	}
	if next = press(m, "/", "web"); next.(Model).order.filter != "web" {
		t.Errorf("filter %q", next.(Model).order.filter)
	}
}

// A run that cannot be tuned further has no keys for it, and its help none either.
func TestKeysOfWhatCannotBeDoneAreOff(t *testing.T) {
	var did []Command
	source := moving{starvedPicture, func(c Command) error { did = append(did, c); return nil }}
	m := tell(tell(New(source, Options{}), tea.WindowSizeMsg{Width: 120, Height: 40}), frameMsg{starvedPicture()})
	m = press(m, "a", "b", "B", "c", "C", "t", "u", "x", "s", "f", "m", "r", "z", "e", "w")
	if len(did) > 0 {
		t.Errorf("did %v", did)
	}
	help := press(m, "?").View()
	for _, word := range []string{"algorithm", "burst up", "client limit", "way of telling", "undo", "keep this screen", "storm", "restart", "exact value"} {
		if strings.Contains(help, word) {
			t.Errorf("the help promises %q:\n%s", word, help)
		}
	}
}

func TestBurstSteps(t *testing.T) {
	for _, c := range []struct{ from, up, down int64 }{{100, 110, 91}, {1, 2, 1}, {2, 3, 1}, {9, 10, 8}, {10, 11, 9}, {1000, 1100, 910}} {
		s := &fairness.Snapshot{Limiter: fairness.Limit{Burst: c.from}}
		up, down := stepBurst(s, 1), stepBurst(s, -1)
		if up != (ScaleBurst{c.up, c.from}) || down != (ScaleBurst{c.down, c.from}) {
			t.Errorf("from %d: up %v, down %v; want %d and %d", c.from, up, down, c.up, c.down)
		}
	}
}

// While the picture is paused the run goes on, and the clock shows it.
func TestPauseHoldsThePictureOnly(t *testing.T) {
	m := showing(starvedPicture(), Options{}, 120, 40)
	m = press(m, " ")
	later := curedPicture()
	m = tell(m, frameMsg{later})
	screen := m.View()
	for _, want := range []string{"PAUSED at 00:12, the run goes on", "00:22 / 00:30", "✗ starved"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing on\n%s", want, screen)
		}
	}
	m = press(m, " ")
	if screen = m.View(); strings.Contains(screen, "PAUSED") || !strings.Contains(screen, "✓ fair") {
		t.Errorf("the picture does not go on:\n%s", screen)
	}
}

// The dashboard closes with the run, unless somebody is still looking at something.
func TestLeavesWhenTheRunIsOver(t *testing.T) {
	over := starvedPicture()
	over.Done = true
	for _, keys := range []string{"", "space", "?"} {
		m := showing(starvedPicture(), Options{}, 80, 24)
		if keys == "space" {
			m = press(m, " ")
		} else if keys != "" {
			m = press(m, keys)
		}
		next, cmd := m.Update(frameMsg{over})
		left := next.(Model).exit == Finished && cmd != nil
		if left != (keys == "") {
			t.Errorf("after %q the run's end closes the dashboard: %v", keys, left)
		}
		if keys == "space" {
			if screen := next.View(); !strings.Contains(screen, "run over") {
				t.Errorf("paused, and not told that the run is over:\n%s", screen)
			}
			next, _ = next.Update(keyNamed(" "))
			if next, _ = next.Update(frameMsg{over}); next.(Model).exit != Finished {
				t.Error("going on after the end does not close the dashboard")
			}
		}
	}
}

func TestTroubleStaysUntilTheNextKey(t *testing.T) {
	source := &still{snap: starvedPicture(), err: errors.New("policy sharded needs shards above 1")}
	m := tell(tell(New(source, Options{}), tea.WindowSizeMsg{Width: 80, Height: 24}), frameMsg{source.snap})
	m = press(m, "p")
	m = tell(m, frameMsg{source.snap})
	if !strings.Contains(m.View(), "✗ policy sharded needs shards above 1") {
		t.Errorf("the error is not in the footer:\n%s", m.View())
	}
	if m = press(m, "v"); strings.Contains(m.View(), "needs shards") {
		t.Error("the error outlives the next key")
	}
}

// x hands the screen over as text and as a picture, outside of the event loop, and says where it went.
func TestKeepsTheScreen(t *testing.T) {
	var text, picture string
	var fails error
	o := Options{ASCII: true, Keep: func(a, b string) (string, error) {
		text, picture = a, b
		return "starvation.txt and starvation.svg", fails
	}}
	m := showing(widePicture(), o, 80, 24)
	next, cmd := m.Update(keyNamed("x"))
	if text != "" || cmd == nil {
		t.Fatal("kept within Update, or not at all")
	}
	next, _ = next.Update(cmd())
	if text != m.View() {
		t.Errorf("the text is not the screen:\n%s", text)
	}
	if screen := next.View(); !strings.Contains(screen, "written: starvation.txt and starvation.svg") {
		t.Errorf("not told where:\n%s", screen)
	}
	golden(t, "picture.svg", picture)
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
	fails = errors.New("no space left")
	next, _ = next.Update(cmd())
	if screen := next.View(); !strings.Contains(screen, "x no space left") {
		t.Errorf("the failure is not told:\n%s", screen)
	}
	if m = press(showing(starvedPicture(), Options{}, 80, 24), "x"); m.trouble != "" || m.news != "" {
		t.Error("x does something where nothing can be kept")
	}
}

// Commands are carried out one at a time, in the order of the keys, and a key held down cannot pile them up.
func TestWishesKeepTheirOrder(t *testing.T) {
	source := &still{snap: starvedPicture()}
	m := tell(tell(New(source, Options{}), tea.WindowSizeMsg{Width: 80, Height: 24}), frameMsg{source.snap})
	next, first := m.Update(keyNamed("p"))
	next, second := next.Update(keyNamed("P"))
	if first == nil || second != nil {
		t.Fatal("the second command does not wait for the first")
	}
	for range 100 {
		next, _ = next.Update(keyNamed("+"))
	}
	if n := len(next.(Model).wishes); n != mostWishes {
		t.Errorf("%d commands in line, want at most %d", n, mostWishes)
	}
	for cmd := first; cmd != nil; {
		next, cmd = next.Update(cmd())
	}
	if len(source.did) != mostWishes || source.did[0] != (StepPolicy{By: 1}) || source.did[1] != (StepPolicy{By: -1}) {
		t.Errorf("carried out: %v", source.did)
	}
}

// + and − walk the preferred numbers, about a tenth at a time, whatever the rate is, and come back.
func TestRateSteps(t *testing.T) {
	after := func(rate float64, by int) float64 {
		s := &fairness.Snapshot{Limiter: fairness.Limit{RatePerS: fairness.Number(rate)}}
		c := stepRate(s, by)
		return rate * float64(c.Num) / float64(c.Den)
	}
	for _, c := range []struct{ from, up, down float64 }{
		{1000, 1100, 910}, {910, 1000, 820}, {1100, 1200, 1000}, {9.1, 10, 8.2}, {95, 100, 91}, {500, 510, 470}, {0.05, 0.051, 0.047}, {1, 1.1, 0.91},
	} {
		if up, down := after(c.from, 1), after(c.from, -1); math.Abs(up/c.up-1) > 1e-4 || math.Abs(down/c.down-1) > 1e-4 {
			t.Errorf("from %v: up %v, down %v; want %v and %v", c.from, up, down, c.up, c.down)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.001, 1e6).Draw(t, "rate")
		up, down := after(rate, 1), after(rate, -1)
		if !(up > rate && up < rate*1.25 && down < rate && down > rate/1.25) {
			t.Fatalf("from %v: up %v, down %v", rate, up, down)
		}
	})
}

// walkSource is a run that changes with its commands, for random walks.
type walkSource struct {
	pictures []*fairness.Snapshot
	at       int
}

func (s *walkSource) Snapshot() *fairness.Snapshot { return s.pictures[s.at%len(s.pictures)] }
func (s *walkSource) Can(Command) bool             { return true }
func (s *walkSource) Do(c Command) error {
	s.at++
	if s.at%3 == 0 {
		return fmt.Errorf("cannot do %T\x1b[31m now", c)
	}
	return nil
}

// Any sequence of keys, sizes and pictures leaves a picture that fits the screen and a model that is whole.
func TestRandomWalk(t *testing.T) {
	pictures := []*fairness.Snapshot{starvedPicture(), curedPicture(), onePicture(), idlePicture(), manyPicture(7), manyPicture(60), widePicture(), silentPicture(), insidePicture(), shardsPicture(), comparedPicture()}
	keysOnWalk := []string{"tab", "shift+tab", "enter", "esc", "backspace", "x", "é", "1", "2", "3", "4", "5", "6", "7"}
	for _, b := range allBindings() {
		keysOnWalk = append(keysOnWalk, b.Keys()...)
	}
	rapid.Check(t, func(t *rapid.T) {
		source := &walkSource{pictures: pictures}
		m := New(source, Options{ASCII: rapid.Bool().Draw(t, "ascii"), Keep: full.Keep, Save: full.Save, Settings: full.Settings})
		for range 60 {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				m = tell(m, tea.WindowSizeMsg{Width: rapid.IntRange(0, 130).Draw(t, "w"), Height: rapid.IntRange(0, 50).Draw(t, "h")})
			case 1:
				source.at = rapid.IntRange(0, 100).Draw(t, "picture")
				m = tell(m, frameMsg{source.Snapshot()})
			default:
				k := rapid.SampledFrom(keysOnWalk).Draw(t, "key")
				if k == "ctrl+z" || k == "ctrl+c" || k == "q" {
					continue
				}
				m = press(m, k)
			}
			screen := m.View()
			if m.crash.err != nil {
				t.Fatal(m.crash.err)
			}
			if m.w > 0 && m.h > 0 {
				if lines := strings.Split(screen, "\n"); len(lines) != m.h {
					t.Fatalf("%d lines on %d×%d", len(lines), m.w, m.h)
				} else {
					for _, line := range lines {
						if width(line) != m.w {
							t.Fatalf("%d columns on %d×%d: %q", width(line), m.w, m.h, line)
						}
					}
				}
			}
			if m.top != m.clampTop(m.top) || m.busy != (len(m.wishes) > 0) || m.scale >= scales {
				t.Fatalf("top %d, busy %v with %d wishes, scale %d", m.top, m.busy, len(m.wishes), m.scale)
			}
		}
	})
}

// A long evening: a hundred thousand keys, sizes and pictures. What the model remembers stays bounded.
func TestHundredThousandEvents(t *testing.T) {
	pictures := []*fairness.Snapshot{starvedPicture(), curedPicture(), onePicture(), idlePicture(), manyPicture(60), widePicture(), insidePicture(), shardsPicture(), comparedPicture()}
	source := &walkSource{pictures: pictures}
	random := rand.New(rand.NewPCG(7, 7))
	var keys []tea.KeyMsg
	for _, b := range allBindings() {
		for _, k := range b.Keys() {
			if k != "q" && k != "ctrl+c" && k != "ctrl+z" {
				keys = append(keys, keyNamed(k))
			}
		}
	}
	keys = append(keys, keyNamed("esc"), keyNamed("enter"), keyNamed("backspace"), keyNamed("ü"))
	o := full
	o.Keep = nil // a picture for each of a thousand keys is another test's time
	m := showing(pictures[0], o, 80, 24)
	m.source = source
	for i := range 100_000 {
		switch n := random.IntN(10); {
		case n == 0:
			m = tell(m, tea.WindowSizeMsg{Width: random.IntN(150), Height: random.IntN(60)})
		case n < 4:
			m = tell(m, frameMsg{pictures[random.IntN(len(pictures))]})
		default:
			m = tell(m, keys[random.IntN(len(keys))])
		}
		if i%50 == 0 && m.w > 0 && m.h > 0 {
			mustFit(t, m.View(), m.w, m.h)
		}
		if m.crash.err != nil {
			t.Fatalf("event %d: %v", i, m.crash.err)
		}
	}
	if len(m.watch.seen) > mostEvents || len(m.wishes) > mostWishes || len(m.order.filter) > longestFilter {
		t.Errorf("%d events, %d wishes, a filter of %d are remembered", len(m.watch.seen), len(m.wishes), len(m.order.filter))
	}
}

// Whatever figures a snapshot holds, sense or nonsense, they are drawn within the screen.
func TestNonsenseFits(t *testing.T) {
	number := rapid.OneOf(
		rapid.Just(fairness.None), rapid.Just(fairness.Number(math.Inf(1))), rapid.Just(fairness.Number(-5)), rapid.Just(fairness.Number(0)),
		rapid.Custom(func(t *rapid.T) fairness.Number { return fairness.Number(rapid.Float64().Draw(t, "any")) }),
		rapid.Custom(func(t *rapid.T) fairness.Number { return fairness.Number(rapid.Float64Range(0, 2000).Draw(t, "usual")) }))
	rapid.Check(t, func(t *rapid.T) {
		s := picture(rapid.SampledFrom([]time.Duration{0, time.Second, 70 * time.Second, 1000 * time.Hour}).Draw(t, "now"), 1000, "global", starvedTenants)
		s.Duration = rapid.SampledFrom([]time.Duration{0, 1, time.Second, time.Hour}).Draw(t, "duration")
		s.Overshoot, s.Speed = rapid.Float64().Draw(t, "overshoot"), rapid.Float64().Draw(t, "speed")
		s.Profile = rapid.String().Draw(t, "profile")
		s.Fairness.Jain, s.Fairness.MinSatisfaction, s.Fairness.Worst = number.Draw(t, "jain"), number.Draw(t, "min"), rapid.String().Draw(t, "worst")
		s.Fairness.Why, s.Fairness.Advice = rapid.String().Draw(t, "why"), rapid.String().Draw(t, "advice")
		s.Fairness.Verdict = rapid.SampledFrom([]fairness.Verdict{fairness.Fair, fairness.Contended, fairness.Starved, fairness.Idle, fairness.Unknown, ""}).Draw(t, "verdict")
		s.Aggregate.Admitted, s.Aggregate.Limit, s.Aggregate.Utilization = number.Draw(t, "admitted"), number.Draw(t, "limit"), number.Draw(t, "utilization")
		s.Limiter.Capacity, s.Limiter.RatePerS = float64(number.Draw(t, "capacity")), number.Draw(t, "rate")
		for i := range s.Clients {
			c := &s.Clients[i]
			c.Name, c.Kind = rapid.String().Draw(t, "name"), rapid.String().Draw(t, "kind")
			c.Demand, c.AdmittedRate, c.RejectedRate, c.Entitled = number.Draw(t, "demand"), number.Draw(t, "gets"), number.Draw(t, "rejected"), number.Draw(t, "entitled")
			c.Satisfaction, c.Share, c.LongestGap = number.Draw(t, "satisfaction"), number.Draw(t, "share"), number.Draw(t, "gap")
			c.RetryAfter.Needed.P99, c.Latency.Admitted.P99 = number.Draw(t, "needed"), number.Draw(t, "latency")
		}
		for i := range s.Recent {
			s.Recent[i].Admitted, s.Recent[i].Limit = float64(number.Draw(t, "admitted then")), float64(number.Draw(t, "limit then"))
			s.Recent[i].Jain = number.Draw(t, "jain then")
			if i > 3 {
				break
			}
		}
		s.Changes = []fairness.Change{{T: number.Draw(t, "changed"), What: rapid.String().Draw(t, "what")}}
		m := showing(s, Options{}, rapid.IntRange(38, 130).Draw(t, "w"), rapid.IntRange(8, 45).Draw(t, "h"))
		for v := range views {
			for range scales {
				m = press(m.show(v), "v", "+")
				screen := m.View()
				if m.crash.err != nil {
					t.Fatal(m.crash.err)
				}
				lines := strings.Split(screen, "\n")
				if len(lines) != m.h {
					t.Fatalf("%d lines on %d×%d", len(lines), m.w, m.h)
				}
				for _, line := range lines {
					if width(line) != m.w {
						t.Fatalf("%d columns on %d×%d: %q", width(line), m.w, m.h, line)
					}
				}
			}
		}
	})
}

// blocked is a source that must not be asked: a model that calls it within Update or View would hang the screen.
type blocked struct{ t *testing.T }

func (b blocked) Snapshot() *fairness.Snapshot { b.t.Error("Snapshot was called"); return nil }
func (b blocked) Do(Command) error             { b.t.Error("Do was called"); return nil }
func (b blocked) Can(Command) bool             { return true }

func TestUpdateOnlyRemembers(t *testing.T) {
	o := Options{
		Keep:     func(string, string) (string, error) { t.Error("kept within Update"); return "", nil },
		Save:     func() (string, error) { t.Error("saved within Update"); return "", nil },
		Settings: func(string) []Setting { t.Error("asked for settings within Update"); return nil },
		Lesson: &Lesson{
			Steps:  []LessonStep{{Say: "a", Ask: "b", Choices: []string{"c", "d"}}, {Say: "e"}},
			Go:     func(int) error { t.Error("went on within Update"); return nil },
			Reveal: func(int) (string, error) { t.Error("revealed within Update"); return "", nil },
		},
	}
	m := tea.Model(New(blocked{t}, o))
	m, _ = m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m, _ = m.Update(frameMsg{starvedPicture()})
	for _, b := range allBindings() {
		for _, k := range b.Keys() {
			m, _ = m.Update(keyNamed(k))
			_ = m.View()
		}
	}
}

func TestFramesComeTenTimesASecond(t *testing.T) {
	if FrameEvery != 100*time.Millisecond {
		t.Errorf("a frame every %v", FrameEvery)
	}
	source := &still{snap: starvedPicture()}
	m := New(source, Options{})
	if _, ok := m.Init()().(frameMsg); !ok {
		t.Error("the first frame is not asked for at once")
	}
	if _, cmd := m.Update(frameMsg{source.snap}); cmd == nil {
		t.Error("a frame does not ask for the next one")
	}
	if _, cmd := m.Update(tea.WindowSizeMsg{Width: 80, Height: 24}); cmd != nil {
		t.Error("a message that is no frame asks for one")
	}
}
