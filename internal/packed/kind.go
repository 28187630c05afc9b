package packed

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// kind is how a column has its values: Kind of block.cuh.
type kind uint32

const (
	integers1 kind = iota
	integers2
	integers4
	integers8
	decimals // of 16 bytes
	booleans
	floats4
	floats8
	texts      // with offsets of 4 bytes
	largeTexts // with offsets of 8 bytes
)

// kindOf returns the kind of a type. ok is false for types that are not packed.
func kindOf(t arrow.DataType) (k kind, ok bool) {
	switch t.ID() {
	case arrow.BOOL:
		return booleans, true
	case arrow.INT8, arrow.UINT8:
		return integers1, true
	case arrow.INT16, arrow.UINT16:
		return integers2, true
	case arrow.INT32, arrow.UINT32, arrow.DATE32, arrow.TIME32:
		return integers4, true
	case arrow.INT64, arrow.UINT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return integers8, true
	case arrow.FLOAT32:
		return floats4, true
	case arrow.FLOAT64:
		return floats8, true
	case arrow.DECIMAL128:
		return decimals, true
	case arrow.STRING, arrow.BINARY:
		return texts, true
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return largeTexts, true
	}
	return 0, false
}

// Packable reports whether columns of a type are packed.
func Packable(t arrow.DataType) bool {
	_, ok := kindOf(t)
	return ok
}

func (k kind) isText() bool { return k == texts || k == largeTexts }

// bytes is the length of a value, or of an offset of strings. It is 0 for booleans.
func (k kind) bytes() int { return [...]int{1, 2, 4, 8, 16, 0, 4, 8, 4, 8}[k] }

// hasBounds reports whether blocks have bounds: values with the order of integers or of floats.
func hasBounds(k kind) bool { return !k.isText() && k != booleans }

// checkType returns the kind of a type, or an error.
func checkType(t arrow.DataType) (kind, error) {
	if t == nil {
		return 0, fmt.Errorf("the type is nil: %w", ErrType)
	}
	k, ok := kindOf(t)
	if !ok {
		return 0, layout.Refuse(t, "integers, floats, decimals, booleans, times, text or bytes", ErrType)
	}
	return k, nil
}
