package cli

import (
	"context"
	"fmt"
	"strings"

	"fairgate/attack"
	"fairgate/profiles"
	"fairgate/tui"
)

const defaultProfile = "starvation"

var runCommand = &command{
	name:  "run",
	args:  "[PROFILE]",
	short: "attack a limiter and watch it live",
	long: "The profile's clients attack its limiter, in this process and in real time. In a terminal a screen shows who gets what; without one, or " +
		"with --headless, it is a line a second on standard error. The report goes to standard output at the end.",
	examples: []string{
		"fairgate",
		"fairgate starvation --policy per-client",
		"fairgate run mine.yaml --headless --duration 10s --format json",
		"fairgate run agent --output report.md",
		"fairgate run polite --speed 10",
		"fairgate run starvation --lesson",
		"fairgate run starvation --rate 500/s --burst 50 --seed 7",
		"fairgate run starvation --record attempts.gob",
		"fairgate run mine.yaml --target http://127.0.0.1:8080/ --rate 100/s",
		"fairgate run mine.yaml --expect 'jain > 0.9' --expect 'errors == 0'",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		r := &run{}
		r.settings.flags(g)
		fs := g.group("The attack")
		transports := []string{attack.TransportMemory, attack.TransportLoopback}
		r.transport = transports[0]
		fs.Var(&choice{&r.transport, transports}, "transport", "how attempts reach the limiter: "+oneOf(transports))
		shadowFlag(fs, &r.shadow)
		fs.Var(factorFlag{&r.speed}, "speed", "draw the simulation in place of a live run, so many times as fast as life")
		recordFlag(fs, &r.record)
		replayFlag(fs, &r.settings)
		fs.BoolVar(&r.lesson, "lesson", false, "walk through the profile's lesson on the screen")
		fs.BoolVar(&r.headless, "headless", false, "no screen, a line a second instead")
		r.target.flags(g)
		r.report.flags(g)
		r.look.flags(g, true)
		return r.do
	},
}

// A run is the run command as its flags ask for it.
type run struct {
	settings  settings
	transport string
	headless  bool
	lesson    bool
	shadow    []string
	speed     float64 // 0: live
	record    string  // "": nothing is recorded
	target    targeting
	report    reporting
	look      look
}

func (r *run) do(sh *shell, args []string) error {
	p, altered, err := loadProfile(sh, args, "run", &r.settings)
	if err != nil {
		return err
	}
	target, err := r.target.target(sh, p, r)
	if err != nil {
		return err
	}
	if r.lesson {
		if err := r.teach(sh, p); err != nil {
			return err
		}
	}
	var store *store
	if target == nil && r.speed == 0 {
		if store, err = openStore(sh, p); err != nil {
			return r.settings.blame(err)
		}
		defer store.finish()
	}
	var record *record
	if r.record != "" {
		if r.speed > 0 {
			return wrong("--record keeps what is sent, and --speed plays the simulation, which sends nothing: leave one of them out")
		}
		if record, err = openRecord(r.record); err != nil {
			return err
		}
	}
	again := func(p *profiles.Profile) (attacker, error) { return r.attacker(p, target, store, record) }
	attacker, err := again(p)
	if err != nil {
		return r.settings.blame(err)
	}
	if err := r.report.prepare(p, altered || target != nil || r.lesson); err != nil {
		return err
	}
	s := &session{sh: sh, run: attacker, report: &r.report, look: r.look, screen: !r.headless, lesson: r.lesson, again: again}
	if possible, why := sh.screenPossible(); s.screen && !possible {
		s.screen = false
		sh.note("fairgate: no screen, since %s; a line a second instead", why)
	}
	store.watch(s.screen)
	return record.close(sh, s.attack(context.Background()))
}

// attacker is a live run, or with --speed the simulation played back.
func (r *run) attacker(p *profiles.Profile, target *attack.Target, store *store, record *record) (attacker, error) {
	if r.speed > 0 {
		if r.transport != attack.TransportMemory {
			return nil, fmt.Errorf("--speed plays the simulation, which sends nothing: leave --transport out")
		}
		played, err := attack.NewPlayback(p, r.speed)
		if err != nil {
			return nil, err
		}
		if err := played.Shadow(policiesOf(r.shadow)...); err != nil {
			return nil, fmt.Errorf("--shadow: %w", err)
		}
		return played, nil
	}
	live, err := attack.New(p, attack.Options{Transport: r.transport, Target: target, Store: store.forRun(), Record: record.each()})
	if err != nil {
		return nil, err
	}
	store.marks(live.Mark)
	if err := live.Shadow(policiesOf(r.shadow)...); err != nil {
		return nil, fmt.Errorf("--shadow: %w", err)
	}
	return live, nil
}

// flags declares how things look; the theme is the screen's.
func (l *look) flags(g *flagGroups, screen bool) {
	fs := g.group("What you see")
	l.theme, l.colour = "auto", colourAuto
	if screen {
		fs.Var(&choice{&l.theme, tui.Themes}, "theme", "colours of the screen: "+oneOf(tui.Themes)+"; auto goes by the variable COLORFGBG, and by a dark background without it")
	}
	fs.BoolVar(&l.ascii, "ascii", false, "draw with ASCII characters only")
	fs.Var(&choice{&l.colour, []string{colourAuto, colourAlways, colourNever}}, "color", "colours: auto, always or never")
}

// loadProfile reads the profile that the arguments name and lays the settings over it.
func loadProfile(sh *shell, args []string, command string, s *settings) (p *profiles.Profile, altered bool, err error) {
	if len(args) > 1 {
		if near := nearest(args[0], commandNames()); near != "" {
			return nil, false, wrong("there is no command %q: did you mean fairgate %s?", args[0], near)
		}
		return nil, false, wrong("%s takes one profile, and was given %d: %s", command, len(args), strings.Join(args, " "))
	}
	name := defaultProfile
	if len(args) == 1 {
		name = args[0]
	}
	if p, err = profiles.Load(name); err != nil {
		return nil, false, unreadable(name, err)
	}
	if p, err = s.replayed(sh, p); err != nil {
		return nil, false, err
	}
	if altered, err = s.apply(p); err != nil {
		return nil, false, err
	}
	if command == "simulate" || command == "compare" {
		if err := attack.InVirtualTime(p); err != nil {
			return nil, false, s.blame(err)
		}
	}
	for _, note := range s.idle(p) {
		sh.note("fairgate: %s", note)
	}
	return p, altered || s.replay != "", nil
}

// unreadable is why a profile cannot be used. A word that is nearly a command was probably meant for one.
func unreadable(name string, err error) error {
	if near := nearest(name, commandNames()); near != "" && !strings.ContainsAny(name, "./") {
		return wrong("%v; or did you mean the command %s?", err, near)
	}
	return wrong("%v", err)
}
