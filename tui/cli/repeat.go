package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairgate/attack"
	"fairgate/fairness"
	"fairgate/profiles"
	"fairgate/tui/report"

	"github.com/charmbracelet/x/ansi"
)

// repeat is `simulate --runs`: the same with several seeds, and what came of it on average.
func (s *simulate) repeat(sh *shell, p *profiles.Profile, altered bool) error {
	if err := s.report.prepare(p, altered); err != nil {
		return err
	}
	defer s.report.out.discard()
	stop := newStopper(context.Background(), s.report.out.discard)
	defer stop.release()
	bar := newProgress(sh)
	all, err := attack.Repeat(stop.ctx, p, int(s.runs), bar.part)
	bar.clear()
	early := errors.Is(err, context.Canceled)
	if err != nil && !early {
		return err
	}
	var failed []string
	for _, r := range all.Reports {
		if text := s.report.judge(r, !early && !altered); text != "" {
			failed = append(failed, fmt.Sprintf("seed %d: %s", r.Seed, text))
		}
	}
	err = s.report.out.writeAs(sh, s.look, func(text report.Options) ([]byte, error) {
		switch s.report.out.format {
		case formatJSON:
			return report.Encode(all, 2)
		case formatMarkdown:
			return []byte(repetition(all, true)), nil
		}
		return []byte(repetition(all, false)), nil
	})
	if err != nil {
		return err
	}
	if sig := stop.signal(); sig != nil {
		return exitError(codeOfSignal(sig))
	}
	if len(failed) > 0 {
		const most = 5
		if n := len(failed); n > most {
			failed = append(failed[:most], fmt.Sprintf("and with %d seeds more", n-most))
		}
		sh.note("fairgate: not met: %s", strings.Join(failed, "; "))
		return exitError(exitExpectation)
	}
	return nil
}

// repetition is a table of means and standard deviations, as text or as Markdown.
func repetition(r *attack.Repetition, markdown bool) string {
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
	whole := [][]string{
		{"figure", "mean ± sd"},
		{"Jain", meanSD(r.Jain, 1, 3)},
		{"worst satisfaction", meanSD(r.MinSatisfaction, 1, 3)},
		{"utilization", meanSD(r.Utilization, 100, 1) + " %"},
		{"admitted/s", meanSD(r.AdmittedRate, 1, 1)},
		{"verdict", strings.Join(verdicts, ", ")},
	}
	clients := [][]string{{"client", "gets/s", "satisfied", "share %", "rejected %", "att/req", "longest gap s"}}
	for _, c := range r.Clients {
		clients = append(clients, []string{c.Name, meanSD(c.AdmittedRate, 1, decimalsOf(c.AdmittedRate.Mean)), meanSD(c.Satisfaction, 1, 3),
			meanSD(c.Share, 100, 1), meanSD(c.RejectRatio, 100, 1), meanSD(c.Amplification, 1, 2), meanSD(c.LongestGap, 1, 2)})
	}
	table(&b, whole, markdown)
	b.WriteByte('\n')
	table(&b, clients, markdown)
	return b.String()
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
