package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"fairgate/attack"
	"fairgate/limiter/httplimit"
	"fairgate/profiles"
)

// The ways of telling clients apart.
const (
	byHeader    = "header"
	byBasicAuth = "basic-auth"
	byAddress   = "address"
)

var serveCommand = &command{
	name:  "serve",
	args:  "[PROFILE]",
	short: "the limiter as an HTTP server, or before a service of your own",
	long: "The profile's limiter answers whoever asks: by itself, or with --upstream as a reverse proxy before a service. Clients that the profile knows are told by name; " +
		"so are the first strangers, and the others count as one. What they send is shown as in a run; it ends with Ctrl-C or another signal, when requests that are on " +
		"their way have been answered, and then the report is printed.",
	examples: []string{
		"fairgate serve starvation",
		"fairgate serve --listen 127.0.0.1:9000 --upstream http://127.0.0.1:3000",
		"fairgate serve mine.yaml --client-header X-Api-Key --headless --metrics",
		"fairgate serve mine.yaml --client-by address --output report.json",
	},
	flags: func(g *flagGroups) func(*shell, []string) error {
		s := &serve{listen: "127.0.0.1:8080", header: httplimit.DefaultHeader, by: byHeader}
		s.settings.flags(g)
		s.door.flags(g, s)
		s.report.flags(g)
		s.look.flags(g, true)
		return s.do
	},
}

// A serve is the serve command as its flags ask for it.
type serve struct {
	settings      settings
	door          door
	listen        string
	upstream      string
	by, header    string
	strangers     int64
	metrics       bool
	metricsListen string
	headless      bool
	report        reporting
	look          look
}

// A door is the group of flags that say who comes in and where.
type door struct{ given func(name string) bool }

func (d *door) flags(g *flagGroups, s *serve) {
	fs := g.group("The server")
	d.given = fs.Changed
	fs.StringVar(&s.listen, "listen", s.listen, "the `ADDRESS` to serve at; port 0 takes any that is free")
	fs.StringVar(&s.upstream, "upstream", "", "the service behind, as `URL`; without it, what is admitted is answered 200 after the profile's service time")
	fs.Var(&choice{&s.by, []string{byHeader, byBasicAuth, byAddress}}, "client-by", "what tells clients apart: "+oneOf([]string{byHeader, byBasicAuth, byAddress}))
	fs.StringVar(&s.header, "client-header", s.header, "the header `NAME` that tells clients apart")
	fs.Var(countFlag{&s.strangers}, "strangers", fmt.Sprintf("how many names that the profile does not know have a bucket of their own; the rest share one (default %d)", attack.DefaultStrangers))
	fs.BoolVar(&s.metrics, "metrics", false, "Prometheus metrics at "+attack.MetricsPath)
	fs.StringVar(&s.metricsListen, "metrics-listen", "", "Prometheus metrics at an `ADDRESS` of their own")
	fs.BoolVar(&s.headless, "headless", false, "no screen, a line a second instead")
}

func (s *serve) do(sh *shell, args []string) error {
	p, _, err := loadProfile(sh, args, "serve", &s.settings)
	if err != nil {
		return err
	}
	options, err := s.options()
	if err != nil {
		return err
	}
	store, err := openStore(sh, p)
	if err != nil {
		return s.settings.blame(err)
	}
	defer store.finish()
	options.Store = store.forRun()
	guard, err := attack.NewGuard(p, options)
	if err != nil {
		return wrong("%v", err)
	}
	store.marks(guard.Mark)
	// The clients are not those of the profile, so that what it expects of them says nothing.
	if err := s.report.prepare(p, true); err != nil {
		return err
	}
	s.announce(sh, guard, p)
	watched := &session{sh: sh, run: guard, report: &s.report, look: s.look, screen: !s.headless}
	if possible, why := sh.screenPossible(); watched.screen && !possible {
		watched.screen = false
		sh.note("fairgate: no screen, since %s; a line a second instead", why)
	}
	store.watch(watched.screen)
	err = watched.attack(context.Background())
	if n := guard.Nameless(); n > 0 {
		sh.note("fairgate: %d requests did not say who was asking (%s) and were answered 400 or 403", n, s.tells())
	}
	if n, last := guard.Faults(); n > 0 {
		sh.note("fairgate: %d faults of connections; the last: %s", n, last)
	}
	return err
}

// announce says where it is served, which scripts and tests read.
func (s *serve) announce(sh *shell, guard *attack.Guard, p *profiles.Profile) {
	behind := "answering itself"
	if s.upstream != "" {
		behind = "before " + s.upstream
	}
	sh.note("fairgate: %s is served at %s, %s; clients are told apart by %s", p.Name, guard.URL(), behind, s.tells())
	if at := guard.MetricsURL(); at != "" {
		sh.note("fairgate: metrics are at %s", at)
	}
}

// tells is what tells clients apart, in words.
func (s *serve) tells() string {
	switch s.by {
	case byBasicAuth:
		return "the user of basic authentication"
	case byAddress:
		return "address"
	}
	return "the header " + s.header
}

// options of the guard, as the flags ask for them.
func (s *serve) options() (o attack.GuardOptions, err error) {
	o = attack.GuardOptions{Listen: s.listen, Strangers: int(s.strangers), Metrics: s.metrics, MetricsListen: s.metricsListen}
	if s.settings.given("duration") {
		o.Duration = s.settings.duration
	}
	for _, address := range []struct{ flag, value string }{{"listen", s.listen}, {"metrics-listen", s.metricsListen}} {
		if address.value == "" && address.flag != "listen" {
			continue
		}
		if _, _, err := net.SplitHostPort(address.value); err != nil {
			return o, wrong("--%s: %q is no address with a port: write for example 127.0.0.1:8080", address.flag, address.value)
		}
	}
	switch s.by {
	case byHeader:
		if !isToken(s.header) {
			return o, wrong("--client-header: %q is no name of a header: write for example X-Api-Key", s.header)
		}
		o.Identify = httplimit.ByHeader(s.header)
	case byBasicAuth:
		o.Identify = httplimit.ByUser
	case byAddress:
		o.Identify = httplimit.ByAddress
	}
	if s.by != byHeader && s.door.given("client-header") {
		return o, wrong("--client-header goes with --client-by header: leave one of the two out")
	}
	if s.door.given("upstream") {
		if o.Upstream, err = serviceURL("upstream", s.upstream); err != nil {
			return o, err
		}
		if o.Upstream.Host == s.listen {
			return o, wrong("--upstream is the address that is listened at, %s: it would ask itself for ever", s.listen)
		}
	}
	return o, nil
}

// serviceURL reads the address of a service.
func serviceURL(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, wrong("--%s: %q is no URL: write for example http://127.0.0.1:8080/", flag, text)
	}
	if err := attack.CheckTarget(u); err != nil {
		return nil, wrong("--%s: %v", flag, err)
	}
	return u, nil
}

// isToken reports whether s may be the name of a header field (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}
