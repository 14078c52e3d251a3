package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"fairgate/fairness"
)

// mostReport bounds a report's file: beyond any that this program writes.
const mostReport = 1 << 30

// readReport reads a JSON report and says what is wrong with a file that holds none.
func readReport(file string) (*fairness.Report, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	const remedy = "write a report with fairgate run --format json --output FILE, or recorded attempts with fairgate run --record FILE.gob"
	var keys map[string]json.RawMessage // none where it is no object, which the next step will say
	_ = json.Unmarshal(data, &keys)
	for key, what := range map[string]string{"runs": "a comparison of several", "seeds": "the means of several", "steps": "a lesson", "by_shards": "a prediction"} {
		if _, has := keys[key]; has {
			return nil, wrong("%s is no report of a run: it is %s; %s", file, what, remedy)
		}
	}
	var r fairness.Report
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &r); {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, wrong("%s is empty: %s", file, remedy)
	case errors.As(err, &syntax):
		return nil, wrong("%s is no JSON report (%s: %v): %s", file, place(data, syntax.Offset), syntax, remedy)
	case errors.As(err, &kind) && kind.Field == "":
		return nil, wrong("%s is no JSON report (it is one %s, and a report is an object): %s", file, kind.Value, remedy)
	case errors.As(err, &kind):
		return nil, wrong("%s is no JSON report (%s: %s cannot be a %s): %s", file, place(data, kind.Offset), strings.TrimPrefix(kind.Field, "Measures."), kind.Value, remedy)
	case err != nil:
		return nil, wrong("%s is no JSON report (%v): %s", file, err, remedy)
	case r.Schema != 1:
		return nil, wrong(`%s is no report that is understood: its "schema" is %d, and 1 is what it should be; %s`, file, r.Schema, remedy)
	}
	if text := notARun(keys, &r); text != "" {
		return nil, wrong("%s is no report of a run: %s; %s", file, text, remedy)
	}
	return &r, nil
}

// readFile reads a whole file; the error names it.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, mostReport))
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, wrong("%s cannot be read: %v", file, err)
	}
	return data, nil
}

// notARun says what a JSON object of the right schema lacks that every report of a run has, or has that none can have; "" for nothing.
func notARun(keys map[string]json.RawMessage, r *fairness.Report) string {
	for _, key := range []string{"mode", "limiter", "aggregate", "fairness", "clients"} {
		if _, has := keys[key]; !has {
			return fmt.Sprintf("it has no %q", key)
		}
	}
	if modes := []string{"live", "simulated", "recorded"}; !slices.Contains(modes, r.Mode) {
		return fmt.Sprintf("its mode is %q, and should be %s", r.Mode, oneOf(modes))
	}
	verdicts := []string{string(fairness.Fair), string(fairness.Contended), string(fairness.Starved), string(fairness.Idle), string(fairness.Unknown)}
	if !slices.Contains(verdicts, string(r.Fairness.Verdict)) {
		return fmt.Sprintf("its verdict is %q, and should be %s", r.Fairness.Verdict, oneOf(verdicts))
	}
	known := map[string]bool{}
	for i, c := range r.Clients {
		switch {
		case c.Name == "":
			return fmt.Sprintf("its client %d has no name", i+1)
		case known[c.Name]:
			return fmt.Sprintf("it has two clients of the name %q", c.Name)
		case c.Attempts != c.Admitted+c.Rejected+c.Errors+c.InFlight:
			return fmt.Sprintf("the %d attempts of %q are not those that were admitted, rejected, failed or in flight", c.Attempts, c.Name)
		}
		known[c.Name] = true
	}
	return ""
}

// place is where in a text an offset lies.
func place(data []byte, offset int64) string {
	before := data[:min(int(offset), len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return fmt.Sprintf("line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n'))
}
