package tui

import (
	"math"
	"strings"
	"time"

	"fairgate/fairness"
)

// levels are the blocks that fill a cell from below by so many eighths.
var levels = [...]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// longestSpan is how far back the panel over time looks: as far as a snapshot remembers.
const longestSpan = 60 * time.Second

// A timeAxis gives each column of a plot its stretch of the run. It begins at the start of the run and, once that
// is further back than the span, moves on by whole columns, so that a column keeps what it shows.
type timeAxis struct {
	from   time.Duration
	column time.Duration
	w      int
}

func newTimeAxis(s *fairness.Snapshot, w int) timeAxis {
	span := longestSpan
	if s.Duration > 0 && s.Duration < span {
		span = s.Duration
	}
	a := timeAxis{column: max(1, (span+time.Duration(w)-1)/time.Duration(w)), w: w}
	if over := s.Now - a.column*time.Duration(w); over > 0 {
		a.from = (over + a.column - 1) / a.column * a.column
	}
	return a
}

// at is the column in which t lies; it may be outside.
func (a timeAxis) at(t time.Duration) int {
	if t < a.from {
		return -1
	}
	return int((t - a.from) / a.column)
}

// spread gives every column the mean of the samples that overlap it, by the time they overlap; none where there is no sample.
func (a timeAxis) spread(samples []fairness.Sample, value func(*fairness.Sample) fairness.Number) []fairness.Number {
	sum, weight := make([]float64, a.w), make([]float64, a.w)
	for i := range samples {
		s := &samples[i]
		v := value(s)
		if !v.Exists() {
			continue
		}
		from, to := max(a.from, s.T-fairness.SampleStep), s.T
		for x := a.at(from); x >= 0 && x < a.w; x++ {
			begin := a.from + time.Duration(x)*a.column
			part := min(to, begin+a.column) - max(from, begin)
			if part <= 0 {
				break
			}
			sum[x] += float64(v) * float64(part)
			weight[x] += float64(part)
		}
	}
	means := make([]fairness.Number, a.w)
	for x := range means {
		means[x] = fairness.None
		if weight[x] > 0 {
			means[x] = fairness.Number(sum[x] / weight[x])
		}
	}
	return means
}

// A plot is the panel over time: above, the aggregate against the limit, as flat as monitoring shows it; below, on the same
// columns, what became of each client's requests. Changes cut through both.
type plot struct {
	snap *fairness.Snapshot
	top  int // the first client shown
}

func (pl plot) draw(p pane) {
	if p.h < 3 || p.w < 24 {
		return
	}
	s := pl.snap
	chartRows, clientRows, lineRows, axisRow := pl.divide(p.h)
	label := 8
	for i := pl.top; i < pl.top+clientRows; i++ {
		label = max(label, min(width(clean(s.Clients[i].Name)), p.w/5))
	}
	const values = 6 // columns at the right, for the present value
	chart := rect{label + 2, 1, p.w - label - 2 - values, p.h - 1}
	axis := newTimeAxis(s, chart.w)

	title := "aggregate, and the part of its requests that each client gets"
	if clientRows == 0 {
		title = "aggregate and Jain index"
	}
	p.rule(0, pick(p.w-8, title+", over time", title, "aggregate and allocation", "over time"))

	line := func(y int, name string, values []fairness.Number, now fairness.Number, k ink) {
		p.text(1, y+lineRows-1, inkPlain, fit(name, label))
		for x, v := range values {
			if v.Exists() {
				// Never quite up to the line above, so that the lines stay apart.
				n := 1 + int(math.Round(clamp01(float64(v))*float64(8*lineRows-2)))
				for up := 0; n > 0; up, n = up+1, n-8 {
					p.glyph(chart.x+x, y+lineRows-1-up, k, levels[min(n, 8)])
				}
			}
		}
		p.right(p.w-1, y+lineRows-1, inkPlain, now.Format(2))
	}
	pl.aggregate(p.sub(rect{0, 1, p.w, chartRows}), chart.x, axis)
	y := 1 + chartRows
	line(y, "Jain", axis.spread(s.Recent, func(m *fairness.Sample) fairness.Number { return m.Jain }), s.Fairness.Jain, inkPlain)
	y += lineRows
	for i := pl.top; i < pl.top+clientRows; i++ {
		c := &s.Clients[i]
		asks := c.Demand.Float(0)
		got := axis.spread(s.Recent, func(m *fairness.Sample) fairness.Number {
			if i >= len(m.Clients) || asks <= 0 {
				return fairness.None
			}
			return fairness.Number(float64(m.Clients[i]) / asks)
		})
		now := fairness.None
		if asks > 0 {
			now = fairness.Number(c.AdmittedRate.Float(0) / asks)
		}
		line(y, clean(c.Name), got, now, inkServed)
		y += lineRows
	}
	pl.changes(p, chart, y-1, axis)
	if axisRow {
		p.text(chart.x, y, inkDim, clock(axis.from))
		p.right(chart.x+chart.w, y, inkDim, clock(axis.from+axis.column*time.Duration(axis.w)))
	}
}

