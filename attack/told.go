package attack

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// toldWait is what an answer's Retry-After says: whole seconds or an HTTP-date (RFC 9110, section 10.2.3), which counts from the
// answer's own Date where it has one and otherwise from the clock, rounded up. 0: it says nothing, or nothing that can be waited for, such
// as "0", a date that has passed, or no number at all.
func toldWait(h http.Header, clock func() time.Time) time.Duration {
	values := h["Retry-After"]
	if len(values) == 0 {
		return 0
	}
	text := strings.TrimSpace(values[0])
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return time.Duration(min(n, uint64(mostTold/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = clock()
	}
	wait := at.Sub(from)
	if wait <= 0 {
		return 0
	}
	return min((wait+time.Second-1)/time.Second*time.Second, mostTold)
}

// mostTold is the longest wait that is understood: a year.
const mostTold = 365 * 24 * time.Hour
