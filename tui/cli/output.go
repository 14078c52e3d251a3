package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fairgate/fairness"
	"fairgate/tui/report"

	"github.com/spf13/pflag"
)

// The formats of a report.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatMarkdown = "markdown"
	formatHTML     = "html"
)

var formats = []string{formatText, formatJSON, formatMarkdown, formatHTML}

// An output is where the report goes: standard output, or a file that is replaced as a whole at the end.
//
// The file is written beside its final name and renamed, so that nobody ever reads half a report and an older one survives a run
// that fails. Opening comes before the attack: a file that cannot be written is told while nothing is lost yet.
type output struct {
	path   string
	format string

	given  *pflag.FlagSet
	file   *os.File // open for writing; nil: standard output
	rename string   // the final name of file; "": it is written in place
}

func (o *output) flags(fs *pflag.FlagSet) {
	o.given, o.format = fs, formatText
	fs.VarP(&choice{&o.format, formats}, "format", "f", oneOf(formats)+"; by default what the ending of --output says, otherwise text")
	fs.Lookup("format").DefValue = "" // the usage says more than one word could
	fs.StringVarP(&o.path, "output", "o", "", "write the report to `FILE` and not to standard output")
}

// open gets the file ready.
func (o *output) open() error {
	if o.path == "" || o.path == "-" {
		if o.given.Changed("output") && o.path == "" {
			return wrong("--output has an empty name: name a file, or - for standard output")
		}
		return nil
	}
	if !o.given.Changed("format") {
		switch strings.ToLower(filepath.Ext(o.path)) {
		case ".json":
			o.format = formatJSON
		case ".md", ".markdown":
			o.format = formatMarkdown
		case ".html", ".htm":
			o.format = formatHTML
		}
	}
	cannot := func(err error) error {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return wrong("--output %s cannot be written: %v; name a file in a directory that exists and is writable", o.path, err)
	}
	target := o.path
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real // the link stays, what it points to is replaced
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return wrong("--output %s is a directory: name a file in it, as %s", o.path, filepath.Join(o.path, "report.json"))
	case err == nil && !info.Mode().IsRegular(): // a device or a pipe
		// Not waiting for a reader: whoever forgot to start one shall be told.
		o.file, err = os.OpenFile(target, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, syscall.ENXIO) {
			return wrong("--output %s is a pipe that nobody reads: start its reader first", o.path)
		}
		if err != nil {
			return cannot(err)
		}
		return nil
	case err == nil: // it may not be replaced where it may not be written
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return cannot(err)
		}
		f.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return cannot(err)
	}
	mode := fs.FileMode(0o666) &^ umask()
	if info != nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".fairgate-*")
	if err != nil {
		return cannot(err)
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		os.Remove(f.Name())
		return cannot(err)
	}
	o.file, o.rename = f, target
	return nil
}

// umask is the process's mask of file modes; it can only be read by setting it.
func umask() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}

// notAsPage is the error of a result that has no form as a page.
func (o *output) notAsPage(what string) error {
	if o.format != formatHTML {
		return nil
	}
	o.discard()
	return wrong("--format html is for reports and comparisons, and this is %s: write --format %s", what, oneOf([]string{formatText, formatMarkdown, formatJSON}))
}

// write hands a report over.
func (o *output) write(sh *shell, r *fairness.Report, l look, shadows ...*fairness.Report) error {
	return o.writeAs(sh, l, func(text report.Options) ([]byte, error) {
		switch o.format {
		case formatJSON:
			return report.JSON(r, shadows...)
		case formatMarkdown:
			return []byte(report.Markdown(r, shadows...)), nil
		case formatHTML:
			return report.HTML(r, shadows...)
		}
		return []byte(report.Text(r, text, shadows...)), nil
	})
}

// writeComparison hands a comparison over.
func (o *output) writeComparison(sh *shell, c *report.Comparison, l look) error {
	return o.writeAs(sh, l, func(text report.Options) ([]byte, error) {
		switch o.format {
		case formatJSON:
			return report.ComparisonJSON(c)
		case formatMarkdown:
			return []byte(report.ComparisonMarkdown(c)), nil
		case formatHTML:
			return report.ComparisonHTML(c)
		}
		return []byte(report.ComparisonText(c, text)), nil
	})
}

// writeAs hands over what render makes in the output's format. Where the file fails at the last moment, as on a full disk, it goes to standard
// output, so that it is not lost, and the error says so.
func (o *output) writeAs(sh *shell, l look, render func(report.Options) ([]byte, error)) error {
	text := report.Options{ASCII: l.ascii}
	if o.file == nil {
		text = sh.textOptions(sh.out, l)
	}
	b, err := render(text)
	switch {
	case err != nil:
		return err
	case o.file == nil:
		return o.print(sh, b)
	}
	if err := o.store(b); err != nil {
		o.print(sh, b)
		return fmt.Errorf("the report could not be written to %s and went to standard output: %w", o.path, err)
	}
	return nil
}

// print writes to standard output.
func (o *output) print(sh *shell, b []byte) error {
	return sh.print(b)
}

func (o *output) store(b []byte) error {
	f := o.file
	o.file = nil
	_, err := f.Write(b)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if o.rename == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.Name(), o.rename)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// discard leaves nothing behind of an output that was opened and not written.
func (o *output) discard() {
	if f := o.file; f != nil {
		o.file = nil
		f.Close()
		if o.rename != "" {
			os.Remove(f.Name())
		}
	}
}
