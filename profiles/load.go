package profiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Load reads the profile that a user named. It is looked for as given, then in
// the folder ./profiles, then in the folder fairgate of the user's
// configuration, then among the built-in ones; the profile's Source says where it
// was found. The error of a name that is nowhere lists the choices.
func Load(arg string) (*Profile, error) {
	if arg == "" {
		return nil, &Error{Msg: "no profile is named: write a file or one of " + list(names)}
	}
	for _, file := range candidates(arg) {
		p, err := loadFile(file)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
	}
	if _, ok := Text(arg); ok {
		return builtin(arg)
	}
	if looksLikeFile(arg) {
		return nil, &Error{File: arg, Msg: "there is no such file; `fairgate profiles` lists the built-in profiles, which need no file"}
	}
	msg := fmt.Sprintf("there is no profile %s, neither a file nor built in", quote(arg))
	if near := suggest(arg, names); near != "" {
		msg += fmt.Sprintf(": did you mean %s?", near)
	}
	return nil, &Error{Msg: msg + "; the built-in ones are " + strings.Join(names, ", ")}
}

// candidates are the files that a name may mean, the nearest first.
func candidates(arg string) []string {
	files := []string{arg}
	if filepath.IsAbs(arg) {
		return files
	}
	folders := []string{"profiles"}
	if config, err := os.UserConfigDir(); err == nil {
		folders = append(folders, filepath.Join(config, "fairgate"))
	}
	for _, folder := range folders {
		if ext := filepath.Ext(arg); ext == ".yaml" || ext == ".yml" {
			files = append(files, filepath.Join(folder, arg))
		} else {
			files = append(files, filepath.Join(folder, arg+".yaml"), filepath.Join(folder, arg+".yml"))
		}
	}
	return files
}

func looksLikeFile(arg string) bool {
	ext := filepath.Ext(arg)
	return strings.ContainsRune(arg, filepath.Separator) || ext == ".yaml" || ext == ".yml"
}

// loadFile reads a profile from a file; fs.ErrNotExist says that there is none.
func loadFile(name string) (*Profile, error) {
	info, err := os.Stat(name)
	switch {
	case strings.ContainsRune(name, 0), errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, &Error{File: name, Msg: "cannot be read: " + reason(err)}
	case info.IsDir() && looksLikeFile(name):
		return nil, &Error{File: name, Msg: "is a folder: name a profile in it"}
	case info.IsDir():
		return nil, fs.ErrNotExist // a folder that happens to be called as a profile
	}
	data, err := readAll(name)
	if err != nil {
		return nil, &Error{File: name, Msg: "cannot be read: " + reason(err)}
	}
	return Parse(name, data)
}

// readAll reads a file, or a pipe, but no more than shows that it is too large.
func readAll(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// reason is an error without the path that its message repeats.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
