//go:build race

package fairness_test

// underRace: the race detector is on. There is one goroutine in all of these tests, so the long ones learn nothing from it.
const underRace = true
