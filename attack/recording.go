package attack

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/fairness"
)

// A Recording is what was read of attempts that vegeta recorded, for a run of ours or by itself: of each attempt when it was sent, by whom, and what
// came of it. It is put in the order of time, in whichever order the attempts were written, and by however many machines.
//
//	results, any encoding ──► Recording ──► Report   how fair it was
//	                                   └──► Replay   a profile whose clients send the same again
type Recording struct {
	Began   time.Time     // when the first attempt was sent; all offsets count from here
	Length  time.Duration // until the last answer
	Clients []string      // in the order of their first attempts
	Marked  bool          // first attempts and retries are told apart, as in recordings of fairgate run

	URL string // what was attacked; of several the first that was read

	hits []hit // in the order in which they were sent
	told *toldBook
}

// hit is one recorded attempt.
type hit struct {
	sent, seen time.Duration
	decided    time.Duration // −1: not told
	waited     time.Duration // in a queue; −1: it was in none
	needed     time.Duration // 0: not told
	told       time.Duration
	request    uint64
	client     int32
	code       uint16
	by         uint8 // of a rejection: index into the recorded reasons
	fault      uint8 // of an error: its kind
	retry      bool
	ended      bool // its request ended by it
}

// Attempts is how many attempts were recorded.
func (r *Recording) Attempts() int { return len(r.hits) }

// A RecordingFile is what could be read of one file.
type RecordingFile struct {
	Name     string
	Encoding string // gob, JSON or CSV
	Results  int
	Fault    error // why it could not be read to its end; nil: it could
}

// mostRecorded bounds what is kept in memory, at about a hundred bytes each.
const mostRecorded = 20_000_000

// RecordingEncoding says by the first bytes of a file how vegeta's results in it are encoded: gob, JSON or CSV; "" when they are no results of
// vegeta's. Some hundred bytes suffice.
func RecordingEncoding(head []byte) string {
	text := bytes.TrimLeft(head, " \t\r\n")
	comma := bytes.IndexByte(text, ',')
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if bytes.Contains(line, []byte(`"timestamp":`)) && bytes.Contains(line, []byte(`"latency":`)) {
			return "JSON"
		}
	case comma > 0 && comma < 25 && len(bytes.Trim(text[:comma], "-0123456789")) == 0:
		return "CSV"
	case bytes.Contains(head, []byte("Timestamp")) && bytes.Contains(head, []byte("Latency")):
		return "gob" // it begins with the names of a result's fields
	}
	return ""
}

// ReadRecording reads files of results and puts them together. A file that is cut short or damaged gives what stands before that, and says so
// in its RecordingFile. An error means that there is nothing to work with: a file that cannot be opened, or none with a result.
//
// The client of a result is its attack's name. Results of vegeta's own often have none: they belong to a client that is called as the file.
func ReadRecording(names ...string) (*Recording, []RecordingFile, error) {
	b := recordingBuilder{clients: map[string]int32{}}
	b.told = new(toldBook)
	var files []RecordingFile
	for _, name := range names {
		f, err := b.file(name)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	if len(b.hits) == 0 {
		return nil, files, fmt.Errorf("%s holds no result that can be read: %w", files[0].Name, cmp.Or(files[0].Fault, io.ErrUnexpectedEOF))
	}
	r := b.finish()
	if r.Length > mostLength {
		return nil, files, fmt.Errorf("between the first attempt (%s) and the last answer lie %.0f days: give together what was recorded together",
			r.Began.UTC().Format(time.DateOnly), r.Length.Hours()/24)
	}
	return r, files, nil
}

// mostLength is the longest time that recordings cover together, as a profile's duration.
const mostLength = 10_000 * time.Hour

// A recordingBuilder collects results; the times of its hits count from the first result read.
type recordingBuilder struct {
	Recording
	clients map[string]int32
}

func (b *recordingBuilder) file(name string) (RecordingFile, error) {
	f := RecordingFile{Name: name}
	src, err := os.Open(name)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return f, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	defer src.Close()
	r := bufio.NewReaderSize(src, 64<<10)
	head, err := r.Peek(4096)
	if err != nil && err != io.EOF {
		return f, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return f, fmt.Errorf("%s is empty: it should hold results of vegeta", name)
	}
	f.Encoding = RecordingEncoding(head)
	if f.Encoding == "" {
		return f, fmt.Errorf("%s holds no results of vegeta, neither gob nor JSON nor CSV: write some with fairgate run --record FILE.gob, or vegeta attack", name)
	}
	base := filepath.Base(name)
	f.Results, f.Fault = b.read(r, f.Encoding, cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base))
	return f, nil
}

