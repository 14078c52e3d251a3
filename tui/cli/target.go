package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"fairgate/attack"
	"fairgate/profiles"
)

// targeting are the flags about a real service that is attacked.
type targeting struct {
	given       func(name string) bool
	url         string
	connections int64
	timeout     time.Duration
	yes         bool
}

func (t *targeting) flags(g *flagGroups) {
	fs := g.group("A real service")
	t.given = fs.Changed
	fs.StringVar(&t.url, "target", "", "attack the service at `URL`, and not a limiter of our own; --rate and --burst then say what its limit is, "+
		"and without them entitlements are shares of what it admits in sum")
	fs.Var(countFlag{&t.connections}, "connections", "connections to it at one time, of all clients together")
	fs.Var(durationFlag{&t.timeout, time.Millisecond}, "timeout", "how long an attempt on it may take (default 30s)")
	fs.BoolVar(&t.yes, "yes", false, "do not ask before a service is attacked that is neither on this machine nor in a private network")
}

// target is the service that the flags name; nil: none. It asks before anything is sent to what may be somebody else's.
func (t *targeting) target(sh *shell, p *profiles.Profile, r *run) (*attack.Target, error) {
	if !t.given("target") {
		for _, name := range []string{"connections", "timeout", "yes"} {
			if t.given(name) {
				return nil, wrong("--%s goes with --target URL: add it, or leave --%s out", name, name)
			}
		}
		return nil, nil
	}
	for _, name := range []string{"policy", "algorithm", "client-rate", "client-burst", "max-in-flight", "shards", "retry-after"} {
		if r.settings.given(name) {
			return nil, wrong("--%s is about a limiter of our own, and --target has its own: leave --%s out", name, name)
		}
	}
	switch {
	case r.speed > 0:
		return nil, wrong("--speed plays the simulation, which sends nothing: leave --speed or --target out")
	case r.lesson:
		return nil, wrong("--lesson changes a limiter of our own, and --target has its own: leave --lesson or --target out")
	case r.transport != attack.TransportMemory:
		return nil, wrong("--transport is the way to a limiter of our own: leave --transport or --target out")
	case r.settings.given("burst") && !r.settings.given("rate"):
		return nil, wrong("--burst says nothing of a --target without --rate: add --rate, for example --rate 100/s")
	}
	u, err := serviceURL("target", t.url)
	if err != nil {
		return nil, err
	}
	public, err := t.allowed(sh, u, p)
	if err != nil {
		return nil, err
	}
	return &attack.Target{
		URL: u, Stated: r.settings.given("rate"), Connections: int(t.connections), Timeout: t.timeout, Public: public,
	}, nil
}

// allowed asks whether a service may be attacked that is neither on this machine nor in a private network. public tells that it is
// such a one, and may.
func (t *targeting) allowed(sh *shell, u *url.URL, p *profiles.Profile) (public bool, err error) {
	if t.yes {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	addresses, err := attack.PublicAddresses(ctx, u)
	if err != nil {
		return false, wrong("--target: %v", err)
	}
	if len(addresses) == 0 {
		return false, nil
	}
	where := fmt.Sprintf("%s is neither on this machine nor in a private network (%s)", u.Redacted(), addresses[0])
	if !sh.isTerminal(sh.in) || !sh.isTerminal(sh.err) {
		return false, wrong("--target: %s, and without a terminal nobody can be asked whether it may be attacked: add --yes if it is yours", where)
	}
	fmt.Fprintf(sh.err, "fairgate: %s.\n%d clients of the profile %s will attack it for %s. Is it yours, and may they? [y/N] ", where, len(p.Expand()), p.Name, p.Duration)
	switch strings.ToLower(strings.TrimSpace(readLine(sh.in))) {
	case "y", "yes":
		return true, nil
	}
	return false, wrong("nothing was sent")
}

// readLine reads up to the end of the line and no further: what comes after are keys for the screen.
func readLine(r io.Reader) string {
	const most = 100
	var line []byte
	for b := make([]byte, 1); len(line) < most; {
		n, err := r.Read(b)
		if n > 0 && b[0] == '\n' || err != nil {
			break
		}
		line = append(line, b[:n]...)
	}
	return string(line)
}
