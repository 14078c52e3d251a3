package httplimit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairgate/limiter"
)

// elsewhere is a Remote that takes a second for each decision, any number at once.
type elsewhere struct {
	mu     sync.Mutex
	asked  []string
	room   int64
	broken error
}

func (e *elsewhere) Decide(ctx context.Context, client, endpoint string, cost int64) (limiter.Decision, []limiter.Quota, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return limiter.Decision{Verdict: limiter.Rejected}, nil, ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, client+"@"+endpoint)
	quotas := []limiter.Quota{{Name: "global", Rate: limiter.PerSecond(10), Burst: 2, Remaining: max(0, e.room-cost), Reset: time.Second}}
	switch {
	case e.broken != nil && e.room > 0:
		return limiter.Decision{}, nil, e.broken
	case e.broken != nil:
		return limiter.Decision{Verdict: limiter.Rejected, Wait: time.Second, Told: time.Second}, nil, e.broken
	case e.room < cost:
		return limiter.Decision{Verdict: limiter.Rejected, Wait: 1500 * time.Millisecond, Told: 2 * time.Second}, quotas, nil
	}
	e.room -= cost
	return limiter.Decision{}, quotas, nil
}

func TestARemoteDecidesForManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := &elsewhere{room: 5}
		lim := &turnstile{every: time.Hour} // would refuse the second
		var told []limiter.Attempt
		h := New(lim, Options{Strangers: 2, Remote: there, Endpoint: "orders", Admitted: func(at time.Duration, a limiter.Attempt) {
			if at != time.Second {
				t.Errorf("admitted at %v", at)
			}
			told = append(told, a)
		}})
		h.Join(limiter.Client{Name: "batch", MaxCost: 2})
		began := time.Now()
		answers := make([]*notes, 4)
		var wg sync.WaitGroup
		for i, name := range []string{"batch", "batch", "batch", "web"} {
			wg.Go(func() { answers[i] = sendAs(t.Context(), h, name) })
		}
		wg.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("four answers took %v, want the time of one", took)
		}
		admitted := 0
		for i, n := range answers {
			if n.arrived != 0 || n.decided != time.Second || n.queued || n.times != 1 || n.Header().Get("X-RateLimit-Limit") != "10" || n.Header().Get("X-RateLimit-Store") != "" {
				t.Errorf("%d: arrived %v, decided %v, queued %v, told %d times, headers %v", i, n.arrived, n.decided, n.queued, n.times, n.Header())
			}
			switch n.Code {
			case 200:
				admitted++
			case 429:
				if n.Header().Get("Retry-After") != "2" || n.decision.Wait != 1500*time.Millisecond {
					t.Errorf("%d: Retry-After %q, %+v", i, n.Header().Get("Retry-After"), n.decision)
				}
			default:
				t.Errorf("%d: status %d", i, n.Code)
			}
		}
		if admitted != len(told) || admitted < 2 || lim.arrived != 0 || lim.released != 0 {
			t.Errorf("%d admitted, %d told; the limiter saw %d, and %d released", admitted, len(told), lim.arrived, lim.released)
		}
		for _, a := range there.asked {
			if a != "batch@orders" && a != "web@orders" {
				t.Errorf("asked about %s", a)
			}
		}
		// Names beyond Strangers share one there too.
		there.asked = nil
		for _, name := range []string{"made-up-1", "made-up-2", "made-up-3"} {
			sendAs(t.Context(), h, name)
		}
		if got := strings.Join(there.asked, " "); got != "made-up-1@orders (other)@orders (other)@orders" {
			t.Errorf("asked about %s", got)
		}
	})
}

func TestADecisionWithoutTheStoreIsObeyedAndMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := &elsewhere{room: 1, broken: errors.New("gone")}
		h := New(&turnstile{}, Options{Strangers: 1, Remote: there})
		send := func() *http.Response { return sendAs(t.Context(), h, "web").Result() }
		if resp := send(); resp.StatusCode != 200 || resp.Header.Get("X-RateLimit-Store") != "unreachable" || resp.Header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("open: %d, %v", resp.StatusCode, resp.Header)
		}
		there.room = 0
		resp := send()
		body, _ := io.ReadAll(resp.Body)
		if by, ok := RefusedBy(body); resp.StatusCode != 429 || resp.Header.Get("X-RateLimit-Store") != "unreachable" || resp.Header.Get("Retry-After") != "1" || !ok || by != limiter.ByGlobal {
			t.Errorf("closed: %d, %v, %s", resp.StatusCode, resp.Header, body)
		}
		if !strings.Contains(string(body), "store") {
			t.Errorf("closed says %s", body)
		}
		there.broken, there.room = nil, 1
		if resp := send(); resp.StatusCode != 200 || resp.Header.Get("X-RateLimit-Store") != "" {
			t.Errorf("back: %d, %v", resp.StatusCode, resp.Header)
		}
	})
}

func TestWhoHangsUpDoesNotWaitForARemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&turnstile{}, Options{Strangers: 1, Remote: &elsewhere{room: 1}})
		impatient, hangUp := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer hangUp()
		n := sendAs(impatient, h, "web")
		if n.Code != 503 || n.times != 0 {
			t.Errorf("status %d, decided %d times", n.Code, n.times)
		}
		if n := sendAs(t.Context(), h, "web"); n.Code != 200 || n.decision.Verdict != limiter.Admitted {
			t.Errorf("the next: status %d, %+v", n.Code, n.decision)
		}
	})
}

func TestARemoteIsNotAskedAboutNobody(t *testing.T) {
	there := &elsewhere{room: 1}
	h := New(&turnstile{}, Options{Remote: there})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(DefaultHeader, "stranger")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 403 || len(there.asked) != 0 {
		t.Errorf("status %d, asked %v", w.Code, there.asked)
	}
}
