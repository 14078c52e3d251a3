package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"fairgate/profiles"
)

var profilesCommand = &command{
	name:  "profiles",
	args:  "[NAME]",
	short: "list the built-in profiles, or print one",
	long:  "What it prints, with its comments, is a profile to start your own from.",
	examples: []string{
		"fairgate profiles",
		"fairgate profiles starvation > mine.yaml",
		"fairgate profiles mine.yaml --explain",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		explain := false
		g.group("How it is printed").BoolVar(&explain, "explain", false, "a profile, built-in or a file, in full: every value with where it comes from")
		return func(sh *shell, args []string) error {
			if explain {
				return explainProfile(sh, args)
			}
			return listProfiles(sh, args)
		}
	},
}

// explainProfile prints a profile with everything that it leaves to defaults.
func explainProfile(sh *shell, args []string) error {
	if len(args) != 1 {
		return wrong("--explain explains one profile: write for example fairgate profiles starvation --explain")
	}
	p, err := profiles.Load(args[0])
	if err != nil {
		return wrong("%v", err)
	}
	return printed(io.WriteString(sh.out, profiles.Explain(p)))
}

func listProfiles(sh *shell, args []string) error {
	infos := profiles.Builtins()
	switch len(args) {
	case 0:
		var b bytes.Buffer
		width := 0
		for _, info := range infos {
			width = max(width, len(info.Name))
		}
		for _, info := range infos {
			fmt.Fprintf(&b, "%-*s  %s\n", width, info.Name, info.Title)
			for _, line := range wrap(info.Teaches, 78-width) {
				fmt.Fprintf(&b, "%-*s  %s\n", width, "", line)
			}
		}
		return printed(sh.out.Write(b.Bytes()))
	case 1:
		text, ok := profiles.Text(args[0])
		if !ok {
			var names []string
			for _, info := range infos {
				names = append(names, info.Name)
			}
			return wrong("there is no built-in profile %q: %s", args[0], didYouMean(args[0], names))
		}
		return printed(sh.out.Write(text))
	}
	return wrong("profiles takes one name, and was given %d: %s", len(args), strings.Join(args, " "))
}

// printed is what came of writing a result. A reader who has had enough (head, a pager that was left) is no failure.
func printed(_ int, err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
