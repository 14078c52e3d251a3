package fairness

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func predicted(t *testing.T, f Forecast) Prediction {
	t.Helper()
	p, err := Predict(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPredictionsOfALimitBelowItsRate(t *testing.T) {
	for _, c := range []struct {
		arrivals      float64
		shards        int
		rejected      float64
		naive, solved float64 // with one retry; 0: not looked at
	}{
		{136.28, 1, 0.7261, 0, 0},
		{132.645, 1, 0.3633, 0.7266, 0.393},
		{132.645, 6, 4.8064, 9.6129, 7.10},
		{136.28, 6, 5.9674, 0, 0},
		{132.645, 3, 2.2223, 0, 0},
		{132.645, 15, 10.6508, 0, 0},
		{136.28, 3, 3.0895, 0, 0},
		{136.28, 15, 12.1334, 0, 0},
	} {
		p := predicted(t, Forecast{Rate: 150, Arrivals: c.arrivals, Shards: c.shards, Retries: 1})
		near(t, "rejected", p.Rejected, c.rejected, 5.1e-5)
		if c.naive > 0 {
			near(t, "naively doubled", p.NaiveRetries, c.naive, 1.1e-4)
			near(t, "with retries", p.WithRetries, c.solved, 0.005)
		}
		for _, row := range p.ByShards {
			if row.Shards == c.shards && row.Rejected != p.Rejected {
				t.Errorf("the table says %v for %d shards, the answer is %v", row.Rejected, row.Shards, p.Rejected)
			}
		}
	}
}

func TestFullWindows(t *testing.T) {
	p := predicted(t, Forecast{Rate: 150, Arrivals: 136.28, Shards: 1})
	near(t, "full window", p.FullWindow, 0.112787, 5e-7)
	near(t, "full windows in 15 s", p.FullWindow*15, 1.69, 0.005)
	near(t, "arrivals in one", p.Crowd, 156.438, 5e-4)
	if p.WithRetries != p.Rejected || p.NaiveRetries != p.Rejected {
		t.Errorf("without retries %v, %v and %v differ", p.Rejected, p.NaiveRetries, p.WithRetries)
	}
}

func TestShardsRoundTheLimitDown(t *testing.T) {
	if p := predicted(t, Forecast{Rate: 100, Arrivals: 50, Shards: 7}); p.Enforced != 98 || p.ShardLimit != 14 {
		t.Errorf("100/s over 7 shards enforces %v, %d each", p.Enforced, p.ShardLimit)
	}
	if p := predicted(t, Forecast{Rate: 17. / 30, Arrivals: 0.5, Shards: 1, Window: 30 * time.Second}); p.ShardLimit != 17 {
		t.Errorf("17 per 30 s admits %d in a window", p.ShardLimit)
	}
	if p := predicted(t, Forecast{Rate: 3, Arrivals: 2, Shards: 4}); p.Enforced != 0 || math.Abs(float64(p.Rejected)-2) > 1e-12 || p.RejectRatio != 1 {
		t.Errorf("3/s over 4 shards: %+v", p)
	}
}

// At 40 requests a second on a limit of 20, retries multiply the load and not the success: if refusals were
// independent, attempts per second would be 20/p where 1 − (1 − p)^(R+1) is one half.
func TestRetriesMultiplyLoadNotSuccess(t *testing.T) {
	for retries, attempts := range map[int]float64{2: 97, 4: 154.5} {
		p := predicted(t, Forecast{Rate: 20, Arrivals: 40, Shards: 1, Retries: retries})
		near(t, "attempts", p.Attempts, attempts, 1.5)
		near(t, "failed for good", p.Failed, 20, 0.2)
	}
}

func TestSmallestLimitIsTheSmallest(t *testing.T) {
	for _, f := range []Forecast{
		{Rate: 150, Arrivals: 136.28, Shards: 1, AtMost: 0.001},
		{Rate: 150, Arrivals: 132.645, Shards: 6, Retries: 1, AtMost: 0.01},
		{Rate: 1, Arrivals: 0.3, Shards: 1, AtMost: 0.5, Window: 10 * time.Second},
	} {
		p := predicted(t, f)
		step := float64(f.Shards) / math.Max(f.Window.Seconds(), 1)
		f.Rate = float64(p.SmallestLimit)
		if got := predicted(t, f).RejectRatio; float64(got) > f.AtMost {
			t.Errorf("at %v/s %v is refused, more than %v", f.Rate, got, f.AtMost)
		}
		if f.Rate -= step; f.Rate > 0 {
			if got := predicted(t, f).RejectRatio; float64(got) <= f.AtMost {
				t.Errorf("at %v/s too only %v is refused", f.Rate, got)
			}
		}
	}
}

// The sum in arbitrary precision, term by term from zero.
func exactExcess(mean float64, limit int64) (tail, excess float64) {
	const bits = 400
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	term, sum := f(1), f(1) // mean^k / k!
	below, missing := f(1), f(float64(limit))
	for k := int64(1); k < limit+10*int64(mean)+200; k++ {
		term.Mul(term, f(mean)).Quo(term, f(float64(k)))
		sum.Add(sum, term)
		if k <= limit {
			below.Add(below, term)
			missing.Add(missing, new(big.Float).SetPrec(bits).Mul(term, f(float64(limit-k))))
		}
	}
	t, _ := new(big.Float).SetPrec(bits).Sub(f(1), new(big.Float).SetPrec(bits).Quo(below, sum)).Float64()
	e, _ := new(big.Float).SetPrec(bits).Add(f(mean-float64(limit)), new(big.Float).SetPrec(bits).Quo(missing, sum)).Float64()
	return t, e
}

func TestPoissonAgreesWithArbitraryPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := rapid.Float64Range(0.01, 60).Draw(t, "mean")
		limit := rapid.Int64Range(0, 120).Draw(t, "limit")
		tail, excess := poissonExcess(mean, limit)
		wantTail, wantExcess := exactExcess(mean, limit)
		// A mean less the limit is rounded once in the comparison itself.
		if math.Abs(tail-wantTail) > 1e-10*wantTail+1e-15 || math.Abs(excess-wantExcess) > 1e-10*wantExcess+1e-13 {
			t.Fatalf("P(X > %d) = %v, E = %v; want %v, %v", limit, tail, excess, wantTail, wantExcess)
		}
	})
}

