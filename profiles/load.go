package profiles

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// order is the built-in profiles as they are listed, the default first.
var order = []string{"starvation", "agent", "polite"}

// Info is what a list of the built-in profiles says of each.
type Info struct {
	Name    string
	Title   string
	Teaches string // the first sentence of About
}

// BuiltIn is the Source of a profile that is part of the program.
const BuiltIn = "built-in"

// Builtins lists the profiles that are part of the program.
func Builtins() []Info {
	infos := make([]Info, 0, len(order))
	for _, name := range order {
		p, err := builtin(name)
		if err != nil {
			panic("profiles: " + err.Error()) // a test parses them all
		}
		teaches, _, _ := strings.Cut(p.About, ". ")
		infos = append(infos, Info{Name: p.Name, Title: p.Title, Teaches: strings.TrimSuffix(teaches, ".")})
	}
	return infos
}

// Text is the YAML of a built-in profile with its comments.
func Text(name string) ([]byte, bool) {
	data, err := files.ReadFile(name + ".yaml")
	return data, err == nil
}

func builtin(name string) (*Profile, error) {
	data, _ := Text(name)
	p, err := Parse(name+".yaml", data)
	if err != nil {
		return nil, err
	}
	p.Source = BuiltIn
	return p, nil
}

// Load reads the profile that a user named: a file, or else a built-in one.
func Load(arg string) (*Profile, error) {
	if arg == "" {
		return nil, &Error{Msg: "no profile is named: write a file or one of " + list(order)}
	}
	p, err := loadFile(arg)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if _, ok := Text(arg); ok {
		return builtin(arg)
	}
	if looksLikeFile(arg) {
		return nil, &Error{File: arg, Msg: "there is no such file; `fairgate profiles` lists the built-in profiles, which need no file"}
	}
	msg := fmt.Sprintf("there is no profile %s, neither a file nor built in", quote(arg))
	if near := suggest(arg, order); near != "" {
		msg += fmt.Sprintf(": did you mean %s?", near)
	}
	return nil, &Error{Msg: msg + " The built-in ones are " + strings.Join(order, ", ")}
}

func looksLikeFile(arg string) bool {
	ext := filepath.Ext(arg)
	return strings.ContainsRune(arg, filepath.Separator) || ext == ".yaml" || ext == ".yml"
}

// loadFile reads a profile from a file; fs.ErrNotExist says that there is none.
func loadFile(name string) (*Profile, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		if looksLikeFile(name) {
			return nil, &Error{File: name, Msg: "is a folder: name a profile in it"}
		}
		return nil, fs.ErrNotExist // a folder beside us that is called as a built-in
	}
	if errors.Is(err, fs.ErrNotExist) || strings.ContainsRune(name, 0) {
		return nil, fs.ErrNotExist
	}
	var data []byte
	if err == nil {
		data, err = readAll(name)
	}
	if err != nil {
		return nil, &Error{File: name, Msg: "cannot be read: " + reason(err)}
	}
	return Parse(name, data)
}

// readAll reads a file, but no more than shows that it is too large.
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
