package column

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// ElementBytes returns the width of a type's values in bytes, if they have a fixed
// width of whole bytes. It returns false for booleans, and for dictionaries, because
// their indices are not their values. An extension type has the width of its storage.
func ElementBytes(t arrow.DataType) (width int, ok bool) {
	l, err := layout.Of(t)
	if err != nil || l.Kind != layout.Fixed {
		return 0, false
	}
	return l.Width, true
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
		return memory.Slice[T]{}, fmt.Errorf("column: elements of %v as %v: the Go type does not match the values: %w", c, t, ErrInvalid)
	}
	return memory.Reinterpret[T](region)
}

// holds reports whether a Go type matches the values of an Arrow type.
func holds(t reflect.Type, dataType arrow.DataType) bool {
	l, err := layout.Of(dataType)
	if err != nil || l.Kind != layout.Fixed || int(t.Size()) != l.Width {
		return false
	}
	kind := t.Kind()
	signed := kind >= reflect.Int8 && kind <= reflect.Int64
	unsigned := kind >= reflect.Uint8 && kind <= reflect.Uint64
	switch l.Stored() {
	case layout.Signed:
		return signed
	case layout.Unsigned:
		return unsigned
	case layout.Float:
		return kind == reflect.Float32 || kind == reflect.Float64 || kind == reflect.Uint16
	case layout.Interval:
		if l.Width == 8 {
			return kind == reflect.Int64 || kind == reflect.Uint64
		}
	case layout.Bytes:
		return unsigned || kind == reflect.Array
	}
	return kind == reflect.Array
}
