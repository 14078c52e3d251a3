package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairgate/fairness"
)

// A htmlPlot is drawn in a box of 1000 × 100 that is stretched to whatever room there is; its labels are text beside it, which is not.
type htmlPlot struct {
	Title, About string
	Bands        []htmlBand // areas on top of each other, the lowest first
	Line         string     // points of what was admitted, where there are no bands
	Bound        string     // points of the limit, or of what was entitled
	Ys           []htmlTick
	Xs           []htmlTick
	Changes      []htmlTick // where something was changed
	Legend       []htmlLegend
	Mood, Mark   string
	Colour       int
}

type htmlBand struct {
	Colour int
	Points string
}

// A htmlTick is a label at a place, in percent from the left or from below.
type htmlTick struct{ At, Text string }

const (
	boxWidth, boxHeight = 1000.0, 100.0
	mostSteps           = 60 // of a plot: finer ones show the chance in each step, not the course
	mostPlots           = 12
)

// A course is the timeline in coarser steps, by client.
type course struct {
	ends  []float64 // of the steps, in seconds
	names []string
	got   [][]float64 // admitted per second: client × step
	all   []float64   // admitted per second of everybody
}

// courseOf makes steps of several points each.
func courseOf(r *fairness.Report) course {
	points := r.Timeline
	var c course
	if len(points) == 0 {
		return c
	}
	columns := len(points[0].Clients)
	for i, p := range points[0].Clients {
		name := p.Name
		if name == "" && i < len(r.Clients) {
			name = r.Clients[i].Name
		}
		c.names = append(c.names, name)
	}
	c.got = make([][]float64, columns)
	every := (len(points) + mostSteps - 1) / mostSteps
	begin := 0.0
	for from := 0; from < len(points); from += every {
		to := min(from+every, len(points))
		end := points[to-1].T.Float(0)
		length := end - begin
		if !(length > 0) {
			continue
		}
		sums, all, last := make([]float64, columns), 0.0, begin
		for _, p := range points[from:to] {
			step := p.T.Float(last) - last
			last = p.T.Float(last)
			all += p.Admitted.Float(0) * step
			for k := range min(columns, len(p.Clients)) {
				sums[k] += p.Clients[k].Admitted.Float(0) * step
			}
		}
		c.ends = append(c.ends, end)
		c.all = append(c.all, all/length)
		for k := range sums {
			c.got[k] = append(c.got[k], sums[k]/length)
		}
		begin = end
	}
	return c
}

// plots are what all got together, against the limit, and what each got, against what it was entitled to. more says which are not shown.
func plots(r *fairness.Report) (together *htmlPlot, each []htmlPlot, more string) {
	c := courseOf(r)
	if len(c.ends) < 2 {
		return nil, nil, ""
	}
	whole := c.ends[len(c.ends)-1]
	xs := timeTicks(whole)
	var changes []htmlTick
	for i, ch := range r.Changes {
		changes = append(changes, htmlTick{percents(ch.T.Float(0) / whole), strconv.Itoa(i + 1)})
	}
	colours := coloursOf(&r.Measures)

	limit := levels(r, whole, func(m *fairness.Measures) fairness.Number { return m.Aggregate.Limit })
	top := niceTop(max(slices.Max(c.all), highest(limit)))
	t := &htmlPlot{Title: "Together, against the limit", Xs: xs, Ys: valueTicks(top), Changes: changes, Bound: steps(limit, whole, top), Legend: legendOf(&r.Measures, colours)}
	below := make([]float64, len(c.ends))
	band := func(colour int, got []float64) {
		above := make([]float64, len(below))
		for i := range below {
			above[i] = below[i] + got[i]
		}
		t.Bands = append(t.Bands, htmlBand{colour, area(c.ends, below, above, whole, top)})
		below = above
	}
	rest := make([]float64, len(c.ends))
	for k, name := range c.names {
		if colour, ok := colours[name]; ok && colour >= 0 {
			band(colour, c.got[k])
			continue
		}
		for i := range rest {
			rest[i] += c.got[k][i]
		}
	}
	if slices.Max(rest) > 0 {
		band(-1, rest)
	}

	column := map[string]int{}
	for k, name := range c.names {
		column[name] = k
	}
	rows, left := chosen(&r.Measures)
	for _, client := range rows {
		k, ok := column[client.Name]
		if !ok || len(each) == mostPlots {
			left++
			continue
		}
		due := levels(r, whole, func(m *fairness.Measures) fairness.Number {
			for i := range m.Clients {
				if m.Clients[i].Name == client.Name {
					return m.Clients[i].Entitled
				}
			}
			return fairness.None
		})
		top := niceTop(max(slices.Max(c.got[k]), highest(due)))
		md := moodOfClient(&r.Measures, client)
		p := htmlPlot{
			Title: clean(client.Name), About: rateDigits(client.AdmittedRate) + " of " + rate(client.Entitled), Xs: ends(whole), Ys: []htmlTick{{percents(1), number(top)}},
			Changes: changes, Line: line(c.ends, c.got[k], whole, top), Bound: steps(due, whole, top), Mood: md.class(), Colour: colours[client.Name],
		}
		if md != plain {
			p.Mark = md.mark(false)
		}
		each = append(each, p)
	}
	if left > 0 {
		more = plural(int64(left), "client") + " more are not drawn"
	}
	return t, each, more
}

