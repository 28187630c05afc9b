//go:build race

package optest

// raceDetector reports whether the race detector is on.
const raceDetector = true
