//go:build race

package memory

// raceDetector says that the race detector is on.
const raceDetector = true
