//go:build !race

package fairness_test

const underRace = false
