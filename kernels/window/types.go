package window

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/layout"
)

// storage describes a type's values: layout.Signed, Unsigned or Float, and their size
// in bytes.
type storage struct {
	class layout.Class
	bytes int
}

// number returns the storage of types that can be added and multiplied.
func number(t arrow.DataType) (storage, bool) {
	l, err := layout.Of(t)
	if err != nil || t.ID() == arrow.EXTENSION || !l.Arithmetic() || l.Class == layout.Decimal {
		return storage{}, false
	}
	return storage{l.Class, l.Width}, true
}

// temporal returns the storage of the other types that can be compared.
func temporal(t arrow.DataType) (storage, bool) {
	l, err := layout.Of(t)
	if err != nil || t.ID() == arrow.EXTENSION || l.Class == layout.Signed || l.Stored() != layout.Signed {
		return storage{}, false
	}
	return storage{layout.Signed, l.Width}, true
}

// decimalStorage is the storage of 128-bit decimals.
var decimalStorage = storage{layout.Signed, 16}

// accumulatedBytes is the width of the accumulators of sums and products; floats are
// accumulated in 64 bits.
func accumulatedBytes(s storage) int {
	if s.class == layout.Float {
		return 8
	}
	return storedBytes(s)
}

// storedBytes is the width of the accumulators of folds without rounding.
func storedBytes(s storage) int { return max(s.bytes, 4) }

// kernelNames are the names of a fold's kernels, indexed by whether values are floats
// and by the logarithm of their size. Formatting a name would take longer than the rest
// of a launch.
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
	if s.class == layout.Float {
		isFloat = 1
	}
	return n[isFloat][bits.TrailingZeros(uint(s.bytes))]
}

// ownFiles names kernels that have a separate file each.
func ownFiles(prefix string) func(storage) (file, entry string) {
	names := newKernelNames(prefix)
	return func(s storage) (file, entry string) { return names.of(s), names.of(s) }
}

// oneFile names kernels that share a file.
func oneFile(file string) func(storage) (string, string) {
	names := newKernelNames(file)
	return func(s storage) (string, string) { return file, names.of(s) }
}

// shape describes how the kernel for an operator and a storage divides its input: see
// cumulative.cuh.
type shape struct {
	// lanes is the number of values per load of a lane, loads the number of loads per
	// lane in a tile.
	lanes, loads int
}

const (
	// tileWarps is the number of warps with rows of a tile. One more warp computes the
	// folds before them.
	tileWarps   = 7
	tileThreads = 32 * (tileWarps + 1)
)

func shapeOf(s storage) shape {
	loads := [...]int{1: 2, 2: 4, 4: 8, 8: 8, 16: 8}[s.bytes]
	return shape{lanes: 16 / s.bytes, loads: loads}
}

// sharedBytes is the shared memory for the two tiles that a block holds.
func (s shape) sharedBytes() uint32 { return uint32(2 * tileWarps * 32 * 16 * s.loads) }

func (s shape) warpRows() int { return 32 * s.lanes * s.loads }
func (s shape) tileRows() int { return tileWarps * s.warpRows() }