// divide shares h rows between title, chart, Jain index, clients and time axis. The chart keeps three rows,
// or two where that lets the last client in; what it would have beyond tallChart goes to the lines, which grow alike.
func (pl plot) divide(h int) (chart, clients, lineRows int, axis bool) {
	const tallChart, tallestLine = 11, 4
	free := h - 2
	if axis = h >= 8; axis {
		free--
	}
	if n := len(pl.snap.Clients) - pl.top; n > 0 && len(pl.snap.Clients) <= 50 {
		clients = max(0, min(n, free-3))
		if n == free-2 {
			clients = n
		}
	}
	chart, lineRows = free-clients, 1
	for lineRows < tallestLine && chart-(clients+1) >= tallChart {
		chart -= clients + 1
		lineRows++
	}
	return chart, clients, lineRows, axis
}

// aggregate draws what was admitted as columns and the limit as a line that, where nothing is above it, runs between two rows.
func (pl plot) aggregate(p pane, left int, axis timeAxis) {
	s := pl.snap
	admitted := axis.spread(s.Recent, func(m *fairness.Sample) fairness.Number { return fairness.Number(m.Admitted) })
	limit := axis.spread(s.Recent, func(m *fairness.Sample) fairness.Number { return fairness.Number(m.Limit) })
	highestLimit, highest := s.Limiter.Capacity, 0.0
	for x := range limit {
		highestLimit = max(highestLimit, limit[x].Float(0))
		highest = max(highest, admitted[x].Float(0))
	}
	if highestLimit <= 0 {
		highestLimit = max(highest, 1)
	}
	perRow := highestLimit
	if p.h > 1 {
		perRow = highestLimit / float64(p.h-1)
		perRow = max(perRow, highest/(float64(p.h)-0.25))
	}
	row := func(rate float64) (y int, rest float64) {
		v := rate / perRow
		whole := math.Floor(v + 1e-6)
		return p.h - 1 - int(whole), max(0, v-whole)
	}
	scaleLabel := func(rate float64) {
		y, _ := row(rate)
		p.right(left-2, max(y, 0), inkDim, perSecond(rate))
		p.glyph(left-1, max(y, 0), inkDim, "┤")
	}
	for y := range p.h {
		p.glyph(left-1, y, inkDim, "│")
	}
	for x := range admitted {
		if v := admitted[x]; v.Exists() {
			n := int(math.Round(float64(v) / perRow * 8))
			for y := p.h - 1; y >= 0 && n > 0; y-- {
				p.glyph(left+x, y, inkServed, levels[min(n, 8)])
				n -= 8
			}
		}
		if v := limit[x]; v.Exists() && v > 0 {
			// A cell holds the line or a part of a column, not both: the line where it would stand clear of the column.
			y, rest := row(float64(v))
			filled := admitted[x].Float(0)/perRow - float64(p.h-1-y)
			if filled < 1./16 || rest-filled > 0.3 {
				p.glyph(left+x, y, inkMark, [...]string{"▁", "─", "▔"}[min(2, int(rest*3))])
			}
		}
	}
	if p.h >= 3 {
		p.right(left-2, p.h-1, inkDim, "0")
	}
	if p.h >= 5 {
		scaleLabel(highestLimit / 2)
	}
	scaleLabel(highestLimit)
	if n := len(s.Recent); n > 0 {
		y, _ := row(s.Recent[n-1].Limit)
		p.text(left+axis.at(s.Recent[n-1].T-1)+2, max(0, y), inkPlain, "limit")
	}
}

// changes marks what was changed, and names it where there is room beside the mark.
func (pl plot) changes(p pane, chart rect, bottom int, axis timeAxis) {
	var columns []int
	for _, ch := range pl.snap.Changes {
		x := axis.at(time.Duration(ch.T.Float(-1) * 1e9))
		columns = append(columns, x)
		for y := chart.y; y <= bottom && x >= 0 && x < chart.w; y++ {
			p.glyph(chart.x+x, y, inkBold, "┊")
		}
	}
	taken := make(map[int]int) // by row: the columns before this one are taken
	for i, x := range columns {
		if x < 0 || x >= chart.w {
			continue
		}
		name := shortChange(pl.snap.Changes[i].What)
		start := x + 1
		if start+width(name) > chart.w {
			start = x - width(name)
		}
		for y := chart.y; y < chart.y+3 && y <= bottom; y++ {
			if start >= taken[y] && start >= 0 {
				p.text(chart.x+start, y, inkBold, name)
				taken[y] = start + width(name) + 1
				break
			}
		}
	}
}

// shortChange is a change without what was before it: "policy global → per-client" as "policy: per-client". Of several it is the first.
func shortChange(what string) string {
	first, _, more := strings.Cut(clean(what), ", ")
	if before, after, ok := strings.Cut(first, " → "); ok {
		subject := strings.TrimSpace(before)
		if end := strings.LastIndexByte(subject, ' '); end > 0 {
			subject = subject[:end]
		}
		first = subject + ": " + strings.TrimSpace(after)
	}
	if more {
		first += " …"
	}
	return first
}
