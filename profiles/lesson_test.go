package profiles

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairgate/fairness"
	"fairgate/limiter"
)

// A step changes what it names and nothing else, and not the profile itself.
func TestAStepChangesWhatItNames(t *testing.T) {
	p, err := builtin("starvation")
	if err != nil {
		t.Fatal(err)
	}
	before := p.Clone()
	step := Step{Set: []byte("limiter: {policy: per-client, client: {burst: 5}}\nclients:\n- {name: web, arrivals: {rate: 7/s}}\n- {name: new, kind: batch}\nservice: {time: 4ms}\n")}
	q, err := step.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, p, same...); d != "" {
		t.Errorf("the profile itself changed:\n%s", d)
	}
	want := before
	want.Limiter.Policy, want.Limiter.Client.Burst = limiter.PerClient, 5
	want.Clients[1].Arrivals.Rate = limiter.PerSecond(7)
	added := defaultsOf(Batch)
	added.Name = "new"
	want.Clients = append(want.Clients, added)
	want.Service.Time = 4 * time.Millisecond
	if d := cmp.Diff(want, q, same...); d != "" {
		t.Errorf("not what was set (-want +got):\n%s", d)
	}
}

// Another process starts from its own settings and keeps the rate; another
// back-off from its own base.
func TestChangingTheKindOfAThing(t *testing.T) {
	p, err := Parse("f.yaml", []byte("clients:\n- {name: a, kind: batch, arrivals: {rate: 7/s}}\n- {name: b, kind: retrying}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  string
		want func(*Profile)
	}{
		{"{clients: [{name: a, arrivals: {process: poisson}}]}", func(p *Profile) {
			p.Clients[0].Arrivals = Arrivals{Process: Poisson, Rate: limiter.PerSecond(7)}
		}},
		{"{clients: [{name: a, arrivals: {process: closed, think: 1s}}]}", func(p *Profile) {
			p.Clients[0].Arrivals = Arrivals{Process: Closed, Workers: 1, Think: time.Second}
		}},
		{"{clients: [{name: a, arrivals: {process: ramp, to: 9/s, over: 5s}}]}", func(p *Profile) {
			p.Clients[0].Arrivals = Arrivals{Process: Ramp, From: limiter.Rate{Per: time.Second}, To: limiter.PerSecond(9), Over: 5 * time.Second}
		}},
		{"{clients: [{name: b, retry: {backoff: none}}]}", func(p *Profile) {
			p.Clients[1].Retry.Backoff, p.Clients[1].Retry.Base, p.Clients[1].Retry.Max = NoBackoff, 0, 0
		}},
		{"{clients: [{name: b, retry: {base: 10s}}]}", func(p *Profile) {
			p.Clients[1].Retry.Base, p.Clients[1].Retry.Max = 10*time.Second, 500*time.Second
		}},
		{"{clients: [{name: a, kind: interactive}]}", func(p *Profile) {
			p.Clients[0] = defaultsOf(Interactive)
			p.Clients[0].Name = "a"
		}},
	} {
		step := Step{Set: []byte(c.set)}
		got, err := step.Apply(p)
		if err != nil {
			t.Errorf("%s: %v", c.set, err)
			continue
		}
		want := p.Clone()
		c.want(want)
		if d := cmp.Diff(want, got, same...); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.set, d)
		}
	}
}

// A step that was made by a program is written and applied as one that was read.
func TestAStepOfAProgram(t *testing.T) {
	p, err := Parse("f.yaml", []byte("clients: [{name: web}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p.Lesson = []Step{{Say: "now", Set: []byte("duration: 5s\n")}}
	readsBack(t, p)
	for _, c := range []struct{ set, want string }{
		{"duration: 5", "set:1:11: set.duration: \"5\" has no unit"},
		{"limiter: [", "set:1:10: is no valid YAML"},
		{"clients: [{name: web, cost: 500}]", "set:1:29: set.clients[0].cost: 500 is above the burst"},
	} {
		step := Step{Set: []byte(c.set)}
		if _, err := step.Apply(p); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.set, err, c.want)
		}
	}
	p.Lesson[0].Set = []byte("limiter: [")
	if _, err := p.YAML(); err == nil {
		t.Error("a step that is no YAML is written")
	}
}

