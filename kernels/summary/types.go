package summary

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// class is what values are.
type class int

const (
	signed class = iota
	unsigned
	float
)

// number is what the values of a type are, and how wide.
type number struct {
	class class
	bytes int
}

func numberOf(t arrow.DataType) (number, bool) {
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64,
		arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.INTERVAL_MONTHS:
		return number{signed, t.(arrow.FixedWidthDataType).Bytes()}, true
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return number{unsigned, t.(arrow.FixedWidthDataType).Bytes()}, true
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return number{float, t.(arrow.FixedWidthDataType).Bytes()}, true
	}
	return number{}, false
}

// String is how kernels name the type.
func (n number) String() string {
	return fmt.Sprintf("%c%d", "iuf"[n.class], 8*n.bytes)
}
