package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

var helpCommand = &command{
	name:  "help",
	args:  "[COMMAND]",
	short: "what it does, or a command does",
	long:  "Without a command it lists the commands.",
	examples: []string{
		"fairgate help run",
	},
	flags: func(*flagGroups) func(*shell, []string) error {
		return func(sh *shell, args []string) error {
			switch len(args) {
			case 0:
				return printHelp(sh, nil)
			case 1:
				cmd := find(args[0])
				if cmd == nil {
					return wrong("there is no command %q: %s", args[0], didYouMean(args[0], commandNames()))
				}
				return printHelp(sh, cmd)
			}
			return wrong("help takes one command, and was given %d: %s", len(args), strings.Join(args, " "))
		}
	},
}

// printHelp writes the help of a command, or of the whole for nil.
func printHelp(sh *shell, cmd *command) error {
	text := generalHelp()
	if cmd != nil {
		text = commandHelp(cmd)
	}
	_, err := io.WriteString(sh.out, text)
	return err
}

func generalHelp() string {
	var b strings.Builder
	b.WriteString(`fairgate runs a rate limiter, attacks it with several clients, and shows who got
the capacity and who was starved.

Usage:
`)
	for _, c := range commands {
		name := c.name
		if c == commands[0] {
			name = "[" + name + "]"
		}
		usage := strings.TrimSpace("fairgate " + name + " " + c.args)
		for _, line := range wrap(c.short, 48) {
			fmt.Fprintf(&b, "  %-28s  %s\n", usage, line)
			usage = ""
		}
	}
	b.WriteString(`
PROFILE is a file or the name of a built-in profile; by default ` + defaultProfile + `.
A file that is called as a command is written with its path: ./run

Examples:
  fairgate                                    the starvation demo, live
  fairgate --headless --format json           the same without a screen, for jq
  fairgate starvation --policy per-client     and its cure
  fairgate profiles starvation > mine.yaml    a profile to start your own from
  fairgate mine.yaml --expect 'jain >= 0.9'   exit code 3 when it is unfair

Exit codes: 0 done, 1 it failed while it ran, 2 wrong usage or a bad profile,
3 an expectation was not met; 130, 143 and 129 after Ctrl-C, SIGTERM and a
closed terminal, each with the report so far.

fairgate COMMAND --help tells a command's flags.
`)
	return b.String()
}

func commandHelp(c *command) string {
	var b strings.Builder
	b.WriteString(strings.Join(wrap(fmt.Sprintf("fairgate %s: %s", strings.TrimSpace(c.name+" "+c.args), c.short), 80), "\n") + "\n\n")
	if c.long != "" {
		b.WriteString(strings.Join(wrap(c.long, 80), "\n") + "\n\n")
	}
	if len(c.examples) > 0 {
		b.WriteString("Examples:\n")
		for _, e := range c.examples {
			b.WriteString("  " + e + "\n")
		}
		b.WriteByte('\n')
	}
	groups := &flagGroups{}
	c.flags(groups)
	for i, set := range groups.sets {
		b.WriteString(groups.names[i] + ":\n" + flagHelp(set) + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// flagHelp is a line or a few for each flag, in 80 columns.
func flagHelp(set *pflag.FlagSet) string {
	const margin, width = 25, 80
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if f.DefValue != "" && f.Value.Type() != "bool" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		if f.Value.Type() != "bool" {
			name += " " + value
		}
		name = "  " + name
		if len(name) > margin-2 {
			b.WriteString(name + "\n")
			name = ""
		}
		for _, line := range wrap(usage, width-margin) {
			fmt.Fprintf(&b, "%-*s%s\n", margin, name, line)
			name = ""
		}
	})
	return b.String()
}

// flagError says what is wrong with a flag, and what would be right.
func flagError(cmd *command, flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return wrong("%s has no flag -%s; fairgate %s --help lists them", cmd.name, name, cmd.name)
		}
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := nearest(name, names); near != "" {
			return wrong("%s has no flag --%s: did you mean --%s?", cmd.name, name, near)
		}
		for _, other := range commands {
			groups := &flagGroups{}
			other.flags(groups)
			if groups.merged(other.name).Lookup(name) != nil {
				return wrong("%s has no flag --%s, but fairgate %s has", cmd.name, name, other.name)
			}
		}
		return wrong("%s has no flag --%s; fairgate %s --help lists them", cmd.name, name, cmd.name)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return wrong("--%s needs a value: --%s %s", f.Name, f.Name, placeholder(f))
	case errors.As(err, &invalid):
		return wrong("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return wrong("%v; fairgate %s --help shows how it is written", err, cmd.name)
}

// placeholder is what stands for a flag's value in its help.
func placeholder(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// wrap breaks text at blanks, and only there, into lines of at most width columns; our own words are ASCII.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
