package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// An Exit says why the dashboard closed.
type Exit uint8

// The exits.
const (
	Quit        Exit = iota // the user pressed q
	Finished                // the run is over
	Interrupted             // ctrl+c
	Ended                   // the context was cancelled
	Failed                  // a panic, or the terminal was lost; Run returns the error
)

func (e Exit) String() string {
	return [...]string{"quit", "finished", "interrupted", "ended", "failed"}[e]
}

// Run shows the dashboard on the alternate screen until it is left, and gives the terminal back as it was, in every case. in and out are
// the terminal. It leaves by itself when the run is over, unless the picture is paused or the help is open. Signals are the caller's: it
// cancels ctx for them. A panic within the dashboard is returned as an error with its stack, after the terminal is whole again.
func Run(ctx context.Context, s Source, o Options, in io.Reader, out io.Writer) (Exit, error) {
	return run(ctx, New(s, o), in, out)
}

func run(ctx context.Context, m Model, in io.Reader, out io.Writer) (exit Exit, err error) {
	p := tea.NewProgram(m,
		tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(),
		tea.WithoutSignalHandler(), // the caller's context stands for them
		tea.WithoutCatchPanics(),   // it would print to standard output, where the report goes
	)
	defer func() { // of Bubble Tea's own; ours never come this far
		if r := recover(); r != nil {
			stack := debug.Stack()
			p.Kill()
			_ = p.ReleaseTerminal() // the panic is the error worth telling
			exit, err = Failed, fmt.Errorf("the screen panicked: %v\n%s", r, stack)
		}
	}()
	over := make(chan struct{})
	defer close(over)
	go leaveWith(ctx, p, over)
	last, err := p.Run()
	if m.crash.err != nil {
		return Failed, m.crash.err
	}
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
			return Ended, nil
		}
		return Failed, fmt.Errorf("the terminal was lost: %w", err)
	}
	return last.(Model).exit, nil
}

// endMsg says that the caller's context has ended.
type endMsg struct{}

// shutIn is how long the program may take to leave by itself once the context has ended.
const shutIn = 3 * time.Second

// leaveWith ends the program with the context, in good order: Bubble Tea's own way kills it, and closes the
// input while it is being read. A program that hangs is killed all the same.
func leaveWith(ctx context.Context, p *tea.Program, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	go p.Send(endMsg{}) // it waits while the program is busy
	timer := time.NewTimer(shutIn)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
		p.Kill()
	}
}
