package attack

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fairgate/fairness"
	"fairgate/profiles"
)

// Replay is the profile with the recorded clients in place of its own: each sends a request at every moment at which its recording has a first
// attempt. Retries are not sent as they were recorded, since they depend on what is refused: a client of the profile retries as the profile says, any
// other not at all. Clients of the profile keep their settings under their names, but for their arrivals; those that were not recorded are left out. It runs
// as long as the recording.
//
// notes say what of the profile or the recording could not be kept. The error is that of a profile that does not pass its check.
func (r *Recording) Replay(p *profiles.Profile) (replayed *profiles.Profile, notes []string, err error) {
	traces := make([][]time.Duration, len(r.Clients))
	for i := range r.hits {
		if h := &r.hits[i]; !h.retry {
			traces[h.client] = append(traces[h.client], h.sent)
		}
	}
	known := map[string]profiles.Client{}
	for _, c := range p.Expand() {
		known[c.Name] = c
	}
	replayed = p.Clone()
	replayed.Clients, replayed.Lesson = nil, nil
	taken := map[string]bool{}
	retrying := false
	for i, recorded := range r.Clients {
		if len(traces[i]) == 0 {
			notes = append(notes, fmt.Sprintf("%s sent retries alone, whose first attempts are not in the recording: left out", recorded))
			continue
		}
		name := usable(recorded, taken)
		c, ok := known[recorded]
		if !ok {
			c = profiles.Client{Kind: profiles.Interactive, Weight: 1, Cost: 1, Copies: 1, Retry: profiles.Retry{Backoff: profiles.NoBackoff, Jitter: profiles.NoJitter}}
		}
		retrying = retrying || ok && c.Retry.Attempts != 0
		c.Name, c.Start, c.Stop = name, 0, 0
		c.Arrivals = profiles.Arrivals{Process: profiles.Trace, Trace: traces[i]}
		replayed.Clients = append(replayed.Clients, c)
		delete(known, recorded)
	}
	if len(known) > 0 {
		notes = append(notes, fmt.Sprintf("of the profile's clients %d are not in the recording and send nothing", len(known)))
	}
	if !r.Marked && retrying {
		notes = append(notes, "the recording does not tell retries from first attempts: all are sent as requests, and retried again where the profile says so")
	}
	replayed.Duration = (r.Length + time.Millisecond).Truncate(time.Millisecond)
	if replayed.WarmUp >= replayed.Duration {
		replayed.WarmUp = 0
		notes = append(notes, "the profile's warm-up is longer than the recording: left out")
	}
	replayed.Expect = replayed.Expect[:0:0]
	names := make([]string, len(replayed.Clients))
	for i, c := range replayed.Clients {
		names[i] = c.Name
	}
	for _, expr := range p.Expect {
		if _, err := fairness.ParseExpectation(expr, names); err == nil {
			replayed.Expect = append(replayed.Expect, expr)
		}
	}
	return replayed, notes, replayed.Check()
}

// usable is a recorded name as a profile can have it: without what a name may not hold, and not yet taken.
func usable(recorded string, taken map[string]bool) string {
	name := strings.Map(func(c rune) rune {
		if c == utf8.RuneError || !unicode.IsPrint(c) || unicode.IsSpace(c) || strings.ContainsRune(`"'\<>=!`, c) {
			return '-'
		}
		return c
	}, recorded)
	if utf8.RuneCountInString(name) > 50 {
		name = string([]rune(name)[:50])
	}
	if name == "" {
		name = "client"
	}
	for base, n := name, 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name
}
