package cli

import (
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
	long: "Without a name it lists them by what they teach. What it prints of one, with its comments, is a profile to start your own from. With --explain it is " +
		"every value that a profile has, also those that it leaves to its kinds and defaults, and where each comes from.",
	examples: []string{
		"fairgate profiles",
		"fairgate profiles starvation > mine.yaml",
		"fairgate profiles --explain mine.yaml",
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
		return wrong("--explain explains one profile: write for example fairgate profiles --explain mine.yaml")
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
		return printed(io.WriteString(sh.out, profileList(infos)))
	case 1:
		text, ok := profiles.Text(args[0])
		if !ok {
			if strings.ContainsAny(args[0], "./") {
				return wrong("there is no built-in profile %q; of a file, fairgate profiles --explain %s tells every value", args[0], args[0])
			}
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

// profileList lists profiles by what they teach: each with its title and, under it, its point.
func profileList(infos []profiles.Info) string {
	const indent, columns = "  ", 80
	width := 0
	for _, info := range infos {
		width = max(width, len(info.Name))
	}
	var b strings.Builder
	group := ""
	for _, info := range infos {
		if info.Group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = info.Group
			b.WriteString(group + "\n")
		}
		lines := append(wrap(info.Title, columns-len(indent)-width-2), wrap(info.Teaches, columns-len(indent)-width-2)...)
		name := info.Name
		for _, line := range lines {
			fmt.Fprintf(&b, "%s%-*s  %s\n", indent, width, name, line)
			name = ""
		}
	}
	return b.String()
}

// printed is what came of writing a result. A reader who has had enough (head, a pager that was left) is no failure.
func printed(_ int, err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
