package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairgate/profiles"
)

// On a real terminal: keys tune a client, u takes it back, w writes the state; r begins anew, and the report is that of the last run.
func TestTuningOnATerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, program, nil, "run", "starvation", "--duration", "1h")
	s.out.await(t, "batch")
	s.press(t, "s")
	s.out.await(t, "unlimited")
	s.press(t, "z")
	s.out.await(t, "LOAD PAUSED")
	s.press(t, "u")
	s.press(t, "w")
	s.out.await(t, "starvation-1.yaml")
	s.press(t, "R")
	s.press(t, "q")
	code, after := s.ended(t)
	if code != exitDone {
		t.Errorf("exit code %d", code)
	}
	reported(t, after)
	p, err := profiles.Load(filepath.Join(s.cmd.Dir, "starvation-1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Clients[0].Retry.Attempts != profiles.Unlimited || p.Clients[0].Stop != 0 || p.Duration != time.Hour {
		t.Errorf("written: %+v", p.Clients[0])
	}
}

// A lesson on a real terminal: the question, the answer with the run's figures, the next step in force.
func TestALessonOnATerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, program, nil, "run", "starvation", "--lesson")
	s.out.await(t, "lesson 1/8")
	s.out.await(t, "about a tenth")
	s.press(t, "3")
	s.out.await(t, "Monitoring sees")
	s.press(t, "n")
	s.out.await(t, "halving")
	s.press(t, "q")
	code, after := s.ended(t)
	if code != exitDone {
		t.Errorf("exit code %d", code)
	}
	reported(t, after)
}

// A lesson needs a screen, and a profile that has one.
func TestALessonThatCannotBe(t *testing.T) {
	mine := profile(t, "name: mine\nlimiter: {rate: 100/s}\nclients: [{name: web}]\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"run", mine, "--lesson"}, "has no lesson"},
		{[]string{"run", "starvation", "--lesson", "--headless"}, "leave --headless out"},
		{[]string{"run", "starvation", "--lesson"}, "there is none"},
	} {
		if got := fairgate(t, c.args...); got.code != exitUsage || !strings.Contains(got.err, c.says) {
			t.Errorf("%v: exit code %d, %q", c.args, got.code, got.err)
		}
	}
}
