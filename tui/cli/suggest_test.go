package cli

import (
	"testing"
	"time"

	"fairgate/limiter"
)

func TestNearest(t *testing.T) {
	choices := []string{"global", "per-client", "fair-queue", "simulate", "starvation"}
	for word, want := range map[string]string{
		"globl": "global", "Global": "global", "golbal": "global", "per_client": "per-client", "perclient": "per-client",
		"fair": "fair-queue", "sim": "simulate", "starvatoin": "starvation", "x": "", "": "", "nonsense": "", "agent": "",
	} {
		if got := nearest(word, choices); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"ab", "abc", 1},
		{"kitten", "sitting", 3}, {"grün", "grun", 1}, {"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// A flag's value is as it was written, and a wrong one leaves what was there.
func TestFlagValues(t *testing.T) {
	rate := limiter.PerSecond(5)
	count, retries := int64(5), int64(5)
	span := 5 * time.Second
	seed, factor, part := uint64(5), 5.0, 0.5
	word := "global"
	list := []string{"global"}
	for _, c := range []struct {
		value interface {
			Set(string) error
			String() string
		}
		right map[string]string
		wrong []string
	}{
		{rateFlag{&rate}, map[string]string{"17/30s": "17/30s", "1.39/s": "1.39/s", "60/m": "60/m"}, []string{"5", "0/s", "-1/s", "x", ""}},
		{countFlag{&count}, map[string]string{"1": "1", "100": "100"}, []string{"0", "-1", "1.5", "x", "", "99999999999999999999"}},
		{naturalFlag{&retries}, map[string]string{"0": "", "3": "3"}, []string{"-1", "x", ""}},
		{durationFlag{&span, time.Millisecond}, map[string]string{"30s": "30s", "1m30s": "1m30s"}, []string{"30", "0s", "-1s", "x", ""}},
		{seedFlag{&seed}, map[string]string{"0": "", "18446744073709551615": "18446744073709551615"}, []string{"-1", "x", "", "1.5"}},
		{factorFlag{&factor}, map[string]string{"10": "10", "0.5": "0.5", "3x": "3"}, []string{"0", "-1", "x", "", "1e9", "NaN", "Inf"}},
		{partFlag{&part}, map[string]string{"0.001": "0.001", "10%": "0.1"}, []string{"0", "1", "100%", "-0.1", "x", "", "NaN"}},
		{&choice{&word, []string{"global", "sharded"}}, map[string]string{"sharded": "sharded"}, []string{"", "x", "Sharded"}},
		{&listFlag{&list, []string{"global", "sharded"}}, map[string]string{"sharded": "sharded", "sharded, global": "sharded,global"}, []string{"", "x", "global,", "global,x"}},
	} {
		for in, want := range c.right {
			if err := c.value.Set(in); err != nil || c.value.String() != want {
				t.Errorf("%T of %q is %q, %v; want %q", c.value, in, c.value.String(), err, want)
			}
		}
		for _, in := range c.wrong {
			before := c.value.String()
			if err := c.value.Set(in); err == nil {
				t.Errorf("%T takes %q", c.value, in)
			} else if after := c.value.String(); after != before {
				t.Errorf("%T was %q, and after the wrong %q it is %q", c.value, before, in, after)
			}
		}
	}
}
