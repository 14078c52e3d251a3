package profiles

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// at cuts the mark § out of a text and says where it stood.
func at(t *testing.T, marked string) (text string, line, column int) {
	t.Helper()
	before, after, found := strings.Cut(marked, "§")
	if !found || strings.Contains(after, "§") {
		t.Fatalf("no single § in %q", marked)
	}
	line = strings.Count(before, "\n") + 1
	column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return before + after, line, column
}

// client is a profile with one client, whose further keys are given.
func client(keys string) string {
	return "limiter: {rate: 100/s, burst: 10}\nclients:\n  - name: web\n    " + keys + "\n"
}

// limited is a profile with the given keys of its limiter.
func limited(keys string) string {
	return "clients: [{name: web}, {name: app, cost: 2}]\nlimiter:\n  " + keys + "\n"
}

// Every case holds one mistake, and a § where the message must point.
func TestEveryMistakeHasItsPlace(t *testing.T) {
	for _, c := range []struct {
		name, yaml, path, msg string
	}{
		// The file.
		{"tab", "clients:\n§\t- name: web\n", "", "a tab"},
		{"tab after spaces", "clients:\n  - name: web\n   §\tkind: batch\n", "", "a tab"},
		{"second document", "clients: [{name: web}]\n---\n§clients: [{name: web}]\n", "", "second document"},
		{"bell", "title: a§\ab\nclients: [{name: web}]\n", "", "invisible character (U+0007)"},
		{"turned direction", "title: a§\u202eb\nclients: [{name: web}]\n", "", "invisible character (U+202E)"},
		{"latin-1", "title: caf§\xe9\nclients: [{name: web}]\n", "", "UTF-8"},
		{"open bracket", "clients: §[{name: web}\n", "", "no valid YAML"},
		{"open quote", "title: §\"abc\nclients: [{name: web}]\n", "", "no valid YAML"},
		{"anchor", "limiter: §&l {rate: 10/s}\nclients: [{name: web}]\n", "", "anchors"},
		{"alias", "clients: [{name: web, weight: §*w}]\n", "", "anchors"},
		{"merge", "clients:\n  - name: web\n    §<<: {kind: batch}\n", "", "anchors"},
		{"tag", "seed: §!!int 1\nclients: [{name: web}]\n", "", "tags"},
		{"a list at the top", "§- name: web\n", "", "should be a profile"},
		{"a word at the top", "§starvation\n", "", "should be a profile"},
		{"key twice", "seed: 1\nclients: [{name: web}]\n§seed: 2\n", "", "first in line 1"},
		{"key twice in flow", "clients: [{name: web, kind: batch, §kind: batch}]\n", "", "a second time"},

		// Keys.
		{"misspelt key", "§durration: 5s\nclients: [{name: web}]\n", "durration", "did you mean duration?"},
		{"unknown key", "§zebra: 5s\nclients: [{name: web}]\n", "zebra", "the keys here are extends, name, title"},
		{"misspelt in a client", client("§arivals: {rate: 5/s}"), "clients[0].arivals", "did you mean arrivals?"},
		{"misspelt in flow", client("arrivals: {§rat: 5/s}"), "clients[0].arrivals.rat", "did you mean rate?"},
		{"key with an escape", "§\"a\\eb\": 5s\nclients: [{name: web}]\n", `"a\x1bb"`, "unknown key"},
		{"upper case", "§Clients: [{name: web}]\n", "Clients", "did you mean clients?"},
		{"empty mapping", "§limiter:\nclients: [{name: web}]\n", "limiter", "is empty"},
		{"list for mapping", "limiter: §[1]\nclients: [{name: web}]\n", "limiter", "a list and should be a mapping"},
		{"mapping for list", "clients: §{name: web}\n", "clients", "a mapping and should be a list"},
		{"no space after a colon", "limiter:\n  §rate:100/s\nclients: [{name: web}]\n", "limiter", "a space after the colon"},
		{"nothing for a list", "§clients:\n", "clients", "is empty: write a list"},
		{"after Windows' line ends", "clients:\r\n  - name: web\r\n    weight: §0\r\n", "clients[0].weight", "1 or more"},
		{"after a folded text", "about: >\n  a\n  b: c\n\n  d\nclients:\n- name: web\n  weight: §0\n", "clients[0].weight", "1 or more"},
		{"after comments", "# a\n\n---\nclients: # b\n# c\n- name: web # d\n  # e\n  weight: §0 # f\n", "clients[0].weight", "1 or more"},
		{"in flow over lines", "clients: [{name: web,\n   # a\n   arrivals: {process: trace, at: [1s,\n     2s, §3]}}]\n", "clients[0].arrivals.at[2]", "write 3s"},
		{"in a list of lines", "clients:\n-\n    name: wéb\n    headers: {a: §[b]}\n", "clients[0].headers.a", "a list and should be a text"},
		{"word for mapping", client("retry: §none"), "clients[0].retry", `"none" and should be a mapping`},

		// Scalars.
		{"rate without a unit", "limiter:\n  rate: §1000\nclients: [{name: web}]\n", "limiter.rate", "write 1000/s"},
		{"rate zero", limited("rate: §0/s"), "limiter.rate", "above zero"},
		{"rate negative", limited("rate: §-5/s"), "limiter.rate", "above zero"},
		{"rate of what", limited("rate: §10/fortnight"), "limiter.rate", "neither s, m, h, d nor a duration"},
		{"rate list", limited("rate: §[10/s]"), "limiter.rate", "a list and should be a rate"},
		{"rate too fast", limited("rate: §1000000000000/s"), "limiter.rate", "fastest"},
		{"rate endless", limited("rate: §" + strings.Repeat("9", 100) + "/s"), "limiter.rate", "is no rate"},
		{"rate NaN", limited("rate: §.nan"), "limiter.rate", "is no rate"},
		{"duration without a unit", "duration: §30\nclients: [{name: web}]\n", "duration", "write 30s"},
		{"duration zero", "duration: §0s\nclients: [{name: web}]\n", "duration", "above zero"},
		{"duration negative", "duration: §-1s\nclients: [{name: web}]\n", "duration", "above zero"},
		{"duration of words", "duration: §\"a while\"\nclients: [{name: web}]\n", "duration", "is no duration"},
		{"duration of ages", "duration: §2000000h\nclients: [{name: web}]\n", "duration", "longest time"},
		{"duration overflowing", "duration: §99999999999999h\nclients: [{name: web}]\n", "duration", "is no duration"},
		{"warm-up eats the run", "duration: 5s\nwarm_up: §5s\nclients: [{name: web}]\n", "warm_up", "leaves nothing"},
		{"seed negative", "seed: §-1\nclients: [{name: web}]\n", "seed", "whole number from 0"},
		{"burst zero", limited("burst: §0"), "limiter.burst", "1 or more"},
		{"burst quoted", limited("burst: §\"10\""), "limiter.burst", "without quotes"},
		{"burst fractional", limited("burst: §1.5"), "limiter.burst", "no whole number"},
		{"burst huge", limited("burst: §99999999999999999999"), "limiter.burst", "too large"},
		{"burst hexadecimal", limited("burst: §0x10"), "limiter.burst", "digits alone"},
		{"burst true", limited("burst: §true"), "limiter.burst", "no whole number"},
		{"burst nothing", limited("§burst:"), "limiter.burst", "is empty"},
		{"yes", client("retry: {honor_retry_after: §yes}"), "clients[0].retry.honor_retry_after", "neither true nor false"},

		// Starting from another.
		{"extends nothing known", "extends: §starvaton\n", "extends", "did you mean starvation?"},
		{"extends a list", "extends: §[starvation]\n", "extends", "a list and should be the name"},
		{"without nobody", "extends: starvation\nwithout: [web, §syn]\n", "without[1]", "did you mean sync?"},
		{"without anybody", "without: [§web]\nclients: [{name: web}]\n", "without[0]", "beside extends"},
		{"over another", "extends: starvation\nlimiter: {burst: 5}\nclients: [{name: sync, cost: §6}]\n", "clients[3].cost", "above the burst, 5"},

		// The limiter.
		{"misspelt policy", limited("policy: §per-cleint"), "limiter.policy", "did you mean per-client?"},
		{"unknown algorithm", limited("algorithm: §abacus"), "limiter.algorithm", "token-bucket, leaky-bucket"},
		{"per-client without a rate", limited("§policy: per-client"), "limiter.client.rate", "250/s"},
		{"shards zero", limited("shards: §0"), "limiter.shards", "1 or more"},
		{"routing", limited("routing: §rendom"), "limiter.routing", "did you mean random?"},
		{"divide", limited("divide: §half"), "limiter.divide", "true nor false"},
		{"store without a scheme", limited("store: §localhost"), "limiter.store", "write memory, or the address"},
		{"store of another kind", limited("store: §memcached://localhost"), "limiter.store", "is no store: write memory"},
		{"store nowhere", limited("store: §redis://"), "limiter.store", "names no host"},
		{"store at no port", limited("store: §redis://localhost:0/1"), "limiter.store", "from 1 to 65535"},
		{"store in no database", limited("store: §redis://localhost/first"), "limiter.store", "write a number"},
		{"store of many", limited("store: §[redis://a]"), "limiter.store", "a list and should be memory, or"},
		{"on_store_error", limited("on_store_error: §opne"), "limiter.on_store_error", "did you mean open?"},
		{"ttl zero", limited("ttl: §0s"), "limiter.ttl", "must be above zero"},
		{"order", limited("order: §lifo"), "limiter.order", "did you mean fifo?"},
		{"bandwidth without a rate", limited("bandwidths: [§{id: a}]"), "limiter.bandwidths[0].rate", "missing"},
		{"bandwidth misspelt", limited("bandwidths:\n    - id: a\n      §brust: 2"), "limiter.bandwidths[0].brust", "did you mean burst?"},
		{"initial above burst", limited("{burst: 5, initial: §6}"), "limiter.initial", "0 to the burst"},
		{"cost above the window", "limiter: {algorithm: fixed-window, rate: 10/m}\nclients:\n  - {name: web, cost: §11}\n", "clients[0].cost", "above the burst, 10"},

		// Clients.
		{"no clients", "clients: §[]\n", "clients", "is empty"},
		{"no name", "clients:\n  - §kind: batch\n", "clients[0]", "has no name"},
		{"name twice", "clients:\n  - name: web\n  - name: §web\n", "clients[1].name", "first in line 2"},
		{"name of a copy", "clients:\n  - {name: web, copies: 3}\n  - {name: §web-2}\n", "clients[1].name", "second client of that name"},
		{"name with a space", "clients: [{name: §a b}]\n", "clients[0].name", "holds a space"},
		{"name with a zero-width", "clients: [{name: §a\u200bb}]\n", "clients[0].name", "invisible"},
		{"name with an escape", "clients: [{name: §\"a\\e[31m\"}]\n", "clients[0].name", "invisible"},
		{"name endless", "clients: [{name: §" + strings.Repeat("n", 65) + "}]\n", "clients[0].name", "longer than 64"},
		{"kind", client("kind: §interactiv"), "clients[0].kind", "did you mean interactive?"},
		{"weight zero", client("weight: §0"), "clients[0].weight", "1 or more"},
		{"cost above burst", client("cost: §11"), "clients[0].cost", "above the burst, 10"},
		{"copies", client("copies: §100001"), "clients[0].copies", "100000 at most"},
		{"stops before it starts", client("start: 5s\n    stop: §5s"), "clients[0].stop", "not after the start"},
		{"starts after the end", client("start: §30s"), "clients[0].start", "would never send"},
		{"header", client("headers: {§\"a b\": c}"), "clients[0].headers.a b", "name of a header"},
		{"header value", client("headers: {a: §\"b\\nc\"}"), "clients[0].headers.a", "value of a header"},
		{"guarantee above the ceiling", client("guarantee: §20/s\n    ceiling: 10/s"), "clients[0].guarantee", "above the ceiling"},
		{"zipf without a rate", client("arrivals: {process: once, count: 5}\n    zipf: §1"), "clients[0].zipf", "has none"},

		// Arrivals.
		{"process", client("arrivals: {process: §poison}"), "clients[0].arrivals.process", "did you mean poisson?"},
		{"key of another process", client("arrivals: {process: poisson, rate: 5/s, §jitter: 0.1}"), "clients[0].arrivals.jitter", "whose keys are rate (jitter belongs to constant)"},
		{"key of another process, its own unsaid", client("kind: batch\n    arrivals:\n      §think: 1s"), "clients[0].arrivals.think", "no meaning for process constant"},
		{"jitter above 1", client("arrivals: {process: constant, jitter: §1.5}"), "clients[0].arrivals.jitter", "from 0 to 1"},
		{"jitter negative", client("arrivals: {process: constant, jitter: §-0.1}"), "clients[0].arrivals.jitter", "from 0 to 1"},
		{"jitter NaN", client("arrivals: {process: constant, jitter: §.nan}"), "clients[0].arrivals.jitter", "no number"},
		{"jitter infinite", client("arrivals: {process: constant, jitter: §.inf}"), "clients[0].arrivals.jitter", "from 0 to 1"},
		{"on-off without off", client("arrivals: §{process: on-off, on: 1s}"), "clients[0].arrivals.off", "missing"},
		{"ramp without over", client("arrivals: §{process: ramp, to: 9/s}"), "clients[0].arrivals.over", "missing"},
		{"ramp to nothing", client("arrivals: {process: ramp, to: §0/s, over: 1s}"), "clients[0].arrivals.to", "one of the two"},
		{"sine without period", client("arrivals:\n      §process: sine"), "clients[0].arrivals.period", "missing"},
		{"workers zero", client("arrivals: {process: closed, workers: §0}"), "clients[0].arrivals.workers", "1 or more"},
		{"once without count", client("arrivals: §{process: once}"), "clients[0].arrivals.count", "missing"},
		{"once after the end", client("arrivals: {process: once, count: 1, at: §30s}"), "clients[0].arrivals.at", "not within"},
		{"trace of nothing", client("arrivals: {process: trace, at: §[]}"), "clients[0].arrivals.at", "missing"},
		{"trace back in time", client("arrivals: {process: trace, at: [2s, §1s]}"), "clients[0].arrivals.at[1]", "goes back in time"},
		{"trace of a missing file", client("arrivals: {process: trace, file: §nowhere.csv}"), "clients[0].arrivals.file", "cannot be read"},
		{"trace of a folder", client("arrivals: {process: trace, file: §.}"), "clients[0].arrivals.file", "no regular file"},

		// Retries.
		{"attempts", client("retry: {attempts: §-1}"), "clients[0].retry.attempts", "or write unlimited"},
		{"attempts misspelt", client("retry: {attempts: §unlimitted}"), "clients[0].retry.attempts", "did you mean unlimited?"},
		{"base without back-off", client("retry: {attempts: 1, §base: 1s}"), "clients[0].retry.base", "backoff none"},
		{"max of a fixed back-off", client("retry: {backoff: fixed, §max: 1s}"), "clients[0].retry.max", "does not grow"},
		{"max below base", client("retry: {backoff: exponential, base: 2s, max: §1s}"), "clients[0].retry.max", "below base"},
		{"decorrelated from what", client("retry: {backoff: fixed, jitter: §decorrelated}"), "clients[0].retry.jitter", "exponential"},
		{"code", client("retry: {on: [429, §500]}"), "clients[0].retry.on[1]", "429, 503 or both"},
		{"no code", client("retry: {on: §[]}"), "clients[0].retry.on", "attempts: 0"},

		// Expectations and lessons.
		{"expects nothing", "clients: [{name: web}]\nexpect: [§fairness]\n", "expect[0]", "compares nothing"},
		{"expects of nobody", "clients: [{name: web}]\nexpect:\n  - §wep.share > 0.5\n", "expect[0]", "did you mean web?"},
		{"expects what", "clients: [{name: web}]\nexpect: [§web.satisfation > 1]\n", "expect[0]", "did you mean satisfaction?"},
		{"expects of whom", "clients: [{name: web}]\nexpect: [§satisfaction > 1]\n", "expect[0]", "write web.satisfaction"},
		{"expects how much", "clients: [{name: web}]\nexpect: [§jain >= high]\n", "expect[0]", "no number"},
		{"expects how", "clients: [{name: web}]\nexpect: [§jain => 1]\n", "expect[0]", `"=>" is no comparison`},
		{"step without a text", "clients: [{name: web}]\nlesson:\n  - §set: {duration: 5s}\n", "lesson[0]", "says nothing"},
		{"step with a strange key", "clients: [{name: web}]\nlesson: [{say: a, §tell: b}]\n", "lesson[0].tell", "unknown key"},
		{"choices without a question", "clients: [{name: web}]\nlesson: [{say: a, choices: §[b, c]}]\n", "lesson[0].choices", "no question"},
		{"reveal of nobody", "clients: [{name: web}]\nlesson: [{say: a, reveal: §\"{wep.share}\"}]\n", "lesson[0].reveal", "did you mean web?"},
		{"reveal of nothing", "clients: [{name: web}]\nlesson: [{say: a, reveal: §\"{web.shares}\"}]\n", "lesson[0].reveal", "did you mean share?"},
		{"reveal without an end", "clients: [{name: web}]\nlesson: [{say: a, reveal: §\"{web.share\"}]\n", "lesson[0].reveal", "is not closed"},
		{"reveal in a strange form", "clients: [{name: web}]\nlesson: [{say: a, reveal: §\"{web.share:x}\"}]\n", "lesson[0].reveal", "percentage"},
		{"reveal of what was not", "clients: [{name: web}]\nlesson: [{say: a, reveal: §\"{was.web.share}\"}]\n", "lesson[0].reveal", "no step before"},
		{"one choice", "clients: [{name: web}]\nlesson: [{ask: a, choices: §[b]}]\n", "lesson[0].choices", "two to nine"},
		{"step sets nonsense", "clients: [{name: web}]\nlesson:\n  - say: a\n    set:\n      limiter: {rate: §10}\n", "lesson[0].set.limiter.rate", "10/s"},
		{"step sets what it may not", "clients: [{name: web}]\nlesson: [{say: a, set: {§name: b}}]\n", "lesson[0].set.name", "the keys here are duration"},
		{"step sets what makes no sense", "limiter: {burst: 5}\nclients: [{name: web}]\nlesson:\n  - say: a\n    set: {clients: [{name: web, cost: §6}]}\n", "lesson[0].set.clients[0].cost", "above the burst"},
		{"step after a step", "clients: [{name: web, cost: 4}]\nlesson:\n  - {say: a, set: {limiter: {burst: 4}}}\n  - {say: b, set: {clients: [{name: web, cost: §5}]}}\n", "lesson[1].set.clients[0].cost", "above the burst, 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, line, column := at(t, c.yaml)
			p, err := Parse("f.yaml", []byte(text))
			if err == nil {
				t.Fatalf("no error, but %+v\n%s", p, text)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("not an *Error but %T: %v", err, err)
			}
			if e.File != "f.yaml" || e.Line != line || e.Column != column {
				t.Errorf("points at %s:%d:%d, want f.yaml:%d:%d", e.File, e.Line, e.Column, line, column)
			}
			if e.Path != c.path {
				t.Errorf("path is %q, want %q", e.Path, c.path)
			}
			if !strings.Contains(e.Msg, c.msg) {
				t.Errorf("message is %q, want it to hold %q", e.Msg, c.msg)
			}
			if t.Failed() {
				t.Logf("\n%s\n%v", text, err)
			}
		})
	}
}

