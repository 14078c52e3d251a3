package profiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"fairgate/limiter"
)

// same compares what a profile says, not where it was read.
var same = []cmp.Option{cmpopts.IgnoreUnexported(Profile{}, Step{}), cmpopts.IgnoreFields(Profile{}, "Source")}

func TestBuiltinsReadBackAsTheyAreWritten(t *testing.T) {
	for _, info := range Builtins() {
		p, err := builtin(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		readsBack(t, p)
	}
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func readsBack(t failer, p *Profile) {
	t.Helper()
	text, err := p.YAML()
	if err != nil {
		t.Fatalf("YAML: %v", err)
	}
	q, err := Parse("back.yaml", text)
	if err != nil {
		t.Fatalf("what YAML wrote does not parse: %v\n%s", err, text)
	}
	if d := cmp.Diff(p, q, same...); d != "" {
		t.Fatalf("another profile came back (-written +read):\n%s\n%s", d, text)
	}
}

// Any profile that Check accepts is written so that it reads back as itself.
func TestProfilesReadBackAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		if err := p.Check(); err != nil {
			t.Fatalf("the generator made a profile that is refused: %v", err)
		}
		readsBack(t, p)
	})
}

// A clone is equal, and a change of it changes nothing in the original.
func TestACloneSharesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		before, _ := p.YAML()
		q := p.Clone()
		if d := cmp.Diff(p, q, same...); d != "" {
			t.Fatalf("the clone differs:\n%s", d)
		}
		for i := range q.Clients {
			c := &q.Clients[i]
			c.Name, c.Retry.On[0] = "changed", 999
			for key := range c.Headers {
				c.Headers[key] = "changed"
			}
		}
		for i := range q.Limiter.Bandwidths {
			q.Limiter.Bandwidths[i].ID = "changed"
		}
		if q.Limiter.Initial != nil {
			*q.Limiter.Initial = 999
		}
		for i := range q.Expect {
			q.Expect[i] = "changed"
		}
		for i := range q.Lesson {
			q.Lesson[i].Say = "changed"
			for k := range q.Lesson[i].Choice {
				q.Lesson[i].Choice[k] = "changed"
			}
		}
		if after, _ := p.YAML(); string(after) != string(before) {
			t.Fatalf("the original was:\n%s\nand is:\n%s", before, after)
		}
	})
}

// anyProfile draws a profile that makes sense.
func anyProfile(t *rapid.T) *Profile {
	p := defaults()
	p.Name = word0(t, "name")
	p.Title = sentence(t, "title")
	p.About = sentence(t, "about")
	p.Duration = time.Duration(rapid.Int64Range(1e9, 1e13).Draw(t, "duration"))
	p.WarmUp = time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "warm_up"))
	p.Seed = rapid.Uint64().Draw(t, "seed")
	p.Service.Time = time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "service"))
	p.Service.RoundTrip = time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "round trip"))
	p.Limiter = anyLimiter(t)
	for i := range rapid.IntRange(1, 5).Draw(t, "clients") {
		p.Clients = append(p.Clients, anyClient(t, fmt.Sprintf("%s~%d", word0(t, "client"), i)))
	}
	if rapid.Bool().Draw(t, "expects") {
		p.Expect = []string{"jain >= 0.5", p.clientNames()[0] + ".share < 1"}
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		s := Step{Say: sentence(t, "say"), Reveal: strings.ReplaceAll(sentence(t, "reveal"), "{", "{{")}
		if rapid.Bool().Draw(t, "asks") {
			s.Ask, s.Choice = sentence(t, "ask"), []string{sentence(t, "a"), sentence(t, "b")}
		}
		if rapid.Bool().Draw(t, "sets") {
			s.Set = []byte("limiter:\n  burst: 10000\n  policy: global\n")
			s.set, _ = parseTree(newSource("set", s.Set), s.Set)
		}
		p.Lesson = append(p.Lesson, s)
	}
	return p
}

