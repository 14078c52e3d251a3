package httplimit

import (
	"math/bits"
	"net/http"
	"strconv"
	"time"

	"fairgate/limiter"
)

// The fields, spelled as net/http keeps them; on the wire their case means nothing.
const (
	fieldRetryAfter = "Retry-After"
	fieldPolicy     = "Ratelimit-Policy"
	fieldState      = "Ratelimit"
	fieldLimit      = "X-Ratelimit-Limit"
	fieldRemaining  = "X-Ratelimit-Remaining"
	fieldReset      = "X-Ratelimit-Reset"
)

// A view is the state of the limits as the header values to be sent. The slices are shared between answers and never changed; they have no room
// to append to in place.
type view struct {
	policy, state, limit, remaining, reset []string
}

func (v *view) write(h http.Header) {
	if v.policy == nil {
		return // no limit counts for the client
	}
	h[fieldPolicy] = v.policy
	h[fieldState] = v.state
	h[fieldLimit] = v.limit
	h[fieldRemaining] = v.remaining
	h[fieldReset] = v.reset
}

// fields remembers the last view of a client and what it was made from: the policy seldom changes, and under pressure, when answers
// are many, the state does not either (nothing is left).
type fields struct {
	quotas []limiter.Quota // remaining and reset as they were sent: Reset in whole seconds
	view   view
}

func (h *Handler) viewLocked(now time.Duration, who *caller) view {
	h.quotas = h.lim.Quotas(now, who.handle, h.quotas[:0])
	return who.fields.of(h.quotas)
}

// of is the view of these quotas, the tightest first.
func (f *fields) of(quotas []limiter.Quota) view {
	samePolicy, sameState := len(quotas) == len(f.quotas), true
	for i := range quotas {
		q := &quotas[i]
		q.Reset = wholeSeconds(q.Reset)
		if !samePolicy {
			continue
		}
		was := &f.quotas[i]
		samePolicy = q.Name == was.Name && q.Rate == was.Rate
		sameState = sameState && q.Remaining == was.Remaining && q.Reset == was.Reset
	}
	if samePolicy && sameState {
		return f.view
	}
	if len(quotas) == 0 {
		*f = fields{}
		return f.view
	}
	f.quotas = append(f.quotas[:0], quotas...)
	var buf [128]byte
	b := buf[:0]
	if !samePolicy {
		for i, q := range quotas {
			tokens, window := quotaOf(q.Rate)
			b = appendItem(b, i, q.Name, ";q=", tokens, ";w=", window)
		}
		f.view.policy = []string{string(b)}
		tokens, _ := quotaOf(quotas[0].Rate)
		f.view.limit = decimal(tokens)
		b = b[:0]
	}
	for i, q := range quotas {
		b = appendItem(b, i, q.Name, ";r=", max(q.Remaining, 0), ";t=", int64(q.Reset/time.Second))
	}
	f.view.state = []string{string(b)}
	f.view.remaining = decimal(max(quotas[0].Remaining, 0))
	f.view.reset = decimal(int64(quotas[0].Reset / time.Second))
	return f.view
}

// appendItem appends one item of a structured field list: "name";k=v;l=w. Names of limits are plain words and need no escaping.
func appendItem(b []byte, i int, name, k string, v int64, l string, w int64) []byte {
	if i > 0 {
		b = append(b, ", "...)
	}
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, '"')
	b = append(b, k...)
	b = strconv.AppendInt(b, v, 10)
	b = append(b, l...)
	return strconv.AppendInt(b, w, 10)
}

// maxField is the largest integer that a structured field may carry (RFC 9651, section 3.3.1).
const maxField = 999_999_999_999_999

// quotaOf is the rate as a quota per window of whole seconds: as it was written where that is whole seconds, and otherwise
// scaled to the fewest seconds that are. A rate too fine for that is given per second, rounded down, at least 1.
func quotaOf(r limiter.Rate) (tokens, seconds int64) {
	if r.Per <= 0 {
		return 0, 1
	}
	times := int64(time.Second) / greatestCommon(int64(r.Per), int64(time.Second))
	hi, lo := bits.Mul64(uint64(r.Tokens), uint64(times))
	perHi, per := bits.Mul64(uint64(r.Per), uint64(times))
	if hi == 0 && lo <= maxField && perHi == 0 && per/uint64(time.Second) <= maxField {
		return int64(lo), int64(per / uint64(time.Second))
	}
	return max(int64(min(r.PerSecond(), maxField)), 1), 1
}

func greatestCommon(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	if d > limiter.Never-time.Second {
		return limiter.Never / time.Second * time.Second
	}
	return (d + time.Second - 1) / time.Second * time.Second
}

// small are the header values of the integers that are sent over and over.
var small = func() (v [1024][]string) {
	for i := range v {
		v[i] = []string{strconv.Itoa(i)}
	}
	return v
}()

func decimal(n int64) []string {
	if n >= 0 && n < int64(len(small)) {
		return small[n]
	}
	return []string{strconv.FormatInt(n, 10)}
}