// Mistakes that are nowhere in particular.
func TestMistakesOfTheWholeFile(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"empty", "", "f.yaml: is empty"},
		{"comments alone", "# nothing\n\n", "f.yaml: is empty"},
		{"null", "~\n", "f.yaml: is empty"},
		{"only a mark", "---\n", "f.yaml: is empty"},
		{"too large", strings.Repeat("#\n", maxBytes/2+1), "f.yaml: has 262146 bytes"},
		{"no clients", "seed: 1\n", "f.yaml: clients: there are none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.yaml))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s…", err, c.want)
			}
		})
	}
}

func TestAnErrorShowsTheLine(t *testing.T) {
	_, err := Parse("my.yaml", []byte("clients:\n  - {name: wéb, arrivals: {rate: 10}}\n"))
	const want = `my.yaml:2:34: clients[0].arrivals.rate: rate "10" has no unit: write 10/s, or 10/m, …
    2 |   - {name: wéb, arrivals: {rate: 10}}
      |                                  ^`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// An excerpt must be safe to print and point at the place, whatever the line.
func TestExcerptsOfLongAndHostileLines(t *testing.T) {
	s := newSource("f", []byte(strings.Repeat("x", 300)+"\x1b[31my"+strings.Repeat("z", 300)+"\n\n"))
	for _, c := range []struct {
		line, column int
		under        string
	}{{1, 1, "x"}, {1, 301, "?"}, {1, 306, "y"}, {1, 606, "z"}, {2, 1, ""}} {
		text, mark, _ := strings.Cut(s.excerpt(c.line, c.column), "\n")
		i := strings.IndexByte(mark, '^')
		if got := strings.TrimSpace((text + " ")[i : i+1]); got != c.under {
			t.Errorf("%d:%d points at %q, want %q:\n%s\n%s", c.line, c.column, got, c.under, text, mark)
		}
		if strings.ContainsRune(text, '\x1b') || len(text) > 120 {
			t.Errorf("%d:%d shows %q", c.line, c.column, text)
		}
	}
	if got := s.excerpt(99, 1); got != "" {
		t.Errorf("a line that there is not shows %q", got)
	}
}

// After a change by flags there is no place, and whoever shortens the run may cut
// off those who come late.
func TestCheckAfterFlags(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Profile)
		want   string // "": all is well
	}{
		{"nothing", func(*Profile) {}, ""},
		{"a short run", func(p *Profile) { p.Duration, p.WarmUp = 5e9, 0 }, ""},
		{"shorter than the warm-up", func(p *Profile) { p.Duration = 5e9 }, "warm_up: 20s leaves nothing"},
		{"a burst too small", func(p *Profile) { p.Clients[0].Cost = 2; p.Limiter.Burst = 1 }, "clients[0].cost: 2 is above the burst, 1"},
		{"no rate", func(p *Profile) { p.Limiter.Rate.Tokens = 0 }, "limiter.rate: "},
		{"no client's rate", func(p *Profile) { p.Limiter.Client.Rate.Tokens = -1 }, "limiter.client.rate: "},
		{"an unknown policy", func(p *Profile) { p.Limiter.Policy = "none" }, "limiter.policy: "},
		{"a negative burst", func(p *Profile) { p.Limiter.Burst = -1 }, "limiter.burst: "},
		{"a run without end", func(p *Profile) { p.Duration = 0 }, "duration: 0s must be above zero"},
		{"nobody", func(p *Profile) { p.Clients = nil }, "clients: there are none"},
		{"a strange name", func(p *Profile) { p.Clients[0].Name = "a b" }, "clients[0].name: "},
		{"a weight of none", func(p *Profile) { p.Clients[0].Weight = 0 }, "clients[0].weight: "},
	} {
		p, err := builtin("newcomers")
		if err != nil {
			t.Fatal(err)
		}
		c.change(p)
		err = p.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