// A level is a value that holds from a time on.
type level struct{ from, value float64 }

// levels are a figure over the run: one for each stretch, or one for all of it.
func levels(r *fairness.Report, whole float64, of func(*fairness.Measures) fairness.Number) []level {
	var list []level
	for i := range r.Stretches {
		s := &r.Stretches[i]
		if v := of(&s.Measures); v.Exists() {
			list = append(list, level{s.From.Float(0), v.Float(0)})
		}
	}
	if len(r.Stretches) == 0 {
		if v := of(&r.Measures); v.Exists() {
			list = append(list, level{0, v.Float(0)})
		}
	}
	return list
}

func highest(list []level) float64 {
	top := 0.0
	for _, l := range list {
		top = max(top, l.value)
	}
	return top
}

// steps are the points of levels, each until the next.
func steps(list []level, whole, top float64) string {
	var b strings.Builder
	for i, l := range list {
		to := whole
		if i+1 < len(list) {
			to = list[i+1].from
		}
		point(&b, l.from/whole, l.value/top)
		point(&b, to/whole, l.value/top)
	}
	return strings.TrimSpace(b.String())
}

// line are the points of a course, each value in the middle of its step.
func line(ends, values []float64, whole, top float64) string {
	var b strings.Builder
	begin := 0.0
	for i, v := range values {
		if i == 0 {
			point(&b, 0, v/top)
		}
		point(&b, (begin+ends[i])/2/whole, v/top)
		begin = ends[i]
	}
	point(&b, 1, values[len(values)-1]/top)
	return strings.TrimSpace(b.String())
}

// area is the outline of what lies between two courses.
func area(ends, below, above []float64, whole, top float64) string {
	back := strings.Fields(line(ends, below, whole, top))
	slices.Reverse(back)
	return line(ends, above, whole, top) + " " + strings.Join(back, " ")
}

// point writes a place in the box, given in parts of it from the left and from below.
func point(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, "%s,%s ", short(bounded(x)*boxWidth), short(boxHeight-bounded(y)*boxHeight))
}

// bounded is a part of 1, whatever came of a division.
func bounded(part float64) float64 {
	if !(part > 0) {
		return 0
	}
	return min(part, 1)
}

func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// percents is a part of 1 for a style.
func percents(part float64) string { return short(bounded(part)*100) + "%" }

// niceTop is the upper end of an axis: the next of 1, 1.5, 2, 3, 4, 5, 6, 8, 10 above, so that little room is lost.
func niceTop(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if step*power >= v*1.02 {
			return step * power
		}
	}
	return 12 * power
}

// valueTicks are labels from below to the top.
func valueTicks(top float64) []htmlTick {
	parts := 4
	for _, n := range []int{4, 5, 3} {
		if part := top / float64(n); math.Abs(part/math.Pow(10, math.Floor(math.Log10(part)))*2-math.Round(part/math.Pow(10, math.Floor(math.Log10(part)))*2)) < 1e-9 {
			parts = n
			break
		}
	}
	var list []htmlTick
	for i := range parts + 1 {
		part := float64(i) / float64(parts)
		list = append(list, htmlTick{percents(part), number(top * part)})
	}
	return list
}

