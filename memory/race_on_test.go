//go:build race

package memory

// raceDetector is set if the race detector is enabled.
const raceDetector = true
