package fairness

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMaxMinSharesAsWaterDoes(t *testing.T) {
	for _, c := range []struct {
		name     string
		capacity float64
		claims   []float64
		weights  []float64
		want     []float64
	}{
		{"one that wants more than there is", 42, []float64{47, 0}, nil, []float64{42, 0}},
		{"a small one is filled first", 42, []float64{1, 47}, nil, []float64{1, 41}},
		{"the middle and the large stand level", 14, []float64{3, 7, 9, 1}, nil, []float64{3, 5, 5, 1}},
		{"enough for all", 21, []float64{1, 9, 7, 3}, nil, []float64{1, 9, 7, 3}},
		{"the hog and its three neighbours", 1000, []float64{5000, 100, 100, 100}, nil, []float64{700, 100, 100, 100}},
		{"by weight", 12, []float64{100, 100, 1}, []float64{3, 1, 1}, []float64{8.25, 2.75, 1}},
		{"quotas above the whole", 20, []float64{10, 10, 10}, nil, []float64{20. / 3, 20. / 3, 20. / 3}},
		{"an endless claim", 10, []float64{math.Inf(1), 2}, nil, []float64{8, 2}},
		{"nothing to share", 0, []float64{1, 2}, nil, []float64{0, 0}},
		{"nobody", 10, nil, nil, []float64{}},
		{"claims that are none", 10, []float64{-1, math.NaN(), 4}, nil, []float64{0, 0, 4}},
		{"no weight, no share", 10, []float64{20, 20}, []float64{0, 1}, []float64{0, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := MaxMin(c.capacity, c.claims, c.weights)
			if len(got) != len(c.want) {
				t.Fatalf("%d shares, want %d", len(got), len(c.want))
			}
			for i := range got {
				if math.Abs(got[i]-c.want[i]) > 1e-9 {
					t.Errorf("shares %v, want %v", got, c.want)
					break
				}
			}
		})
	}
}

// waterLevel finds the same by brute force: it tries levels until what is under them is the capacity.
func waterLevel(capacity float64, claims, weights []float64) []float64 {
	under := func(level float64) (shares []float64, sum float64) {
		for i, c := range claims {
			s := math.Min(c, weights[i]*level)
			shares, sum = append(shares, s), sum+s
		}
		return shares, sum
	}
	low, high := 0.0, 0.0
	for i, c := range claims {
		high = math.Max(high, c/weights[i])
	}
	if all, sum := under(high); sum <= capacity {
		return all
	}
	for range 200 {
		middle := (low + high) / 2
		if _, sum := under(middle); sum > capacity {
			high = middle
		} else {
			low = middle
		}
	}
	shares, _ := under(low)
	return shares
}

func TestMaxMinAgreesWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "clients")
		claims := rapid.SliceOfN(rapid.Float64Range(0, 1e4), n, n).Draw(t, "claims")
		weights := rapid.SliceOfN(rapid.Float64Range(0.1, 20), n, n).Draw(t, "weights")
		capacity := rapid.Float64Range(0, 1e5).Draw(t, "capacity")
		got, want := MaxMin(capacity, claims, weights), waterLevel(capacity, claims, weights)
		sum, asked := 0.0, 0.0
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9*math.Max(1, capacity) {
				t.Fatalf("client %d gets %v, by brute force %v", i, got[i], want[i])
			}
			if got[i] > claims[i] || got[i] < 0 {
				t.Fatalf("client %d claims %v and gets %v", i, claims[i], got[i])
			}
			sum, asked = sum+got[i], asked+claims[i]
		}
		if most := math.Min(capacity, asked); math.Abs(sum-most) > 1e-9*math.Max(1, most) {
			t.Fatalf("shared out %v, there was %v to share", sum, most)
		}
	})
}

func TestJain(t *testing.T) {
	for _, c := range []struct {
		name string
		of   []float64
		want Number
	}{
		{"the lottery of a shared bucket", []float64{943.4 / 700, 0.18868, 0.18868, 0.18868}, 0.4761},
		{"all alike", []float64{0.3, 0.3, 0.3}, 1},
		{"one of four", []float64{0, 0, 7, 0}, 0.25},
		{"huge ones", []float64{1e200, 1e200}, 1},
		{"tiny ones", []float64{1e-200, 1e-200}, 1},
	} {
		if got := Jain(c.of); math.Abs(float64(got-c.want)) > 5e-5 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for name, of := range map[string][]float64{"nobody": nil, "one client": {0.5}, "nothing admitted": {0, 0, 0}} {
		if got := Jain(of); got.Exists() {
			t.Errorf("%s: %v, want none", name, got)
		}
	}
}

func TestJainOfSomeServedAlikeAndOthersNot(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for k := 1; k <= n; k++ {
			xs := make([]float64, n)
			for i := range k {
				xs[i] = 0.7
			}
			if got, want := Jain(xs), float64(k)/float64(n); math.Abs(float64(got)-want) > 1e-12 {
				t.Errorf("%d of %d: %v, want %v", k, n, got, want)
			}
		}
	}
}

func TestJainKnowsNoUnitAndNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 100), 2, 30).Draw(t, "satisfactions")
		scale := rapid.Float64Range(1e-3, 1e3).Draw(t, "scale")
		order := rapid.Permutation(xs).Draw(t, "order")
		scaled := make([]float64, len(xs))
		for i, x := range order {
			scaled[i] = x * scale
		}
		a, b := Jain(xs), Jain(scaled)
		if !a.Exists() {
			for _, x := range xs {
				if x > 0 {
					t.Fatalf("none, although somebody got %v", x)
				}
			}
			return
		}
		if math.Abs(float64(a-b)) > 1e-9 {
			t.Fatalf("%v, and %v in another order and unit", a, b)
		}
		if n := float64(len(xs)); float64(a) < 1/n-1e-12 || float64(a) > 1+1e-12 {
			t.Fatalf("%v lies outside of [1/%v, 1]", a, n)
		}
	})
}
