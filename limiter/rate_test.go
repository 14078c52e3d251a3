package limiter

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Rate
		out  string
	}{
		{"1000/s", Rate{Tokens: 1000, Per: time.Second}, "1000/s"},
		{" 60 / m ", Rate{Tokens: 60, Per: time.Minute}, "60/m"},
		{"10/hour", Rate{Tokens: 10, Per: time.Hour}, "10/h"},
		{"1/d", Rate{Tokens: 1, Per: 24 * time.Hour}, "1/d"},
		{"17/30s", Rate{Tokens: 17, Per: 30 * time.Second}, "17/30s"},
		{"100/72s", Rate{Tokens: 100, Per: 72 * time.Second}, "100/1m12s"},
		{"1.39/s", Rate{Tokens: 139, Per: 100 * time.Second, Decimals: 2}, "1.39/s"},
		{"0.5/s", Rate{Tokens: 5, Per: 10 * time.Second, Decimals: 1}, "0.5/s"},
		{".5/s", Rate{Tokens: 5, Per: 10 * time.Second, Decimals: 1}, "0.5/s"},
		{"1.50/s", Rate{Tokens: 15, Per: 10 * time.Second, Decimals: 1}, "1.5/s"},
		{"3.000/s", Rate{Tokens: 3, Per: time.Second}, "3/s"},
		{"1000000000/s", Rate{Tokens: 1e9, Per: time.Second}, "1000000000/s"},
		{"5/100ns", Rate{Tokens: 5, Per: 100}, "5/100ns"},
	} {
		got, err := ParseRate(tt.in)
		if err != nil || got != tt.want || got.String() != tt.out {
			t.Errorf("ParseRate(%q) = %+v %v, prints %q; want %+v, printing %q", tt.in, got, err, got, tt.want, tt.out)
		}
	}
}

func TestParseRateSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"1000", "write 1000/s"},
		{"fast", "is no rate"},
		{"", "is no rate"},
		{"/s", "does not begin with a number"},
		{"+5/s", "does not begin with a number"},
		{"1.2.3/s", "does not begin with a number"},
		{"NaN/s", "does not begin with a number"},
		{"1e3/s", "does not begin with a number"},
		{"5/", "unit"},
		{"5/fortnight", "unit \"fortnight\""},
		{"0/s", "above zero"},
		{"-3/s", "above zero"},
		{"0.0/s", "above zero"},
		{"5/0s", "above zero"},
		{"5/-1s", "above zero"},
		{"1000000001/s", "fastest"},
		{"99999999999999999999/s", "does not begin with a number"},
		{"0.1234567891/s", "nine digits"},
		{"0.123456789/100000h", "too finely divided"},
	} {
		_, err := ParseRate(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseRate(%q): error %v, want one with %q", tt.in, err, tt.want)
		}
	}
}

func TestRateReadsBackAsItPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{
			Tokens:   rapid.Int64Range(1, 1e6).Draw(t, "tokens"),
			Per:      time.Duration(rapid.Int64Range(1e6, 1e15).Draw(t, "per")),
			Decimals: uint8(rapid.IntRange(0, 3).Draw(t, "decimals")),
		}
		if r.Decimals > 0 { // as ParseRate leaves it: no zero at the end, and Per a multiple of the scale
			r.Tokens += 1 - r.Tokens%10
			if r.Tokens%10 == 0 {
				r.Tokens++
			}
			for range r.Decimals {
				r.Per *= 10
			}
		}
		got, err := ParseRate(r.String())
		if err != nil || got.PerSecond() != r.PerSecond() {
			t.Fatalf("%+v prints as %q, which reads as %+v (%v)", r, r, got, err)
		}
	})
}

func TestRateScaled(t *testing.T) {
	for _, tt := range []struct {
		in       string
		num, den int64
		want     string
	}{
		{"1000/s", 11, 10, "1100/s"},
		{"1000/s", 10, 11, "909.091/s"},
		{"3/s", 1, 2, "1.5/s"},
		{"17/30s", 2, 1, "34/30s"},
		{"1/s", 1, 2000, "0.001/s"}, // rounds to the nearest thousandth
		{"1/s", 1, 9000, "1/s"},     // would be 0: stays
	} {
		r, err := ParseRate(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Scaled(tt.num, tt.den).String(); got != tt.want {
			t.Errorf("%s × %d/%d = %s, want %s", tt.in, tt.num, tt.den, got, tt.want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"1000/s", "1.39/s", "17/30s", "1000", "-1/s", "9223372036854775807/s", "1/9223372036s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if r.Check() != nil {
			t.Fatalf("ParseRate(%q) accepts %+v, which Check refuses: %v", s, r, r.Check())
		}
		if back, err := ParseRate(r.String()); err != nil || back.PerSecond() != r.PerSecond() {
			t.Fatalf("ParseRate(%q) prints as %q, which reads as %+v, %v", s, r, back, err)
		}
	})
}
