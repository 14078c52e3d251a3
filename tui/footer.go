package tui

import "slices"

// lowestRank is that of the key that leaves the footer first.
const lowestRank = 12

// drawFooter writes the keys, or in their place what went wrong.
func drawFooter(p pane, k keys, v view, trouble, news string, hint []string) {
	if trouble != "" {
		p.text(1, 0, inkRefusedB, fit("✗ "+clean(trouble), p.w-1))
		return
	}
	if news != "" {
		p.text(1, 0, inkBold, fit(clean(news), p.w-1))
		return
	}
	if len(hint) > 0 {
		p.text(1, 0, inkPlain, pick(p.w-1, hint...))
		return
	}
	all := slices.DeleteFunc(k.footer(v), func(f footerKey) bool { return !f.binding.Enabled() })
	cost := func(f footerKey) int { return width(f.binding.Help().Key) + 1 + width(f.binding.Help().Desc) + 2 }
	most := 0
	for rank, room := 1, p.w+1; rank <= lowestRank; rank++ {
		for _, f := range all {
			if f.rank == rank {
				room -= cost(f)
			}
		}
		if room < 0 {
			break
		}
		most = rank
	}
	x := 1
	for _, f := range all {
		if f.rank <= most {
			h := f.binding.Help()
			x = p.text(x, 0, inkBold, h.Key)
			x = p.text(x+1, 0, inkPlain, h.Desc) + 2
		}
	}
}
