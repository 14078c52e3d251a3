package limiter

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"
)

// FuzzExtremes drives every policy and algorithm with any rate, burst, cost and pauses: a configuration is refused with its field, or the limiter is
// right. It never wraps: no negative wait, never more than it may, and what it promises it keeps.
func FuzzExtremes(f *testing.F) {
	day := int64(24 * time.Hour)
	f.Add(uint8(0), uint8(0), int64(1), day, int64(1), int64(1), int64(1), int64(math.MaxInt64))
	f.Add(uint8(0), uint8(2), int64(1e9), int64(time.Second), int64(1<<62), int64(1<<62), int64(1), int64(1))
	f.Add(uint8(4), uint8(0), int64(999_999_937), int64(time.Second), int64(1e9), int64(math.MaxInt64), int64(1e18), int64(3))
	f.Add(uint8(2), uint8(1), int64(7), int64(1), int64(5), int64(math.MaxInt64), int64(0), int64(1))
	f.Add(uint8(5), uint8(3), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(2), int64(1<<62), int64(1<<62))
	f.Add(uint8(5), uint8(5), int64(1000), int64(time.Second), int64(50), int64(7), int64(5e8), int64(12345))
	f.Add(uint8(1), uint8(4), int64(17), int64(30*time.Second), int64(17), int64(17), int64(29e9), int64(31e9))
	f.Fuzz(func(t *testing.T, policy, algorithm uint8, tokens, per, burst, cost, pause, second int64) {
		cfg := Config{
			Policy: Policies[int(policy)%len(Policies)], Algorithm: Algorithms[int(algorithm)%len(Algorithms)],
			Rate: Rate{Tokens: tokens, Per: time.Duration(per)}, Burst: burst,
			Client: ClientLimit{Rate: Rate{Tokens: tokens, Per: time.Duration(per)}, Burst: burst, MaxInFlight: 1 << 20},
			Queue:  Queue{PerClient: 100, MaxWait: longestFill}, Shards: 1 + int(policy/8)%4, Routing: RoundRobin,
		}
		l, err := New(cfg)
		if err != nil {
			var wrong *ConfigError
			if !errors.As(err, &wrong) || wrong.Field == "" || wrong.Msg == "" {
				t.Fatalf("%+v is refused without a field: %v", cfg, err)
			}
			return
		}
		a, b := l.Join(0, Client{Name: "a", Weight: pause}), l.Join(0, Client{Name: "b", Weight: 3, MaxCost: cost})
		now, id, admitted := time.Duration(0), uint64(0), new(big.Int)
		pass := func(client int, cost int64) Decision {
			id++
			d := l.Arrive(now, Attempt{Client: client, ID: id, Cost: cost})
			if d.Wait < 0 || d.Told < 0 || d.Verdict == Rejected && d.Wait == 0 {
				t.Fatalf("%+v: cost %d at %d: %+v", cfg, cost, now, d)
			}
			if d.Verdict == Admitted {
				admitted.Add(admitted, big.NewInt(max(0, cost)))
			}
			return d
		}
		step := func(d int64) { now = timeUp(now, time.Duration(d&math.MaxInt64)) }
		for i := range 12 {
			client := a
			if i%2 == 1 {
				client = b
			}
			c := cost
			if i%3 == 2 {
				c = 1
			}
			d := pass(client, c)
			if d.Verdict == Rejected && d.Wait < Never/4 && now < Never/4 && (cfg.Policy == Global || cfg.Policy == PerClient || cfg.Policy == Hierarchical) {
				now += d.Wait
				if again := pass(client, c); again.Verdict != Admitted {
					t.Fatalf("%+v: cost %d told %v, and then got %+v at %d", cfg, c, d.Wait, again, now)
				}
			}
			if i%4 == 1 {
				step(second)
			} else {
				step(pause)
			}
			for range 200 {
				at, d, ok := l.Settle(now)
				if !ok {
					break
				}
				if d.Verdict == Admitted {
					admitted.Add(admitted, big.NewInt(at.Cost))
				}
			}
			if q := l.Quotas(now, client, nil); len(q) == 0 || q[0].Remaining < 0 || q[0].Reset < 0 {
				t.Fatalf("%+v: quotas %+v", cfg, q)
			}
			if due, ok := l.Due(); ok && due < 0 {
				t.Fatalf("%+v: due at %d", cfg, due)
			}
			if !cfg.Algorithm.windowed() {
				// admitted ≤ burst + tokens·now/per
				most := new(big.Int).Mul(big.NewInt(tokens), big.NewInt(int64(now)))
				most.Div(most, big.NewInt(per)).Add(most, big.NewInt(cfg.Burst))
				if burst == 0 {
					most.Add(most, big.NewInt(cfg.WithDefaults().Burst))
				}
				if admitted.Cmp(most) > 0 {
					t.Fatalf("%+v: %s tokens by %d, more than %s", cfg, admitted, now, most)
				}
			}
		}
	})
}

func TestIdleForYears(t *testing.T) {
	year := 365 * 24 * time.Hour
	for _, p := range Policies {
		for _, a := range Algorithms {
			if Compatible(p, a) != nil {
				continue
			}
			for _, r := range []string{"1/d", "1000000000/s"} {
				cfg := Config{Policy: p, Algorithm: a, Rate: rate(r), Burst: 1000, Client: ClientLimit{Rate: rate(r), Burst: 1000, MaxInFlight: 9}}
				s := play(t, cfg)
				s.admits(0, "web", 1)
				s.admits(200*year, "web", 1)
				if got := s.send(200*year, "web", math.MaxInt64); got.Verdict != Rejected || got.Wait != Never || got.Told != 0 {
					t.Errorf("%s, %s, %s: a cost beyond everything got %+v", p, a, r, got)
				}
				s.admits(290*year, "web", 1)
			}
		}
	}
}
