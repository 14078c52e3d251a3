package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"fairgate/profiles/importer"
)

var importCommand = &command{
	name:  "import",
	args:  "FILE",
	short: "a profile's limiter from a configuration that you have",
	long: "Reads a rate limit of nginx (limit_req), Envoy (local rate limit), Spring Cloud Gateway (RedisRateLimiter), Bucket4j (bandwidths) or a " +
		"rate-limit.fallback block, and prints a profile with the same limit, with a comment on every line that says where its value came from. What cannot be " +
		"carried over is told on standard error, line by line. FILE may be - for standard input.",
	examples: []string{
		"fairgate import nginx.conf > mine.yaml",
		"fairgate import application.yml --from spring > mine.yaml",
		"fairgate simulate mine.yaml",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		c := &importing{}
		fs := g.group("What it is")
		fs.Var(&choice{&c.from, importer.Formats}, "from", oneOf(importer.Formats)+"; by default the content says it")
		return c.do
	},
}

// An importing is the import command as its flags ask for it.
type importing struct{ from string }

// mostImport is one byte more than the importer takes, so that it can say that there is too much.
const mostImport = 1 << 20

func (c *importing) do(sh *shell, files []string) error {
	if len(files) != 1 {
		return wrong("import takes one file, and was given %d: write for example fairgate import nginx.conf", len(files))
	}
	name, in := files[0], io.Reader(sh.in)
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return wrong("%s cannot be read: %v", name, err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, mostImport))
	if err != nil {
		return wrong("%s cannot be read: %v", name, err)
	}
	r, err := importer.Import(name, data, c.from)
	if err != nil {
		return wrong("%v", err)
	}
	for _, n := range r.Notes {
		sh.note("%s", importNote(name, n))
	}
	return printed(sh.out.Write(r.YAML))
}

// importNote is a note as compilers write theirs.
func importNote(file string, n importer.Note) string {
	return fmt.Sprintf("%s:%d: %s", file, n.Line, n.Text)
}
