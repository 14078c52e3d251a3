package cli

import (
	"errors"
	"io/fs"
	"os"

	"fairgate/attack"
	"fairgate/profiles"

	"github.com/spf13/pflag"
	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// A record is the file that a run's attempts are recorded in; a nil one records nothing.
type record struct {
	file *os.File
	to   *attack.Recorder
}

// recordFlag declares --record.
func recordFlag(fs *pflag.FlagSet, to *string) {
	fs.StringVar(to, "record", "", "write every attempt to `FILE` as vegeta does, in gob, JSON or CSV by its ending; the attack's name is the client")
}

// openRecord opens the file before anything is sent, so that one that cannot be written is told while nothing is lost.
func openRecord(path string) (*record, error) {
	r := &record{}
	recorder, err := attack.NewRecorder(r, path)
	if err != nil {
		return nil, wrong("--record: %v", err)
	}
	if r.file, err = os.Create(path); err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, wrong("--record %s cannot be written: %v; name a file in a directory that exists and is writable", path, err)
	}
	r.to = recorder
	return r, nil
}

// Write implements io.Writer.
func (r *record) Write(b []byte) (int, error) { return r.file.Write(b) }

// each is what a run calls with every result; nil records nothing.
func (r *record) each() func(*vegeta.Result) {
	if r == nil {
		return nil
	}
	return r.to.Record
}

// close writes what is still to be written. An error of the run comes first: whoever asks why it ended shall read that.
func (r *record) close(sh *shell, run error) error {
	if r == nil {
		return run
	}
	err := r.to.Close()
	if closed := r.file.Close(); err == nil {
		err = closed
	}
	switch {
	case err == nil:
		sh.note("fairgate: the attempts are in %s; fairgate report %s, or vegeta report, reads them", r.file.Name(), r.file.Name())
	case run == nil:
		return err
	default:
		sh.note("fairgate: %v", err)
	}
	return run
}

// replayFlag declares --replay.
func replayFlag(fs *pflag.FlagSet, s *settings) {
	fs.StringVar(&s.replay, "replay", "", "send what was recorded in `FILE` again, and not the profile's clients' own arrivals: each client's first attempts come when they came then; "+
		"its retries follow from what is refused now, as the profile says for a client of its name, otherwise none")
}

// replayed is the profile with the clients of a recording, when one shall be replayed.
func (s *settings) replayed(sh *shell, p *profiles.Profile) (*profiles.Profile, error) {
	if s.replay == "" {
		return p, nil
	}
	rec, files, err := attack.ReadRecording(s.replay)
	if err != nil {
		return nil, wrong("--replay: %v", err)
	}
	if f := files[0]; f.Fault != nil {
		sh.note("fairgate: %s (%s): %s read, and then %v; what was read is replayed", f.Name, f.Encoding, wereRead(f.Results), f.Fault)
	}
	p, notes, err := rec.Replay(p)
	if err != nil {
		return nil, wrong("--replay %s: %v", s.replay, err)
	}
	for _, n := range notes {
		sh.note("fairgate: replay: %s", n)
	}
	return p, nil
}
