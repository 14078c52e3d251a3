package tui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"fairgate/fairness"

	tea "github.com/charmbracelet/bubbletea"
)

// keyboard is a terminal's input: what is typed can be read, and until then reading waits.
type keyboard struct {
	*io.PipeReader
	typed *io.PipeWriter
}

func newKeyboard(t *testing.T) keyboard {
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	return keyboard{r, w}
}

// terminal keeps what was written to it.
type terminal struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.Write(b)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.String()
}

// mustBeWhole fails unless the alternate screen was left and the cursor is shown, in the end.
func (t *terminal) mustBeWhole(tt *testing.T) {
	tt.Helper()
	s := t.String()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if strings.LastIndex(s, on) > strings.LastIndex(s, off) {
			tt.Errorf("the terminal was left with %q on", on)
		}
	}
}

// moving is a source that a test can change while it is shown.
type moving struct {
	snapshot func() *fairness.Snapshot
	do       func(Command) error
}

func (m moving) Snapshot() *fairness.Snapshot { return m.snapshot() }
func (m moving) Do(c Command) error           { return m.do(c) }

func TestRunEndsInEveryWay(t *testing.T) {
	over := starvedPicture()
	over.Done = true
	always := func(s *fairness.Snapshot) func() *fairness.Snapshot {
		return func() *fairness.Snapshot { return s }
	}
	nothing := func(Command) error { return nil }
	for _, c := range []struct {
		name   string
		source moving
		typed  string
		cancel bool
		change func(*Model)
		exit   Exit
		err    string
	}{
		{name: "q", source: moving{always(starvedPicture()), nothing}, typed: "q", exit: Quit},
		{name: "ctrl+c", source: moving{always(starvedPicture()), nothing}, typed: "\x03", exit: Interrupted},
		{name: "the run is over", source: moving{always(over), nothing}, exit: Finished},
		{name: "the context ends", source: moving{always(starvedPicture()), nothing}, cancel: true, exit: Ended},
		{name: "a panic in Snapshot", source: moving{func() *fairness.Snapshot { panic("boom in Snapshot") }, nothing}, exit: Failed, err: "boom in Snapshot"},
		{name: "a panic in Do", source: moving{always(starvedPicture()), func(Command) error { panic("boom in Do") }}, typed: "p", exit: Failed, err: "boom in Do"},
		{name: "a panic in View", source: moving{always(starvedPicture()), nothing}, change: func(m *Model) { m.look, m.w, m.h = nil, 80, 24 }, exit: Failed, err: "nil pointer"},
		{name: "a panic in Update", source: moving{always(starvedPicture()), nothing}, typed: "p", change: func(m *Model) { m.wishes = make([]wish, 1); m.latest = starvedPicture() }, exit: Failed, err: "nil pointer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			in, out := newKeyboard(t), new(terminal)
			m := New(c.source, Options{})
			if c.change != nil {
				c.change(&m)
			}
			if c.typed != "" {
				go func() { // again and again: a key that comes before the first picture may do nothing
					for {
						if _, err := in.typed.Write([]byte(c.typed)); err != nil {
							return
						}
					}
				}()
			}
			if c.cancel {
				cancel()
			}
			exit, err := run(ctx, m, in, out)
			if exit != c.exit {
				t.Errorf("exit %v, want %v (error %v)", exit, c.exit, err)
			}
			switch {
			case c.err == "" && err != nil:
				t.Errorf("error %v", err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), ".go:")):
				t.Errorf("error %v, want %q with its stack", err, c.err)
			}
			out.mustBeWhole(t)
		})
	}
}

// A key that comes before the first picture must not lead into a nil snapshot.
func TestKeysBeforeTheFirstPicture(t *testing.T) {
	m := tell(New(&still{}, Options{}), tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, b := range allBindings() {
		for _, k := range b.Keys() {
			m = press(m, k)
			mustFit(t, m.View(), 80, 24)
		}
	}
	if m.crash.err != nil {
		t.Error(m.crash.err)
	}
}

// BenchmarkViews draws each view of 500 clients, seen from inside and with shadows.
func BenchmarkViews(b *testing.B) {
	s := manyPicture(500)
	s.Inside = &fairness.Inside{Levels: insidePicture().Inside.Levels, VirtualTime: 1}
	for range s.Clients {
		s.Inside.Clients = append(s.Inside.Clients, insidePicture().Inside.Clients[0])
	}
	for _, policy := range []string{"per-client", "fair-queue", "concurrency", "hierarchical", "sharded"} {
		s.Beside = append(s.Beside, fairness.Alternative{Policy: policy, Measures: s.Measures})
	}
	for v, n := range viewNames {
		b.Run(n.name, func(b *testing.B) {
			m := showing(s, Options{Renderer: renderer(2)}, 120, 40).show(view(v))
			b.ReportAllocs()
			for b.Loop() {
				_ = m.View()
			}
		})
	}
}

func BenchmarkView(b *testing.B) {
	for _, c := range []struct {
		name    string
		clients int
		w, h    int
	}{{"10 clients 120x40", 10, 120, 40}, {"500 clients 120x40", 500, 120, 40}, {"10 clients 250x80", 10, 250, 80}} {
		b.Run(c.name, func(b *testing.B) {
			m := showing(manyPicture(c.clients), Options{Renderer: renderer(2)}, c.w, c.h)
			b.ReportAllocs()
			for b.Loop() {
				_ = m.View()
			}
		})
	}
}
