// Package allocations counts the allocations of a function in tests.
package allocations

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/testing/race"
)

// runs is large, because the count includes the allocations of other goroutines, for example
// finalizers of an earlier test: fewer than runs of them do not change the average.
const runs = 100

// PerRun returns the average number of allocations of f, rounded down. With the race detector,
// which allocates too, it calls f once and returns 0.
func PerRun(f func()) float64 {
	if race.Enabled {
		f()
		return 0
	}
	return testing.AllocsPerRun(runs, f)
}
