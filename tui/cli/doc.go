// Package cli is fairgate's command line: it turns words into a run, and a run into a report and an exit code.
//
// Each command is a file. A command declares its flags and returns a function that carries it out:
//
//	args ─► pick a command ─► parse its flags ─► load the profile, lay the flags over it ─► open the output
//	     ─► run (screen, or a line a second) ─► report, expectations ─► exit code
//
// Whatever can be wrong is told before anything is attacked: flags, profile, and a file that cannot be written. Standard output
// carries the result alone; progress, notes and errors go to standard error.
//
// Invariant: once an attack has begun, its report is printed, however it ends: by itself, by q, by a signal, by a closed
// terminal or by a panic. The exit codes are the constants of exit.go.
package cli
