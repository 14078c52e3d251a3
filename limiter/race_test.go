//go:build race

package limiter

import "flag"

// Under the race detector everything takes ten times as long: fewer random searches do, unless somebody says how many.
func init() { _ = flag.Set("rapid.checks", "15") }
