package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairgate/fairness"
)

// target says of an attacked service what entitlements are shares of, and what the service itself says of its limits.
func target(r *fairness.Report) []string {
	t := r.Target
	from := "entitlements are shares of what it admitted in sum"
	if t.Entitlement == fairness.FromStated {
		from = "entitlements are shares of the limit that was stated"
	}
	list := []string{clean(t.URL) + "; " + from}
	for _, l := range t.Limits {
		list = append(list, toldLimit(&l))
	}
	return list
}

// toldLimit is a limit as the service tells it.
func toldLimit(l *fairness.ToldLimit) string {
	text := "it says: " + count(l.Quota)
	if l.Window.Exists() {
		text += " in " + milliseconds(l.Window*1000)
	}
	if l.Name != "" {
		text += fmt.Sprintf(" (%s, limit %q", clean(l.Field), clean(l.Name))
	} else {
		text += fmt.Sprintf(" (%s", clean(l.Field))
	}
	text += fmt.Sprintf(", in %s)", plural(l.Answers, "answer"))
	if l.Remaining.Exists() {
		text += fmt.Sprintf("; %s left at the end", l.Remaining.Format(0))
	}
	return text
}

// counts writes counts by name, the largest first: "refused 12, time-out 3".
func counts(by map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = clean(name) + " " + count(by[name])
	}
	return strings.Join(names, ", ")
}
