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

// stoppable is a context that ends with the first signal that asks the process to stop. A second one ends the process at once, after atOnce: whoever
// presses Ctrl-C twice does not want to wait for a report. release gives the signals back.
//
// Signals that the process was started to ignore stay ignored (nohup, a shell's background job). Writing to a pipe that nobody
// reads is an error from now on and no longer the end of the process, since a report may still have to be written elsewhere.
func stoppable(parent context.Context, atOnce func()) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	incoming, pipe := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(incoming, s)
		}
	}
	released := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-released:
				return
			case s := <-incoming:
				if !first {
					atOnce()
					os.Exit(codeOfSignal(s))
				}
				cancel(stopSignal{s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(incoming)
		signal.Stop(pipe)
		close(released)
		cancel(nil)
	}
}

// signalOf is the signal that ended a context, nil when it was none.
func signalOf(ctx context.Context) os.Signal {
	var s stopSignal
	if errors.As(context.Cause(ctx), &s) {
		return s.Signal
	}
	return nil
}
