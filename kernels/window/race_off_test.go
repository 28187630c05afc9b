//go:build !race

package window_test

// raceDetector reports whether the race detector is on.
const raceDetector = false
