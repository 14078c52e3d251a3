package tui

import (
	"fmt"
	"strconv"
	"time"

	"fairgate/fairness"
)

// A limiterView looks into the limiter: how full each limit is, the shards side by side, and what each client has waiting and in flight.
type limiterView struct {
	in      *fairness.Inside
	clients []fairness.ClientMeasures
	top     int
	marked  int
}

// shardWidth is what a shard takes: its number, a gauge, its level.
const shardWidth = 28

// divide shares h rows of w columns: levels, shards, then the clients' own.
func (v limiterView) divide(w, h int) (levels, shards, clients int) {
	if v.in == nil {
		return 0, 0, h
	}
	levels = min(len(v.in.Levels), max(1, h/4))
	if n := len(v.in.Shards); n > 0 {
		perRow := max(1, (w-1)/shardWidth)
		shards = min((n+perRow-1)/perRow, max(1, (h-levels-1)/2))
	}
	return levels, shards, h - levels - 1 - shards
}

// rows is how many clients there is room for.
func (v limiterView) rows(w, h int) int {
	_, _, clients := v.divide(w, h)
	return max(1, clients-1)
}

func (v limiterView) draw(p pane) {
	if v.in == nil {
		for y, line := range wrap("Nobody can look into this limiter: it is elsewhere, or has more than "+strconv.Itoa(fairness.MostInside)+" clients.", p.w-2, p.h) {
			p.text(1, y, inkPlain, line)
		}
		return
	}
	levels, shards, clients := v.divide(p.w, p.h)
	for y := range levels {
		drawLevel(p.sub(rect{0, y, p.w, 1}), &v.in.Levels[y])
	}
	state := fmt.Sprintf("%d waiting", v.in.Waiting)
	if n := v.in.ShardCount; n > 0 {
		state += fmt.Sprintf(" · %d shards, of each: what is left", n)
	}
	if v.in.VirtualTime.Exists() {
		state = pick(p.w-2, state+" · virtual time "+v.in.VirtualTime.Format(1)+" tokens for each unit of weight", state+" · virtual time "+v.in.VirtualTime.Format(1))
	}
	p.text(1, levels, inkDim, fit(state, p.w-1))
	v.shards(p.sub(rect{0, levels + 1, p.w, shards}))
	v.table(p.sub(rect{0, levels + 1 + shards, p.w, clients}))
}

// drawLevel draws one limit on a line: its gauge is what is left of it.
func drawLevel(p pane, l *fairness.Level) {
	x := p.text(1, 0, inkBold, fit(clean(l.Name), 12))
	if l.Rate != l.Name && p.w >= 60 {
		x = p.text(x+1, 0, inkDim, clean(l.Rate))
	}
	x = max(x, min(22, p.w/4)) + 1
	says := leftOf(l)
	if l.Reset > 0 && p.w >= 70 {
		n, unit := wait(steady(l.Reset))
		says += ", full in " + n + " " + unit
	}
	end := p.w - 1 - max(width(says), 26)
	if p.w < 70 {
		end = p.w - 1 - width(says)
	}
	drawGauge(p, x, 0, end-1-x, part(l.Remaining, l.Capacity))
	p.text(end, 0, inkPlain, says)
}

func leftOf(l *fairness.Level) string { return fmt.Sprintf("%d of %d left", l.Remaining, l.Capacity) }

// part is a of b, 0 where there is no b.
func part(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return clamp01(float64(a) / float64(b))
}

// drawGauge draws how full something is over w columns.
func drawGauge(p pane, x, y, w int, full float64) {
	for i, c := range drawBar(w, fate{full, 1, -1}) {
		if c.text == "░" { // nothing was refused here: it is only empty
			c = cell{"·", inkDim}
		}
		p.glyph(x+i, y, c.ink, c.text)
	}
}

