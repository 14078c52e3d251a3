package profiles

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The measures that an expectation may name.
var (
	runMetrics    = []string{"jain", "min_satisfaction", "utilization", "errors"}
	clientMetrics = []string{
		"satisfaction", "admit_ratio", "reject_ratio", "admitted_rps", "share",
		"amplification", "longest_gap", "latency_p99", "queue_wait_p99",
	}
	operators = []string{"<", "<=", ">", ">=", "==", "!="}
)

// checkExpect checks that each expectation is METRIC OP VALUE, of a client that
// there is.
func (p *Profile) checkExpect() *Error {
	if len(p.Expect) == 0 {
		return nil
	}
	names := p.clientNames()
	for i, line := range p.Expect {
		if msg := checkExpectation(line, names); msg != "" {
			return wrong(fmt.Sprintf("expect[%d]", i), "%s", msg)
		}
	}
	return nil
}

func checkExpectation(line string, clients []string) string {
	const example = "write for example web.satisfaction >= 0.9"
	at := strings.IndexAny(line, "<>=!")
	if at < 0 {
		return fmt.Sprintf("%s compares nothing: %s", quote(line), example)
	}
	metric, rest := strings.TrimSpace(line[:at]), line[at:]
	value := strings.TrimLeft(rest, "<>=!")
	op := rest[:len(rest)-len(value)]
	if !slices.Contains(operators, op) {
		return fmt.Sprintf("%s is no comparison: write %s", quote(op), list(operators))
	}
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "%"))
	if f, err := strconv.ParseFloat(number, 64); err != nil || f-f != 0 {
		return fmt.Sprintf("%s is no number: %s", quote(strings.TrimSpace(value)), example)
	}
	dot := strings.LastIndexByte(metric, '.')
	if dot < 0 {
		if slices.Contains(runMetrics, metric) {
			return ""
		}
		if slices.Contains(clientMetrics, metric) {
			return fmt.Sprintf("%s is measured of each client: write %s.%s", metric, clients[0], metric)
		}
		return noSuch(metric, append(slices.Clone(runMetrics), clients[0]+".satisfaction")).Error()
	}
	client, measure := metric[:dot], metric[dot+1:]
	if !slices.Contains(clients, client) {
		return "client " + noSuch(client, clients[:min(20, len(clients))]).Error()
	}
	if !slices.Contains(clientMetrics, measure) {
		return noSuch(measure, clientMetrics).Error()
	}
	return ""
}

// clientNames lists the clients, copies one by one.
func (p *Profile) clientNames() []string {
	var names []string
	for i := range p.Clients {
		for k := range p.Clients[i].Copies {
			names = append(names, p.Clients[i].copyName(k+1))
		}
	}
	return names
}
