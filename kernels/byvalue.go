package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/gpuframe/gpuframe/device"
)

// checkKind refuses values that cannot be passed by value. The error names what to pass
// instead.
func checkKind(value any) error {
	if value == nil {
		return fmt.Errorf("the argument is nil: for a null pointer pass device.Pointer(0) or an empty slice: %w", device.ErrInvalidValue)
	}
	switch kind := reflect.TypeOf(value).Kind(); kind {
	case reflect.Int, reflect.Uint:
		return fmt.Errorf("%T has no fixed width: convert it to %s32 or %s64, as the kernel's parameter: %w", value, kind, kind, device.ErrInvalidValue)
	case reflect.Uintptr:
		return fmt.Errorf("%T has no fixed width: convert an address to device.Pointer: %w", value, device.ErrInvalidValue)
	case reflect.Slice, reflect.Pointer, reflect.UnsafePointer:
		return fmt.Errorf("%T is memory of the host, which a kernel cannot reach: pass a memory.Slice or a *memory.Block: %w", value, device.ErrInvalidValue)
	case reflect.Struct:
		return fmt.Errorf("%T cannot be passed to a kernel: pass its fields to kernels.Struct: %w", value, device.ErrInvalidValue)
	}
	return nil
}

// bytesByKind appends the bytes of a less frequent type: a named number, a complex
// number, an array. It refuses types without a fixed width and types that are not values
// on a device.
func bytesByKind(to []byte, value any) ([]byte, error) {
	if err := checkKind(value); err != nil {
		return nil, err
	}
	raw, ok := appendValue(to, reflect.ValueOf(value))
	if !ok {
		return nil, fmt.Errorf("%T cannot be passed to a kernel: pass memory, numbers of a fixed width, bools or arrays of numbers: %w", value, device.ErrInvalidValue)
	}
	return raw, nil
}

// partAlignment is the alignment of a number, or of one part of a value with several.
func partAlignment(t reflect.Type) int {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Complex64, reflect.Complex128:
		return int(t.Size()) / 2
	}
	return int(t.Size())
}

// appendValue appends the bytes of a number, or of an array of numbers, in memory order.
func appendValue(to []byte, v reflect.Value) (bytes []byte, ok bool) {
	order := binary.LittleEndian
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(to, 1), true
		}
		return append(to, 0), true
	case reflect.Int8:
		return append(to, byte(v.Int())), true
	case reflect.Int16:
		return order.AppendUint16(to, uint16(v.Int())), true
	case reflect.Int32:
		return order.AppendUint32(to, uint32(v.Int())), true
	case reflect.Int64:
		return order.AppendUint64(to, uint64(v.Int())), true
	case reflect.Uint8:
		return append(to, byte(v.Uint())), true
	case reflect.Uint16:
		return order.AppendUint16(to, uint16(v.Uint())), true
	case reflect.Uint32:
		return order.AppendUint32(to, uint32(v.Uint())), true
	case reflect.Uint64:
		return order.AppendUint64(to, v.Uint()), true
	case reflect.Float32:
		return order.AppendUint32(to, math.Float32bits(float32(v.Float()))), true
	case reflect.Float64:
		return order.AppendUint64(to, math.Float64bits(v.Float())), true
	case reflect.Complex64:
		c := complex64(v.Complex())
		to = order.AppendUint32(to, math.Float32bits(real(c)))
		return order.AppendUint32(to, math.Float32bits(imag(c))), true
	case reflect.Complex128:
		to = order.AppendUint64(to, math.Float64bits(real(v.Complex())))
		return order.AppendUint64(to, math.Float64bits(imag(v.Complex()))), true
	case reflect.Array:
		for i := range v.Len() {
			if to, ok = appendValue(to, v.Index(i)); !ok {
				return nil, false
			}
		}
		return to, v.Len() > 0
	}
	return nil, false
}
