package window

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
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
