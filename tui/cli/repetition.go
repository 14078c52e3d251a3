package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairgate/attack"
	"fairgate/fairness"

	"github.com/charmbracelet/x/ansi"
)

// repetition is a table of means and standard deviations, as text of 80 columns or as Markdown.
func repetition(r *attack.Repetition, expected []repeated, markdown bool) string {
	var b strings.Builder
	title := fmt.Sprintf("fairgate %s: %d runs", r.Profile, len(r.Seeds))
	if n := len(r.Seeds); n > 0 {
		title += fmt.Sprintf(", seeds %d to %d", r.Seeds[0], r.Seeds[n-1])
	}
	if markdown {
		title = "# " + title
	}
	b.WriteString(title + "\n\n")

	var verdicts []string
	for _, v := range slices.Sorted(maps.Keys(r.Verdicts)) {
		verdicts = append(verdicts, fmt.Sprintf("%s in %d", v, r.Verdicts[v]))
	}
	table(&b, [][]string{
		{"figure", "mean ± sd"},
		{"Jain", meanSD(r.Jain, 1, 3)},
		{"worst satisfaction", meanSD(r.MinSatisfaction, 1, 3)},
		{"utilization", meanSD(r.Utilization, 100, 1) + " %"},
		{"admitted/s", meanSD(r.AdmittedRate, 1, 1)},
		{"verdict", strings.Join(verdicts, ", ")},
	}, markdown)
	b.WriteByte('\n')
	rate := func(f attack.Figure) string { return meanSD(f, 1, decimalsOf(f.Mean)) }
	columns := [][]string{{"client"}, {"gets/s"}, {"satisfied"}, {"rejected %"}, {"longest gap s"}, {"att/req"}, {"share %"}}
	shown, left := worstFew(r.Clients)
	for _, c := range shown {
		for i, cell := range []string{
			c.Name, rate(c.AdmittedRate), meanSD(c.Satisfaction, 1, 3), meanSD(c.RejectRatio, 100, 1), meanSD(c.LongestGap, 1, 2), meanSD(c.Amplification, 1, 2),
			meanSD(c.Share, 100, 1),
		} {
			columns[i] = append(columns[i], cell)
		}
	}
	if !markdown {
		columns = fitting(columns, 80)
	}
	rows := make([][]string, len(columns[0]))
	for i := range rows {
		for _, column := range columns {
			rows[i] = append(rows[i], column[i])
		}
	}
	table(&b, rows, markdown)
	if left > 0 {
		fmt.Fprintf(&b, "%sand %s who fare no worse; the JSON report has them all\n", map[bool]string{true: "\n"}[markdown], counted(left, "client", "clients"))
	}
	for i, e := range expected {
		if i == 0 {
			b.WriteByte('\n')
		}
		if markdown {
			b.WriteString("- ")
		}
		b.WriteString("expected " + e.String() + "\n")
	}
	return b.String()
}

// worstFew are all clients, or of very many the few that fared worst, in the profile's order; left is how many are not among them.
func worstFew(clients []attack.RepeatedMeasures) (few []attack.RepeatedMeasures, left int) {
	const most = 20
	if len(clients) <= most {
		return clients, 0
	}
	order := make([]int, len(clients))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(clients[a].Satisfaction.Mean.Float(2), clients[b].Satisfaction.Mean.Float(2))
	})
	order = order[:most]
	slices.Sort(order)
	for _, i := range order {
		few = append(few, clients[i])
	}
	return few, len(clients) - most
}

// fitting are as many columns of a table, from the left, as a width holds.
func fitting(columns [][]string, width int) [][]string {
	used := -2
	for i, column := range columns {
		widest := 0
		for _, cell := range column {
			widest = max(widest, ansi.StringWidth(cell))
		}
		if used += 2 + widest; used > width && i > 0 {
			return columns[:i]
		}
	}
	return columns
}

// meanSD is "0.412 ± 0.013", or the mean alone where there is no deviation.
func meanSD(f attack.Figure, scale fairness.Number, decimals int) string {
	if !f.SD.Exists() {
		return (f.Mean * scale).Format(decimals)
	}
	return (f.Mean * scale).Format(decimals) + " ± " + (f.SD * scale).Format(decimals)
}

// decimalsOf is how many decimals leave about three digits that count.
func decimalsOf(n fairness.Number) int {
	switch v := n.Float(0); {
	case v >= 100:
		return 0
	case v >= 10:
		return 1
	case v >= 1:
		return 2
	}
	return 3
}

// table writes rows, the first of them the head; the first column at the left, the others at the right.
func table(b *strings.Builder, rows [][]string, markdown bool) {
	if markdown {
		for i, row := range rows {
			for _, cell := range row {
				b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
			}
		}
		return
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if i == 0 {
				line += cell + pad
			} else {
				line += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
