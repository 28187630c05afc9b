package pages

import (
	"encoding/binary"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// Column describes a column chunk.
type Column struct {
	// Codec is the compression of its pages.
	Codec parquetformat.Codec
	// Values is the number of its values, nulls included.
	Values int64
	// MaxDefinition and MaxRepetition are the greatest levels of the column.
	MaxDefinition, MaxRepetition int16
}

// mostDelta is the length of a block of delta encodings at most. Writers use 128 to 4,096.
const mostDelta = 1 << 20

// bitsAt returns the bits from a place on.
func bitsAt(data []byte, at, width int) (v uint32) {
	for i := range width {
		v |= uint32(data[(at+i)/8]>>((at+i)%8)&1) << i
	}
	return v
}

// checkDelta checks the head of a delta encoding.
func checkDelta(values []byte, most int64) error {
	if len(values) == 0 {
		return nil
	}
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(values)
		if n <= 0 {
			return thrift.ErrCut
		}
		head[i], values = v, values[n:]
	}
	block, parts, total := head[0], head[1], head[2]
	if total == 0 { // of nulls only: arrow-go writes no sizes then
		return nil
	}
	if block == 0 || block > mostDelta || parts == 0 || parts > block || block%parts != 0 || total > uint64(most) {
		return fmt.Errorf("delta encoding of %d values in blocks of %d in %d parts, the page has %d values: %w", total, block, parts, most, ErrDamaged)
	}
	return nil
}
