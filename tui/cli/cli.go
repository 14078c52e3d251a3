package cli

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	_ "fairgate/tui/termbg" // before Bubble Tea's init, which would ask the terminal and wait for an answer

	"github.com/spf13/pflag"
)

// A command is one word of the command line.
type command struct {
	name     string
	args     string // what may follow it, for the usage line
	short    string // one line
	long     string // what it does, for its help
	examples []string

	// flags declares the command's flags in groups and returns what carries the command out on the arguments that are left.
	flags func(*flagGroups) func(*shell, []string) error
}

// commands in the order in which help lists them; the first is the default.
var commands []*command

func init() {
	// In an init, since help reads the list that holds it.
	commands = []*command{runCommand, simulateCommand, compareCommand, serveCommand, reportCommand, importCommand, predictCommand, gateCommand, profilesCommand, helpCommand}
}

// Main carries out a command line (without the program's name) and returns the exit code.
func Main(args []string, in, out, err *os.File) (code int) {
	sh := &shell{in: in, out: out, err: err, getenv: os.Getenv, terminal: newTerminal(in, out)}
	defer func() {
		// Whoever owned a report has printed it by now; a panic that comes this far leaves the terminal whole and says where it was.
		if p := recover(); p != nil {
			sh.terminal.restore(closed)
			sh.note("fairgate: panic: %v\n%s", p, debug.Stack())
			code = exitFailed
		}
	}()
	e := dispatch(sh, args)
	var quiet exitError
	if e != nil && !errors.As(e, &quiet) {
		sh.note("fairgate: %v", e)
	}
	return codeOf(e)
}

// dispatch picks the command and carries it out.
func dispatch(sh *shell, args []string) error {
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		return printHelp(sh, nil)
	}
	cmd, rest := pick(args)
	groups := &flagGroups{}
	run := cmd.flags(groups)
	var help, version bool
	general := groups.group("Help")
	general.BoolVarP(&help, "help", "h", false, "what it does, its flags and examples")
	general.BoolVar(&version, "version", false, "print the version")

	// `fairgate --seed 3 simulate`: flags may come before the command.
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		early := groups.merged(cmd.name)
		early.SetInterspersed(false)
		if early.Parse(args) == nil && early.NArg() > 0 && find(early.Arg(0)) != nil {
			i := len(args) - early.NArg()
			return dispatch(sh, slices.Concat(args[i:i+1], args[:i], args[i+1:]))
		}
		return dispatch(sh, slices.Concat([]string{commands[0].name}, args))
	}

	all := groups.merged(cmd.name)
	if err := all.Parse(rest); err != nil {
		return flagError(cmd, all, err)
	}
	switch {
	case version:
		return printVersion(sh)
	case help:
		return printHelp(sh, cmd)
	}
	return run(sh, all.Args())
}

// pick is the command that the first argument names, and the arguments after it; where it names none, the default and all arguments.
func pick(args []string) (*command, []string) {
	if len(args) > 0 {
		if cmd := find(args[0]); cmd != nil {
			return cmd, args[1:]
		}
	}
	return commands[0], args
}

func find(name string) *command {
	for _, c := range commands {
		if c.name == name {
			return c
		}
	}
	return nil
}

func commandNames() []string {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// flagGroups are a command's flags, in groups for the help.
type flagGroups struct {
	names []string
	sets  []*pflag.FlagSet
}

// group begins a group of flags.
func (g *flagGroups) group(name string) *pflag.FlagSet {
	set := pflag.NewFlagSet(name, pflag.ContinueOnError)
	set.SortFlags = false
	g.names, g.sets = append(g.names, name), append(g.sets, set)
	return set
}

// merged is one set of all flags; it shares their values with the groups.
func (g *flagGroups) merged(name string) *pflag.FlagSet {
	all := pflag.NewFlagSet(name, pflag.ContinueOnError)
	all.SortFlags = false
	all.Usage = func() {}
	all.SetOutput(io.Discard)
	for _, set := range g.sets {
		all.AddFlagSet(set)
	}
	return all
}
