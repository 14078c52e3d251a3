//go:build !race

package profiles_test

const underRace = false
