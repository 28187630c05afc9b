package soak

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// checker writes and checks patterns in stream order, without waiting. One goroutine
// uses it at a time.
type checker interface {
	// write enqueues the writing of up to batch pieces; check enqueues the comparison
	// of pieces with their patterns. Both record the use of the blocks. If late is
	// true, the device delays the work.
	write(on lane, pieces []piece, late bool) error
	check(on lane, pieces []piece, late bool) error
	// tally returns the findings of all checks once they have completed.
	tally() (tally, error)
	close() error
}

// batch is the number of blocks in a launch.
const batch = 8

// piece is a block and the pattern that it holds or will hold.
type piece struct {
	block   *memory.Block
	writing Writing
}

// tally is the sum of the findings of checks.
type tally struct {
	bytes, mismatches uint64
	first             []Mismatch
}

// lane is a stream and its number.
type lane struct {
	*device.Stream
	number int
}
