package limiter

import (
	"fmt"
	"testing"
	"time"
)

// An attempt that costs more than its client's buckets hold is refused without a trace: neither does the client gain by it, nor
// does another lose what it is guaranteed.
func TestARefusedDearAttemptGrowsNoBucket(t *testing.T) {
	s := play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 100, Guarantee: rate("25/s")})
	s.clients["web"] = s.Join(0, Client{Name: "web"})
	first := s.admitted(0, "batch", 100)
	if d := s.send(0, "batch", 100); d.Verdict != Rejected {
		t.Fatalf("100 of 100 for one of two got %+v", d)
	}
	if again := s.admitted(0, "batch", 100); again != 0 {
		t.Errorf("batch took %d, was refused, and took %d more", first, again)
	}
	if got := s.admitted(0, "web", 50); got < 37 {
		t.Errorf("web gets %d of its own", got)
	}
}

// What costs more than both buckets hold passes when they are full, and is paid back before the next.
func TestADearAttemptPassesOnCredit(t *testing.T) {
	s := play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 100})
	s.clients["web"] = s.Join(0, Client{Name: "web"})
	s.admits(0, "batch", 100) // its bucket holds 50
	s.rejects(0, "batch", 1, ByClient, 510*time.Millisecond)
	s.rejects(0, "web", 1, ByGlobal, 10*time.Millisecond)
	s.rejects(510*time.Millisecond, "batch", 100, ByClient, 490*time.Millisecond) // full again at 1 s
}

// The wait of a client under the rain follows the buckets of all the others, however many become full before.
func TestTheWaitAmongManyClientsIsExact(t *testing.T) {
	const clients = 100
	played := func() *scene {
		s := play(t, Config{Policy: Hierarchical, Rate: rate("1000/s"), Burst: 1000})
		for i := range clients {
			name := fmt.Sprint(i)
			s.clients[name] = s.Join(0, Client{Name: name})
		}
		for i := range clients {
			s.admitted(0, fmt.Sprint(i), 1+i/13)
		}
		s.admitted(0, "0", 20)
		return s
	}
	d := played().send(0, "0", 9)
	if d.Verdict != Rejected || d.Wait == Never {
		t.Fatalf("got %+v", d)
	}
	s := played()
	s.rejects(d.Wait-1, "0", 9, d.By, 1)
	s.admits(d.Wait, "0", 9)
}

func TestNewTermsNeitherGiveNorTake(t *testing.T) {
	s := play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 100})
	s.clients["b"] = s.Join(0, Client{Name: "b"})
	terms := []Client{{Name: "a", Guarantee: rate("50/s")}, {Name: "a"}, {Name: "a", MaxCost: 90}, {Name: "a", Weight: 7},
		{Name: "a", Ceiling: rate("10/s")}, {Name: "a", Ceiling: rate("11/s")}, {Name: "a"}, {Name: "a", Ceiling: rate("90/s"), Guarantee: rate("20/s")}}
	s.clients["a"] = s.Join(0, terms[0])
	s.admitted(0, "a", 100)
	for i, c := range append(terms, terms...) {
		s.Join(0, c)
		if got := s.admitted(0, "a", 100); got != 0 {
			t.Errorf("step %d: with terms %+v another %d", i, c, got)
		}
	}
	s = play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 100})
	s.clients["c"] = s.Join(0, Client{Name: "c", Ceiling: rate("10/s")})
	first := s.admitted(0, "c", 100)
	s.Join(0, Client{Name: "c", Ceiling: rate("11/s")})
	if again := s.admitted(0, "c", 100); first != 10 || again != 0 {
		t.Errorf("under a ceiling of 10/s %d, and under another %d more", first, again)
	}
}

func TestWhatAClientHoldsIsCarriedByStrategy(t *testing.T) {
	for how, want := range map[Inherit]int64{Proportional: 200, AsIs: 20, Additive: 470, Reset: 500} {
		s := play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 100})
		s.clients["b"] = s.Join(0, Client{Name: "b"})
		if n := s.admitted(0, "a", 30); n != 30 {
			t.Fatal(n)
		}
		s.change(0, func(c *Config) { c.Burst, c.Inherit = 1000, how })
		if got := s.remaining(0, "a", "client"); got != want {
			t.Errorf("%s: 20 of 50 became %d of 500, want %d", how, got, want)
		}
	}
}

// A debt is not forgiven because somebody looks through the configuration.
func TestADebtSurvivesAChange(t *testing.T) {
	for _, how := range []Inherit{Proportional, AsIs, Additive} {
		s := play(t, Config{Policy: Hierarchical, Rate: rate("100/s"), Burst: 100, Inherit: how})
		s.admitted(0, "a", 90)
		for i := range 9 {
			s.Join(0, Client{Name: fmt.Sprint(i)})
		}
		before := s.send(0, "a", 1)
		s.change(0, func(*Config) {})
		if after := s.send(0, "a", 1); after != before {
			t.Errorf("%s: refused with %+v, and after a change of nothing with %+v", how, before, after)
		}
	}
}