// read takes results until there are no more, and says how many and, when they did not end as they should, why.
func (b *recordingBuilder) read(r *bufio.Reader, encoding, client string) (n int, fault error) {
	defer func() {
		if p := recover(); p != nil { // a decoder that is not ours met what it did not expect
			fault = fmt.Errorf("result %d cannot be read", n+1)
		}
	}()
	var decode vegeta.Decoder
	var lines *lineFeeder
	switch encoding {
	case "gob":
		decode = vegeta.NewDecoder(r)
	case "JSON":
		lines = &lineFeeder{r: r}
		decode = vegeta.NewJSONDecoder(lines)
	default:
		decode = vegeta.NewCSVDecoder(r)
	}
	for ; ; n++ {
		if lines != nil {
			if more, err := lines.next(); !more {
				return n, err
			}
		}
		var res vegeta.Result // a fresh one: gob leaves alone what is zero
		switch err := decode(&res); {
		case err == io.EOF && lines == nil:
			return n, nil
		case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
			return n, fmt.Errorf("it is cut short in result %d", n+1)
		case err != nil:
			return n, fmt.Errorf("result %d cannot be read (%w)", n+1, err)
		case !sensible(res.Timestamp):
			return n, fmt.Errorf("result %d has no time", n+1)
		case res.Latency < 0 || res.Latency > mostLatency:
			return n, fmt.Errorf("result %d has a latency of %s", n+1, res.Latency)
		case len(b.hits) >= mostRecorded:
			return n, fmt.Errorf("there are more than %d results, which is as many as are read", mostRecorded)
		}
		if res.Attack != "" {
			b.add(&res, res.Attack)
		} else {
			b.add(&res, client)
		}
	}
}

// sensible reports whether a moment is one of the years in which something can have been recorded, and one that can be counted in nanoseconds.
func sensible(at time.Time) bool {
	year := at.Year()
	return year >= 1980 && year <= 2100 && time.Unix(0, at.UnixNano()).Equal(at)
}

// mostLatency is the longest that an answer can have taken.
const mostLatency = 1000 * time.Hour

func (b *recordingBuilder) add(res *vegeta.Result, name string) {
	i, known := b.clients[name]
	if !known {
		i = int32(len(b.Clients))
		b.clients[name] = i
		b.Clients = append(b.Clients, name)
	}
	if len(b.hits) == 0 {
		b.Began = res.Timestamp
	}
	h := hit{client: i, code: res.Code, decided: -1, waited: -1, by: unknownReason}
	h.sent = res.Timestamp.Sub(b.Began)
	h.seen = h.sent + res.Latency
	h.told = toldWait(res.Headers, res.End)
	if h.kind() == fairness.Failed {
		h.fault = recordedFault(res)
	}
	b.told.hearAt(res.Headers, res.End)
	if b.URL == "" {
		b.URL = res.URL
	}
	b.Marked = h.read(res) || b.Marked
	b.hits = append(b.hits, h)
}

// finish puts everything in the order of time.
func (b *recordingBuilder) finish() *Recording {
	r := &b.Recording
	slices.SortStableFunc(r.hits, func(a, b hit) int { return cmp.Compare(a.sent, b.sent) })
	first := r.hits[0].sent
	r.Began = r.Began.Add(first)
	order := make([]int32, 0, len(r.Clients))
	seen := make([]bool, len(r.Clients))
	for i := range r.hits {
		h := &r.hits[i]
		h.sent -= first
		h.seen -= first
		r.Length = max(r.Length, h.seen, h.sent+1)
		if !seen[h.client] {
			seen[h.client] = true
			order = append(order, h.client)
		}
	}
	// Clients are numbered by who came first.
	names, number := make([]string, len(order)), make([]int32, len(order))
	for to, from := range order {
		names[to], number[from] = r.Clients[from], int32(to)
	}
	for i := range r.hits {
		r.hits[i].client = number[r.hits[i].client]
	}
	r.Clients = names
	return r
}

// A lineFeeder gives a reader one line at a time, the last one ended where it does not end itself. vegeta's decoder of JSON could not tell
// the end of a file from a line that is cut, and would pass over a last line without an end.
type lineFeeder struct {
	r    *bufio.Reader
	line []byte
}

// mostLine bounds a line: a result with the largest body that is recorded, encoded.
const mostLine = 64 << 20

// next gets the next line that is not empty; false when there is none.
func (l *lineFeeder) next() (bool, error) {
	for {
		l.line = nil
		for {
			part, err := l.r.ReadSlice('\n')
			l.line = append(l.line, part...)
			if err == nil || err == io.EOF {
				break
			}
			if err != bufio.ErrBufferFull {
				return false, err
			}
			if len(l.line) > mostLine {
				return false, fmt.Errorf("a line has more than %d bytes", mostLine)
			}
		}
		if len(l.line) == 0 {
			return false, nil
		}
		if len(bytes.TrimSpace(l.line)) > 0 {
			if l.line[len(l.line)-1] != '\n' {
				l.line = append(l.line, '\n')
			}
			return true, nil
		}
	}
}

// Read implements io.Reader: what is left of the line.
func (l *lineFeeder) Read(p []byte) (int, error) {
	if len(l.line) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	return n, nil
}
