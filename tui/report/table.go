package report

import (
	"cmp"
	"fmt"
	"slices"

	"fairgate/fairness"

	"github.com/charmbracelet/lipgloss"
)

// mostRows is how many clients a table for people shows.
const mostRows = 24

// chosen are the clients that a table shows: all of them, in the profile's order, or of very many those that matter, half of the rows
// for the worst served and half for those that got the most. left is how many are not shown.
func chosen(m *fairness.Measures) (rows []*fairness.ClientMeasures, left int) {
	all := make([]*fairness.ClientMeasures, len(m.Clients))
	for i := range m.Clients {
		all[i] = &m.Clients[i]
	}
	if len(all) <= mostRows {
		return all, 0
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *fairness.ClientMeasures) int {
		return cmp.Compare(a.Satisfaction.Float(2), b.Satisfaction.Float(2))
	})
	show := map[*fairness.ClientMeasures]bool{}
	for _, c := range order[:mostRows/2] {
		show[c] = true
	}
	slices.SortStableFunc(order, func(a, b *fairness.ClientMeasures) int {
		return cmp.Compare(b.AdmittedRate.Float(0), a.AdmittedRate.Float(0))
	})
	for _, c := range order {
		if len(show) < mostRows {
			show[c] = true
		}
	}
	for _, c := range all {
		if show[c] {
			rows = append(rows, c)
		}
	}
	return rows, len(all) - len(rows)
}

// A column of a table: its head and one cell for each row.
type column struct {
	head  string
	cells []string
}

// columns are the table of clients, the same for Text and Markdown, the client's name not among them.
func columns(rows []*fairness.ClientMeasures) []column {
	numbers := func(head string, get func(*fairness.ClientMeasures) fairness.Number) column {
		list := make([]fairness.Number, len(rows))
		for i, c := range rows {
			list[i] = get(c)
		}
		decimals := decimalsFor(list)
		col := column{head: head}
		for _, n := range list {
			col.cells = append(col.cells, n.Format(decimals))
		}
		return col
	}
	texts := func(head string, get func(*fairness.ClientMeasures) string) column {
		col := column{head: head}
		for _, c := range rows {
			col.cells = append(col.cells, get(c))
		}
		return col
	}
	return []column{
		numbers("asks/s", func(c *fairness.ClientMeasures) fairness.Number { return c.Demand }),
		numbers("gets/s", func(c *fairness.ClientMeasures) fairness.Number { return c.AdmittedRate }),
		numbers("entitled", func(c *fairness.ClientMeasures) fairness.Number { return c.Entitled }),
		texts("satisfied", func(c *fairness.ClientMeasures) string { return c.Satisfaction.Format(2) }),
		texts("share", func(c *fairness.ClientMeasures) string { return percent(c.Share) }),
		texts("rejected", func(c *fairness.ClientMeasures) string { return percent(c.RejectRatio) }),
		texts("by", func(c *fairness.ClientMeasures) string {
			switch by := parts(c.RejectedBy); len(by) {
			case 0:
				return "-"
			case 1:
				return by[0].Name
			default:
				return fmt.Sprintf("%s +%d", by[0].Name, len(by)-1)
			}
		}),
		texts("told", func(c *fairness.ClientMeasures) string { return cmp.Or(told(&c.RetryAfter), "-") }),
	}
}

// moodOfClient is how a client fared.
func moodOfClient(m *fairness.Measures, c *fairness.ClientMeasures) mood {
	switch {
	case c.Starved || slices.Contains(m.Fairness.Starved, c.Name):
		return bad
	case c.Satisfaction.Exists() && c.Satisfaction < 0.9:
		return warning
	}
	return plain
}

// table is the table of clients. Numbers stand at the right of their columns; the name takes the room that they leave.
func (p *page) table(m *fairness.Measures) {
	rows, more := chosen(m)
	cols := columns(rows)
	const least, mark = 6, 2 // of the name, and a mark for the starved: colour alone would be lost on many
	widths, used := measure(cols)
	for _, spare := range []string{"by", "told"} {
		if least+used+mark <= p.Width {
			break
		}
		cols = slices.DeleteFunc(cols, func(c column) bool { return c.head == spare })
		widths, used = measure(cols)
	}
	name := lipgloss.Width("client")
	for _, c := range rows {
		name = max(name, lipgloss.Width(clean(c.Name)))
	}
	name = max(least, min(name, p.Width-used-mark))

	head := left("client", name)
	for i, col := range cols {
		head += "  " + right(col.head, widths[i])
	}
	p.line(p.paint(head, dim))
	for k, c := range rows {
		md := moodOfClient(m, c)
		row := p.paint(left(clean(c.Name), name), strong)
		for i, col := range cols {
			cell := right(col.cells[k], widths[i])
			if col.head == "satisfied" {
				cell = p.paint(cell, md)
			}
			row += "  " + cell
		}
		if md != plain {
			row += " " + p.paint(md.mark(p.ASCII), md)
		}
		p.line(row)
	}
	if more > 0 {
		p.line(p.paint(fmt.Sprintf("and %s more; the JSON report has them all", plural(int64(more), "client")), dim))
	}
}

// measure is the width of each column, and of all with two blanks before each.
func measure(cols []column) (widths []int, all int) {
	for _, col := range cols {
		w := lipgloss.Width(col.head)
		for _, cell := range col.cells {
			w = max(w, lipgloss.Width(cell))
		}
		widths, all = append(widths, w), all+w+2
	}
	return widths, all
}
