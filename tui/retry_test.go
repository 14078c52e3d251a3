package tui

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"fairgate/fairness"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestMergeJoinsTheLeastNeighbours(t *testing.T) {
	counts := []count{{from: 0, to: ms, n: 100}, {from: ms, to: 2 * ms, n: 3}, {from: 2 * ms, to: 5 * ms, n: 4}, {from: 5 * ms, to: 10 * ms, n: 50}, {name: "never", n: 1}}
	got := merge(slices.Clone(counts), 4)
	want := []count{counts[0], {from: ms, to: 5 * ms, n: 7}, counts[3], counts[4]}
	if !slices.Equal(got, want) {
		t.Errorf("merged to %+v, want %+v", got, want)
	}
	if got := merge(slices.Clone(counts), 9); !slices.Equal(got, counts) {
		t.Errorf("merged though there was room: %+v", got)
	}
}

// However few lines there are, nothing is lost but detail.
func TestMergeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts []count
		var sum int64
		for i := range rapid.IntRange(1, 20).Draw(t, "bins") {
			c := count{from: time.Duration(i) * ms, to: time.Duration(i+1) * ms, n: rapid.Int64Range(0, 1000).Draw(t, "n")}
			counts, sum = append(counts, c), sum+c.n
		}
		last := counts[len(counts)-1].to
		n := rapid.IntRange(1, 8).Draw(t, "lines")
		got := merge(counts, n)
		if len(got) > n {
			t.Fatalf("%d lines, want at most %d", len(got), n)
		}
		at := time.Duration(0)
		for _, c := range got {
			if c.from != at {
				t.Fatalf("a hole before %v in %+v", c.from, got)
			}
			at, sum = c.to, sum-c.n
		}
		if at != last || sum != 0 {
			t.Fatalf("ends at %v of %v, %d lost", at, last, sum)
		}
	})
}

func TestWaitsReadAsAPersonWouldWriteThem(t *testing.T) {
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{0, ms, "<1 ms"},
		{ms, 2 * ms, "1–2 ms"},
		{500 * ms, time.Second, "500 ms–1 s"},
		{200 * time.Microsecond, 500 * time.Microsecond, "200–500 µs"},
		{time.Minute, fairness.Never, "≥60 s"},
		{20 * time.Minute, time.Hour, "20–60 min"},
	} {
		if got := waitBetween(c.from, c.to); got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	for n, want := range map[fairness.Number]string{0: "0 ms", 0.42: "420 µs", 1.9: "1.9 ms", 12_345: "12.3 s", fairness.None: none} {
		if got := millis(n); got != want && n.Exists() {
			t.Errorf("millis(%v) = %q, want %q", n, got, want)
		}
	}
}

// The waits of a column share a unit and a decimal point, whichever client is asked.
func TestWaitsOfAColumnAlign(t *testing.T) {
	for _, c := range []struct{ waits, want []string }{
		{[]string{"18", "23.5"}, []string{"18.0 ms", "23.5 ms"}},
		{[]string{"0.42", "0.9"}, []string{"420 µs", "900 µs"}},
		{[]string{"20", "4100"}, []string{"0.02 s", "4.10 s"}},
	} {
		values := make([]fairness.Number, len(c.waits))
		for i, w := range c.waits {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			values[i] = fairness.Number(v)
		}
		f := waitsFormat(len(values), func(i int) fairness.Number { return values[i] })
		for i, v := range values {
			if got := f(v); got != c.want[i] {
				t.Errorf("%v ms among %v: %q, want %q", v, c.waits, got, c.want[i])
			}
		}
		if f(fairness.None) != none {
			t.Error("what does not exist has a wait")
		}
	}
}
