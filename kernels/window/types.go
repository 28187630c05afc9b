package window

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
)

// class is how the values of a type are folded.
type class int

const (
	signed class = iota
	unsigned
	float
)

// storage is what the values of a type are.
type storage struct {
	class class
	bytes int
}

// number returns the storage of types that can be added and multiplied, temporal
// that of those that can be compared only.
func number(t arrow.DataType) (storage, bool) {
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		return storage{signed, t.(arrow.FixedWidthDataType).Bytes()}, true
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return storage{unsigned, t.(arrow.FixedWidthDataType).Bytes()}, true
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return storage{float, t.(arrow.FixedWidthDataType).Bytes()}, true
	}
	return storage{}, false
}

func temporal(t arrow.DataType) (storage, bool) {
	switch t.ID() {
	case arrow.DATE32, arrow.TIME32, arrow.INTERVAL_MONTHS:
		return storage{signed, 4}, true
	case arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return storage{signed, 8}, true
	}
	return storage{}, false
}

// decimalStorage is that of decimals of 128 bits.
var decimalStorage = storage{signed, 16}

// accumulatedBytes is the width that sums and products are folded in: floats in 64 bits.
func accumulatedBytes(s storage) int {
	if s.class == float {
		return 8
	}
	return storedBytes(s)
}

// storedBytes is the width that folds use which round nothing.
func storedBytes(s storage) int { return max(s.bytes, 4) }

// kernelNames are the names of a fold's kernels, by whether values are floats and by the
// logarithm of their bytes. A launch would take longer to format a name than for all
// else.
type kernelNames [2][5]string

func newKernelNames(prefix string) *kernelNames {
	names := new(kernelNames)
	for i := range names[0] {
		names[0][i] = fmt.Sprintf("%s_%d", prefix, 8<<i)
		names[1][i] = fmt.Sprintf("%s_f%d", prefix, 8<<i)
	}
	return names
}

func (n *kernelNames) of(s storage) string {
	isFloat := 0
	if s.class == float {
		isFloat = 1
	}
	return n[isFloat][bits.TrailingZeros(uint(s.bytes))]
}

// ownFiles names kernels each of which has a file of its own.
func ownFiles(prefix string) func(storage) (file, entry string) {
	names := newKernelNames(prefix)
	return func(s storage) (file, entry string) { return names.of(s), names.of(s) }
}

// oneFile names kernels that lie in one file.
func oneFile(file string) func(storage) (string, string) {
	names := newKernelNames(file)
	return func(s storage) (string, string) { return file, names.of(s) }
}

// shape is how the kernel of an operator and a storage cuts its input: see
// cumulative.cuh.
type shape struct {
	// lanes are the values of one load of a lane, loads those of a lane in a tile.
	lanes, loads int
}

const (
	// tileWarps have the rows of a tile; one more learns what lies before it.
	tileWarps   = 7
	tileThreads = 32 * (tileWarps + 1)
)

func shapeOf(s storage) shape {
	loads := [...]int{1: 2, 2: 4, 4: 8, 8: 8, 16: 8}[s.bytes]
	return shape{lanes: 16 / s.bytes, loads: loads}
}

// sharedBytes is the shared memory that a block holds two tiles in.
func (s shape) sharedBytes() uint32 { return uint32(2 * tileWarps * 32 * 16 * s.loads) }

func (s shape) warpRows() int { return 32 * s.lanes * s.loads }
func (s shape) tileRows() int { return tileWarps * s.warpRows() }
