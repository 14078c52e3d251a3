// Command benchmarks compares this project's limiters with golang.org/x/time/rate and with the memory store of
// github.com/sethvargo/go-limiter, in one run on one machine:
//
//	go run .            five alternating runs of each pair, medians and ratios
//	go run . -short     shorter runs, for a first look
//	go run . -strict    and exit 1 when a target is missed
//
// The peers live in a module of their own, so that the program does not depend on them. Absolute times mean little on a shared
// machine; what counts is the ratio of two that ran alternately.
package main

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"text/tabwriter"
	"time"
)

func main() {
	testing.Init()
	short := flag.Bool("short", false, "shorter runs")
	strict := flag.Bool("strict", false, "exit 1 when a target is missed")
	flag.Parse()
	each := 500 * time.Millisecond
	if *short {
		each = 50 * time.Millisecond
	}
	if err := flag.Set("test.benchtime", each.String()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if missed := report(); missed > 0 && *strict {
		os.Exit(1)
	}
}

// report prints a line for each comparison and returns how many missed their target.
func report() (missed int) {
	w := tabwriter.NewWriter(os.Stdout, 14, 0, 2, ' ', 0)
	fmt.Fprintln(w, "decision\tours\tallocs\tpeer\tallocs\tratio\ttarget\t")
	for _, d := range append(duels(), asides()...) {
		ours, theirs, ratio := d.run()
		verdict := fmt.Sprintf("≤ %.2f met", d.target)
		switch {
		case d.target == 0:
			verdict = "none"
		case ratio > d.target || ours.allocs > 0:
			verdict = fmt.Sprintf("≤ %.2f MISSED", d.target)
			missed++
		}
		fmt.Fprintf(w, "%s\t%.1f ns\t%d\t%s %.1f ns\t%d\t%.2f\t%s\t\n",
			d.name, ours.ns, ours.allocs, d.peer, theirs.ns, theirs.allocs, ratio, verdict)
		w.Flush()
	}
	fmt.Println()
	fmt.Fprintln(w, "idle client, beside its name\tours\tpeer\ttarget\t")
	for _, clients := range []int{100_000, 1_000_000} {
		ours, theirs := bytesPerClient(clients, fillOurs), bytesPerClient(clients, fillGoLimiter)
		verdict := "met"
		if ours > idleTarget {
			verdict = "MISSED"
			missed++
		}
		fmt.Fprintf(w, "%d clients\t%.0f B\tgo-limiter %.0f B\t≤ %d B %s\t\n", clients, ours, theirs, idleTarget, verdict)
		w.Flush()
	}
	return missed
}
