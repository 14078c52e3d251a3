package cli

import (
	"strings"
	"testing"
)

// On a terminal what others send is drawn, its keys steer the limit, and q ends it.
func TestServeOnAScreen(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, program, nil, "serve", profile(t, scarce), "--listen", "127.0.0.1:0")
	at := address(t, s.out)
	s.out.await(t, enterAlternate)
	for range 4 {
		ask(t, at, "X-Client-Id", "zoe-of-the-street")
	}
	s.out.await(t, "zoe-of-the-street")
	s.press(t, "p")
	s.out.await(t, "fair-queue") // per-client lacks a rate for each client
	s.press(t, "q")
	code, after := s.ended(t)
	if code != exitDone || !strings.Contains(after, "served") || !strings.Contains(after, "policy global → fair-queue") {
		t.Errorf("exit code %d, %q", code, after)
	}
	reported(t, after)
}

// Whoever attacks what may be somebody else's is asked, and no is the answer of whoever says nothing.
func TestAPublicAddressIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"\n", "n\n", "no\n"} {
		s := onTerminal(t, program, nil, "run", "agent", "--target", "http://192.0.2.1/")
		s.out.await(t, "[y/N]")
		s.press(t, answer)
		if code := exitCode(t, s.cmd); code != exitUsage {
			t.Errorf("%q: exit code %d", answer, code)
		}
		s.out.await(t, "nothing was sent")
		if strings.Contains(s.out.String(), enterAlternate) {
			t.Errorf("%q: and the run begins", answer)
		}
	}
}

// The limiter of a target is its own: the key for another policy says so in the footer.
func TestTheTargetsPolicyCannotBeStepped(t *testing.T) {
	t.Parallel()
	server, at := served(t, profile(t, scarce))
	_ = server
	s := onTerminal(t, program, nil, "run", "agent", "--target", at, "--duration", "1h")
	s.out.await(t, "inventory")
	s.press(t, "p")
	s.out.await(t, "the limiter is the target's own")
	s.press(t, "q")
	if code, after := s.ended(t); code != exitDone {
		t.Errorf("exit code %d, %q", code, after)
	}
}
