//go:build !race

package bucket

// raceEnabled makes tests of a million rounds shorter under the race detector.
const raceEnabled = false
