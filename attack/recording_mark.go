package attack

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/limiter/httplimit"
)

// markField is a header field that a recorded answer carries beside its own: what the client and the limiter knew of the attempt, and no
// answer says. It is never sent; recordings alone have it.
//
//	Fairgate-Attempt: request=17 try=1 sent=1772366400000000000 decided=500000 waited=0 needed=1200000 ended
//
// request is the number of the logical request within its client, try the retry's; sent is in nanoseconds of Unix time, more exact than the
// result's own timestamp, which vegeta takes before it makes the request; the other times are in nanoseconds: from sending to the
// decision, in a queue, and the exact wait that was needed. ended: the request ended by this attempt.
const markField = "Fairgate-Attempt"

// mark writes the field of an attempt.
func (r *Run) mark(h http.Header, a *Attempt, o *fairness.Outcome, exact, ended bool) {
	b := fmt.Appendf(nil, "request=%d try=%d sent=%d", a.Request, a.Try, r.began.Add(a.Sent).UnixNano())
	if exact {
		b = fmt.Appendf(b, " decided=%d", int64(o.Decided-a.Sent))
		if o.Queued {
			b = fmt.Appendf(b, " waited=%d", int64(o.Waited))
		}
		if o.Needed > 0 {
			b = fmt.Appendf(b, " needed=%d", int64(o.Needed))
		}
	}
	if ended {
		b = append(b, " ended"...)
	}
	h[markField] = []string{string(b)}
}

// unknownReason is the reason of a rejection by somebody who does not say which limit refused.
const unknownReason = uint8(len(limiter.Reasons))

// recordedReasons are the reasons of a recording.
var recordedReasons = append(append([]string{}, limiter.Reasons[:]...), "unknown")

// read fills in what the mark and the body of a result say; false when it has no mark: then it is taken for a request of its own.
func (h *hit) read(res *vegeta.Result) bool {
	if by, ok := httplimit.RefusedBy(res.Body); ok {
		h.by = uint8(by)
	}
	h.ended = true
	values := res.Headers[markField]
	if len(values) == 0 {
		return false
	}
	h.ended = false
	for _, word := range strings.Fields(values[0]) {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case word == "ended":
			h.ended = true
		case err != nil || n < 0:
		case key == "request":
			h.request = uint64(n)
		case key == "try":
			h.retry = n > 0
		case key == "sent":
			if late := time.Duration(n - res.Timestamp.UnixNano()); late >= 0 && late <= res.Latency {
				h.sent += late
			}
		case key == "decided":
			h.decided = min(h.sent+time.Duration(n), h.seen)
		case key == "waited":
			h.waited = min(time.Duration(n), res.Latency)
		case key == "needed":
			h.needed = time.Duration(n)
		}
	}
	return true
}
