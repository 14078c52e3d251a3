package report

import (
	"fmt"
	"strings"

	"fairgate/fairness"
)

// Markdown is the report with the tables that GitHub and most wikis render.
func Markdown(r *fairness.Report, shadows ...*fairness.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fairgate: %s\n\n%s\n\n", inMarkdown(r.Profile), inMarkdown(r.Title))

	markdownViews(&b, &r.Measures)
	b.WriteByte('\n')
	fmt.Fprintf(&b, "**Verdict: %s.** %s\n\n", r.Fairness.Verdict, inMarkdown(r.Fairness.Why))
	for _, sentence := range evidence(r) {
		fmt.Fprintf(&b, "- %s\n", inMarkdown(sentence))
	}
	if text := cure(r); text != "" {
		fmt.Fprintf(&b, "- What to do: %s\n", inMarkdown(text))
	}
	b.WriteByte('\n')

	markdownClients(&b, &r.Measures)
	if len(shadows) > 0 {
		markdownGrid(&b, shadowTitle, beside(r, shadows).each(satisfaction, twoDecimals, true, mostRows))
	}
	b.WriteString("\n| run | |\n|---|---|\n")
	row := func(name, text string) { fmt.Fprintf(&b, "| %s | %s |\n", name, inMarkdown(text)) }
	row("mode", r.Mode)
	row("duration", r.Duration.Format(1)+" s")
	if r.Mode != "recorded" {
		row("seed", fmt.Sprint(r.Seed))
	}
	if r.Source != "" {
		row(map[bool]string{true: "recorded in", false: "profile from"}[r.Mode == "recorded"], r.Source)
	}
	row("limit", limit(&r.Limiter))
	row("attempts", attempts(&r.Aggregate))
	if r.Mode == "live" {
		row("generator", honesty(&r.Generator))
	}

	if len(r.Changes) > 0 {
		b.WriteString("\n| at | changed |\n|---:|---|\n")
		for _, c := range r.Changes {
			fmt.Fprintf(&b, "| %s s | %s |\n", c.T.Format(1), inMarkdown(c.What))
		}
	}
	if len(r.Stretches) > 0 {
		b.WriteString("\n| from | to | policy | verdict | the clients see | admitted |\n|---:|---:|---|---|---|---:|\n")
		for i := range r.Stretches {
			s := &r.Stretches[i]
			text, _, _ := clientsSee(&s.Measures)
			fmt.Fprintf(&b, "| %s s | %s s | %s | %s | %s | %s |\n", s.From.Format(1), s.To.Format(1), s.Limiter.Policy, s.Fairness.Verdict,
				inMarkdown(text), rate(s.Aggregate.Admitted))
		}
	}
	if len(r.Expectations) > 0 {
		b.WriteString("\n| expected | value | met |\n|---|---:|---|\n")
		for _, e := range r.Expectations {
			met := "not judged"
			if e.OK != nil {
				met = map[bool]string{true: "✓ yes", false: "✗ no"}[*e.OK]
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", inMarkdown(e.Expr), rateDigits(e.Value), met)
		}
	}
	return b.String()
}

// markdownViews is the table of the two views.
func markdownViews(b *strings.Builder, m *fairness.Measures) {
	b.WriteString("| view | what it shows | status |\n|---|---|---|\n")
	text, status, md := monitoring(&m.Aggregate)
	fmt.Fprintf(b, "| monitoring sees | %s | %s %s |\n", inMarkdown(text), md.mark(false), status)
	text, status, md = clientsSee(m)
	fmt.Fprintf(b, "| the clients see | %s | %s %s |\n", inMarkdown(text), md.mark(false), status)
}

// markdownClients is the table of the clients; the starved are bold.
func markdownClients(b *strings.Builder, m *fairness.Measures) {
	rows, more := chosen(m)
	cols := columns(rows)
	head, rule := "| client |", "|---|"
	for _, c := range cols {
		head += " " + c.head + " |"
		rule += "---:|"
	}
	b.WriteString(head + "\n" + rule + "\n")
	for k, c := range rows {
		name := inMarkdown(c.Name)
		if moodOfClient(m, c) == bad {
			name = "**" + name + "** ✗"
		}
		b.WriteString("| " + name + " |")
		for _, col := range cols {
			b.WriteString(" " + col.cells[k] + " |")
		}
		b.WriteByte('\n')
	}
	if more > 0 {
		fmt.Fprintf(b, "\nand %s more\n", plural(int64(more), "client"))
	}
}

// inMarkdown is text that Markdown shows as it is: on one line, no sign of it read as markup or as the end of a table's cell.
func inMarkdown(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`,
	).Replace(clean(s))
}
