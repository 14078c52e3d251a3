package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// newProxy passes requests on to a service, over as many connections as there may be to us.
func newProxy(to *url.URL, connections int, f *faults) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.SetXForwarded()
		},
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute,
			ResponseHeaderTimeout: time.Minute, DisableCompression: true, ForceAttemptHTTP2: true,
		},
		BufferPool: new(copyBuffers),
		ErrorLog:   f.logger(),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, context.Canceled) { // that is the client, who did not wait
				f.add(fmt.Sprintf("the service behind: %v", err))
			}
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, `{"title":"Bad Gateway","status":502,"detail":"The service behind the limiter does not answer."}`+"\n")
		},
	}
}

// copyBuffers are the proxy's buffers, used again and again.
type copyBuffers struct{ pool sync.Pool }

func (c *copyBuffers) Get() []byte {
	if b, ok := c.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 32<<10)
}

func (c *copyBuffers) Put(b []byte) { c.pool.Put(&b) }

// faults counts what went wrong in a server and keeps the last, however many there are. It is what the server logs to.
type faults struct {
	mu   sync.Mutex
	n    int64
	last string
}

func (f *faults) add(text string) {
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	f.last = text
}

func (f *faults) read() (int64, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n, f.last
}

// Write implements io.Writer for the server's log.
func (f *faults) Write(b []byte) (int, error) {
	f.add(strings.TrimSpace(string(b)))
	return len(b), nil
}

func (f *faults) logger() *log.Logger { return log.New(f, "", 0) }
