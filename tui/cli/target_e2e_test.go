package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"fairgate/fairness"
)

// One fairgate attacks another: what the one admits is what the other sees admitted.
func TestRunAgainstServe(t *testing.T) {
	t.Parallel()
	server, at := served(t, profile(t, scarce), "--format", "json")
	mine := profile(t, `
name: mine
duration: 1s
limiter: {rate: 1/s}
clients:
  - {name: web, kind: interactive, arrivals: {process: once, count: 10, at: 0s}, retry: {attempts: 0}}
  - {name: zoe, kind: interactive, arrivals: {process: once, count: 5, at: 0s}, retry: {attempts: 0}}
expect: ["errors == 0"]
`)
	got := fairgate(t, "run", mine, "--target", at, "--connections", "8", "--timeout", "20s", "--headless", "--format", "json")
	if got.code != exitDone {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	seen := reportOf(t, got.out)
	conserved(t, seen)
	if seen.Aggregate.AdmittedCount != 3 || seen.Aggregate.RejectedCount != 12 || seen.Aggregate.ErrorCount != 0 || len(seen.ErrorsBy) != 0 {
		t.Errorf("%d admitted, %d rejected, errors %v", seen.Aggregate.AdmittedCount, seen.Aggregate.RejectedCount, seen.ErrorsBy)
	}
	if !strings.Contains(got.out, `"errors_by"`) || seen.Target == nil || seen.Target.URL != at || seen.Target.Entitlement != fairness.FromAdmitted {
		t.Errorf("target %+v", seen.Target)
	}
	if l := seen.Target.Limits; len(l) != 1 || l[0].Quota != 60 || l[0].Window != 3600 || l[0].Answers != 15 {
		t.Errorf("limits that were told: %+v", l)
	}
	if e := seen.Expectations; len(e) != 1 || e[0].OK != nil {
		t.Errorf("the limiter is not the profile's, and its expectations count: %+v", e)
	}
	server.cmd.Process.Signal(syscall.SIGTERM)
	r := reportOf(t, finish(t, server).out)
	for _, name := range []string{"web", "zoe"} {
		a, b := clientOf(t, seen, name), clientOf(t, r, name)
		if a.Admitted != b.Admitted || a.Rejected != b.Rejected {
			t.Errorf("%s saw %d admitted and %d rejected, and was given %d and %d", name, a.Admitted, a.Rejected, b.Admitted, b.Rejected)
		}
	}
}

// A service that is not there makes errors by kind, in the report for people too.
func TestRunAgainstNothing(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	mine := profile(t, "name: mine\nduration: 300ms\nlimiter: {rate: 1/s}\nclients: [{name: web, arrivals: {process: once, count: 4, at: 0s}}]\n")
	got := fairgate(t, "run", mine, "--target", gone.URL, "--rate", "50/s", "--headless")
	got.out = strings.Join(strings.Fields(got.out), " ") // however it is broken into lines
	for _, s := range []string{"4 errors", "errors by kind refused 4", "the target's own, stated as 50/s", "shares of the limit that was stated", "50/s", gone.URL} {
		if got.code != exitDone || !strings.Contains(got.out, s) {
			t.Errorf("exit code %d, and no %q in %s", got.code, s, got.out)
		}
	}
}

// Nobody is asked where nobody sits, and nothing is sent.
func TestAPublicAddressIsNotAttackedUnasked(t *testing.T) {
	t.Parallel()
	got := fairgate(t, "run", "agent", "--target", "http://192.0.2.1/")
	for _, s := range []string{"http://192.0.2.1/", "neither on this machine nor in a private network", "--yes"} {
		if got.code != exitUsage || got.out != "" || !strings.Contains(got.err, s) {
			t.Errorf("exit code %d, and no %q in %q", got.code, s, got.err)
		}
	}
}
