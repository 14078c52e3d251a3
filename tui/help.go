package tui

// words are what the help explains beside the keys.
var words = [...][2]string{
	{"asks", "requests per second that a client wants done, retries not counted"},
	{"gets", "requests per second that the limiter admitted"},
	{"entitled", "its weighted max-min fair share of the limit, at most what it asks"},
	{"satisfaction", "gets / entitled; 1 is all that it was entitled to"},
	{"starved", "satisfaction below 0.5 while another client’s is twice as high"},
	{"Jain", "how even the satisfactions are: 1 is even, 1/n is one of n served"},
	{"told", "what Retry-After said; needed: the exact wait that would have done"},
	{"bar", "█ admitted  ░ refused  │ the mark up to which it was entitled"},
}

// A helpLine is a line of the help: a heading, or a key or a word with what it means.
type helpLine struct{ heading, name, meaning string }

// helpLines are the keys, then the words, for a screen of w columns.
func helpLines(k keys, w int) []helpLine {
	var lines []helpLine
	for _, g := range k.groups() {
		heading := len(lines)
		lines = append(lines, helpLine{heading: g.title})
		for _, b := range g.bindings {
			if !b.Enabled() {
				continue
			}
			lines = append(lines, helpLine{name: b.Help().Key, meaning: b.Help().Desc})
		}
		if len(lines) == heading+1 { // none of its keys does anything here
			lines = lines[:heading]
		}
	}
	lines = append(lines, helpLine{heading: "words"})
	for _, word := range words {
		for i, part := range wrap(word[1], w-16, 4) {
			if i > 0 {
				word[0] = ""
			}
			lines = append(lines, helpLine{name: word[0], meaning: part})
		}
	}
	return lines
}

// sideBySide is the width from which the words stand beside the keys, and keysWidth what the keys take there.
const (
	sideBySide = 76
	keysWidth  = 36
)

// helpColumns are the lines of the help: in one column, or the keys and the words apart.
func helpColumns(k keys, w int) (left, right []helpLine) {
	if w < sideBySide {
		return helpLines(k, w), nil
	}
	lines := helpLines(k, w-keysWidth)
	for i := range lines {
		if lines[i].heading == "words" {
			return lines[:i], lines[i:]
		}
	}
	return lines, nil
}

// drawHelp fills the pane with the help, from line top on.
func drawHelp(p pane, k keys, top int) {
	rows := p.h - 1
	left, right := helpColumns(k, p.w)
	title := "help: ? goes back"
	if max(len(left), len(right)) > rows {
		title += ", ↑↓ more"
	}
	p.rule(0, title)
	draw := func(p pane, lines []helpLine) {
		for y, line := range lines[max(0, min(top, len(lines)-rows)):] {
			p.text(1, 1+y, inkDim, line.heading)
			p.text(1, 1+y, inkBold, line.name)
			p.text(15, 1+y, inkPlain, line.meaning)
		}
	}
	if right == nil {
		draw(p, left)
		return
	}
	draw(p.sub(rect{0, 0, keysWidth, p.h}), left)
	draw(p.sub(rect{keysWidth, 0, p.w - keysWidth, p.h}), right)
}
