package httplimit

import (
	"fmt"
	"net"
	"net/http"
	"unicode"
	"unicode/utf8"
)

// Identify says whose request it is, and what it costs; a cost of 0 is what the client was joined with. It must be quick and safe for concurrent use. The error
// is shown to the client.
type Identify func(*http.Request) (name string, cost int64, err error)

// DefaultHeader is the field that tells clients apart, in the spelling of net/http.
const DefaultHeader = "X-Client-Id"

// maxName is how many bytes the name of a stranger may have.
const maxName = 128

// ByHeader tells clients apart by a header field. A request without it, or with two that differ, is refused: which of two names counts must not be the
// sender's choice.
func ByHeader(field string) Identify {
	field = http.CanonicalHeaderKey(field)
	return func(r *http.Request) (string, int64, error) {
		values := r.Header[field]
		if len(values) == 0 || values[0] == "" {
			return "", 0, fmt.Errorf("the header %s is missing: it says who is asking", field)
		}
		for _, v := range values[1:] {
			if v != values[0] {
				return "", 0, fmt.Errorf("the header %s is there twice, with different values", field)
			}
		}
		return values[0], 0, nil
	}
}

// ByUser tells clients apart by the user of HTTP basic authentication; the password is somebody else's to check.
func ByUser(r *http.Request) (string, int64, error) {
	user, _, ok := r.BasicAuth()
	if !ok || user == "" {
		return "", 0, fmt.Errorf("the header Authorization with a user is missing: it says who is asking")
	}
	return user, 0, nil
}

// ByAddress tells clients apart by the address that the connection comes from.
func ByAddress(r *http.Request) (string, int64, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "", 0, fmt.Errorf("the address %q of the connection cannot be read", r.RemoteAddr)
	}
	return host, 0, nil
}

// checkName reports what is wrong with a name that a stranger gives itself: it will be shown on screens and written into reports.
func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("a client's name may have %d bytes, and this has %d", maxName, len(name))
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("a client's name must be valid UTF-8, and %q is not", name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("a client's name must be printable, and %q is not", name)
		}
	}
	return nil
}
