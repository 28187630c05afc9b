package numbers

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Class is the number format of a type.
type Class int

// The classes.
const (
	Signed Class = iota
	Unsigned
	Float
)

// Classes is the number of classes.
const Classes = 3

// Type is the number format of an Arrow type: its class and the bytes of one value.
type Type struct {
	Class Class
	Bytes int
}

// TypeOf returns the number format of an Arrow type. It reports false for types
// without numbers of one, two, four or eight bytes. Dates, times, timestamps,
// durations and intervals of months are signed integers.
func TypeOf(t arrow.DataType) (Type, bool) {
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64,
		arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.INTERVAL_MONTHS:
		return Type{Signed, t.(arrow.FixedWidthDataType).Bytes()}, true
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return Type{Unsigned, t.(arrow.FixedWidthDataType).Bytes()}, true
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return Type{Float, t.(arrow.FixedWidthDataType).Bytes()}, true
	}
	return Type{}, false
}

// Bits returns the number of bits of a value.
func (t Type) Bits() int { return 8 * t.Bytes }

// String returns the name that kernels use for the type: i8, u32, f64.
func (t Type) String() string { return fmt.Sprintf("%c%d", "iuf"[t.Class], t.Bits()) }
