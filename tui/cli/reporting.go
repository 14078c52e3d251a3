package cli

import (
	"errors"

	"fairgate/fairness"
	"fairgate/profiles"

	"github.com/spf13/pflag"
)

// reporting is what becomes of a report: where it goes, in which format, and what is expected of it.
type reporting struct {
	out    output
	expect []string // of --expect

	profile *profiles.Profile
	altered bool // limiter or clients are not what the profile says
	asked   []fairness.Expectation
	own     []fairness.Expectation // of the profile
}
