package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fairgate/fairness"
	"fairgate/tui/report"
)

var reportCommand = &command{
	name:  "report",
	args:  "FILE...",
	short: "recorded reports again, or beside each other",
	long: "Reads the JSON reports that run and simulate write. One is written anew in another format; of several it shows what differs in their settings, " +
		"and their figures beside each other, the best marked.",
	examples: []string{
		"fairgate report before.json after.json",
		"fairgate report monday.json --format markdown --output monday.md",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		c := &reread{}
		c.out.flags(g.group("The report"))
		c.look.flags(g, false)
		return c.do
	},
}

// A reread is the report command as its flags ask for it.
type reread struct {
	out  output
	look look
}

func (c *reread) do(sh *shell, files []string) error {
	if len(files) == 0 {
		return wrong("report needs a file: write for example fairgate report before.json after.json")
	}
	all := &report.Comparison{Recorded: true, Best: -1}
	for _, file := range files {
		r, err := readReport(file)
		if err != nil {
			return err
		}
		all.Variants = append(all.Variants, report.Variant{Name: file, Report: r})
	}
	shorten(all.Variants)
	if err := c.out.open(); err != nil {
		return err
	}
	defer c.out.discard()
	if len(files) == 1 {
		return c.out.write(sh, all.Variants[0].Report, c.look)
	}
	return c.out.writeComparison(sh, all, c.look)
}

// shorten names the variants by their files alone, where that tells them apart.
func shorten(variants []report.Variant) {
	seen := map[string]bool{}
	for _, v := range variants {
		base := filepath.Base(v.Name)
		if seen[base] {
			return
		}
		seen[base] = true
	}
	for i := range variants {
		variants[i].Name = filepath.Base(variants[i].Name)
	}
}

// mostReport bounds a report's file: beyond any that this program writes.
const mostReport = 1 << 30

// readReport reads a JSON report and says what is wrong with a file that holds none.
func readReport(file string) (*fairness.Report, error) {
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, mostReport))
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, wrong("%s cannot be read: %v", file, err)
	}
	const remedy = "write one with fairgate run --format json --output FILE"
	var r fairness.Report
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &r); {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, wrong("%s is empty: %s", file, remedy)
	case errors.As(err, &syntax):
		return nil, wrong("%s is no JSON report (%s: %v): %s", file, place(data, syntax.Offset), syntax, remedy)
	case errors.As(err, &kind):
		return nil, wrong("%s is no JSON report (%s: %s is a %s): %s", file, place(data, kind.Offset), kind.Field, kind.Value, remedy)
	case err != nil:
		return nil, wrong("%s is no JSON report (%v): %s", file, err, remedy)
	case r.Schema != 1:
		return nil, wrong(`%s is no report that is understood: its "schema" is %d, and 1 is what it should be; %s`, file, r.Schema, remedy)
	case r.Mode == "":
		return nil, wrong("%s is no report of a run, though it is JSON: %s", file, remedy)
	}
	return &r, nil
}

// place is where in a text an offset lies.
func place(data []byte, offset int64) string {
	before := data[:min(int(offset), len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return fmt.Sprintf("line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n'))
}