// Far beyond where e^mean overflows, the distribution is all but normal: E[(X − mean)+] = σ/√2π.
func TestPoissonOfAMillion(t *testing.T) {
	for _, mean := range []float64{1e4, 1e5, 1e6} {
		_, excess := poissonExcess(mean, int64(mean))
		normal := math.Sqrt(mean / (2 * math.Pi))
		if math.Abs(excess-normal) > 0.001*normal {
			t.Errorf("mean %v: excess %v, normally %v", mean, excess, normal)
		}
		// From above and from below the limit, the two ways of summing agree: E[(X−l)+] falls by P(X > l).
		a, ea := poissonExcess(mean, int64(mean)-1)
		_, eb := poissonExcess(mean, int64(mean))
		if math.Abs(ea-eb-a) > 1e-6 {
			t.Errorf("mean %v: the sums meet at %v and %v, a step of %v", mean, ea, eb, a)
		}
		if tail, excess := poissonExcess(mean, 0); tail != 1 || excess != mean {
			t.Errorf("mean %v: beyond nothing lies %v of it, with probability %v", mean, excess, tail)
		}
		if tail, _ := poissonExcess(mean, int64(100*mean)); tail != 0 {
			t.Errorf("mean %v: P(X > 100 times as many) is %v", mean, tail)
		}
	}
	start := Forecast{Rate: 1e6, Arrivals: 999_000, Shards: 6, Retries: 3}
	if p := predicted(t, start); !(p.Rejected > 0) || !(p.WithRetries > p.Rejected) || !(p.NaiveRetries > p.Rejected) {
		t.Errorf("%+v", p)
	}
}

