package attack

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/limiter"
	"fairgate/profiles"
)

func playback(t *testing.T, speed float64) *Playback {
	t.Helper()
	p := starvation()
	p.Duration = 10 * s
	b, err := NewPlayback(p, speed)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPlaybackIsTheSimulationInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := playback(t, 4)
		if err := b.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		snap := b.Snapshot()
		if snap.Now < 3900*ms || snap.Now > 4*s || snap.Speed != 4 || snap.Mode != "simulated" || snap.Done {
			t.Errorf("after a second at 4 times life's speed it stands at %v: %v, speed %g, done %v", snap.Now, snap.Mode, snap.Speed, snap.Done)
		}
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
		played, _ := json.Marshal(b.Report())
		simulated, _ := json.Marshal(simulated(t, b.Profile()))
		if string(played) != string(simulated) {
			t.Error("played back, the simulation gives another report")
		}
		if !b.Snapshot().Done {
			t.Error("it is over and says that it is not")
		}
		if b.Start(context.Background()) == nil {
			t.Error("it was started twice")
		}
	})
}

func TestPlaybackStopsAndStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := playback(t, 2)
		if b.Restart(1) == nil {
			t.Error("it was restarted before it began")
		}
		b = playback(t, 2)
		ctx, cancel := context.WithCancel(context.Background())
		if err := b.Start(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		b.Stop()
		b.Stop()
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
		stopped := b.Report()
		if d := float64(stopped.Duration); d < 1.9 || d > 2 {
			t.Errorf("stopped after a second at twice life's speed, the report covers %g s", d)
		}
		if err := b.NextPolicy(1); err != nil {
			t.Error(err)
		}
		if err := b.Restart(9); err != nil {
			t.Fatal(err)
		}
		if p := b.Profile(); p.Seed != 9 || p.Limiter.Policy != limiter.PerClient {
			t.Errorf("restarted with seed %d under %s", p.Seed, p.Limiter.Policy)
		}
		time.Sleep(time.Second)
		cancel()
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
		if r := b.Report(); r.Seed != 9 || float64(r.Duration) > 2 {
			t.Errorf("the new one with seed %d came to %v s", r.Seed, r.Duration)
		}
	})
}

func TestPlaybackCanBeChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := playback(t, 1)
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := b.Edit(func(p *profiles.Profile) { p.Limiter.Rate = limiter.PerSecond(500) }); err != nil {
			t.Fatal(err)
		}
		if err := b.Edit(func(p *profiles.Profile) { p.Seed++ }); err == nil {
			t.Error("the seed was changed under way")
		}
		b.Wait()
		r := b.Report()
		if len(r.Changes) != 1 || math.Abs(float64(r.Changes[0].T)-5) > 0.1 {
			t.Fatalf("changes are %+v", r.Changes)
		}
		if n := r.Aggregate.AdmittedCount; n < 7400 || n > 7700 {
			t.Errorf("5 s at 1000/s and 5 s at 500/s admit %d", n)
		}
	})
}

func TestPlaybackNeedsASpeed(t *testing.T) {
	for _, speed := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if _, err := NewPlayback(starvation(), speed); err == nil {
			t.Errorf("a speed of %g was accepted", speed)
		}
	}
}