// number is a value on an axis.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// timeTicks are four to six labels of time, in round numbers.
func timeTicks(whole float64) []htmlTick {
	step := niceTop(whole / 6)
	for _, s := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400} {
		if s >= whole/6 {
			step = s
			break
		}
	}
	var list []htmlTick
	for at := 0.0; at <= whole*1.0001 && len(list) < 20; at += step {
		list = append(list, htmlTick{percents(at / whole), span(at)})
	}
	return list
}

// ends are the labels of a small plot.
func ends(whole float64) []htmlTick { return []htmlTick{{"0%", "0"}, {"100%", span(whole)}} }

// span is a time on an axis.
func span(seconds float64) string {
	if seconds == 0 {
		return "0"
	}
	if seconds < 120 {
		return strconv.FormatFloat(math.Round(seconds*10)/10, 'f', -1, 64) + " s"
	}
	return clock(time.Duration(seconds * float64(time.Second)))
}

// A htmlBar is one of a histogram.
type htmlBar struct {
	Label, Width, Count string
}

// waits are what refused attempts were told, in seconds, and what they would have needed, over all clients. Where a report was read back from
// JSON, which has no histogram of what was needed, text says what is known.
func waits(m *fairness.Measures) (told, needed []htmlBar, text string) {
	said := map[int64]int64{}
	bins := map[fairness.Bin]int64{}
	var rejected, never int64
	worst, whose := fairness.None, ""
	for i := range m.Clients {
		c := &m.Clients[i]
		rejected += c.Rejected
		never += c.RetryAfter.Never
		for _, t := range c.RetryAfter.Told {
			said[t.Seconds] += t.Count
			rejected -= t.Count
		}
		for _, b := range c.RetryAfter.NeededBins {
			bins[fairness.Bin{From: b.From, To: b.To}] += b.Count
		}
		if n := c.RetryAfter.Needed.P99; n.Exists() && (!worst.Exists() || n > worst) {
			worst, whose = n, c.Name
		}
	}
	told = toldBars(said, rejected)
	needed = neededBars(bins, never)
	if len(needed) == 0 && worst.Exists() {
		text = fmt.Sprintf("A wait of at most %s would have been enough for 99 of 100 rejections (%s).", milliseconds(worst), clean(whose))
	}
	return told, needed, text
}

// toldBars are the histogram of what was told; many different values go into spans that double.
func toldBars(said map[int64]int64, silent int64) []htmlBar {
	values := make([]int64, 0, len(said))
	for v := range said {
		values = append(values, v)
	}
	slices.Sort(values)
	type bin struct {
		from, to int64
		count    int64
	}
	var list []bin
	for _, v := range values {
		from, to := v, v
		if len(values) > 10 && v > 1 {
			for from = 1; from*2 <= v; from *= 2 {
			}
			to = from*2 - 1
		}
		if n := len(list); n > 0 && list[n-1].from == from {
			list[n-1].count += said[v]
			continue
		}
		list = append(list, bin{from, to, said[v]})
	}
	var bars []htmlBar
	most := silent
	for _, b := range list {
		most = max(most, b.count)
	}
	for _, b := range list {
		label := fmt.Sprintf("%d s", b.from)
		if b.to > b.from {
			label = fmt.Sprintf("%d-%d s", b.from, b.to)
		}
		bars = append(bars, htmlBar{label, percents(float64(b.count) / float64(most)), count(b.count)})
	}
	if silent > 0 {
		bars = append(bars, htmlBar{"nothing", percents(float64(silent) / float64(most)), count(silent)})
	}
	return bars
}

// neededBars are the histogram of the exact waits.
func neededBars(bins map[fairness.Bin]int64, never int64) []htmlBar {
	keys := make([]fairness.Bin, 0, len(bins))
	most := never
	for b, n := range bins {
		keys = append(keys, b)
		most = max(most, n)
	}
	slices.SortFunc(keys, func(a, b fairness.Bin) int { return int(max(-1, min(1, a.From-b.From))) })
	var bars []htmlBar
	for _, b := range keys {
		label := "below " + milliseconds(fairness.Number(b.To)/1e6)
		if b.From > 0 {
			label = milliseconds(fairness.Number(b.From)/1e6) + " to " + milliseconds(fairness.Number(b.To)/1e6)
		}
		bars = append(bars, htmlBar{label, percents(float64(bins[b]) / float64(most)), count(bins[b])})
	}
	if never > 0 {
		bars = append(bars, htmlBar{"never", percents(float64(never) / float64(most)), count(never)})
	}
	return bars
}
