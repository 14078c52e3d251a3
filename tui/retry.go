package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"fairgate/fairness"
)

// A retryPanel shows what refused attempts were told to wait, beside what they would have needed to: a promise and its price.
type retryPanel struct{ clients []fairness.ClientMeasures }

// A count is one line of a distribution: what was at least from and less than to. A line with a name stands for itself.
type count struct {
	from, to time.Duration
	name     string
	n        int64
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
	told = merge(told, max(1, min(4, rows/3)))
	gap := 0
	if rows >= len(told)+1+min(len(needed), mostBins) {
		gap = 1
	}
	needed = merge(needed, max(1, min(mostBins, rows-len(told)-gap)))
	y := drawCounts(p, 1, "told", told, func(c count) string {
		if to := (c.to - 1) / time.Second; to > c.from/time.Second {
			return fmt.Sprintf("%d–%d s", c.from/time.Second, to)
		}
		return fmt.Sprintf("%d s", c.from/time.Second)
	})
	y = drawCounts(p, y+gap, "needed", needed, func(c count) string { return waitBetween(c.from, c.to) })
	r.honesty(p, y+1)
}

// mostBins is how many lines the needed waits get, however much room there is: a shape is seen, not read.
const mostBins = 6

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
	bins := make(map[count]int64)
	var never int64
	for i := range r.clients {
		c := &r.clients[i]
		refused += c.Rejected
		for _, t := range c.RetryAfter.Told {
			seconds[t.Seconds] += t.Count
		}
		for _, b := range c.RetryAfter.NeededBins {
			bins[count{from: b.From, to: b.To}] += b.Count
		}
		never += c.RetryAfter.Never
	}
	for s, n := range seconds {
		from := time.Duration(s) * time.Second
		told = append(told, count{from: from, to: from + time.Second, n: n})
	}
	for b, n := range bins {
		if b.n = n; n > 0 {
			needed = append(needed, b)
		}
	}
	inOrder := func(a, b count) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) }
	slices.SortFunc(told, inOrder)
	slices.SortFunc(needed, inOrder)
	if never > 0 {
		needed = append(needed, count{name: "never", n: never})
	}
	return told, needed, refused
}

// merge joins neighbours, those with the least in them first, until there are at most n lines. A line with a name joins nobody.
func merge(counts []count, n int) []count {
	for len(counts) > n {
		least, at := int64(math.MaxInt64), -1
		for i := 0; i+1 < len(counts); i++ {
			if sum := counts[i].n + counts[i+1].n; counts[i+1].name == "" && sum < least {
				least, at = sum, i
			}
		}
		if at < 0 {
			return counts[:n]
		}
		counts[at].to = counts[at+1].to
		counts[at].n = least
		counts = slices.Delete(counts, at+1, at+2)
	}
	return counts
}

// drawCounts draws a distribution under one word from row y on and returns the row after it.
func drawCounts(p pane, y int, word string, counts []count, name func(count) string) int {
	var sum int64
	names := 6
	for i := range counts {
		if counts[i].name == "" {
			counts[i].name = name(counts[i])
		}
		sum += counts[i].n
		names = max(names, width(counts[i].name))
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