func anyLimiter(t *rapid.T) limiter.Config {
	c := defaults().Limiter
	c.Policy = rapid.SampledFrom([]limiter.Policy{limiter.Global, limiter.PerClient, limiter.FairQueue, limiter.Concurrency}).Draw(t, "policy")
	c.Algorithm = rapid.SampledFrom([]limiter.Algorithm{limiter.AlgorithmTokenBucket, limiter.AlgorithmGCRA}).Draw(t, "algorithm")
	c.Rate, c.Client.Rate = anyRate(t), anyRate(t)
	c.Burst = rapid.Int64Range(1000, 10000).Draw(t, "burst")
	c.Client.Burst = rapid.Int64Range(1000, 10000).Draw(t, "client burst")
	c.Client.MaxInFlight = rapid.IntRange(1, 100).Draw(t, "in flight")
	c.Order = rapid.SampledFrom([]limiter.Discipline{limiter.FIFO, limiter.StartTime, limiter.DeficitRound}).Draw(t, "order")
	c.RetryAfter = rapid.SampledFrom(retryAfters).Draw(t, "retry after")
	c.Inherit = rapid.SampledFrom(inherits).Draw(t, "inherit")
	c.ForgetAfter = time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "forget after"))
	c.Queue.MaxWait = time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "max wait"))
	c.Keep = rapid.Bool().Draw(t, "keep")
	if c.Algorithm == limiter.AlgorithmTokenBucket && rapid.Bool().Draw(t, "full") {
		n := rapid.Int64Range(0, 1000).Draw(t, "initial")
		c.Initial = &n
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "bandwidths") {
		c.Bandwidths = append(c.Bandwidths, limiter.Bandwidth{ID: fmt.Sprintf("b %d: #", i), Rate: anyRate(t), Burst: 1000, Refill: limiter.Greedy})
	}
	return c
}

func anyClient(t *rapid.T, name string) Client {
	c := defaultsOf(rapid.SampledFrom(kinds).Draw(t, "kind"))
	c.Name = name
	c.Weight = rapid.Int64Range(1, 100).Draw(t, "weight")
	c.Cost = rapid.Int64Range(1, 1000).Draw(t, "cost")
	c.Copies = rapid.IntRange(1, 4).Draw(t, "copies")
	if rapid.Bool().Draw(t, "own arrivals") {
		c.Arrivals = anyArrivals(t)
	}
	if c.Arrivals.Process.hasRate() {
		c.Zipf = rapid.SampledFrom([]float64{0, 0.5, 1, 1.25}).Draw(t, "zipf")
	}
	if rapid.Bool().Draw(t, "own retry") {
		c.Retry = Retry{Attempts: rapid.IntRange(Unlimited, 9).Draw(t, "attempts"), Backoff: NoBackoff,
			Jitter: rapid.SampledFrom([]Jitter{NoJitter, FullJitter}).Draw(t, "jitter"), On: []int{429},
			HonorRetryAfter: rapid.Bool().Draw(t, "honours"), Budget: rapid.Float64Range(0, 1).Draw(t, "budget")}
		switch rapid.IntRange(0, 2).Draw(t, "backoff") {
		case 1:
			c.Retry.Backoff, c.Retry.Base = Fixed, time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "base"))
		case 2:
			c.Retry.Backoff, c.Retry.Base = Exponential, time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "base"))
			c.Retry.Max = c.Retry.Base + time.Duration(rapid.Int64Range(0, 1e11).Draw(t, "max"))
			c.Retry.Jitter = rapid.SampledFrom(jitters).Draw(t, "jitter")
		}
	}
	if rapid.Bool().Draw(t, "has headers") {
		c.Headers = map[string]string{"X-Key": `a: "b" #c \ `, "on": "true"}
		c.Endpoint = "/v1/things?x={1}"
		c.Deadline = time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "deadline"))
	}
	c.Start = time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "start"))
	return c
}

