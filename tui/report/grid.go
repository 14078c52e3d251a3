package report

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// A grid is a table of cells, some of them the best of their column.
type grid struct {
	heads []string
	rows  [][]string
	best  [][]bool
	moods []mood // of the rows
}

// width is how wide a grid is as text, without verdicts.
func (g grid) width() int {
	sum := 0
	for col, head := range g.heads {
		widest := lipgloss.Width(head)
		for _, row := range g.rows {
			widest = max(widest, lipgloss.Width(row[col]))
		}
		sum += widest + 3
	}
	return sum
}

// turned is a grid with its rows for columns. Nothing in it is the best any more.
func (g grid) turned() grid {
	t := grid{heads: []string{g.heads[0]}}
	for _, row := range g.rows {
		t.heads = append(t.heads, row[0])
	}
	for col, head := range g.heads[1:] {
		cells := []string{head}
		for _, row := range g.rows {
			cells = append(cells, row[col+1])
		}
		t.rows, t.best, t.moods = append(t.rows, cells), append(t.best, make([]bool, len(cells))), append(t.moods, plain)
	}
	return t
}

// grid writes a table: the first column at the left, a verdict too, numbers at the right, a star behind the best.
func (p *page) grid(g grid) {
	widths := make([]int, len(g.heads))
	cell := func(row, col int) string {
		s := g.rows[row][col]
		if col >= 1 && g.heads[col] != "verdict" {
			if g.best[row][col] {
				return s + "*"
			}
			return s + " "
		}
		return s
	}
	for col, head := range g.heads {
		widths[col] = lipgloss.Width(head)
		if col >= 1 && head != "verdict" {
			widths[col]++
		}
		for row := range g.rows {
			widths[col] = max(widths[col], lipgloss.Width(cell(row, col)))
		}
	}
	mark := lipgloss.Width(good.mark(p.ASCII)) + 1 // before a verdict
	head := ""
	for col, h := range g.heads {
		switch {
		case col == 0:
			head += left(h, widths[col])
		case h == "verdict":
			head += "  " + left(strings.Repeat(" ", mark)+h, widths[col]+mark)
		default:
			head += "  " + right(h+" ", widths[col])
		}
	}
	p.line(p.paint(strings.TrimRight(head, " "), dim))
	for row := range g.rows {
		line := p.paint(left(cell(row, 0), widths[0]), strong)
		for col := 1; col < len(g.heads); col++ {
			switch {
			case g.heads[col] == "verdict":
				m := g.moods[row]
				line += "  " + p.paint(left(m.mark(p.ASCII)+" "+cell(row, col), widths[col]+mark), m)
			case g.best[row][col]:
				line += "  " + p.paint(right(cell(row, col), widths[col]), good)
			default:
				line += "  " + right(cell(row, col), widths[col])
			}
		}
		p.line(line)
	}
}

// markdownGrid writes a table under a title; the best of each column is bold.
func markdownGrid(b *strings.Builder, title string, g grid) {
	fmt.Fprintf(b, "\n%s\n\n|", title)
	for _, h := range g.heads {
		b.WriteString(" " + inMarkdown(h) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(g.heads)-1) + "\n")
	for row := range g.rows {
		b.WriteString("|")
		for col, s := range g.rows[row] {
			s = inMarkdown(s)
			if g.best[row][col] {
				s = "**" + s + "**"
			}
			b.WriteString(" " + s + " |")
		}
		b.WriteByte('\n')
	}
}
