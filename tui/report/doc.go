// Package report writes a finished run for people and for programs.
//
// Everything here is a pure function from a [fairness.Report] or a [fairness.Snapshot] to text: no clock, no terminal, no file. The
// same report always gives the same bytes.
//
//	fairness.Report ─┬─► Text      80 columns for people, coloured only through a given renderer
//	                 ├─► JSON      the contract, schema version 1
//	                 ├─► Markdown  tables for an issue or a wiki
//	                 └─► HTML      one page that loads nothing: plots, for wide and narrow screens and for paper
//	fairness.Snapshot ──► Line     one line of progress
//
// Text and Markdown open with two views that often contradict each other, since that is what the program is about: what monitoring
// sees (the sum of all clients against the limit) and what the clients see (who got how much of what it was entitled to).
// A quantity that does not exist is null in JSON and "n/a" for people; it is never written as 0.
package report
