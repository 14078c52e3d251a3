package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairgate/tui/report"
)

// Save writes the present state as a profile into the working directory, and says where.
func (t *tuner) Save() (string, error) {
	t.mu.Lock()
	p := t.present()
	t.mu.Unlock()
	p.Expect = nil // they judge the profile as it was
	text, err := p.YAML()
	if err != nil {
		return "", err
	}
	names, err := writeFresh(fileName(p.Name), map[string][]byte{".yaml": text})
	return strings.Join(names, ", "), err
}

// Keep writes the screen as text and as a picture, and the report so far as JSON, and says where.
func (t *tuner) Keep(text, svg string) (string, error) {
	rep := t.run.Report()
	figures, err := report.JSON(rep)
	if err != nil {
		return "", err
	}
	names, err := writeFresh(fileName(rep.Profile), map[string][]byte{".txt": []byte(text + "\n"), ".svg": []byte(svg), ".json": figures})
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(names[0], filepath.Ext(names[0]))
	return base + ".txt, .svg and .json", nil
}

// fileName is a profile's name as the beginning of a file's name: letters, digits and - alone.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" {
		name = "run"
	}
	return name[:min(len(name), 60)]
}

// writeFresh writes files that differ in their endings, under the first number that no file has yet: nothing is ever overwritten.
func writeFresh(base string, files map[string][]byte) (names []string, err error) {
	const most = 1000
	for n := 1; n <= most; n++ {
		names, err = writeNew(fmt.Sprintf("%s-%d", base, n), files)
		if !errors.Is(err, fs.ErrExist) {
			return names, err
		}
	}
	return nil, fmt.Errorf("there are %d files named %s-N here already: move some away", most, base)
}

// writeNew writes all of the files or none.
func writeNew(base string, files map[string][]byte) (names []string, err error) {
	defer func() {
		if err != nil {
			for _, name := range names {
				os.Remove(name)
			}
			names = nil
		}
	}()
	for ending, data := range files {
		f, err := os.OpenFile(base+ending, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return names, err
		}
		names = append(names, base+ending)
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return names, err
		}
	}
	return names, nil
}
