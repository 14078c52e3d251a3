package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"fairgate/fairness"
)

// drawTitle says what runs: the profile, the limit, the time.
func drawTitle(p pane, s *fairness.Snapshot, held time.Duration, paused bool) {
	time := clock(s.Now)
	if s.Duration > 0 {
		time += " / " + clock(s.Duration)
	}
	if s.Speed > 0 && s.Speed != 1 {
		time = fmt.Sprintf("×%.3g  %s", s.Speed, time)
	}
	switch {
	case s.Done:
		time = "run over  " + time
	case p.w >= 100:
		time += fmt.Sprintf("  seed %d", s.Seed)
	}
	end := p.w - 1 - width(time)
	p.text(end, 0, inkPlain, time)
	if paused {
		label := pick(max(8, end-24), " PAUSED at "+clock(held)+", the run goes on ", " PAUSED ")
		end -= width(label) + 1
		p.text(end, 0, inkHold, label)
	}
	if s.Held {
		label := pick(max(9, end-24), " LOAD PAUSED, z goes on ", " NO LOAD ")
		end -= width(label) + 1
		p.text(end, 0, inkHold, label)
	}
	left := p.sub(rect{0, 0, end - 1, 1})
	x := left.text(1, 0, inkBold, pick(end-8, "fairgate"))
	if p.w >= 60 {
		x = left.text(x+2, 0, inkPlain, fit(clean(s.Profile), 24))
	}
	left.text(x+2, 0, inkDim, limitText(s.Limiter, end-x-3))
}

// limitText describes the limit in force in at most w columns.
func limitText(l fairness.Limit, w int) string {
	rate := l.RateText
	if rate == "" {
		rate = l.RatePerS.Format(0) + "/s"
	}
	if l.Foreign() {
		if !l.RatePerS.Exists() {
			return pick(w, "the target's own limit, not known", "the target's own", "target")
		}
		return pick(w, "the target's own limit, stated as "+rate, "target, stated "+rate, "target")
	}
	own := ""
	if l.ClientText != "" {
		own = ", " + l.ClientText + " per client"
	}
	burst := fmt.Sprintf(" burst %d", l.Burst)
	return pick(w,
		l.Policy+" · "+l.Algorithm+" · "+rate+burst+own,
		l.Policy+" · "+rate+burst+own,
		l.Policy+" · "+rate+own,
		l.Policy+" "+rate,
		l.Policy)
}

// A headline is one of the two sentences whose contradiction is the lesson.
type headline struct {
	who, whoShort string
	mark, verdict string
	ink           ink
	facts         [][]string // in the order of importance, each said in the longest way that fits
}

// monitoring is what a dashboard of the service would say: the sum against the limit.
func monitoring(s *fairness.Snapshot) headline {
	a := &s.Aggregate
	h := headline{who: "monitoring sees", whoShort: "monitoring", mark: "✓", verdict: "healthy", ink: inkServedB}
	over := []string{"over the limit: never", "never over"}
	switch {
	case s.Overshoot >= 1: // less than a token is the rounding of clocks, and nobody was admitted by it
		by := fmt.Sprintf("%.0f", math.Floor(s.Overshoot))
		h.mark, h.verdict, h.ink = "✗", "over", inkRefusedB
		over = []string{"over the limit: by " + by + " tokens at the worst", "over by " + by}
	case s.Fairness.Verdict == fairness.Idle:
		h.mark, h.verdict, h.ink = "·", "idle", inkBold
	}
	limit := perSecond(a.Limit.Float(s.Limiter.Capacity))
	admitted := perSecond(a.Admitted.Float(0))
	if !a.Limit.Exists() && s.Limiter.Capacity <= 0 {
		h.mark, h.verdict, h.ink = "?", "unknown", inkBold
		h.facts = [][]string{{"admitted " + admitted + ", the limit is not known", admitted + ", no limit"}}
		return h
	}
	h.facts = [][]string{
		{"admitted " + admitted + " of " + limit, admitted + " of " + limit, percent(a.Utilization) + " of " + limit},
		over,
	}
	return h
}

