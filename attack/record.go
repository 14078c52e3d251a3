package attack

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// A Recorder writes the results of a run as vegeta's own program writes them, so that it can report, plot and encode them. The attack's
// name of a result is the client's. Results come in the order in which they ended, and those of different clients as it happens: their
// timestamps tell the order in which they were sent.
type Recorder struct {
	mu     sync.Mutex
	buffer *bufio.Writer
	encode vegeta.Encoder
	err    error // the first; nothing is written after it
}

// encodings are those that vegeta knows, by the ending of a file.
var encodings = map[string]func(io.Writer) vegeta.Encoder{
	".gob": vegeta.NewEncoder, ".bin": vegeta.NewEncoder,
	".json": vegeta.NewJSONEncoder, ".csv": vegeta.NewCSVEncoder,
}

// NewRecorder writes to w in the encoding that the ending of the file's name says: .gob (or .bin), .json or .csv.
func NewRecorder(w io.Writer, file string) (*Recorder, error) {
	encoding := encodings[strings.ToLower(filepath.Ext(file))]
	if encoding == nil {
		return nil, fmt.Errorf("%q does not say how to record: let it end in .gob, .json or .csv", file)
	}
	r := &Recorder{buffer: bufio.NewWriterSize(w, 64<<10)}
	r.encode = encoding(r.buffer)
	return r, nil
}

// Record writes a result. It is an Options.Record.
func (r *Recorder) Record(res *vegeta.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.encode(res)
	}
}

// Close writes what is still to be written, and returns the first error that there was. It does not close the writer.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.buffer.Flush()
	}
	if r.err != nil {
		return fmt.Errorf("the recording is not complete: %w", r.err)
	}
	return nil
}