// shards draws the instances side by side.
func (v limiterView) shards(p pane) {
	perRow := max(1, (p.w-1)/shardWidth)
	for i := range v.in.Shards {
		x, y := 1+i%perRow*shardWidth, i/perRow
		if y >= p.h {
			return
		}
		if y == p.h-1 && i%perRow == perRow-1 && i < v.in.ShardCount-1 {
			p.text(x, y, inkDim, fmt.Sprintf("and %d more", v.in.ShardCount-i))
			return
		}
		l := &v.in.Shards[i]
		p.right(x+3, y, inkDim, strconv.Itoa(i+1))
		drawGauge(p, x+4, y, 12, part(l.Remaining, l.Capacity))
		p.text(x+17, y, inkPlain, fit(fmt.Sprintf("%d of %d", l.Remaining, l.Capacity), shardWidth-18))
	}
}

// table draws what belongs to each client.
func (v limiterView) table(p pane) {
	if len(v.in.Clients) == 0 || p.h < 1 {
		return
	}
	mostQueued, own, starts := 1, false, false
	for i := range v.in.Clients {
		c := &v.in.Clients[i]
		mostQueued = max(mostQueued, c.Queued)
		own = own || c.Own.Capacity > 0
		starts = starts || c.Start.Exists()
	}
	name := nameWidth(p.w)
	gauge := 0
	if rest := p.w - name - 2 - 11 - 11; rest >= 30 {
		gauge = min(20, (rest-4)/3)
	}
	type column struct {
		title string
		w     int
		draw  func(x, y, w int, c *fairness.InsideClient)
	}
	number := func(of func(c *fairness.InsideClient) string) func(x, y, w int, c *fairness.InsideClient) {
		return func(x, y, w int, c *fairness.InsideClient) { p.right(x+w, y, inkPlain, of(c)) }
	}
	var columns []column
	if own {
		columns = append(columns, column{"own limit: left", gauge + 17, func(x, y, w int, c *fairness.InsideClient) {
			if c.Own.Capacity > 0 {
				if gauge > 0 {
					drawGauge(p, x+2, y, gauge, part(c.Own.Remaining, c.Own.Capacity))
				}
				p.right(x+w, y, inkPlain, fmt.Sprintf("%d of %d", c.Own.Remaining, c.Own.Capacity))
			}
		}})
	}
	columns = append(columns,
		column{"in flight", 11, number(func(c *fairness.InsideClient) string { return strconv.Itoa(c.InFlight) })},
		column{"waiting", 9, number(func(c *fairness.InsideClient) string { return strconv.Itoa(c.Queued) })})
	if gauge > 0 {
		columns = append(columns, column{"", gauge + 1, func(x, y, w int, c *fairness.InsideClient) {
			for i, cell := range drawBar(w-2, fate{part(int64(c.Queued), int64(mostQueued)), 0, -1}) {
				p.glyph(x+2+i, y, inkPlain, cell.text)
			}
		}})
	}
	if starts {
		columns = append(columns, column{"served up to", 14, func(x, y, w int, c *fairness.InsideClient) {
			if ahead := c.Start - v.in.VirtualTime; c.Start.Exists() {
				p.right(x+w, y, inkPlain, "+"+max(0, ahead).Format(1))
			}
		}})
	}
	p.text(1, 0, inkDim, "client")
	end := min(len(v.in.Clients), len(v.clients), v.top+max(1, p.h-1))
	for y, i := 1, v.top; i < end; y, i = y+1, i+1 {
		k := inkPlain
		if !v.clients[i].Active {
			k = inkDim
		}
		p.text(1, y, k, fit(clean(v.clients[i].Name), name-1))
		if i == v.marked {
			drawMark(p, y)
		}
	}
	x := 1 + name
	for _, c := range columns {
		if x+c.w > p.w {
			continue
		}
		p.right(x+c.w, 0, inkDim, c.title)
		for y, i := 1, v.top; i < end; y, i = y+1, i+1 {
			c.draw(x, y, c.w, &v.in.Clients[i])
		}
		x += c.w
	}
}

// steady rounds a wait so that its digits do not flicker.
func steady(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
