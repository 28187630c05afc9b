package column

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// SliceElement are the element types of [FromSlice].
type SliceElement interface {
	bool | string | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// SliceOptions configure [FromSlice]. The zero value is right for most programs.
type SliceOptions struct {
	// Valid holds false for null elements, and has the length of the values. Nil
	// means that no element is null.
	Valid []bool
	// Type is the Arrow type, if it is not the one of the same name: a timestamp in
	// int64, a float16 in uint16, a large_utf8 in string. Nil means the type of the
	// same name, and utf8 for strings.
	Type arrow.DataType
	// Stream and Tag are as in [UploadOptions].
	Stream *device.Stream
	Tag    string
}

// FromSlice copies a Go slice to the device as a column: a mask of bools, the indices
// of a take, values to compare with.
//
//	mask, err := column.FromSlice(ctx, mgr, []bool{true, false, true}, column.SliceOptions{})
//
// Numbers are copied by the transfer only, not on the host. The slice may be changed
// when FromSlice returns. The caller releases the column.
//
// # Errors
//
// If Type does not hold such values, or Valid has another length than the values, the
// error wraps [ErrInvalid]. Strings of more than 2 GiB together need large_utf8 as
// the Type; otherwise the error wraps memory.ErrOverflow.
func FromSlice[T SliceElement](ctx context.Context, m *memory.Manager, values []T, options SliceOptions) (*Column, error) {
	data, err := dataOf(values, options)
	if err != nil {
		return nil, fmt.Errorf("column: from slice: %w", err)
	}
	defer data.Release()
	a := array.MakeFromData(data)
	defer a.Release()
	return FromArray(ctx, m, a, UploadOptions{Stream: options.Stream, Tag: options.Tag, Unchecked: true})
}

func dataOf[T SliceElement](values []T, options SliceOptions) (*array.Data, error) {
	t := options.Type
	if t == nil {
		t = elementTypes[reflect.TypeFor[T]().Kind()]
	}
	l, err := layoutOf(t)
	if err != nil {
		return nil, err
	}
	var buffers []*arrowmemory.Buffer
	switch values := any(values).(type) {
	case []bool:
		if l.Kind == layout.Bits {
			buffers = []*arrowmemory.Buffer{packed(values)}
		}
	case []string:
		if l.Kind == layout.Binary {
			buffers, err = texts(values, l.Width)
		}
	default:
		if holds(reflect.TypeFor[T](), t) {
			buffers = []*arrowmemory.Buffer{asBuffer(values)}
		}
	}
	if err != nil {
		return nil, err
	}
	if buffers == nil {
		return nil, fmt.Errorf("elements of type %v are not values of %v: %w", reflect.TypeFor[T](), t, ErrInvalid)
	}
	validity, nulls, err := validityOf(options.Valid, len(values))
	if err != nil {
		return nil, err
	}
	return array.NewData(t, len(values), append([]*arrowmemory.Buffer{validity}, buffers...), nil, nulls, 0), nil
}

// elementTypes are the Arrow types of the same name.
var elementTypes = map[reflect.Kind]arrow.DataType{
	reflect.Bool: arrow.FixedWidthTypes.Boolean, reflect.String: arrow.BinaryTypes.String,
	reflect.Int8: arrow.PrimitiveTypes.Int8, reflect.Int16: arrow.PrimitiveTypes.Int16,
	reflect.Int32: arrow.PrimitiveTypes.Int32, reflect.Int64: arrow.PrimitiveTypes.Int64,
	reflect.Uint8: arrow.PrimitiveTypes.Uint8, reflect.Uint16: arrow.PrimitiveTypes.Uint16,
	reflect.Uint32: arrow.PrimitiveTypes.Uint32, reflect.Uint64: arrow.PrimitiveTypes.Uint64,
	reflect.Float32: arrow.PrimitiveTypes.Float32, reflect.Float64: arrow.PrimitiveTypes.Float64,
}

// asBuffer returns a buffer that shares the memory of a slice of numbers.
func asBuffer(values any) *arrowmemory.Buffer {
	v := reflect.ValueOf(values)
	bytes := unsafe.Slice((*byte)(v.UnsafePointer()), v.Len()*int(v.Type().Elem().Size()))
	return arrowmemory.NewBufferBytes(bytes)
}

// packed returns a bitmap of bools.
func packed(values []bool) *arrowmemory.Buffer {
	bits := make([]byte, bitmapBytes(len(values)))
	for i, value := range values {
		if value {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	return arrowmemory.NewBufferBytes(bits)
}

func validityOf(valid []bool, length int) (bitmap *arrowmemory.Buffer, nulls int, err error) {
	if valid == nil {
		return nil, 0, nil
	}
	if len(valid) != length {
		return nil, 0, fmt.Errorf("the validity has %d elements for %d values: %w", len(valid), length, ErrInvalid)
	}
	for _, isValid := range valid {
		if !isValid {
			nulls++
		}
	}
	return packed(valid), nulls, nil
}

// texts returns offsets of a width, and the concatenated strings.
func texts(values []string, width int) ([]*arrowmemory.Buffer, error) {
	total := 0
	for _, value := range values {
		total += len(value)
	}
	if width == 4 && total > math.MaxInt32 {
		return nil, fmt.Errorf("the strings have %d bytes together, utf8 holds 2 GiB: set Type to large_utf8: %w", total, memory.ErrOverflow)
	}
	offsets := make([]byte, 0, width*(len(values)+1))
	add := func(offset int) {
		if width == 4 {
			offsets = binary.NativeEndian.AppendUint32(offsets, uint32(offset))
		} else {
			offsets = binary.NativeEndian.AppendUint64(offsets, uint64(offset))
		}
	}
	data := make([]byte, 0, total)
	add(0)
	for _, value := range values {
		data = append(data, value...)
		add(len(data))
	}
	return []*arrowmemory.Buffer{arrowmemory.NewBufferBytes(offsets), arrowmemory.NewBufferBytes(data)}, nil
}
