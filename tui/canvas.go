package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A cell is one place of the screen: a grapheme cluster and its ink. A cluster of two columns leaves the text of
// the cell to its right empty.
type cell struct {
	text string
	ink  ink
}

// A canvas is the screen as a grid. Whatever is drawn beyond an edge is cut off there, so that a
// picture made of it has exactly h lines of exactly w columns, come what may.
type canvas struct {
	w, h  int
	cells []cell
	odd   []bool // by row: it holds characters of other scripts than the dashboard's own
}

func newCanvas(w, h int) *canvas {
	c := &canvas{w: w, h: h, cells: make([]cell, w*h), odd: make([]bool, h)}
	for i := range c.cells {
		c.cells[i].text = " "
	}
	return c
}

// set puts a cluster of one or two columns at (x, y), which lies on the canvas. The
// torn half of a wide cluster that it covers becomes a space.
func (c *canvas) set(x, y int, text string, columns int, k ink) {
	row := c.cells[y*c.w : (y+1)*c.w]
	if row[x].text == "" {
		row[x-1].text = " "
	}
	if end := x + columns; end < c.w && row[end].text == "" {
		row[end].text = " "
	}
	row[x] = cell{text, k}
	if columns == 2 {
		row[x+1] = cell{"", k}
	}
}

// settle makes sure that a terminal will see every row as wide as it is. In some scripts, what ends one text and begins the next melts into
// one cluster, however far apart they were meant; where that happens, a row's foreign characters become question marks.
func (c *canvas) settle() {
	for y := range c.h {
		if !c.odd[y] {
			continue
		}
		row := c.cells[y*c.w : (y+1)*c.w]
		var b strings.Builder
		for i := range row {
			b.WriteString(row[i].text)
		}
		if width(b.String()) == c.w {
			continue
		}
		for i := range row {
			if row[i].text == "" {
				row[i].text = " "
			} else if isForeign(row[i].text) {
				row[i].text = "?"
			}
		}
	}
}

// isForeign reports whether a cluster is neither Latin nor one of the signs and blocks that the dashboard draws with.
func isForeign(cluster string) bool {
	r, n := utf8.DecodeRuneInString(cluster)
	return n < len(cluster) || r >= 0x300 && r < 0x2010 || r >= 0x27c0
}

// paint is the picture in a look's colours and characters, lines parted by newlines.
func (c *canvas) paint(l *look) string {
	var b strings.Builder
	b.Grow(len(c.cells)*2 + c.h*64)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		row := c.cells[y*c.w : (y+1)*c.w]
		for x := 0; x < len(row); {
			k := row[x].ink
			b.WriteString(l.open[k])
			for ; x < len(row) && row[x].ink == k; x++ {
				b.WriteString(l.glyph(row[x].text))
			}
			b.WriteString(l.close[k])
		}
	}
	return b.String()
}

// A rect is a part of the screen.
type rect struct{ x, y, w, h int }

// A pane is a rectangle of a canvas with coordinates of its own. Drawing is clipped to it.
type pane struct {
	c *canvas
	rect
}

func (c *canvas) pane(r rect) pane {
	r.w = max(0, min(r.w, c.w-r.x))
	r.h = max(0, min(r.h, c.h-r.y))
	return pane{c, r}
}

// sub is the part of the pane that r, in the pane's coordinates, cuts out.
func (p pane) sub(r rect) pane {
	r.w = max(0, min(r.w, p.w-r.x))
	r.h = max(0, min(r.h, p.h-r.y))
	r.x += p.x
	r.y += p.y
	return pane{p.c, r}
}

// text writes s from column x on and returns the column after it, which lies beyond the pane when s was cut.
func (p pane) text(x, y int, k ink, s string) int {
	visible := y >= 0 && y < p.h
	for len(s) > 0 {
		n, columns := 1, 1
		if s[0] >= 0x80 {
			var cluster string
			cluster, columns = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			n = len(cluster)
		}
		switch {
		case s[0] < 0x20 || s[0] == 0x7f: // a control character that clean was not asked about
			p.glyph(x, y, k, "?")
		case columns == 0: // nothing to stand on: a combining mark without a base
		case visible && x >= 0 && x+columns <= p.w:
			if n > 1 && isForeign(s[:n]) {
				p.c.odd[p.y+y] = true
			}
			p.c.set(p.x+x, p.y+y, s[:n], columns, k)
		case visible && x >= 0 && x < p.w:
			p.c.set(p.x+x, p.y+y, " ", 1, k)
		}
		x += columns
		s = s[n:]
	}
	return x
}

// right writes s so that it ends before column x.
func (p pane) right(x, y int, k ink, s string) { p.text(x-width(s), y, k, s) }

// glyph puts one single-column character.
func (p pane) glyph(x, y int, k ink, g string) {
	if x >= 0 && x < p.w && y >= 0 && y < p.h {
		p.c.set(p.x+x, p.y+y, g, 1, k)
	}
}

// fill repeats a single-column character over n columns.
func (p pane) fill(x, y, n int, k ink, g string) {
	for i := range n {
		p.glyph(x+i, y, k, g)
	}
}

// rule draws a line across, with a title let into it.
func (p pane) rule(y int, title string) {
	p.fill(0, y, p.w, inkDim, "─")
	if title != "" && p.w > 8 {
		p.text(2, y, inkPlain, " "+fit(title, p.w-6)+" ")
	}
}
