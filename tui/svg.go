package tui

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// A cell's size in a picture, in pixels; a common monospace font of fontSize fits it.
const (
	cellWidth  = 8.43
	cellHeight = 17
	fontSize   = 14
)

// svg is the canvas as a picture. Each run of one ink is one text element, stretched to its columns, so that it lines up in any
// monospace font.
func (c *canvas) svg(l *look) string {
	var b strings.Builder
	w, h := float64(c.w)*cellWidth, c.h*cellHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.2f %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="%d">`+"\n",
		w, h, w, h, fontSize)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", l.picture.paper)
	for y := range c.h {
		row := c.cells[y*c.w : (y+1)*c.w]
		for x := 0; x < c.w; {
			from, k := x, row[x].ink
			var text strings.Builder
			for wide := false; x < c.w && row[x].ink == k && !wide; x++ {
				text.WriteString(l.glyph(row[x].text))
				wide = row[x].text == "" // fonts disagree on how wide a wide character is: what follows starts anew
			}
			if k != inkHold && strings.TrimSpace(text.String()) == "" {
				continue
			}
			l.picture.run(&b, float64(from)*cellWidth, y*cellHeight, float64(x-from)*cellWidth, k, text.String())
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run writes a text of one ink.
func (p palette) run(b *strings.Builder, x float64, y int, w float64, k ink, text string) {
	colour, weight := p.ink[k], ""
	switch k {
	case inkHold:
		fmt.Fprintf(b, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>`, x, y, w, cellHeight, colour)
		colour = p.paper
		fallthrough
	case inkBold, inkServedB, inkRefusedB, inkMark:
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%.2f" y="%d" fill="%s"%s textLength="%.2f" lengthAdjust="spacingAndGlyphs" xml:space="preserve">`, x, y+13, colour, weight, w)
	_ = xml.EscapeText(b, []byte(text)) // a strings.Builder takes everything
	b.WriteString("</text>\n")
}
