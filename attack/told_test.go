package attack

import (
	"net/http"
	"testing"
	"time"
)

func TestToldWait(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		retryAfter, date string
		want             time.Duration
	}{
		{"", "", 0},
		{"1", "", time.Second},
		{" 90 ", "", 90 * time.Second},
		{"0", "", 0},
		{"-1", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{"99999999999999999999", "", 0},
		{"9223372036854775807", "", mostTold},
		{at.Add(30 * time.Second).Format(http.TimeFormat), "", 30 * time.Second},
		{at.Add(-time.Second).Format(http.TimeFormat), "", 0},
		{at.Format(http.TimeFormat), "", 0},
		{at.Add(time.Hour).Format(http.TimeFormat), at.Add(59 * time.Minute).Format(http.TimeFormat), time.Minute}, // the server's clock is ahead
		{at.Add(time.Hour).Format(http.TimeFormat), "yesterday", time.Hour},
		{at.AddDate(9, 0, 0).Format(http.TimeFormat), "", mostTold},
	} {
		h := http.Header{}
		if c.retryAfter != "" {
			h.Set("Retry-After", c.retryAfter)
		}
		if c.date != "" {
			h.Set("Date", c.date)
		}
		if got := toldWait(h, func() time.Time { return at }); got != c.want {
			t.Errorf("Retry-After %q, Date %q: %v, want %v", c.retryAfter, c.date, got, c.want)
		}
	}
	// Part of a second counts as a whole one.
	h := http.Header{"Retry-After": {at.Add(time.Second).Format(http.TimeFormat)}}
	if got := toldWait(h, func() time.Time { return at.Add(-time.Millisecond) }); got != 2*time.Second {
		t.Errorf("1.001 s count as %v", got)
	}
}
