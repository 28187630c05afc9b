package reduce

import "github.com/gpuframe/gpuframe/internal/aggregate"

// How rows are given to lanes, which decides the order of float additions and
// therefore depends on nothing but their number. The documentation of the package
// says what follows from it.
const (
	// leastPart is the fewest rows that are worth a block of their own, and what the
	// rows of a part are a multiple of.
	leastPart = 4096
	// mostParts is into how many parts rows are cut at most: a few blocks for every
	// place that the largest GPUs have, so that they all finish at the same time.
	mostParts = 4096

	leastPartShift, mostPartsShift = 12, 12
)

// rowsOfPart returns how many rows each part has, but for the last, which has the
// rest.
func rowsOfPart(n int64) int64 {
	return max((n+leastPart*mostParts-1)>>(leastPartShift+mostPartsShift), 1) << leastPartShift
}

// parts returns into how many parts n rows are cut.
func parts(n int64) int64 {
	rows := rowsOfPart(n)
	return (n + rows - 1) / rows
}

// blocksFor returns how many blocks take n rows, or any number up to n where only
// the device knows how many there are.
func blocksFor(n int64, atMost bool) int64 {
	if atMost {
		return max(min((n+leastPart-1)/leastPart, mostParts), 1)
	}
	return max(parts(n), 1)
}

const lanes = aggregate.Lanes
