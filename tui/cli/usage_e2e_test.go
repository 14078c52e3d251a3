package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fairgate/profiles"
)

// Wrong use is told in one clear message on standard error, before anything is attacked, and ends with 2.
func TestWrongUse(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	good := "limiter: {rate: 10/s}\nclients: [{name: web, kind: interactive}]\n"
	for _, c := range []struct {
		args    string
		profile string   // "": none is written; MINE in args is its path
		says    []string // what, where, and what would be right
	}{
		{args: "--rate 1000", says: []string{"--rate", `"1000" has no unit`, "1000/s"}},
		{args: "--rate x/s", says: []string{"--rate", `"x/s"`, "1000/s"}},
		{args: "--client-rate 0/s", says: []string{"--client-rate", "above zero"}},
		{args: "--polcy global", says: []string{"--polcy", "did you mean --policy?"}},
		{args: "--policy globl", says: []string{"--policy", `"globl"`, "did you mean global?"}},
		{args: "--algorithm bucket", says: []string{"--algorithm", `"bucket"`, "token-bucket"}},
		{args: "--duration 10", says: []string{"--duration", `"10" has no unit`, "10s"}},
		{args: "--duration 0s", says: []string{"--duration", "too short"}},
		{args: "--warm-up 40s", says: []string{"--warm-up", "40s", "30s"}},
		{args: "--burst 0", says: []string{"--burst", "at least 1"}},
		{args: "--burst many", says: []string{"--burst", `"many"`, "100"}},
		{args: "--burst 99999999999999999999", says: []string{"--burst", "out of range"}},
		{args: "--seed -1", says: []string{"--seed", `"-1"`, "from 0 up"}},
		{args: "--client-rate", says: []string{"--client-rate needs a value"}},
		{args: "-z", says: []string{"-z", "run --help"}},
		{args: "simulate --headless", says: []string{"simulate has no flag --headless", "fairgate run has"}},
		{args: "--transport tcp", says: []string{"--transport", `"tcp"`, "memory or loopback"}},
		{args: "--format jsn", says: []string{"--format", `"jsn"`, "did you mean json?"}},
		{args: "--output /nope/report.json", says: []string{"--output /nope/report.json", "no such file or directory"}},
		{args: "--output " + pipe, says: []string{"--output " + pipe, "nobody reads", "start its reader"}},
		{args: "--output " + dir, says: []string{"--output " + dir, "is a directory", "report.json"}},
		{args: "--output=", says: []string{"--output", "empty"}},
		{args: "--expect jain", says: []string{"--expect", `"jain"`, ">="}},
		{args: "--expect jian>=1", says: []string{"--expect", `"jian"`, "utilization"}},
		{args: "--expect web.satisfction>1", says: []string{"--expect", `"satisfction"`, "satisfaction"}},
		{args: "--expect wbe.satisfaction>1", says: []string{"--expect", `"wbe"`, "batch, web, mobile, sync"}},
		{args: "simulat", says: []string{`"simulat"`, "the command simulate"}},
		{args: "simulat starvation", says: []string{`no command "simulat"`, "fairgate simulate"}},
		{args: "starvatoin", says: []string{`"starvatoin"`, "did you mean starvation?"}},
		{args: "nope.yaml", says: []string{"nope.yaml", "no such file"}},
		{args: "starvation polite", says: []string{"one profile", "starvation polite"}},
		{args: "profiles nope", says: []string{`"nope"`, "starvation, agent"}},
		{args: "profiles a b", says: []string{"one name"}},
		{args: "help simulat", says: []string{`"simulat"`, "did you mean simulate?"}},
		{args: "simulate --runs 0", says: []string{"--runs", "at least 1"}},
		{args: "simulate --runs 2 --shadow global", says: []string{"--shadow", "--runs"}},
		{args: "--shadow fifo", says: []string{"--shadow", `"fifo"`}},
		{args: "--shadow per-client agent", says: []string{"--shadow", "per-client", "rate"}},
		{args: "--speed 0", says: []string{"--speed", "above zero"}},
		{args: "--speed 2 --transport loopback", says: []string{"--speed", "--transport"}},
		{args: "compare --policies global,fifo", says: []string{"--policies", `"fifo"`, "fair-queue"}},
		{args: "compare --algorithms gcar", says: []string{"--algorithms", "did you mean gcra?"}},
		{args: "compare --policy global", says: []string{"--policies global"}},
		{args: "compare --vary burst", says: []string{"--vary", "burst=10,50,100"}},
		{args: "compare --vary brust=1,2", says: []string{"--vary", "brust"}},
		{args: "compare --vary burst=1 --policies global", says: []string{"--vary", "--policies"}},
		{args: "report", says: []string{"needs a file"}},
		{args: "report nope.json", says: []string{"nope.json", "no such file"}},
		{args: "report MINE", profile: "{\"schema\": 1,\n oops}", says: []string{"mine.yaml", "line 2, column 3", "--format json"}},
		{args: "report MINE", profile: "{\"schema\": 2}", says: []string{"mine.yaml", `"schema" is 2`}},
		{args: "report MINE", profile: "{\"schema\": \"one\"}", says: []string{"mine.yaml", "line 1", "schema"}},
		{args: "report MINE", profile: " ", says: []string{"mine.yaml", "is empty"}},
		{args: "predict", says: []string{"--rate and --arrivals"}},
		{args: "predict --rate 150 --arrivals 1/s", says: []string{"--rate", "no unit"}},
		{args: "predict --rate 150/s --arrivals 1/s --at-most 2", says: []string{"--at-most", "between 0 and 1"}},
		{args: "predict --rate 150/s --arrivals 1/s --retries -1", says: []string{"--retries", "from 0 up"}},
		{args: "predict --measured nope", says: []string{"--measured", `"nope"`}},
		{args: "predict --measured starvation --arrivals 10/s", says: []string{"--arrivals", "4 clients"}},
		{args: "gate --cap 10/s", says: []string{"--active"}},
		{args: "gate --cap 10/s --active 2 --buckets", says: []string{"--buckets", "--per-client"}},
		{args: "gate --cap 10/s --active 2 --max-in-flight 2", says: []string{"--max-in-flight", "--service-time"}},
		{args: "serve --listen 8080", says: []string{"--listen", `"8080"`, "127.0.0.1:8080"}},
		{args: "serve --metrics-listen x", says: []string{"--metrics-listen", `"x"`, "127.0.0.1:8080"}},
		{args: "serve --client-by cookie", says: []string{"--client-by", `"cookie"`, "basic-auth"}},
		{args: "serve --client-header two:words", says: []string{"--client-header", `"two:words"`, "X-Api-Key"}},
		{args: "serve --client-header X-Id --client-by address", says: []string{"--client-header", "--client-by"}},
		{args: "serve --upstream localhost:3000", says: []string{"--upstream", "http://"}},
		{args: "serve --upstream http:///x", says: []string{"--upstream", "no host"}},
		{args: "serve --upstream=", says: []string{"--upstream", "http://"}},
		{args: "serve --listen 127.0.0.1:9 --upstream http://127.0.0.1:9", says: []string{"--upstream", "127.0.0.1:9"}},
		{args: "serve --strangers 0", says: []string{"--strangers", "at least 1"}},
		{args: "serve --transport memory", says: []string{"serve has no flag --transport", "fairgate run has"}},
		{args: "--target 127.0.0.1:8080", says: []string{"--target", "127.0.0.1:8080", "http://"}},
		{args: "--target ftp://127.0.0.1/", says: []string{"--target", "http://"}},
		{args: "--target http://no..host/", says: []string{"--target", "no..host", "cannot be found"}},
		{args: "--target http://127.0.0.1:9/ --policy fair-queue", says: []string{"--policy", "--target"}},
		{args: "--target http://127.0.0.1:9/ --retry-after slot", says: []string{"--retry-after", "--target"}},
		{args: "--target http://127.0.0.1:9/ --burst 5", says: []string{"--burst", "--rate"}},
		{args: "--target http://127.0.0.1:9/ --speed 2", says: []string{"--target", "--speed"}},
		{args: "--target http://127.0.0.1:9/ --lesson", says: []string{"--target", "--lesson"}},
		{args: "--target http://127.0.0.1:9/ --transport loopback", says: []string{"--target", "--transport"}},
		{args: "--target http://127.0.0.1:9/ --connections 3", says: []string{"3 connections", "4 clients"}},
		{args: "--target http://127.0.0.1:9/ --timeout 0s", says: []string{"--timeout", "too short"}},
		{args: "--connections 3", says: []string{"--connections", "--target URL"}},
		{args: "--yes", says: []string{"--yes", "--target URL"}},
		{args: "agent --policy per-client", says: []string{"--client-rate", "250/s"}},
		{args: "agent --policy concurrency", says: []string{"--max-in-flight"}},

		{args: "MINE", profile: good + "colour: blue\n", says: []string{"mine.yaml:3:1", "colour", "colour: blue\n"}},
		{args: "MINE", profile: "limiter: {rate: 10}\nclients: [{name: web}]\n", says: []string{"mine.yaml:1:17", "no unit", "10/s"}},
		{args: "MINE", profile: "limiter: {rate: 0/s}\nclients: [{name: web}]\n", says: []string{"mine.yaml:1:17", "above zero"}},
		{args: "MINE", profile: "limiter: {rate: 10/s, burst: 0}\nclients: [{name: web}]\n", says: []string{"mine.yaml:1:30", "burst"}},
		{args: "MINE", profile: "limiter: {rate: 10/s, burst: 5}\nclients: [{name: web, cost: 6}]\n", says: []string{"mine.yaml:2:", "cost", "burst"}},
		{args: "MINE", profile: "limiter: {rate: [10/s]}\nclients: [{name: web}]\n", says: []string{"mine.yaml:1:17", "rate"}},
		{args: "MINE", profile: "duration: soon\n" + good, says: []string{"mine.yaml:1:11", "soon", "30s"}},
		{args: "MINE", profile: "limiter:\n\trate: 10/s\n", says: []string{"mine.yaml:2:1", "tab"}},
		{args: "MINE", profile: "limiter: {rate: 10/s}\nclients: [{name: web}, {name: web}]\n", says: []string{"mine.yaml:2:", "web", "second time"}},
		{args: "simulate MINE", profile: "limiter: {rate: 10/s}\n", says: []string{"mine.yaml", "clients"}},
		{args: "MINE --burst 1", profile: "limiter: {rate: 10/s}\nclients: [{name: web, cost: 2}]\n", says: []string{"cost", "burst"}},
	} {
		t.Run(c.args+" "+c.profile, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(c.args)
			for i := range args {
				if args[i] == "MINE" {
					args[i] = profile(t, c.profile)
				}
			}
			got := fairgate(t, args...)
			if got.code != exitUsage {
				t.Errorf("exit code %d, want %d", got.code, exitUsage)
			}
			if got.out != "" {
				t.Errorf("on standard output, where only results go: %q", got.out)
			}
			if n := strings.Count(got.err, "fairgate: "); n != 1 || !strings.HasPrefix(got.err, "fairgate: ") {
				t.Errorf("%d messages, want one: %q", n, got.err)
			}
			for _, s := range c.says {
				if !strings.Contains(got.err, s) {
					t.Errorf("it does not say %q: %q", s, got.err)
				}
			}
		})
	}
}

func TestAnUnwritableOutputLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "report.json")
	if got := fairgate(t, "--output", out, "--expect", "nonsense"); got.code != exitUsage {
		t.Errorf("exit code %d, want %d: %s", got.code, exitUsage, got.err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestHelpNamesEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	general := fairgate(t, "--help")
	if general.code != exitDone || general.err != "" {
		t.Fatalf("exit code %d, on standard error %q", general.code, general.err)
	}
	if again := fairgate(t, "help"); again.out != general.out {
		t.Error("`fairgate help` and `fairgate --help` differ")
	}
	inOneLine := strings.Join(strings.Fields(general.out), " ")
	for _, c := range commands {
		if !strings.Contains(inOneLine, c.short) {
			t.Errorf("%s is not in the general help", c.name)
		}
		help := fairgate(t, c.name, "--help")
		if help.code != exitDone || help.out != commandHelp(c) {
			t.Errorf("fairgate %s --help: exit code %d and\n%s", c.name, help.code, help.out)
		}
		groups := &flagGroups{}
		c.flags(groups)
		for _, set := range groups.sets {
			for _, line := range strings.Split(set.FlagUsages(), "\n") {
				if _, name, ok := strings.Cut(line, "--"); ok {
					name, _, _ = strings.Cut(name, " ")
					name, _, _ = strings.Cut(name, "[")
					if !strings.Contains(help.out, "--"+name) {
						t.Errorf("%s: --%s is not in its help", c.name, name)
					}
				}
			}
		}
		for _, line := range strings.Split(help.out+general.out, "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}

// The examples of the help are commands that are understood.
func TestExamplesAreRight(t *testing.T) {
	for _, c := range commands {
		for i, example := range c.examples {
			command, _, _ := strings.Cut(example, " | ")
			command, _, _ = strings.Cut(command, " > ")
			args := shellWords(command)[1:]
			cmd, rest := pick(args)
			groups := &flagGroups{}
			cmd.flags(groups)
			if err := groups.merged(cmd.name).Parse(rest); err != nil {
				t.Errorf("%q: %v", example, err)
			}
			if i == 0 && cmd != c {
				t.Errorf("%s begins its examples with %q, which is of %s", c.name, example, cmd.name)
			}
		}
	}
}

// shellWords splits a command line as a shell does whose only quotes are single ones.
func shellWords(s string) []string {
	var all []string
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// Profiles are listed by what they teach, each once, in 80 columns.
func TestProfilesAreListedInGroups(t *testing.T) {
	t.Parallel()
	golden(t, "profiles.txt", profileList([]profiles.Info{
		{Name: "one", Title: "A title", Teaches: "What it teaches", Group: "First things"},
		{Name: "another", Title: "A title of another", Teaches: strings.TrimSpace(strings.Repeat("it teaches much ", 8)), Group: "First things"},
		{Name: "last", Title: strings.TrimSpace(strings.Repeat("A long title ", 8)), Teaches: "What it teaches", Group: "Further things"},
	}))
	list := fairgate(t, "profiles")
	at := -1
	for _, group := range profiles.Groups {
		for _, heading := range append([]string{group.Title + "\n"}, group.Names...) {
			if heading != group.Title+"\n" {
				heading = "\n  " + heading + " "
			}
			next := strings.Index(list.out, heading)
			if next <= at || strings.Count(list.out, heading) != 1 {
				t.Errorf("%q is not where it belongs in\n%s", heading, list.out)
			}
			at = next
		}
	}
	for _, line := range strings.Split(list.out, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// A profile that is explained reads back as itself, and says where its values come from.
func TestAProfileIsExplained(t *testing.T) {
	t.Parallel()
	mine := profile(t, "clients: [{name: web}]\n")
	got := fairgate(t, "profiles", "--explain", mine)
	if got.code != exitDone || !strings.Contains(got.out, "# "+mine+":1") || !strings.Contains(got.out, "# default of kind interactive") {
		t.Fatalf("exit code %d, %s%s", got.code, got.out, got.err)
	}
	a := reportOf(t, fairgate(t, "simulate", profile(t, got.out), "--format", "json").out)
	b := reportOf(t, fairgate(t, "simulate", mine, "--format", "json").out)
	if a.Aggregate != b.Aggregate {
		t.Errorf("explained %+v, as it is %+v", a.Aggregate, b.Aggregate)
	}
	for _, c := range []struct{ args, says string }{
		{"profiles --explain", "explains one profile"},
		{"profiles --explain agent polite", "explains one profile"},
		{"profiles --explain nosuch.yaml", "nosuch.yaml"},
		{"profiles agent polite", "takes one name"},
		{"profiles starvatoin", "did you mean starvation?"},
		{"profiles mine.yaml", "fairgate profiles --explain mine.yaml"},
	} {
		if got := fairgate(t, strings.Fields(c.args)...); got.code != exitUsage || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("%s: exit code %d, %q", c.args, got.code, got.err)
		}
	}
}

func TestBuiltInProfilesArePrinted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"starvation", "agent", "polite"} {
		text := fairgate(t, "profiles", name)
		if text.code != exitDone {
			t.Fatalf("%s: exit code %d", name, text.code)
		}
		// What is printed is a profile: simulated, it gives what the built-in one gives.
		mine := fairgate(t, "simulate", profile(t, text.out), "--duration", "2s", "--format", "json")
		built := fairgate(t, "simulate", name, "--duration", "2s", "--format", "json")
		a, b := reportOf(t, mine.out), reportOf(t, built.out)
		if a.Aggregate != b.Aggregate || a.Source == b.Source {
			t.Errorf("%s printed and read again gives %+v, the built-in one %+v; sources %q, %q", name, a.Aggregate, b.Aggregate, a.Source, b.Source)
		}
	}
}

// A report that would replace the profile it is about is refused, also by another name.
func TestTheProfileIsNoOutput(t *testing.T) {
	const text = "limiter: {rate: 10/s}\nclients: [{name: web, kind: interactive}]\n"
	mine := profile(t, text)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{mine, link} {
		got := fairgate(t, "simulate", mine, "--output", output)
		if got.code != exitUsage || !strings.Contains(got.err, "is the profile itself") || !strings.Contains(got.err, "another file") {
			t.Errorf("--output %s: exit code %d, %s", output, got.code, got.err)
		}
		if b, err := os.ReadFile(mine); err != nil || string(b) != text {
			t.Errorf("--output %s: the profile is now %q (%v)", output, b, err)
		}
	}
}
