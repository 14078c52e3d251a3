package cli

import (
	"context"
	"strings"
	"sync"

	"fairgate/attack"
	"fairgate/limiter/redislimit"
	"fairgate/profiles"
)

// storeInMemory is how the command line calls the store that is none.
const storeInMemory = "memory"

// A store is where a profile's limiter counts, when that is not this process's memory; nil when it is. What it has to say is a note on standard
// error and a mark in the timeline; while a screen is drawn, notes wait for its end.
type store struct {
	*redislimit.Store
	sh *shell

	mu     sync.Mutex
	screen bool
	mark   func(string) // of the run of now; nil: none yet
	kept   []string
	more   int
}

// mostKept bounds the notes that wait for the end of the screen.
const mostKept = 20

// openStore opens the store that a profile names. An error says what it cannot count. A server that does not answer is no error, since the profile says what happens then.
func openStore(sh *shell, p *profiles.Profile) (*store, error) {
	if p.Store.URL == "" {
		return nil, nil
	}
	s := &store{sh: sh}
	var err error
	s.Store, err = redislimit.New(redislimit.Options{
		URL: p.Store.URL, Config: p.Limiter, OnError: redislimit.OnError(p.Store.OnError), TTL: p.Store.TTL, Notice: s.say,
	})
	if err != nil {
		return nil, p.Locate(err)
	}
	if p.Store.Far() {
		sh.note("fairgate: the store %s is neither on this machine nor in a private network: every decision goes there and back", p.Store.Name())
	}
	if err := s.Ping(context.Background()); err != nil {
		sh.note("fairgate: %s: %v; until it does, on_store_error decides: %s", p.Store.Name(), err, p.Store.OnError)
	}
	return s, nil
}

// say passes a notice on.
func (s *store) say(notice string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mark != nil {
		brief, _, _ := strings.Cut(notice, " (") // without what the network said
		s.mark(brief)
	}
	switch {
	case !s.screen:
		s.sh.note("fairgate: %s", notice)
	case len(s.kept) < mostKept:
		s.kept = append(s.kept, notice)
	default:
		s.more++
	}
}

// forRun is the store as a run takes it; nil: it counts in memory.
func (s *store) forRun() attack.Store {
	if s == nil {
		return nil
	}
	return s
}

// marks says where what happens is marked from now on.
func (s *store) marks(mark func(string)) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mark = mark
	}
}

// watch says whether a screen is drawn from now on.
func (s *store) watch(screen bool) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.screen = screen
	}
}

// finish says what had to wait, and how the store answered, if that was not always; and closes the connections.
func (s *store) finish() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.mark, s.screen = nil, false
	for _, notice := range s.kept {
		s.sh.note("fairgate: %s", notice)
	}
	if s.more > 0 {
		s.sh.note("fairgate: and %d more such notes about the store", s.more)
	}
	s.mu.Unlock()
	if h := s.Health(); h.Outages+h.Admitted+h.Rejected > 0 {
		s.sh.note("fairgate: %s", h)
	}
	s.Close() // the process ends anyway
}
