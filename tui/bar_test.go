package tui

import (
	"math"
	"strings"
	"testing"

	"fairgate/fairness"

	"pgregory.net/rapid"
)

func text(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.text)
	}
	return b.String()
}

func TestBarOfKnownClients(t *testing.T) {
	for _, c := range []struct {
		who  string
		w    int
		fate fate
		want string
	}{
		{"the hog, filled beyond its mark", 20, fate{964. / 5000, 1, 800. / 5000}, "███│░░░░░░░░░░░░░░░░"},
		{"the starved one, its mark far to the right", 20, fate{0.1, 1, 1}, "██░░░░░░░░░░░░░░░░░│"},
		{"served in full", 8, fate{1, 1, 1}, "███████│"},
		{"entitled to nothing", 8, fate{0, 1, 0}, "│░░░░░░░"},
		{"nothing asked", 8, fate{0, 0, -1}, "        "},
		{"one of a thousand still shows", 8, fate{0.001, 1, -1}, "▏░░░░░░░"},
		{"an eighth of a column counts", 4, fate{9. / 32, 1, -1}, "█▏░░"},
		{"on a common scale, shorter than the bar", 8, fate{0.25, 0.5, 0.375}, "██│░    "},
		{"more than it asked for, as when the queue empties", 8, fate{1.7, 1, 0.5}, "███│████"},
		{"no number at all", 4, fate{math.NaN(), math.NaN(), math.NaN()}, "    "},
		{"no room", 0, fate{0.5, 1, 1}, ""},
	} {
		if got := text(drawBar(c.w, c.fate)); got != c.want {
			t.Errorf("%s: %q, want %q", c.who, got, c.want)
		}
	}
}

func TestBarProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 120).Draw(t, "width")
		asked := rapid.Float64Range(0, 1).Draw(t, "asked")
		admitted := rapid.Float64Range(0, 1).Draw(t, "admitted") * asked
		entitled := rapid.Float64Range(-1, 1.5).Draw(t, "entitled")
		bar := drawBar(w, fate{admitted, asked, entitled})
		if len(bar) != w {
			t.Fatalf("%d cells in a bar of %d", len(bar), w)
		}
		// From the left: full cells, at most one part of a cell, refused, nothing; the mark stands over any of them.
		order := map[string]int{"█": 0, "▉": 1, "▊": 1, "▋": 1, "▌": 1, "▍": 1, "▎": 1, "▏": 1, "░": 2, " ": 3}
		last, parts, marks, full := 0, 0, 0, 0
		for i, c := range bar {
			if c.text == "│" {
				marks++
				if want := clamp01(entitled) * float64(w); float64(i+1) < want-1e-6 || float64(i) > want {
					t.Fatalf("the mark is in cell %d, the entitlement at %.3f", i, want)
				}
				continue
			}
			n, known := order[c.text]
			if !known || n < last {
				t.Fatalf("cell %d out of order: %q", i, text(bar))
			}
			switch last = n; n {
			case 0:
				full++
			case 1:
				parts++
			}
			if want := [...]ink{inkServed, inkServed, inkRefused, inkPlain}[n]; c.ink != want {
				t.Fatalf("cell %d (%q) has ink %d", i, c.text, c.ink)
			}
		}
		if (marks == 1) != (entitled >= 0) || marks > 1 || parts > 1 {
			t.Fatalf("%d marks and %d parts of a cell in %q", marks, parts, text(bar))
		}
		if got := float64(full); math.Abs(got-admitted*float64(w)) > 2.1 {
			t.Fatalf("%v full cells for %.2f", got, admitted*float64(w))
		}
		if admitted > 0 && marks == 0 && full+parts == 0 {
			t.Fatalf("something was admitted and nothing shows: %q", text(bar))
		}
		// More admitted never shows less.
		more := drawBar(w, fate{min(asked, admitted*1.2), asked, -1})
		less := drawBar(w, fate{admitted, asked, -1})
		if strings.Count(text(more), "█") < strings.Count(text(less), "█") {
			t.Fatalf("more admitted, less shown: %q, %q", text(less), text(more))
		}
	})
}

// On every scale a larger rate lies further to the right, and everything lies within the bar.
func TestAxisKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var clients []fairness.ClientMeasures
		for range rapid.IntRange(0, 6).Draw(t, "clients") {
			asks := rapid.Float64Range(0, 1e6).Draw(t, "asks")
			clients = append(clients, fairness.ClientMeasures{
				Demand: fairness.Number(asks), Entitled: fairness.Number(asks * rapid.Float64Range(0, 1).Draw(t, "entitled")),
				AdmittedRate: fairness.Number(asks * rapid.Float64Range(0, 1).Draw(t, "gets")), RejectedRate: fairness.Number(asks)})
		}
		for s := range scales {
			a := newAxis(s, clients)
			for i := range clients {
				f := a.fate(&clients[i])
				if !(f.admitted >= 0 && f.admitted <= f.asked+1e-9 && f.asked <= 1+1e-9 && f.entitled <= 1+1e-9) {
					t.Fatalf("%v: client %d has fate %+v on %+v", s, i, f, a)
				}
			}
			if s == ownRequests {
				continue
			}
			low, high := rapid.Float64Range(0, a.hi).Draw(t, "low"), rapid.Float64Range(0, a.hi).Draw(t, "high")
			if low > high {
				low, high = high, low
			}
			if a.at(low) > a.at(high) {
				t.Fatalf("%v: %v lies right of %v", s, low, high)
			}
		}
	})
}

func TestNumbersAlign(t *testing.T) {
	for _, c := range []struct {
		smallest, largest float64
		value             fairness.Number
		want              string
	}{
		{4.6, 964.2, 964.2, "964.2/s"},
		{4.6, 964.2, 4.6, "4.6/s"},
		{49.7, 5000, 5000, "5000/s"},
		{0.03, 0.5, 0.031, "0.03/s"},
		{10, 99, 12.34, "12.3/s"},
		{1, 250_000, 250_000, "250.0k/s"},
		{5, 20_000_000, 20_000_000, "20.00M/s"},
		{0, 0, 0, "0/s"},
		{1, 10, fairness.None, "–"},
	} {
		if got := formatFor(c.smallest, c.largest).text(c.value); got != c.want {
			t.Errorf("%v in a column from %v to %v: %q, want %q", c.value, c.smallest, c.largest, got, c.want)
		}
	}
	for v, want := range map[float64]string{1000: "1000/s", 10: "10/s", 9.97: "9.97/s", 0.5: "0.50/s", 1306.4: "1306/s", 1_000_000: "1000k/s"} {
		if got := perSecond(v); got != want {
			t.Errorf("perSecond(%v) = %q, want %q", v, got, want)
		}
	}
	for p, want := range map[fairness.Number]string{0: "0%", 0.001: "<1%", 0.96: "96%", 0.998: ">99%", 1: "100%", fairness.None: "–"} {
		if got := percent(p); got != want && !(want == "–" && got == none) {
			t.Errorf("percent(%v) = %q, want %q", p, got, want)
		}
	}
}
