package window

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
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

// how is one of the cumulative ones.
type how int

const (
	sum how = iota
	product
	minimum
	maximum
)

var names = [...]string{sum: "cumulative sum", product: "cumulative product", minimum: "cumulative minimum", maximum: "cumulative maximum"}

// takes returns the storage of a type that the operator is defined for.
func (o how) takes(t arrow.DataType) (storage, error) {
	s, ok := number(t)
	switch {
	case ok:
	case t.ID() == arrow.DECIMAL128 && o != product:
		s, ok = storage{signed, 16}, true
	case o == sum && (t.ID() == arrow.DURATION || t.ID() == arrow.INTERVAL_MONTHS), o == minimum || o == maximum:
		s, ok = temporal(t)
	}
	if !ok {
		return s, fmt.Errorf("the type %v: %w", t, device.ErrNotSupported)
	}
	return s, nil
}

// kernelNames are the names of the kernels, and of their files, by the fold, whether
// values are floats, and the logarithm of their bytes. A launch would take longer to
// format a name than for all else.
var kernelNames = func() (names [maximum + 1][2][5]string) {
	for o, kernel := range []string{sum: "sum", product: "product", minimum: "least", maximum: "least"} {
		for i := range 5 {
			names[o][0][i] = fmt.Sprintf("%s_%d", kernel, 8<<i)
			names[o][1][i] = fmt.Sprintf("%s_f%d", kernel, 8<<i)
		}
	}
	return names
}()

// kernel returns the name of the kernel and of its file.
func (o how) kernel(s storage) string {
	isFloat := 0
	if s.class == float {
		isFloat = 1
	}
	return kernelNames[o][isFloat][bits.TrailingZeros(uint(s.bytes))]
}

// turn returns the bits that the kernels of minima turn over before they compare
// values as unsigned integers; of decimals those of the upper word.
func (o how) turn(s storage) uint64 {
	turned := uint64(0)
	if o < minimum {
		return 0
	}
	if s.class == signed {
		turned = 1 << (8*min(s.bytes, 8) - 1)
	}
	if o == maximum {
		turned = ^turned
	}
	return turned
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
