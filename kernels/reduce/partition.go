package reduce

import "github.com/gpuframe/gpuframe/internal/op/aggregate"

// The distribution of rows to lanes. It decides the order of float additions, so it
// depends only on the number of rows. The package documentation describes the
// consequences.
const (
	// leastPart is the smallest number of rows that is worth a separate block. The
	// number of rows of a part is a multiple of it.
	leastPart = 4096
	// mostParts is the maximum number of parts: a few blocks for every slot of the
	// largest GPUs, so that all multiprocessors finish at about the same time.
	mostParts = 4096

	leastPartShift, mostPartsShift = 12, 12
)

// rowsOfPart returns the number of rows of each part except the last, which has the
// remaining rows.
func rowsOfPart(n int64) int64 {
	return max((n+leastPart*mostParts-1)>>(leastPartShift+mostPartsShift), 1) << leastPartShift
}

// parts returns the number of parts of n rows.
func parts(n int64) int64 {
	rows := rowsOfPart(n)
	return (n + rows - 1) / rows
}

// blocksFor returns the number of blocks for n rows or, if atMost is true, for any
// number of rows up to n.
func blocksFor(n int64, atMost bool) int64 {
	if atMost {
		return max(min((n+leastPart-1)/leastPart, mostParts), 1)
	}
	return max(parts(n), 1)
}

const lanes = aggregate.Lanes
