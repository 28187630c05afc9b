package column

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/memory"
)

// ElementBytes returns the width of a type's values in bytes, if they have a fixed
// width of whole bytes. It returns false for booleans, and for dictionaries, because
// their indices are not their values. An extension type has the width of its storage.
func ElementBytes(t arrow.DataType) (width int, ok bool) {
	l, err := layoutOf(t)
	if err != nil || l.kind != kindFixed {
		return 0, false
	}
	return l.width, true
}

// Elements returns the values of a column as elements of a Go type, borrowed from the
// column. The Go type must match the values:
//
//   - integers and floats: the Go type of the same name, and uint16 for float16
//   - dates, times, timestamps, durations and months: the int32 or int64 of their unit
//   - intervals of days and milliseconds: a 64-bit integer; of months, days and
//     nanoseconds: an array of 16 bytes
//   - decimals and fixed-size binary values: an array of bytes or words of the same
//     size, or for fixed-size binary an unsigned integer of the same size
//
// For other types the error wraps [ErrInvalid].
func Elements[T memory.Element](c *Column) (memory.Slice[T], error) {
	region, err := c.ValuesRegion()
	if err != nil {
		return memory.Slice[T]{}, err
	}
	if t := reflect.TypeFor[T](); !holds(t, c.data.Type) {
		return memory.Slice[T]{}, fmt.Errorf("column: elements of %v as %v: the values are something else: %w", c, t, ErrInvalid)
	}
	return memory.Reinterpret[T](region)
}

// holds reports whether a Go type matches the values of an Arrow type.
func holds(t reflect.Type, dataType arrow.DataType) bool {
	l, err := layoutOf(dataType)
	if err != nil || l.kind != kindFixed || int(t.Size()) != l.width {
		return false
	}
	switch l.storage.ID() {
	case arrow.INT8:
		return t.Kind() == reflect.Int8
	case arrow.INT16:
		return t.Kind() == reflect.Int16
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.INTERVAL_MONTHS:
		return t.Kind() == reflect.Int32
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return t.Kind() == reflect.Int64
	case arrow.UINT8:
		return t.Kind() == reflect.Uint8
	case arrow.UINT16, arrow.FLOAT16:
		return t.Kind() == reflect.Uint16
	case arrow.UINT32:
		return t.Kind() == reflect.Uint32
	case arrow.UINT64:
		return t.Kind() == reflect.Uint64
	case arrow.FLOAT32:
		return t.Kind() == reflect.Float32
	case arrow.FLOAT64:
		return t.Kind() == reflect.Float64
	case arrow.INTERVAL_DAY_TIME:
		return t.Kind() == reflect.Int64 || t.Kind() == reflect.Uint64
	case arrow.FIXED_SIZE_BINARY:
		return t.Kind() == reflect.Array || t.Kind() >= reflect.Uint8 && t.Kind() <= reflect.Uint64
	}
	return t.Kind() == reflect.Array
}
