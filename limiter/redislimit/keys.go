package redislimit

import "strings"

// everybody stands for the client in the key of a limit that all share; no client's name is written so.
const everybody = "*"

// Everywhere is the endpoint of limits that know only one: what Decide takes an empty endpoint for.
const Everywhere = "all"

// keys are the keys of one decision, one for each limit. All have the endpoint as their hash tag, and nothing that a client calls
// itself can give them another.
func (p *plan) keys(prefix, client, endpoint string) []string {
	if endpoint == "" {
		endpoint = Everywhere
	}
	tag := ":{" + escape(endpoint) + "}"
	keys := make([]string, len(p.limits))
	for i, l := range p.limits {
		who := everybody
		if l.own() {
			who = escape(client)
		}
		keys[i] = prefix + ":" + who + tag + l.suffix
	}
	return keys
}

const hexadecimal = "0123456789ABCDEF"

// escape writes a name so that it can neither end its place in a key nor begin a hash tag: printable ASCII stays, but for the five
// that mean something in a key, and all else is written as its bytes, %XX. Different names stay different. An empty name is a lone %.
func escape(name string) string {
	plain := func(c byte) bool { return c > ' ' && c <= '~' && !strings.ContainsRune("%*:{}", rune(c)) }
	odd := 0
	for i := range len(name) {
		if !plain(name[i]) {
			odd++
		}
	}
	switch {
	case name == "":
		return "%"
	case odd == 0:
		return name
	}
	b := make([]byte, 0, len(name)+2*odd)
	for i := range len(name) {
		if c := name[i]; plain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hexadecimal[c>>4], hexadecimal[c&15])
		}
	}
	return string(b)
}