func TestWrongForecastsSayWhatIsWrong(t *testing.T) {
	good := Forecast{Rate: 150, Arrivals: 100, Shards: 1}
	for want, change := range map[string]func(*Forecast){
		"rate 0":             func(f *Forecast) { f.Rate = 0 },
		"arrivals -1":        func(f *Forecast) { f.Arrivals = -1 },
		"shards 0":           func(f *Forecast) { f.Shards = 0 },
		"retries -1":         func(f *Forecast) { f.Retries = -1 },
		"window -1s":         func(f *Forecast) { f.Window = -time.Second },
		"part 1.5":           func(f *Forecast) { f.AtMost = 1.5 },
		"the window shorter": func(f *Forecast) { f.Window = 24 * time.Hour },
	} {
		f := good
		change(&f)
		if _, err := Predict(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want …%s…", err, want)
		}
	}
}

func TestPredictionAsJSON(t *testing.T) {
	p := predicted(t, Forecast{Rate: 150, Arrivals: 132.645, Shards: 6, Retries: 1})
	out, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "predict.json", append(out, '\n'))
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name string
		q    GateQuestion
		fair bool
		mode Dispatch
		why  string
		need Number
	}{
		{"ten at a cap that holds them", GateQuestion{PerClient: 100, Active: 10, Cap: 1000, Buckets: true}, true, PerClientBuckets, "global cap 1000 ≥ sum of per-client limits 1000", 1000},
		{"one short", GateQuestion{PerClient: 100, Active: 10, Cap: 999, Buckets: true}, false, WeightedFairQueue, "global cap 999 < sum of per-client limits 1000", 1000},
		{"no buckets", GateQuestion{PerClient: 100, Active: 10, Cap: 1000}, false, WeightedFairQueue, "global bucket only: allocation is arrival-order dependent", 1000},
		{"no per-client rate", GateQuestion{PerClient: None, Active: 10, Cap: 1000}, false, WeightedFairQueue, "global bucket only: allocation is arrival-order dependent", None},
		{"20 in flight at 10 ms", GateQuestion{PerClient: 100, Active: 10, Cap: 1000, MaxInFlight: 20, ServiceTime: 10 * time.Millisecond}, false, WeightedFairQueue, "20 in flight at 10ms is 2000/s, above a client's part of 100/s", 1000},
		{"one in flight at 10 ms", GateQuestion{PerClient: None, Active: 10, Cap: 1000, MaxInFlight: 1, ServiceTime: 10 * time.Millisecond}, true, ConcurrencyCap, "1 in flight at 10ms is 100/s, within a client's part of 100/s", None},
		{"a sum that floats do not hit", GateQuestion{PerClient: 0.1, Active: 3, Cap: 0.3, Buckets: true}, true, PerClientBuckets, "global cap 0.3 ≥ sum of per-client limits 0.3", 0.3},
		{"alone", GateQuestion{PerClient: None, Active: 1, Cap: 1000}, true, PerClientBuckets, "nobody to share with", None},
		{"a fair queue", GateQuestion{PerClient: None, Active: 10, Cap: 1000, Shares: true}, true, WeightedFairQueue, "shares", None},
	} {
		g := Gate(c.q)
		if g.Fair != c.fair || g.Mode != c.mode || !strings.Contains(g.Why, c.why) || math.Abs(g.RequiredCap.Float(-1)-c.need.Float(-1)) > 1e-9 {
			t.Errorf("%s: %+v, want %v, %s, %q, %v", c.name, g, c.fair, c.mode, c.why, c.need)
		}
	}
	out, err := json.Marshal(Gate(GateQuestion{PerClient: 100, Active: 10, Cap: 999, Buckets: true}))
	want := `{"schema":1,"fair":false,"mode":"weighted-fair-queue","why":"global cap 999 < sum of per-client limits 1000","required_cap":1000}`
	if got := strings.ReplaceAll(string(out), `\u003c`, "<"); err != nil || got != want { // Marshal escapes for HTML's sake
		t.Errorf("prints %s (%v), want %s", got, err, want)
	}
}