// verdicts are the words of the second headline with the mark that says them without colour.
var verdicts = map[fairness.Verdict]struct {
	mark string
	ink  ink
}{
	fairness.Fair:      {"✓", inkServedB},
	fairness.Contended: {"~", inkRefusedB},
	fairness.Starved:   {"✗", inkRefusedB},
	fairness.Idle:      {"·", inkBold},
	fairness.Unknown:   {"?", inkBold},
}

// clientsSee is what the clients would say: who got how much of what it is entitled to.
func clientsSee(s *fairness.Snapshot) headline {
	j := &s.Fairness
	v := verdicts[j.Verdict]
	h := headline{who: "clients see", whoShort: "clients", mark: v.mark, verdict: string(j.Verdict), ink: v.ink}
	worst, least := clean(j.Worst), j.MinSatisfaction.Format(2)
	jain := []string{"Jain index " + j.Jain.Format(2), "Jain " + j.Jain.Format(2)}
	switch j.Verdict {
	case fairness.Starved:
		n := fmt.Sprintf("%d of %d", len(j.Starved), j.Active)
		h.facts = [][]string{
			{n + " starved · worst: " + worst + " gets " + least + " of its entitlement", n + " · worst: " + worst + " gets " + least, strings.ReplaceAll(n, " of ", "/") + ": " + worst + " " + least, n + " clients"},
			jain,
		}
	case fairness.Idle:
		h.facts = [][]string{{"nobody has asked for anything yet", "no attempt yet"}}
	case fairness.Unknown:
		why := clean(j.Why)
		short, _, _ := strings.Cut(why, ":")
		h.facts = [][]string{{why, short, "no judgement yet"}}
	case fairness.Contended:
		h.facts = [][]string{
			{"nobody starved · worst: " + worst + " gets " + least + " of its entitlement", "worst: " + worst + " gets " + least, worst + " " + least},
			jain,
		}
	default:
		if j.Active == 1 {
			h.facts = [][]string{{"the only client, " + worst + ", gets " + least + " of its entitlement", worst + " gets " + least + ", alone", worst + " " + least}}
			break
		}
		n := fmt.Sprintf("all %d get", j.Active)
		h.facts = [][]string{
			{n + " what they are entitled to · least: " + worst + ", " + least, n + " at least " + least, n + " ≥ " + least},
			jain,
		}
	}
	return h
}

// drawHeadline writes a headline into row y: who sees it, the verdict in one word, then the facts that fit.
func drawHeadline(p pane, y int, h headline, u fairness.Number) {
	x, factsAt := 18, 31
	who := h.who
	if p.w < 70 {
		x, factsAt, who = 11, 23, h.whoShort
	}
	if p.w >= 48 { // on less, the facts need the column
		p = p.sub(rect{1, 0, p.w - 1, p.h})
	}
	p.text(0, y, inkBold, who)
	p.text(x, y, h.ink, h.mark+" "+h.verdict)
	x = factsAt
	for i, ways := range h.facts {
		room := p.w - x
		if i == 0 {
			x = p.text(x, y, inkPlain, pick(room, ways...))
			if gauge := min(20, p.w-x-40); u.Exists() && gauge >= 8 {
				for i, c := range drawBar(gauge, fate{float64(u), 1, -1}) {
					if c.text == "░" { // what the limit leaves is not refused, only free
						c = cell{"·", inkDim}
					}
					p.glyph(x+2+i, y, c.ink, c.text)
				}
				x = p.text(x+3+gauge, y, inkPlain, percent(u))
			}
			continue
		}
		if fact := pick(room-3, ways...); fact != "" && !strings.HasSuffix(fact, "…") {
			p.text(x, y, inkDim, " · ")
			x = p.text(x+3, y, inkPlain, fact)
		}
	}
}
