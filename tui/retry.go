package tui

import (
	"slices"
	"strconv"

	"fairgate/fairness"
)

// A retryPanel shows what refused attempts were told to wait, beside what they would have needed to: a promise and its price.
type retryPanel struct{ clients []fairness.ClientMeasures }

// A count is one line of a distribution.
type count struct {
	name string
	n    int64
}

func (r retryPanel) draw(p pane) {
	if p.h < 2 || p.w < 16 {
		return
	}
	p.rule(0, "Retry-After")
	told, needed, refused := r.sums()
	switch {
	case refused == 0:
		p.text(2, 1, inkDim, "nothing was refused")
		return
	case len(told)+len(needed) == 0:
		for i, line := range wrap("refused, and nobody was told when to come back", p.w-3, p.h-1) {
			p.text(2, 1+i, inkPlain, line)
		}
		return
	}
	rows := p.h - 1
	toldRows := min(len(told), max(1, rows/2))
	gap := 0
	if rows >= toldRows+len(needed)+1 {
		gap = 1
	}
	told, needed = merge(told, toldRows), merge(needed, max(1, rows-toldRows-gap))
	y := drawCounts(p, 1, "told", told)
	y = drawCounts(p, y+gap, "needed", needed)
	r.honesty(p, y+1)
}

// honesty says below the distributions how the promise relates to the need.
func (r retryPanel) honesty(p pane, y int) {
	if p.h-y < 2 {
		return
	}
	worst := fairness.None
	for i := range r.clients {
		if q := r.clients[i].RetryAfter.Needed.P99; q.Exists() && (!worst.Exists() || q > worst) {
			worst = q
		}
	}
	if !worst.Exists() {
		return
	}
	for i, line := range wrap("99% needed at most "+millis(worst)+", but the header knows whole seconds only.", p.w-3, p.h-y) {
		p.text(2, y+i, inkDim, line)
	}
}

// sums adds the clients up.
func (r retryPanel) sums() (told, needed []count, refused int64) {
	seconds := make(map[int64]int64)
	bins := make(map[fairness.Bin]int64)
	var never int64
	for i := range r.clients {
		c := &r.clients[i]
		refused += c.Rejected
		for _, t := range c.RetryAfter.Told {
			seconds[t.Seconds] += t.Count
		}
		for _, b := range c.RetryAfter.NeededBins {
			bins[fairness.Bin{From: b.From, To: b.To}] += b.Count
		}
		never += c.RetryAfter.Never
	}
	var sortedTold []fairness.Told
	for s, n := range seconds {
		sortedTold = append(sortedTold, fairness.Told{Seconds: s, Count: n})
	}
	slices.SortFunc(sortedTold, func(a, b fairness.Told) int { return int(a.Seconds - b.Seconds) })
	for _, t := range sortedTold {
		told = append(told, count{strconv.FormatInt(t.Seconds, 10) + " s", t.Count})
	}
	var sortedBins []fairness.Bin
	for b, n := range bins {
		if n > 0 {
			b.Count = n
			sortedBins = append(sortedBins, b)
		}
	}
	slices.SortFunc(sortedBins, func(a, b fairness.Bin) int {
		if a.From != b.From {
			return int(min(1, max(-1, a.From-b.From)))
		}
		return int(min(1, max(-1, a.To-b.To)))
	})
	for _, b := range sortedBins {
		needed = append(needed, count{waitBetween(b.From, b.To), b.Count})
	}
	if never > 0 {
		needed = append(needed, count{"never", never})
	}
	return told, needed, refused
}

// merge keeps at most n lines; the rarest go into "others".
func merge(counts []count, n int) []count {
	if len(counts) <= n {
		return counts
	}
	order := slices.Clone(counts)
	slices.SortStableFunc(order, func(a, b count) int { return int(min(1, max(-1, b.n-a.n))) })
	if n < 2 {
		return order[:n]
	}
	least := order[n-2].n
	kept, rest := make([]count, 0, n), count{name: "others"}
	for _, c := range counts {
		if c.n >= least && len(kept) < n-1 {
			kept = append(kept, c)
		} else {
			rest.n += c.n
		}
	}
	return append(kept, rest)
}

// drawCounts draws a distribution under one word from row y on and returns the row after it.
func drawCounts(p pane, y int, word string, counts []count) int {
	var sum int64
	names := 6
	for _, c := range counts {
		sum += c.n
		names = max(names, width(c.name))
	}
	const words = 7
	barX := 2 + words + names + 1
	barW := p.w - barX - 6
	for i, c := range counts {
		if i == 0 {
			p.text(2, y, inkPlain, word)
		}
		p.right(2+words+names, y, inkPlain, c.name)
		part := float64(c.n) / float64(max(sum, 1))
		for x, cell := range drawBar(barW, fate{part, part, -1}) {
			p.glyph(barX+x, y, inkPlain, cell.text)
		}
		p.right(p.w-1, y, inkPlain, percent(fairness.Number(part)))
		y++
	}
	return y
}
