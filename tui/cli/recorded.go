package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"fairgate/attack"
	"fairgate/fairness"
)

// isRecording reports whether a file holds results of vegeta, by its first bytes. What cannot be opened is for others to complain of.
func isRecording(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := bufio.NewReader(f).Peek(4096)
	return attack.RecordingEncoding(head) != ""
}

// recordings tells whether the files are recordings; all must be, or none.
func recordings(files []string) (bool, error) {
	var yes, no string
	for _, file := range files {
		if isRecording(file) {
			yes = file
		} else {
			no = file
		}
	}
	if yes != "" && no != "" {
		return false, wrong("%s holds recorded attempts and %s does not: recordings make one report together, reports are shown beside each other; give one kind", yes, no)
	}
	return yes != "", nil
}

// recorded makes one report of recordings.
func (c *reread) recorded(sh *shell, names []string) error {
	rec, files, err := attack.ReadRecording(names...)
	if err != nil {
		return wrong("%v", err)
	}
	whole := tellFaults(sh, files)
	if c.warmUp >= rec.Length {
		return wrong("--warm-up %s leaves nothing of the %s that were recorded", c.warmUp, rec.Length)
	}
	for _, expr := range c.report.expect {
		condition, err := fairness.ParseExpectation(expr, rec.Clients)
		if err != nil {
			return wrong("--expect: %v", err)
		}
		c.report.asked = append(c.report.asked, condition)
	}
	if err := c.report.out.open(); err != nil {
		return err
	}
	defer c.report.out.discard()
	r := rec.Report(attack.RecordedOptions{Rate: c.rate, Burst: c.burst, WarmUp: c.warmUp})
	r.Profile, r.Title = attack.RecordingTitle(files)
	c.report.source = strings.Join(names, ", ")
	if !rec.Marked {
		sh.note("fairgate: nothing in it tells retries from first attempts, so every attempt counts as a request of its own")
	}
	err = c.report.finish(sh, r, false, c.look)
	if !whole && (err == nil || codeOf(err) == exitExpectation) {
		return exitError(exitFailed) // what is missing may be what decides
	}
	return err
}

// tellFaults says which files could not be read to their end; whole tells that there is none.
func tellFaults(sh *shell, files []attack.RecordingFile) (whole bool) {
	whole = true
	for _, f := range files {
		if f.Fault != nil {
			whole = false
			sh.note("fairgate: %s (%s): %s read, and then %v; the report is of what was read", f.Name, f.Encoding, wereRead(f.Results), f.Fault)
		}
	}
	return whole
}

func wereRead(results int) string {
	if results == 1 {
		return "1 result was"
	}
	return fmt.Sprintf("%d results were", results)
}
