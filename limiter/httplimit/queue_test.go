package httplimit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/limiter"
)

// notes is a response that keeps what a Witness is told.
type notes struct {
	*httptest.ResponseRecorder
	arrived, decided time.Duration
	queued           bool
	decision         limiter.Decision
	times            int
	steps            []Step
	patience         <-chan time.Time
}

func (n *notes) Decided(arrived, decided time.Duration, queued bool, d limiter.Decision) {
	n.arrived, n.decided, n.queued, n.decision = arrived, decided, queued, d
	n.times++
}

func (n *notes) Patience() <-chan time.Time { return n.patience }

func (n *notes) Before(s Step) { n.steps = append(n.steps, s) }

func sendAs(ctx context.Context, h http.Handler, name string) *notes {
	r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
	r.Header.Set(DefaultHeader, name)
	n := &notes{ResponseRecorder: httptest.NewRecorder()}
	h.ServeHTTP(n, r)
	return n
}

// TestAdmissionsAreToldAsTheyAreDecided: at once or out of the line, each once, and never later than the one after it.
func TestAdmissionsAreToldAsTheyAreDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: 100 * time.Millisecond, room: 3, refusal: limiter.Decision{By: limiter.ByQueueFull, Told: time.Second}}
		var told []time.Duration
		h := New(lim, Options{Strangers: 1, ServiceTime: 5 * time.Millisecond, Admitted: func(at time.Duration, a limiter.Attempt) {
			told = append(told, at)
		}})
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				sendAs(t.Context(), h, "web")
			})
		}
		wg.Wait()
		want := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}
		if !slices.Equal(told, want) {
			t.Errorf("told of admissions at %v, want %v", told, want)
		}
	})
}

func TestQueuedRequestsAreAnsweredWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: 100 * time.Millisecond, room: 3, refusal: limiter.Decision{By: limiter.ByQueueFull, Told: time.Second}}
		h := New(lim, Options{Strangers: 1, ServiceTime: 5 * time.Millisecond})
		began := time.Now()
		all := make([]*notes, 6)
		took := make([]time.Duration, 6)
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				all[i] = sendAs(t.Context(), h, "web")
				took[i] = time.Since(began)
			})
		}
		time.Sleep(50 * time.Millisecond)
		if h.Waiting() != 3 {
			t.Errorf("%d requests are parked, want 3", h.Waiting())
		}
		wg.Wait()
		ms := time.Millisecond
		wantTook := []time.Duration{5 * ms, 105 * ms, 205 * ms, 305 * ms, 4 * ms, 5 * ms}
		if !slices.Equal(took, wantTook) {
			t.Errorf("answers after %v, want %v", took, wantTook)
		}
		for i, n := range all {
			wantCode, wantQueued := 200, i > 0
			if i >= 4 {
				wantCode, wantQueued = 429, false
			}
			arrived, decided := time.Duration(i)*ms, time.Duration(i)*ms
			if wantQueued {
				decided = time.Duration(i) * 100 * ms
			}
			if n.Code != wantCode || n.queued != wantQueued || n.arrived != arrived || n.decided != decided || n.times != 1 {
				t.Errorf("request %d: status %d, arrived %v, decided %v, queued %v, told %d times", i, n.Code, n.arrived, n.decided, n.queued, n.times)
			}
		}
		if lim.released != 4 || h.Waiting() != 0 {
			t.Errorf("%d released, %d still parked", lim.released, h.Waiting())
		}
	})
}

func TestAClientThatHangsUpLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: 100 * time.Millisecond, room: 10}
		h := New(lim, Options{Strangers: 1})
		sendAs(t.Context(), h, "web")
		var wg sync.WaitGroup
		impatient, hangUp := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer hangUp()
		var first, second *notes
		var took time.Duration
		began := time.Now()
		wg.Go(func() { first = sendAs(impatient, h, "web") })
		time.Sleep(time.Millisecond)
		wg.Go(func() { second = sendAs(t.Context(), h, "web"); took = time.Since(began) })
		wg.Wait()
		if first.times != 0 || lim.cancelled != 1 {
			t.Errorf("the one that hung up was decided %d times and cancelled %d times", first.times, lim.cancelled)
		}
		if second.Code != 200 || took != 100*time.Millisecond {
			t.Errorf("the one behind it got %d after %v, want 200 after 100ms", second.Code, took)
		}
		if lim.released != 2 {
			t.Errorf("%d released, want 2", lim.released)
		}
	})
}

func TestClosingEndsAllWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		lim := &turnstile{every: time.Hour, room: 2}
		h := New(lim, Options{Strangers: 1, ServiceTime: time.Hour, Closing: closing})
		var wg sync.WaitGroup
		all := make([]*notes, 3) // one in the service, two in line
		for i := range all {
			wg.Go(func() { all[i] = sendAs(t.Context(), h, "web") })
		}
		time.Sleep(time.Minute)
		close(closing)
		began := time.Now()
		wg.Wait()
		if d := time.Since(began); d != 0 {
			t.Errorf("closing took %v", d)
		}
		for i, n := range all {
			if n.Code != http.StatusServiceUnavailable {
				t.Errorf("request %d got %d, want 503", i, n.Code)
			}
		}
		if lim.released != 1 || lim.cancelled != 2 {
			t.Errorf("released %d, cancelled %d; want 1, 2", lim.released, lim.cancelled)
		}
	})
}

func TestALateTimerLetsNobodyJumpTheLine(t *testing.T) {
	now := time.Duration(0)
	lim := &turnstile{every: 100, room: 1}
	h := New(lim, Options{Strangers: 1, Now: func() time.Duration { return now }})
	ask(h, "web")
	var parked, late ticket
	if err := h.arrive(&parked, "web", 1); err != nil || parked.line == nil {
		t.Fatalf("not parked: %+v, %v", parked, err)
	}
	now = 250 // due at 100, and the timer still has not gone off
	if err := h.arrive(&late, "web", 1); err != nil {
		t.Fatal(err)
	}
	select {
	case <-parked.line:
		if parked.decision.Verdict != limiter.Admitted || parked.decided != 250 {
			t.Errorf("handed out %+v at %v", parked.decision, parked.decided)
		}
	default:
		t.Error("the one in line is still waiting")
	}
	if late.decision.Verdict != limiter.Admitted {
		t.Errorf("the late one: %+v", late.decision)
	}
}

func TestAPanicInTheLimiterReachesARequestAndStopsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: 100 * time.Millisecond, room: 2}
		h := New(lim, Options{Strangers: 1})
		sendAs(t.Context(), h, "web")
		lim.broken = true
		var wg sync.WaitGroup
		var faults, served int
		var mu sync.Mutex
		for range 2 {
			wg.Go(func() {
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					if recover() != nil {
						faults++
					} else {
						served++
					}
				}()
				sendAs(t.Context(), h, "web")
			})
		}
		wg.Wait()
		if faults != 1 || served != 1 || h.Waiting() != 0 {
			t.Errorf("%d faults, %d served, %d parked; want one of each and nobody left", faults, served, h.Waiting())
		}
	})
}

func TestAChangeOfTheLimiterMovesTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: time.Hour, room: 2}
		h := New(lim, Options{Strangers: 1})
		began := time.Now()
		sendAs(t.Context(), h, "web")
		done := make(chan time.Duration)
		go func() { sendAs(t.Context(), h, "web"); done <- time.Since(began) }()
		time.Sleep(time.Second)
		h.Do(func(_ limiter.Limiter, now time.Duration) { lim.free = now + time.Second })
		if took := <-done; took != 2*time.Second {
			t.Errorf("answered after %v, want 2s", took)
		}
	})
}

func TestStepsAreAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: time.Second, room: 1}
		h := New(lim, Options{Strangers: 1})
		if n := sendAs(t.Context(), h, "web"); !slices.Equal(n.steps, []Step{Releasing}) {
			t.Errorf("admitted at once: %v", n.steps)
		}
		if n := sendAs(t.Context(), h, "web"); !slices.Equal(n.steps, []Step{Settling, Releasing}) {
			t.Errorf("queued: %v", n.steps)
		}
	})
}

func TestPatienceEndsWaitingAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := &turnstile{every: 100 * time.Millisecond, room: 1}
		h := New(lim, Options{Strangers: 1, ServiceTime: 200 * time.Millisecond})
		send := func(patience time.Duration) *notes {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set(DefaultHeader, "web")
			n := &notes{ResponseRecorder: httptest.NewRecorder(), patience: time.After(patience)}
			h.ServeHTTP(n, r)
			return n
		}
		// Admitted at once: the service takes longer than its patience, and that does not matter.
		if n := send(50 * time.Millisecond); n.Code != 200 {
			t.Errorf("served: status %d", n.Code)
		}
		send(time.Hour)
		var parked *notes
		began := time.Now()
		lim.free = h.now() + time.Second
		parked = send(50 * time.Millisecond)
		if took := time.Since(began); parked.Code != 503 || parked.times != 0 || took != 50*time.Millisecond || !slices.Equal(parked.steps, []Step{Leaving}) {
			t.Errorf("parked: status %d after %v, steps %v", parked.Code, took, parked.steps)
		}
		if lim.cancelled != 1 || h.Waiting() != 0 {
			t.Errorf("%d cancelled, %d parked", lim.cancelled, h.Waiting())
		}
	})
}
