package rows

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int | ~uint | ~float32 | ~float64
}

// copied reads values that have the Go type already.
func copied[T any](values []T) setter {
	return func(p unsafe.Pointer, row int) error {
		*(*T)(p) = values[row]
		return nil
	}
}

func converted[From, To number](values []From) setter {
	return func(p unsafe.Pointer, row int) error {
		*(*To)(p) = To(values[row])
		return nil
	}
}

// numberType describes a type of numbers by its bits without the sign; for floats those
// of the integers that are exact.
type numberType struct {
	bits           int
	signed, floats bool
}

// holds reports whether the type has all values of another.
func (t numberType) holds(from numberType) bool {
	return t.bits >= from.bits && (t.signed || !from.signed) && (t.floats || !from.floats)
}

var arrowNumbers = map[arrow.Type]numberType{
	arrow.INT8: {7, true, false}, arrow.INT16: {15, true, false}, arrow.INT32: {31, true, false}, arrow.INT64: {63, true, false},
	arrow.UINT8: {8, false, false}, arrow.UINT16: {16, false, false}, arrow.UINT32: {32, false, false}, arrow.UINT64: {64, false, false},
	arrow.FLOAT32: {24, true, true}, arrow.FLOAT64: {53, true, true},
}

// goNumbers are the types of Go. int and uint count as 64 bits; on processors with
// shorter ones the values are checked.
var goNumbers = map[reflect.Kind]numberType{
	reflect.Int8: {7, true, false}, reflect.Int16: {15, true, false}, reflect.Int32: {31, true, false}, reflect.Int64: {63, true, false}, reflect.Int: {63, true, false},
	reflect.Uint8: {8, false, false}, reflect.Uint16: {16, false, false}, reflect.Uint32: {32, false, false}, reflect.Uint64: {64, false, false}, reflect.Uint: {64, false, false},
	reflect.Float32: {24, true, true}, reflect.Float64: {53, true, true},
}

// readNumber reads numbers into a Go type that holds all values of their type.
func readNumber(from arrow.DataType, to reflect.Type) (binder, error) {
	source, ok := arrowNumbers[from.ID()]
	if !ok {
		return nil, misfit(from, to, "")
	}
	if target, ok := goNumbers[to.Kind()]; !ok || !target.holds(source) {
		return nil, misfit(from, to, "; cast the column")
	}
	kind := to.Kind()
	return func(values arrow.Array) setter {
		switch values := values.(type) {
		case *array.Int8:
			return toKind(values.Int8Values(), kind)
		case *array.Int16:
			return toKind(values.Int16Values(), kind)
		case *array.Int32:
			return toKind(values.Int32Values(), kind)
		case *array.Int64:
			return toKind(values.Int64Values(), kind)
		case *array.Uint8:
			return toKind(values.Uint8Values(), kind)
		case *array.Uint16:
			return toKind(values.Uint16Values(), kind)
		case *array.Uint32:
			return toKind(values.Uint32Values(), kind)
		case *array.Uint64:
			return toKind(values.Uint64Values(), kind)
		case *array.Float32:
			return toKind(values.Float32Values(), kind)
		case *array.Float64:
			return toKind(values.Float64Values(), kind)
		}
		return func(unsafe.Pointer, int) error { return misfit(values.DataType(), to, "") }
	}, nil
}

// toKind converts values to numbers of a kind.
func toKind[From number](values []From, kind reflect.Kind) setter {
	switch kind {
	case reflect.Int:
		if math.MaxInt != math.MaxInt64 {
			return checked[From, int](values)
		}
		return converted[From, int](values)
	case reflect.Uint:
		if math.MaxInt != math.MaxInt64 {
			return checked[From, uint](values)
		}
		return converted[From, uint](values)
	case reflect.Int8:
		return converted[From, int8](values)
	case reflect.Int16:
		return converted[From, int16](values)
	case reflect.Int32:
		return converted[From, int32](values)
	case reflect.Int64:
		return converted[From, int64](values)
	case reflect.Uint8:
		return converted[From, uint8](values)
	case reflect.Uint16:
		return converted[From, uint16](values)
	case reflect.Uint32:
		return converted[From, uint32](values)
	case reflect.Uint64:
		return converted[From, uint64](values)
	case reflect.Float32:
		return converted[From, float32](values)
	}
	return converted[From, float64](values)
}

// checked converts integers to integers that may be shorter.
func checked[From, To number](values []From) setter {
	return func(p unsafe.Pointer, row int) error {
		v := values[row]
		if From(To(v)) != v || (v < 0) != (To(v) < 0) {
			return fmt.Errorf("%v does not fit %T: %w", v, To(0), ErrRange)
		}
		*(*To)(p) = To(v)
		return nil
	}
}
