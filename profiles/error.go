package profiles

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error says what is wrong with a profile, where, and what would be right.
type Error struct {
	File    string // "" when the value came from elsewhere, as from a flag
	Line    int    // from 1; 0: nowhere in a file
	Column  int    // from 1, in characters
	Path    string // the key, as in clients[1].arrivals.rate; "": the file as a whole
	Msg     string
	Excerpt string // the line, and a mark under the place
}

// Error is "FILE:LINE:COL: path: message" with the excerpt below; parts that
// are unknown are left out.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	case e.File != "":
		fmt.Fprintf(&b, "%s: ", e.File)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	b.WriteString(e.Msg)
	if e.Excerpt != "" {
		b.WriteString("\n" + e.Excerpt)
	}
	return b.String()
}

// A source is a text that a profile was read from, kept for excerpts.
type source struct {
	name  string
	lines []string
}

func newSource(name string, data []byte) *source {
	return &source{name: name, lines: strings.Split(string(data), "\n")}
}

// A position is a place in a source.
type position struct {
	src          *source
	line, column int
}

// place puts an error at a position.
func (p position) place(e *Error) *Error {
	if p.src == nil {
		return e
	}
	e.File, e.Line, e.Column = p.src.name, p.line, p.column
	e.Excerpt = p.src.excerpt(p.line, p.column)
	return e
}

// excerptWidth is how much of a long line an excerpt shows.
const excerptWidth = 100

// excerpt is the numbered line with a mark under the column. Of a long line the
// part round the column is shown, and what a terminal would obey is shown as a
// question mark.
func (s *source) excerpt(line, column int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	text := []rune(strings.TrimSuffix(strings.ToValidUTF8(s.lines[line-1], "?"), "\r"))
	column = min(max(column, 1), len(text)+1)
	from := max(0, column-excerptWidth/2)
	to := min(len(text), from+excerptWidth)
	shown := make([]rune, 0, to-from)
	for _, c := range text[from:to] {
		switch {
		case c == '\t':
			c = '→'
		case isControl(c):
			c = '?'
		}
		shown = append(shown, c)
	}
	number := fmt.Sprintf("%5d | ", line)
	margin := strings.Repeat(" ", utf8.RuneCountInString(number)-2) + "| "
	return number + string(shown) + "\n" + margin + strings.Repeat(" ", column-1-from) + "^"
}

// isControl reports whether a character would do something else than be seen:
// the control characters and those that turn the direction of writing.
func isControl(c rune) bool {
	switch {
	case c < 0x20, c >= 0x7f && c < 0xa0:
		return true
	case c == 0x200e, c == 0x200f, c >= 0x2028 && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == 0xfeff:
		return true
	}
	return false
}

// quote is a value as a message shows it: in quotes, and cut when it is long.
func quote(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// suggest is the choice that was probably meant by a misspelt word, or "".
func suggest(word string, choices []string) string {
	if len(word) > 40 {
		return ""
	}
	best, bestDistance := "", max(1, min(3, len(word)/2))+1
	for _, c := range choices {
		if d := distance(strings.ToLower(word), c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the edits between two words, two swapped neighbours being
// one (Damerau and Levenshtein, restricted to adjacent letters).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, this := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		this[0] = i
		for j := 1; j <= len(t); j++ {
			swap := 1
			if s[i-1] == t[j-1] {
				swap = 0
			}
			this[j] = min(last[j]+1, this[j-1]+1, last[j-1]+swap)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				this[j] = min(this[j], before[j-2]+1)
			}
		}
		before, last, this = last, this, before
	}
	return last[len(t)]
}

// list is words as a sentence has them: a, b or c.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
