package cli

import (
	"io"
	"os"
	"testing"
	"time"
)

// Where standard error is no terminal nothing is drawn, however long it takes.
func TestNoProgressWithoutATerminal(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	sh := &shell{err: write, getenv: func(string) string { return "xterm" }}
	bar := newProgress(sh)
	bar.begun = time.Now().Add(-time.Hour)
	bar.part(0.5)
	bar.clear()
	write.Close()
	if b, err := io.ReadAll(read); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
}

// On a terminal it waits until one would wonder, draws ten times a second at most, and leaves nothing behind.
func TestProgressIsDrawnNowAndThen(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	bar := &progress{sh: &shell{err: write}, shown: true, begun: time.Now()}
	bar.part(0.1)
	bar.clear() // nothing was drawn, so there is nothing to take away
	bar.begun = time.Now().Add(-time.Hour)
	bar.part(0.25)
	drawn := bar.drawn
	bar.part(0.25)
	if bar.drawn.Sub(drawn) > 0 && bar.drawn.Sub(drawn) < 100*time.Millisecond {
		t.Error("drawn twice at once")
	}
	bar.drawn = time.Now().Add(-time.Hour)
	bar.part(7) // more than all does not break the bar
	bar.clear()
	write.Close()
	b, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	const quarter = "\rsimulating [##########..............................]  25% "
	const whole = "\rsimulating [########################################] 100% "
	blank := "\r" + "                                                            " + "\r"
	if string(b) != quarter+whole+blank {
		t.Errorf("%q", b)
	}
}
