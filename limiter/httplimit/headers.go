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
	fieldStore      = "X-Ratelimit-Store" // only where the decision was made without the store that it belongs to
)

// A view is the state of the limits as the header values to be sent. It never changes once it is made, and is shared between answers: the policy
// seldom changes, and under pressure, when answers are many, the state does not either, since nothing is left.
type view struct {
	quotas                                 []limiter.Quota // what it was made from, Reset in whole seconds
	policy, state, limit, remaining, reset []string        // without room to append to in place
}

func (v *view) write(h http.Header) {
	if v == nil {
		return // no limit counts for the client
	}
	h[fieldPolicy] = v.policy
	h[fieldState] = v.state
	h[fieldLimit] = v.limit
	h[fieldRemaining] = v.remaining
	h[fieldReset] = v.reset
}

// view is the client's last view, where that still holds of the ticket's quotas, or else a new one. It is made outside of the lock.
func (t *ticket) view() *view {
	if len(t.quotas) == 0 {
		return nil
	}
	last := t.who.view.Load()
	samePolicy := last != nil && len(last.quotas) == len(t.quotas)
	sameState := samePolicy
	for i := range t.quotas {
		q := &t.quotas[i]
		q.Reset = wholeSeconds(q.Reset)
		if samePolicy {
			was := &last.quotas[i]
			samePolicy = q.Name == was.Name && q.Rate == was.Rate
			sameState = sameState && q.Remaining == was.Remaining && q.Reset == was.Reset
		}
	}
	if samePolicy && sameState {
		return last
	}
	v := newView(t.quotas)
	if samePolicy {
		v.policy, v.limit = last.policy, last.limit
	} else {
		v.tellPolicy()
	}
	t.who.view.Store(v)
	return v
}

// newView tells the state of quotas, the tightest first.
func newView(quotas []limiter.Quota) *view {
	v := &view{quotas: append([]limiter.Quota(nil), quotas...)}
	var buf [128]byte
	b := buf[:0]
	for i := range quotas {
		q := &quotas[i]
		b = appendItem(b, i, q.Name, ";r=", max(q.Remaining, 0), ";t=", int64(q.Reset/time.Second))
	}
	v.state = []string{string(b)}
	v.remaining = decimal(max(quotas[0].Remaining, 0))
	v.reset = decimal(int64(quotas[0].Reset / time.Second))
	return v
}

// tellPolicy adds what the limits are.
func (v *view) tellPolicy() {
	var b []byte
	for i := range v.quotas {
		tokens, window := quotaOf(v.quotas[i].Rate)
		b = appendItem(b, i, v.quotas[i].Name, ";q=", tokens, ";w=", window)
		if i == 0 {
			v.limit = decimal(tokens)
		}
	}
	v.policy = []string{string(b)}
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
