package tui

import (
	"github.com/charmbracelet/bubbles/key"
)

// keys are the bindings. The footer and the help are made of them, so that neither can promise what no key does.
type keys struct {
	algorithm, burstUp, burstDown, clientUp, clientDown, retryAfter, undo key.Binding
	policy, policyBack, faster, slower                                    key.Binding
	serviceUp, serviceDown, shadows, exact                                key.Binding
	demandUp, demandDown, heavier, lighter, dearer, cheaper               key.Binding
	retries, storm, onOff                                                 key.Binding
	onward, goBack, lesson                                                key.Binding
	hold, restart, reseed, save                                           key.Binding
	scale, pause, up, down, pageUp, pageDown                              key.Binding
	nextView, lastView, order, reverse, filter, keep                      key.Binding
	views                                                                 [views]key.Binding
	help, quit, interrupt, suspend                                        key.Binding
}

func newKeys() keys {
	bind := func(name, what string, on ...string) key.Binding {
		return key.NewBinding(key.WithKeys(on...), key.WithHelp(name, what))
	}
	k := keys{
		policy:      bind("p", "policy", "p"),
		policyBack:  bind("P", "previous policy", "P"),
		faster:      bind("+", "limit up", "+", "="),
		slower:      bind("-", "limit down", "-", "_"),
		algorithm:   bind("a", "algorithm", "a"),
		burstUp:     bind("b", "burst up", "b"),
		burstDown:   bind("B", "burst down", "B"),
		clientUp:    bind("c", "client limit up", "c"),
		clientDown:  bind("C", "client limit down", "C"),
		retryAfter:  bind("t", "way of telling", "t"),
		undo:        bind("u", "undo", "u"),
		serviceUp:   bind("m", "service slower", "m"),
		serviceDown: bind("M", "service faster", "M"),
		shadows:     bind("S", "shadow policies", "S"),
		exact:       bind("e", "exact value", "e", ":"),
		demandUp:    bind(">", "asks for twice", ">"),
		demandDown:  bind("<", "asks for half", "<"),
		heavier:     bind("g", "more weight", "g"),
		lighter:     bind("G", "less weight", "G"),
		dearer:      bind("d", "costs more", "d"),
		cheaper:     bind("D", "costs less", "D"),
		retries:     bind("y", "way of retrying", "y"),
		storm:       bind("s", "storm", "s"),
		onOff:       bind("f", "off and on", "f"),
		onward:      bind("n", "next step", "n"),
		goBack:      bind("N", "step before", "N"),
		lesson:      bind("l", "show or hide", "l"),
		hold:        bind("z", "pause the load", "z", "L"),
		restart:     bind("r", "restart", "r"),
		reseed:      bind("R", "with another seed", "R"),
		save:        bind("w", "write as a profile", "w"),
		scale:       bind("v", "scale", "v"),
		pause:       bind("space", "hold picture", " "),
		up:          bind("↑", "up", "up", "k"),
		down:        bind("↓", "down", "down", "j"),
		pageUp:      bind("pgup", "a page up", "pgup"),
		pageDown:    bind("pgdn", "a page down", "pgdown"),
		nextView:    bind("tab", "next view", "tab"),
		lastView:    bind("⇧tab", "view before", "shift+tab"),
		order:       bind("o", "order by", "o"),
		reverse:     bind("O", "turn round", "O"),
		filter:      bind("/", "filter", "/"),
		keep:        bind("x", "keep this screen", "x"),
		help:        bind("?", "help", "?"),
		quit:        bind("q", "quit", "q"),
		interrupt:   bind("ctrl+c", "interrupt", "ctrl+c"),
		suspend:     bind("ctrl+z", "shell (fg returns)", "ctrl+z"),
	}
	for v, n := range viewNames {
		k.views[v] = bind(n.digit, n.name, n.digit)
	}
	return k
}

// teach switches the keys of a lesson on, or off. With a lesson, b goes back in it.
func (k *keys) teach(lesson bool) {
	for _, b := range []*key.Binding{&k.onward, &k.goBack, &k.lesson} {
		b.SetEnabled(lesson)
	}
	if lesson {
		k.goBack.SetKeys("b", "N")
		k.goBack.SetHelp("b", "step before")
		k.burstUp.SetKeys("}")
		k.burstUp.SetHelp("}", "burst up")
		k.burstDown.SetKeys("{", "B")
		k.burstDown.SetHelp("{", "burst down")
	}
}