func anyArrivals(t *rapid.T) Arrivals {
	a := Arrivals{Process: rapid.SampledFrom(processNames).Draw(t, "process")}
	some := func(what string) time.Duration {
		return time.Duration(rapid.Int64Range(1, 1e12).Draw(t, what))
	}
	if a.Process.hasRate() {
		a.Rate = anyRate(t)
	}
	switch a.Process {
	case Constant:
		a.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
	case OnOff:
		a.On, a.Off = some("on"), some("off")
	case Ramp:
		a.From, a.To, a.Over = anyRate(t), limiter.Rate{Per: time.Minute}, some("over")
	case Sine:
		a.Amplitude, a.Period = rapid.Float64Range(0, 1).Draw(t, "amplitude"), some("period")
	case Closed:
		a.Workers, a.Think = rapid.IntRange(1, 99).Draw(t, "workers"), some("think")
	case Once:
		a.Count, a.At = rapid.IntRange(1, 99).Draw(t, "count"), time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "at"))
	case Trace:
		for d := range rapid.IntRange(1, 5).Draw(t, "offsets") {
			a.Trace = append(a.Trace, time.Duration(d)*some("step")/100)
		}
		for i := 1; i < len(a.Trace); i++ {
			a.Trace[i] = max(a.Trace[i], a.Trace[i-1])
		}
	}
	return a
}

func anyRate(t *rapid.T) limiter.Rate {
	n := rapid.Int64Range(1, 100_000).Draw(t, "tokens")
	text := fmt.Sprintf("%d/%s", n, rapid.SampledFrom([]string{"s", "m", "h", "d", "30s", "72s", "1h30m", "250ms"}).Draw(t, "per"))
	if rapid.Bool().Draw(t, "decimal") {
		text = fmt.Sprintf("%d.%02d/s", n, rapid.IntRange(1, 99).Draw(t, "hundredths"))
	}
	r, err := limiter.ParseRate(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func word0(t *rapid.T, what string) string {
	return rapid.StringMatching(`[a-zA-Z0-9é世_.:#\[\]{},&*|%@-]{1,12}`).Draw(t, what)
}

// sentence draws texts that YAML could take for something else.
func sentence(t *rapid.T, what string) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"true", "~", "null", "1e3", "0x10", "- a", "a: b", "# a", "a #b", "'", `"`, `\`, `\n`, "{a}", "[", "a\nb", "a\n\n  b", "---", "|", ">", "é世", "%", "@x", "&a *b !c", "on", "=", "<<"}),
		rapid.StringMatching(`[a-zé世'"\\:#{}\[\]|>!&*%@,?-]([a-zé世 \n'"\\:#{}\[\]|>!&*%@,?-]{0,30}[a-zé世'"\\:#{}\[\]|>!&*%@,?-])?`),
	).Draw(t, what)
}

// A trace is read from a file beside the profile, by durations or seconds.
func TestTraceFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	profile := write("p.yaml", client("arrivals: {process: trace, file: times.csv}"))

	write("times.csv", "# seen on Monday\n0\n\n0.15\n150ms\r\n2s")
	p, err := Load(profile)
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{0, 150 * time.Millisecond, 150 * time.Millisecond, 2 * time.Second}
	if d := cmp.Diff(want, p.Clients[0].Arrivals.Trace); d != "" {
		t.Errorf("offsets (-want +got):\n%s", d)
	}
	readsBack(t, p)

	for _, c := range []struct{ text, want string }{
		{"0s\n1 second\n", `times.csv:2:1: clients[0].arrivals.file: "1 second" is no duration`},
		{"2s\n1s\n", "times.csv:2:1: clients[0].arrivals.file: 1s goes back in time"},
		{"-1\n", "times.csv:1:1: clients[0].arrivals.file: \"-1\" is out of range"},
		{"NaN\n", "out of range"},
		{"# nothing\n", "holds no offset"},
	} {
		write("times.csv", c.text)
		if _, err := Load(profile); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want it to hold %q", c.text, err, c.want)
		}
	}
}
