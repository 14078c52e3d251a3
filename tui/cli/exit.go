package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// The exit codes. A signal outranks an expectation that was not met.
const (
	exitDone        = 0
	exitFailed      = 1 // something went wrong while it ran
	exitUsage       = 2 // wrong flags, a bad profile, a file that cannot be written
	exitExpectation = 3 // an expectation was not met
	exitHungUp      = 128 + int(syscall.SIGHUP)
	exitInterrupted = 128 + int(syscall.SIGINT)
	exitTerminated  = 128 + int(syscall.SIGTERM)
)

// A usageError is the user's to mend; it is told without further ado and ends with exitUsage.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// wrong makes a usageError. The text says what is wrong, where, and what would be right.
func wrong(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// An exitError ends with a code of its own and says nothing more, since what there was to say has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// codeOf is the exit code that an error ends with.
func codeOf(err error) int {
	var exit exitError
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}

// codeOfSignal is the exit code after a signal.
func codeOfSignal(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitFailed
}