// tune switches the keys on whose commands the source carries out, and the others off.
func (k *keys) tune(s Source) {
	tuner, ok := s.(Tuner)
	can := func(c Command) bool { return ok && tuner.Can(c) }
	k.algorithm.SetEnabled(can(StepAlgorithm{}))
	k.burstUp.SetEnabled(can(ScaleBurst{}))
	k.burstDown.SetEnabled(can(ScaleBurst{}))
	k.clientUp.SetEnabled(can(ScaleClientRate{}))
	k.clientDown.SetEnabled(can(ScaleClientRate{}))
	k.retryAfter.SetEnabled(can(StepRetryAfter{}))
	k.undo.SetEnabled(can(Undo{}))
	k.serviceUp.SetEnabled(can(ScaleServiceTime{}))
	k.serviceDown.SetEnabled(can(ScaleServiceTime{}))
	k.shadows.SetEnabled(can(ToggleShadows{}))
	k.demandUp.SetEnabled(can(ScaleDemand{}))
	k.demandDown.SetEnabled(can(ScaleDemand{}))
	k.heavier.SetEnabled(can(StepWeight{}))
	k.lighter.SetEnabled(can(StepWeight{}))
	k.dearer.SetEnabled(can(StepCost{}))
	k.cheaper.SetEnabled(can(StepCost{}))
	k.retries.SetEnabled(can(StepRetries{}))
	k.storm.SetEnabled(can(Storm{}))
	k.onOff.SetEnabled(can(Switch{}))
	k.hold.SetEnabled(can(HoldLoad{}))
	k.restart.SetEnabled(can(Restart{}))
	k.reseed.SetEnabled(can(Restart{}))
}

// footer are the bindings of the last line as they stand there. Where there is no room for all, those with the
// highest rank stay.
func (k keys) footer(v view) []footerKey {
	if k.onward.Enabled() {
		return []footerKey{{k.onward, 1}, {k.goBack, 4}, {k.lesson, 5}, {k.policy, 6}, {k.undo, 8}, {k.pause, 9}, {k.nextView, 7}, {k.help, 3}, {k.quit, 2}}
	}
	switch v {
	case clientsView:
		return []footerKey{{k.policy, 4}, {k.order, 3}, {k.reverse, 6}, {k.filter, 5}, {k.nextView, 7}, {k.help, 2}, {k.quit, 1}}
	case besideView:
		return []footerKey{{k.shadows, 3}, {k.policy, 4}, {k.up, 7}, {k.down, 6}, {k.pause, 8}, {k.nextView, 5}, {k.help, 2}, {k.quit, 1}}
	case retryView, insideView, eventsView:
		return []footerKey{{k.policy, 3}, {k.up, 6}, {k.down, 5}, {k.pause, 7}, {k.nextView, 4}, {k.help, 2}, {k.quit, 1}}
	}
	return []footerKey{{k.policy, 3}, {k.faster, 4}, {k.slower, 5}, {k.storm, 7}, {k.undo, 8}, {k.scale, 9}, {k.pause, 10}, {k.nextView, 6}, {k.help, 2}, {k.quit, 1}}
}

type footerKey struct {
	binding key.Binding
	rank    int
}

// A keyGroup is a part of the help.
type keyGroup struct {
	title    string
	bindings []key.Binding
}

// groups are all bindings.
func (k keys) groups() []keyGroup {
	return []keyGroup{
		{"limiter", []key.Binding{k.policy, k.policyBack, k.faster, k.slower, k.algorithm, k.burstUp, k.burstDown, k.clientUp, k.clientDown, k.retryAfter, k.serviceUp, k.serviceDown, k.exact, k.undo, k.shadows}},
		{"the client marked ▸", []key.Binding{k.storm, k.onOff, k.demandUp, k.demandDown, k.retries, k.heavier, k.lighter, k.dearer, k.cheaper}},
		{"the run", []key.Binding{k.hold, k.restart, k.reseed, k.save}},
		{"lesson", []key.Binding{k.onward, k.goBack, k.lesson}},
		{"views", append(k.views[:len(k.views):len(k.views)], k.nextView, k.lastView)},
		{"clients", []key.Binding{k.order, k.reverse, k.filter}},
		{"picture", []key.Binding{k.scale, k.pause, k.keep, k.up, k.down, k.pageUp, k.pageDown}},
		{"program", []key.Binding{k.help, k.quit, k.interrupt, k.suspend}},
	}
}
