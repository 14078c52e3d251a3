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

// A helpColumn is a part of the help with its place: the names take so many columns of it.
type helpColumn struct {
	lines       []helpLine
	x, w, names int
}

// helpColumns are the columns of the help: all in one, the keys and the words apart, or the keys in two and the words.
func helpColumns(k keys, w int) []helpColumn {
	const narrow, wide = 76, 112
	if w < narrow {
		return []helpColumn{{helpLines(k, w), 0, w, 14}}
	}
	keys, names := 36, 10
	if w >= wide {
		keys = 2 * 30
	}
	lines := helpLines(k, w-keys)
	split := 0
	for i := range lines {
		switch lines[i].heading {
		case "the run":
			split = i
		case "words":
			words := helpColumn{lines[i:], keys, w - keys, 14}
			if w < wide {
				return []helpColumn{{lines[:i], 0, keys, names}, words}
			}
			if split == 0 { // what comes first is short then
				split = i
			}
			return []helpColumn{{lines[:split], 0, keys / 2, names}, {lines[split:i], keys / 2, keys / 2, names}, words}
		}
	}
	return nil
}

// helpHeight is how many lines the longest column has.
func helpHeight(k keys, w int) (h int) {
	for _, c := range helpColumns(k, w) {
		h = max(h, len(c.lines))
	}
	return h
}

// drawHelp fills the pane with the help, from line top on.
func drawHelp(p pane, k keys, top int) {
	rows := p.h - 1
	title := "help: ? goes back"
	if helpHeight(k, p.w) > rows {
		title += ", ↑↓ more"
	}
	p.rule(0, title)
	for _, c := range helpColumns(k, p.w) {
		q := p.sub(rect{c.x, 0, c.w, p.h})
		for y, line := range c.lines[max(0, min(top, len(c.lines)-rows)):] {
			q.text(1, 1+y, inkDim, line.heading)
			q.text(1, 1+y, inkBold, line.name)
			q.text(1+c.names, 1+y, inkPlain, line.meaning)
		}
	}
}
