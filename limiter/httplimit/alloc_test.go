package httplimit

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"fairgate/limiter"
)

// reused is a response that an in-process caller uses again and again.
type reused struct {
	header http.Header
	status int
}

func (r *reused) Header() http.Header               { return r.header }
func (r *reused) WriteHeader(status int)            { r.status = status }
func (r *reused) Write(b []byte) (int, error)       { return len(b), nil }
func (r *reused) WriteString(s string) (int, error) { return len(s), nil }

// TestARefusalAllocatesNothing: under attack, refusals are what there is most of.
func TestARefusalAllocatesNothing(t *testing.T) {
	lim, err := limiter.New(limiter.Config{Rate: limiter.Rate{Tokens: 1, Per: 10 * time.Minute}, Burst: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := New(lim, Options{})
	h.Join(limiter.Client{Name: "web"})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(DefaultHeader, "web")
	w := &reused{header: make(http.Header, 8)}
	h.ServeHTTP(w, r)
	if w.status != http.StatusOK {
		t.Fatalf("the first gets %d", w.status)
	}
	allocated := testing.AllocsPerRun(1000, func() {
		clear(w.header)
		h.ServeHTTP(w, r)
	})
	if w.status != http.StatusTooManyRequests || len(w.header) != 7 {
		t.Fatalf("the next gets %d with %v", w.status, w.header)
	}
	if allocated > 0 {
		t.Errorf("a refusal allocates %v times", allocated)
	}
}

func BenchmarkRefusal(b *testing.B) {
	lim, err := limiter.New(limiter.Config{Rate: limiter.Rate{Tokens: 1, Per: 10 * time.Minute}, Burst: 1})
	if err != nil {
		b.Fatal(err)
	}
	h := New(lim, Options{Strangers: 1})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(DefaultHeader, "web")
	w := &reused{header: make(http.Header, 8)}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}