func TestFill(t *testing.T) {
	now := []byte(`{"aggregate":{"admitted_rps":1003.27,"admitted":30098,"utilization":1},
		"fairness":{"jain":null,"starved":["web","mobile","sync"],"verdict":"starved"},
		"clients":[{"name":"web","satisfaction":0.0961,"share":0.00972,"longest_gap_s":0,"queue_wait_ms":{"max":12200.4,"p99":4.62}},
			{"name":"web.eu","satisfaction":0.5}]}`)
	was := []byte(`{"fairness":{"starved":[]},"clients":[{"name":"web","satisfaction":0.98765}]}`)
	for _, c := range []struct{ text, want string }{
		{"nothing", "nothing"},
		{"{web.satisfaction} and {web.eu.satisfaction}", "0.0961 and 0.5"},
		{"{web.satisfaction:%}, before {was.web.satisfaction:%}", "9.6%, before 99%"},
		{"{web.share:%} {web.longest_gap_s} {aggregate.utilization:%}", "1% 0 100%"},
		{"{aggregate.admitted_rps} {aggregate.admitted_rps:.1} {aggregate.admitted}", "1003 1003.3 30098"},
		{"{web.queue_wait_ms.max} {web.queue_wait_ms.p99}", "12.2 s 4.62 ms"},
		{"{fairness.jain} {fairness.verdict}", "n/a starved"},
		{"{fairness.starved}; {was.fairness.starved}", "web, mobile and sync; nobody"},
		{"{{a} {{{fairness.verdict}", "{a} {starved"},
	} {
		got, err := Fill(c.text, now, was)
		if err != nil || got != c.want {
			t.Errorf("%q is %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"{web.satisfaction", "not closed"},
		{"{}", "of nobody"},
		{"{web}", "of nobody"},
		{"{wep.share}", "did you mean web?"},
		{"{web.sharing}", "did you mean share?"},
		{"{web.share:}", "asks for the form"},
		{"{web.share:.9}", "asks for the form"},
		{"{web.amplification}", "the report has no amplification"},
	} {
		if got, err := Fill(c.text, now, was); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q is %q, %v, want an error that holds %q", c.text, got, err, c.want)
		}
	}
	if got, _ := Fill("{was.web.share}", now, nil); got != "n/a" {
		t.Errorf("a step before the first reads %q", got)
	}
}

// Whatever a reveal may name, a report has.
func TestWhatARevealMayNameIsInTheReport(t *testing.T) {
	report := fairness.Report{Measures: fairness.Measures{Clients: []fairness.ClientMeasures{{Name: "web"}}}}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string) {
		if _, err := Fill("{"+name+"}", data, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for section, keys := range sections {
		for _, key := range keys {
			try(section + "." + key)
		}
	}
	for _, key := range clientSection {
		try("web." + key)
	}
}

// The measures that an expectation may name are those that fairness knows.
func TestExpectationsAreThoseOfFairness(t *testing.T) {
	clients := []string{"web", "a.b"}
	try := func(line string) {
		t.Helper()
		_, err := fairness.ParseExpectation(line, clients)
		if msg := checkExpectation(line, clients); (msg == "") != (err == nil) {
			t.Errorf("%q: here %q, in fairness %v", line, msg, err)
		}
	}
	for _, m := range runMetrics {
		try(m + " > 1")
		try("web." + m + " > 1")
	}
	for _, m := range clientMetrics {
		try("web." + m + " <= 50%")
		try(m + " <= 50%")
	}
	for _, op := range append([]string{"=>", "=", "<>", "<<", "!"}, operators...) {
		try("jain " + op + " 1")
	}
	for _, line := range []string{"", "jain", "> 1", "jain >", "a.b.share>.5", "jain >= 1e3", "jain > x", "jain > inf", "jain > nan", "zebra > 1", "nobody.share > 1", "web. > 1", "web.zebra > 1", "jain>=-1"} {
		try(line)
	}
}

// Copies keep the sum of the rates, the first the largest.
func TestCopies(t *testing.T) {
	p, err := Parse("f.yaml", []byte("clients:\n- {name: a, arrivals: {rate: 3/s}, copies: 1000, zipf: 1.2, headers: {k: v}}\n- {name: b}\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := p.Expand()
	if len(all) != 1001 || all[0].Name != "a-1" || all[999].Name != "a-1000" || all[1000].Name != "b" {
		t.Fatalf("%d clients, from %s to %s", len(all), all[0].Name, all[len(all)-1].Name)
	}
	var sum float64
	for i, c := range all[:1000] {
		if err := c.Arrivals.Rate.Check(); err != nil || c.Copies != 1 || c.Zipf != 0 {
			t.Fatalf("%s: %v, %d copies, zipf %g", c.Name, err, c.Copies, c.Zipf)
		}
		want := all[0].Arrivals.Rate.PerSecond() / math.Pow(float64(i+1), 1.2)
		if got := c.Arrivals.Rate.PerSecond(); math.Abs(got/want-1) > 1e-3 {
			t.Fatalf("%s sends %g/s, want %g/s", c.Name, got, want)
		}
		sum += c.Arrivals.Rate.PerSecond()
	}
	if math.Abs(sum/3000-1) > 1e-3 {
		t.Errorf("together they send %g/s, want 3000/s", sum)
	}
	all[0].Headers["k"] = "changed"
	if p.Clients[0].Headers["k"] != "v" || all[1].Headers["k"] != "v" {
		t.Error("copies share their headers")
	}
}
