package cli

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fairgate/attack"
	"fairgate/limiter"
	"fairgate/profiles"
	"fairgate/tui"
)

// tunerOf is a tuner of a profile's simulation, which stands still at its beginning until it is started.
func tunerOf(t *testing.T, name string) *tuner {
	t.Helper()
	p, err := profiles.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	another := func(p *profiles.Profile) (attacker, error) { return attack.NewPlayback(p, 1) }
	run, err := another(p)
	if err != nil {
		t.Fatal(err)
	}
	return newTuner(newRerun(run, another))
}

// startTuner starts it, and ends it with the test.
func startTuner(t *testing.T, u *tuner) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if err := u.run.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := u.run.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// Every command changes what it says and nothing else that the test looks at, and u takes all of them back, to the letter.
func TestCommandsAndUndo(t *testing.T) {
	u := tunerOf(t, "starvation")
	begin := u.run.Profile()
	batch := func(p *profiles.Profile) *profiles.Client { return &p.Clients[0] }
	steps := []struct {
		do    tui.Command
		holds func(*profiles.Profile) bool
	}{
		{tui.StepPolicy{By: 1}, func(p *profiles.Profile) bool { return p.Limiter.Policy == limiter.PerClient }},
		{tui.ScaleClientRate{Num: 2, Den: 1}, func(p *profiles.Profile) bool { return p.Limiter.Client.Rate.PerSecond() == 500 }},
		{tui.StepPolicy{By: -1}, func(p *profiles.Profile) bool { return p.Limiter.Policy == limiter.Global }},
		{tui.ScaleRate{Num: 11, Den: 10}, func(p *profiles.Profile) bool { return p.Limiter.Rate.PerSecond() == 1100 }},
		{tui.ScaleBurst{Num: 110, Den: 100}, func(p *profiles.Profile) bool { return p.Limiter.Burst == 110 }},
		{tui.StepAlgorithm{By: 1}, func(p *profiles.Profile) bool { return p.Limiter.Algorithm == limiter.AlgorithmLeakyBucket }},
		{tui.StepAlgorithm{By: -2}, func(p *profiles.Profile) bool { return p.Limiter.Algorithm == limiter.AlgorithmSlidingLog }},
		{tui.StepRetryAfter{By: 1}, func(p *profiles.Profile) bool { return p.Limiter.RetryAfter == limiter.RetryAdaptive }},
		{tui.StepRetryAfter{By: -2}, func(p *profiles.Profile) bool { return p.Limiter.RetryAfter == limiter.RetrySlot }},
		{tui.ScaleServiceTime{Num: 3, Den: 2}, func(p *profiles.Profile) bool { return p.Service.Time == 3*time.Millisecond }},
		{tui.ScaleDemand{Client: "batch", Num: 1, Den: 2}, func(p *profiles.Profile) bool { return batch(p).Arrivals.Rate.PerSecond() == 2500 }},
		{tui.StepWeight{Client: "batch", By: 1}, func(p *profiles.Profile) bool { return batch(p).Weight == 2 }},
		{tui.StepCost{Client: "batch", By: 1}, func(p *profiles.Profile) bool { return batch(p).Cost == 2 }},
		{tui.StepRetries{Client: "batch", By: 1}, func(p *profiles.Profile) bool { return batch(p).Retry.Backoff == profiles.Exponential }},
		{tui.StepRetries{Client: "batch", By: 1}, func(p *profiles.Profile) bool { return batch(p).Retry.HonorRetryAfter }},
		{tui.StepRetries{Client: "batch", By: 1}, func(p *profiles.Profile) bool { return batch(p).Retry.Attempts == 0 }},
		{tui.Storm{Client: "web"}, func(p *profiles.Profile) bool { return p.Clients[1].Retry.Attempts == profiles.Unlimited }},
		{tui.Storm{Client: "web"}, func(p *profiles.Profile) bool { return reflect.DeepEqual(p.Clients[1], begin.Clients[1]) }},
		{tui.Switch{Client: "web"}, func(p *profiles.Profile) bool { return p.Clients[1].Stop > 0 }},
		{tui.Switch{Client: "web"}, func(p *profiles.Profile) bool { return p.Clients[1].Stop == 0 }},
		{tui.Set{Name: "rate", Value: "1500/s"}, func(p *profiles.Profile) bool { return p.Limiter.Rate.PerSecond() == 1500 }},
		{tui.Set{Client: "web", Name: "asks", Value: "7/s"}, func(p *profiles.Profile) bool { return p.Clients[1].Arrivals.Rate.PerSecond() == 7 }},
		{tui.HoldLoad{}, func(p *profiles.Profile) bool { return p.Clients[0].Stop > 0 && p.Clients[3].Stop > 0 }},
	}
	for _, s := range steps {
		if err := u.Do(s.do); err != nil {
			t.Fatalf("%T%+v: %v", s.do, s.do, err)
		}
		if p := u.run.Profile(); !s.holds(p) {
			t.Fatalf("%T%+v did not do it", s.do, s.do)
		}
	}
	for range steps {
		if err := u.Do(tui.Undo{}); err != nil {
			t.Fatal(err)
		}
	}
	if p := u.run.Profile(); !reflect.DeepEqual(p, begin) {
		t.Error("undone, it is not what it was")
	}
	if err := u.Do(tui.Undo{}); err == nil || !strings.Contains(err.Error(), "nothing has been changed") {
		t.Errorf("one undo more: %v", err)
	}
}

