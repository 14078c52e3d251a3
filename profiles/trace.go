package profiles

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readAt reads when a process sends: one moment for once, all of them for trace.
func readAt(r *reader, n *node, path string, a *Arrivals) {
	if a.Process == Once {
		if !r.isScalar(n, path, "a duration such as 5s") {
			return
		}
		d, err := readDuration(n.text, 0)
		if err != nil {
			r.fail(n.at, path, "%s", err)
			return
		}
		a.At = d
		return
	}
	if !r.isList(n, path, "[0s, 150ms]") {
		return
	}
	trace := make([]time.Duration, 0, len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !r.isScalar(item, at, "a duration such as 150ms") {
			return
		}
		d, err := readDuration(item.text, 0)
		if err != nil {
			r.fail(item.at, at, "%s", err)
			return
		}
		if i > 0 && d < trace[i-1] {
			r.fail(item.at, at, "%s goes back in time, after %s: write the offsets in ascending order", d, trace[i-1])
			return
		}
		trace = append(trace, d)
	}
	a.Trace, a.File = trace, ""
}

func writeAt(a *Arrivals) *node {
	if a.Process == Once {
		return durationNode(a.At)
	}
	n := &node{kind: sequenceNode}
	for _, d := range a.Trace {
		n.items = append(n.items, durationNode(d))
	}
	return n
}

// maxTraceBytes bounds a trace file.
const maxTraceBytes = 256 << 20

// readTraceFile reads the offsets of a file beside the profile: one a line, as a
// duration (150ms) or as seconds (0.15), empty lines and # comments left out.
func readTraceFile(r *reader, n *node, path string, a *Arrivals) {
	if !r.isScalar(n, path, "the name of a file") {
		return
	}
	name := n.text
	if !filepath.IsAbs(name) && n.at.src != nil {
		name = filepath.Join(filepath.Dir(n.at.src.name), name)
	}
	if full, err := filepath.Abs(name); err == nil {
		name = full
	}
	f, err := openRegular(name)
	if err != nil {
		r.fail(n.at, path, "%s cannot be read: %s", quote(n.text), reason(err))
		return
	}
	defer f.Close()
	trace, e := readTimes(f, name)
	switch {
	case e != nil:
		e.Path = r.prefix + path
		r.err = e
		return
	case len(trace) == 0:
		r.fail(n.at, path, "%s holds no offset: write one a line, as in 150ms", quote(n.text))
		return
	}
	a.Trace, a.File = trace, name
}

// openRegular opens a file to read, and nothing that would block or never end.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file")
	}
	return os.Open(name)
}

func readTimes(file io.Reader, name string) ([]time.Duration, *Error) {
	var trace []time.Duration
	lines := bufio.NewScanner(io.LimitReader(file, maxTraceBytes))
	for number := 1; lines.Scan(); number++ {
		line, _, _ := strings.Cut(string(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff"))), "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		d, err := readOffset(line)
		if err == nil && len(trace) > 0 && d < trace[len(trace)-1] {
			err = fmt.Errorf("%s goes back in time, after %s: sort the file", line, trace[len(trace)-1])
		}
		if err == nil && len(trace) == maxRequests {
			err = fmt.Errorf("is one line too many: a trace has at most %d", maxRequests)
		}
		if err != nil {
			return nil, &Error{File: name, Line: number, Column: 1, Msg: err.Error(), Excerpt: (&source{lines: append(make([]string, number-1), line)}).excerpt(number, 1)}
		}
		trace = append(trace, d)
	}
	if err := lines.Err(); err != nil {
		return nil, &Error{File: name, Msg: "cannot be read: " + reason(err)}
	}
	return slices.Clip(trace), nil
}

// readOffset reads a line of a trace: a duration, or a number of seconds.
func readOffset(s string) (time.Duration, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if !(f >= 0 && f <= maxTime.Seconds()) {
			return 0, fmt.Errorf("%s is out of range: write seconds from 0 to %g", quote(s), maxTime.Seconds())
		}
		return time.Duration(f*1e9 + 0.5), nil
	}
	return readDuration(s, 0)
}
