package soak

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// checker writes and checks patterns in stream order, without waiting. One
// goroutine uses it at a time.
type checker interface {
	// write enqueues the writing of up to batch pieces, and check their
	// comparison with what was written. Both record the use of the blocks. Work
	// that is late is held back on the device.
	write(on lane, pieces []piece, late bool) error
	check(on lane, pieces []piece, late bool) error
	// tally returns what all checks have found, once they are done.
	tally() (tally, error)
	close() error
}

// batch is how many blocks a launch takes.
const batch = 8

// piece is a block and what it holds, or is to hold.
type piece struct {
	block   *memory.Block
	writing Writing
}

// tally is what checks have found.
type tally struct {
	bytes, mismatches uint64
	first             []Mismatch
}

// lane is a stream and its number.
type lane struct {
	*device.Stream
	number int
}