// A wrong command says what would be right, changes nothing, and leaves nothing to undo.
func TestCommandsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		profile string
		do      tui.Command
		says    string
	}{
		{"starvation", tui.ScaleClientRate{Num: 2, Den: 1}, "gives no client a limit of its own"},
		{"starvation", tui.Set{Name: "rate", Value: "1500"}, "rate: "},
		{"starvation", tui.Set{Name: "rate", Value: "0/s"}, "rate: "},
		{"starvation", tui.Set{Name: "burst", Value: "many"}, "burst: "},
		{"starvation", tui.Set{Name: "policy", Value: "fairest"}, "policy: "},
		{"starvation", tui.Set{Name: "colour", Value: "blue"}, "no setting"},
		{"starvation", tui.Set{Client: "web", Name: "weight", Value: "0"}, "weight: "},
		{"starvation", tui.Storm{Client: "nobody"}, `no client "nobody"`},
		{"starvation", tui.Restart{}, "is over"}, // it has not begun
	} {
		u := tunerOf(t, c.profile)
		before := u.run.Profile()
		if err := u.Do(c.do); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T%+v: %v, want %q", c.do, c.do, err, c.says)
		}
		if !reflect.DeepEqual(before, u.run.Profile()) || len(u.past) > 0 {
			t.Errorf("%T%+v changed something", c.do, c.do)
		}
	}
}

// Policies and algorithms that do not go together are passed over.
func TestStepsPassOverWhatDoesNotGoTogether(t *testing.T) {
	u := tunerOf(t, "starvation")
	if err := u.Do(tui.Set{Name: "algorithm", Value: "gcra"}); err != nil {
		t.Fatal(err)
	}
	for range 2 * len(limiter.Policies) {
		if err := u.Do(tui.StepPolicy{By: 1}); err != nil {
			t.Fatal(err)
		}
		if p := u.run.Profile().Limiter; limiter.Compatible(p.Policy, p.Algorithm) != nil {
			t.Fatalf("%s with %s", p.Policy, p.Algorithm)
		}
	}
	if err := u.Do(tui.Set{Name: "algorithm", Value: "token-bucket"}); err != nil {
		t.Fatal(err)
	}
	if err := u.Do(tui.Set{Name: "policy", Value: "hierarchical"}); err != nil {
		t.Fatal(err)
	}
	if err := u.Do(tui.StepAlgorithm{By: 1}); err == nil || !strings.Contains(err.Error(), "token-bucket") {
		t.Errorf("another algorithm under hierarchical: %v", err)
	}
}

// One of several copies stands for all of them.
func TestACopyStandsForAll(t *testing.T) {
	u := tunerOf(t, "herd")
	if err := u.Do(tui.StepWeight{Client: "one-57", By: 1}); err != nil {
		t.Fatal(err)
	}
	if w := u.run.Profile().Clients[0].Weight; w != 2 {
		t.Errorf("weight %d", w)
	}
	if err := u.Do(tui.Storm{Client: "one"}); err == nil {
		t.Error("the name of no copy was taken for one")
	}
}

// While the load is paused the picture says so, and going on brings every client back.
func TestHoldLoad(t *testing.T) {
	u := tunerOf(t, "starvation")
	for i, want := range []bool{true, false, true} {
		if err := u.Do(tui.HoldLoad{}); err != nil {
			t.Fatal(err)
		}
		if u.Snapshot().Held != want {
			t.Errorf("press %d: held is %v", i+1, !want)
		}
	}
	if err := u.Do(tui.Switch{Client: "web"}); err != nil {
		t.Fatal(err)
	}
	if u.Snapshot().Held {
		t.Error("held, and web is on")
	}
}

// What the form shows as a setting's value is a way to write it.
func TestSettingsAreWrittenAsTheyAreShown(t *testing.T) {
	for _, info := range profiles.Builtins() {
		name := info.Name
		u := tunerOf(t, name)
		client := u.run.Snapshot().Clients[0].Name
		for _, s := range u.Settings(client) {
			if s.Value == "none" || s.Value == "0" {
				continue
			}
			if err := u.Do(tui.Set(s)); err != nil {
				t.Errorf("%s: %s of %q to %q: %v", name, s.Name, s.Client, s.Value, err)
			}
		}
	}
}

