package httplimit

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"fairgate/limiter"
)

// quotaExceeded is the problem type that the RateLimit draft registers.
const quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"

// details says what each limit's refusal means; index: limiter.Reason.
var details = [...]string{
	limiter.ByGlobal:    "The limit that all clients share has no capacity left.",
	limiter.ByClient:    "The client's own limit has no capacity left.",
	limiter.ByInFlight:  "Too many requests of this client are in flight.",
	limiter.ByQueueFull: "The client's queue is full.",
	limiter.ByWait:      "The request would have to wait longer than requests may.",
}

// never is said instead where no waiting helps.
const never = "The request costs more than the limit can ever hold; waiting does not help."

// gone is said instead where a store that cannot be asked stands for no.
const gone = "The store of the limit cannot be reached, and without it nothing is admitted."

// refusals are the bodies of all refusals there are, made once; index: limiter.Reason, and whether waiting helps.
var refusals = func() (bodies [len(details)][2]string) {
	for reason, detail := range details {
		limit := limiter.Reason(reason).String()
		bodies[reason][0] = quotaProblem(limit, never)
		bodies[reason][1] = quotaProblem(limit, detail)
	}
	return bodies
}()

// storeless is the body of a refusal that was made without the store.
var storeless = quotaProblem(limiter.ByGlobal.String(), gone)

// reasons are the limits that the bodies of refusals name.
var reasons = func() map[string]limiter.Reason {
	m := make(map[string]limiter.Reason)
	for reason := range refusals {
		for _, body := range refusals[reason] {
			m[body] = limiter.Reason(reason)
		}
	}
	m[storeless] = limiter.ByGlobal
	return m
}()

// RefusedBy reads off the body of a Handler's 429 which limit refused; false for somebody else's body.
func RefusedBy(body []byte) (by limiter.Reason, ok bool) {
	by, ok = reasons[string(body)]
	return by, ok
}

var cutShort = problem("Service Unavailable", http.StatusServiceUnavailable, "The service is shutting down.")

func quotaProblem(limit, detail string) string {
	return encode(struct {
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Status   int      `json:"status"`
		Detail   string   `json:"detail"`
		Limit    string   `json:"limit"`
		Violated []string `json:"violated-policies"`
	}{quotaExceeded, "Too Many Requests", http.StatusTooManyRequests, detail, limit, []string{limit}})
}

func problem(title string, status int, detail string) string {
	return encode(struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{title, status, detail})
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings always encode
	}
	return string(b) + "\n"
}

var problemJSON = []string{"application/problem+json"}

// refuse writes a problem document. The body is written as a string, which an in-process writer may keep without a copy.
func refuse(w http.ResponseWriter, status int, body string) {
	w.Header()["Content-Type"] = problemJSON
	w.WriteHeader(status)
	// A client that no longer listens is no fault of ours.
	_, _ = io.WriteString(w, body)
}

// reject answers an attempt that the limiter rejected, or that was rejected blindly, without the store that would know.
func reject(w http.ResponseWriter, d limiter.Decision, blind bool) {
	body := &refusals[d.By][1]
	switch {
	case blind:
		body = &storeless
	case d.Wait == limiter.Never:
		body = &refusals[d.By][0]
	}
	if d.Told > 0 {
		w.Header()[fieldRetryAfter] = decimal(int64(wholeSeconds(d.Told) / time.Second))
	}
	refuse(w, http.StatusTooManyRequests, *body)
}
