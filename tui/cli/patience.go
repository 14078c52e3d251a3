package cli

import (
	"bytes"
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// shortPatience is how long a write to a terminal may take once there is something better to do than to wait for it.
const shortPatience = 2 * time.Second

// errStuck is the error of a terminal that takes no output: stopped with Ctrl-S, or at the other end of a line that is dead.
var errStuck = errors.New("the terminal takes no output")

// writePatiently writes to a terminal, however long that takes; but once hurry is closed only for a short time. A write that was
// given up may still come through later.
func writePatiently(f *os.File, b []byte, hurry <-chan struct{}) (int, error) {
	if hurry == nil {
		return f.Write(b)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := bytes.Clone(b) // the caller's may change once it has been told that nothing was written
	go func() {
		n, err := f.Write(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-hurry:
	}
	timer := time.NewTimer(shortPatience)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.n, r.err
	case <-timer.C:
		return 0, errStuck
	}
}

// A patientFile is the terminal as the dashboard writes to it. It never keeps a run that has ended, or a signal, waiting: a terminal
// that was found stuck then is not tried again.
type patientFile struct {
	*os.File
	hurry <-chan struct{}
	stuck atomic.Bool
}

func (p *patientFile) Write(b []byte) (int, error) {
	if p.stuck.Load() {
		return 0, errStuck
	}
	n, err := writePatiently(p.File, b, p.hurry)
	if errors.Is(err, errStuck) {
		p.stuck.Store(true)
	}
	return n, err
}

// WriteString implements io.StringWriter, which the file's own would answer without patience.
func (p *patientFile) WriteString(s string) (int, error) { return p.Write([]byte(s)) }

// either is closed when one of them is.
func either(a, b <-chan struct{}) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		select {
		case <-a:
		case <-b:
		}
	}()
	return c
}