// w writes a profile that is read back as the present state, and never over a file.
func TestSave(t *testing.T) {
	t.Chdir(t.TempDir())
	u := tunerOf(t, "starvation")
	for _, c := range []tui.Command{tui.StepPolicy{By: 1}, tui.Storm{Client: "web"}, tui.Switch{Client: "sync"}} {
		if err := u.Do(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("starvation-1.yaml", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	where, err := u.Save()
	if err != nil || where != "starvation-2.yaml" {
		t.Fatalf("%s, %v", where, err)
	}
	if kept, _ := os.ReadFile("starvation-1.yaml"); string(kept) != "mine" {
		t.Error("a file was overwritten")
	}
	p, err := profiles.Load(where)
	if err != nil {
		t.Fatal(err)
	}
	if p.Limiter.Policy != limiter.PerClient || p.Clients[1].Retry.Attempts != profiles.Unlimited || p.Clients[3].Stop != 0 || len(p.Expect) > 0 {
		t.Errorf("read back: %+v %+v", p.Limiter, p.Clients)
	}
	for want := 1; want <= 2; want++ {
		where, err = u.Keep("the screen", "<svg/>")
		if err != nil || !strings.HasPrefix(where, "starvation-"+[]string{"", "1", "2"}[want]) {
			t.Fatalf("kept as %s, %v", where, err)
		}
	}
	files, _ := filepath.Glob("starvation-*")
	if len(files) != 2+6 {
		t.Errorf("there are %v", files)
	}
	if err := os.Chmod(".", 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 { // root may write everywhere
		if _, err := u.Save(); err == nil {
			t.Error("written where nothing may be")
		}
	}
}

// r begins anew with what was changed, R with another seed as well; clients that were off are on.
func TestRestart(t *testing.T) {
	u := tunerOf(t, "starvation")
	startTuner(t, u)
	seed := u.run.Profile().Seed
	for _, c := range []tui.Command{tui.StepPolicy{By: 1}, tui.Switch{Client: "web"}, tui.Restart{}} {
		if err := u.Do(c); err != nil {
			t.Fatal(err)
		}
	}
	p := u.run.Profile()
	if p.Limiter.Policy != limiter.PerClient || p.Seed != seed || p.Clients[1].Stop != 0 {
		t.Errorf("begun anew as %+v %+v", p.Limiter, p.Clients)
	}
	if n := len(u.Snapshot().Changes); n != 0 {
		t.Errorf("%d changes of the run before", n)
	}
	if err := u.Do(tui.Restart{NewSeed: true}); err != nil {
		t.Fatal(err)
	}
	if u.run.Profile().Seed == seed {
		t.Error("the same seed")
	}
	select {
	case <-u.run.Done():
		t.Error("a run that was replaced ended all")
	default:
	}
	if !u.run.(*rerun).Anew() {
		t.Error("nobody would know that it began anew")
	}
}

// S adds every other policy, and takes them away; a restart keeps them.
func TestShadows(t *testing.T) {
	u := tunerOf(t, "starvation")
	startTuner(t, u)
	policies := func() (all []string) {
		for _, a := range u.Snapshot().Beside {
			all = append(all, a.Policy)
		}
		return all
	}
	for i, want := range []int{5, 0, 5} {
		if err := u.Do(tui.ToggleShadows{}); err != nil {
			t.Fatal(err)
		}
		if got := policies(); len(got) != want {
			t.Errorf("press %d: beside are %v", i+1, got)
		}
	}
	if err := u.Do(tui.Restart{}); err != nil {
		t.Fatal(err)
	}
	if got := policies(); len(got) != 5 {
		t.Errorf("after a restart: %v", got)
	}
}

// Every built-in lesson can be walked on the screen, forward and back, and every answer filled.
func TestLessonsOfAllProfiles(t *testing.T) {
	for _, info := range profiles.Builtins() {
		name := info.Name
		u := tunerOf(t, name)
		if len(u.run.Profile().Lesson) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			startTuner(t, u)
			l := newLesson(u)
			plan := l.screen()
			for step := range plan.Steps {
				if step > 0 {
					if err := plan.Go(step); err != nil {
						t.Fatalf("step %d: %v", step+1, err)
					}
				}
				text, err := plan.Reveal(step)
				if err != nil || strings.ContainsAny(text, "{}") || text == "" && plan.Steps[step].Ask != "" {
					t.Fatalf("step %d reveals %q, %v", step+1, text, err)
				}
			}
			last, err := l.after(len(plan.Steps) - 1)
			if err != nil {
				t.Fatal(err)
			}
			if p := u.run.Profile(); !reflect.DeepEqual(p.Limiter, last.Limiter) || !reflect.DeepEqual(p.Service, last.Service) {
				t.Errorf("at the end %+v, want %+v", p.Limiter, last.Limiter)
			}
			if len(plan.Steps) > 1 {
				if err := plan.Go(0); err != nil {
					t.Fatal(err)
				}
				if p := u.run.Profile(); !reflect.DeepEqual(p.Limiter, l.base.Limiter) {
					t.Errorf("back at the first step: %+v", p.Limiter)
				}
			}
		})
	}
}
