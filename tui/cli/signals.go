package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// A stopSignal is why a context ended: the process was asked to stop.
type stopSignal struct{ os.Signal }

func (s stopSignal) Error() string { return fmt.Sprintf("stopped by the signal %q", s.Signal.String()) }

// A stopper ends a context with the first signal that asks the process to stop. The second one ends the process at once: whoever presses Ctrl-C twice
// does not want to wait for a report.
//
// Signals that the process was started to ignore stay ignored (nohup, a shell's background job). Writing to a pipe that nobody
// reads is an error from now on and no longer the end of the process, since a report may still have to be written elsewhere.
type stopper struct {
	ctx      context.Context
	stop     context.CancelCauseFunc
	incoming chan os.Signal
	pipe     chan os.Signal
	released chan struct{}
}

// newStopper begins to listen. atOnce is what must be done before the process ends at once.
func newStopper(parent context.Context, atOnce func()) *stopper {
	s := &stopper{incoming: make(chan os.Signal, 2), pipe: make(chan os.Signal, 1), released: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(parent)
	signal.Notify(s.pipe, syscall.SIGPIPE)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(s.incoming, sig)
		}
	}
	go func() {
		for {
			select {
			case <-s.released:
				return
			case sig := <-s.incoming:
				if s.ctx.Err() != nil {
					atOnce()
					os.Exit(codeOfSignal(sig))
				}
				s.stop(stopSignal{sig})
			}
		}
	}()
	return s
}

// interrupt is Ctrl-C in a terminal that makes a key of it.
func (s *stopper) interrupt() { s.stop(stopSignal{syscall.SIGINT}) }

// signal that ended the context; nil when it was none.
func (s *stopper) signal() os.Signal {
	var stop stopSignal
	if errors.As(context.Cause(s.ctx), &stop) {
		return stop.Signal
	}
	return nil
}

// release gives the signals back.
func (s *stopper) release() {
	signal.Stop(s.incoming)
	signal.Stop(s.pipe)
	close(s.released)
	s.stop(nil)
}
