package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/gpuframe/gpuframe/device"
)

// addByKind appends a value of a rarer type: a named number, a complex number, an
// array. It refuses everything that has no one width or is no value on a device.
func (a *arguments) addByKind(value any) (bytes int, err error) {
	if value == nil {
		return 0, fmt.Errorf("it is nil: for a null pointer pass device.Pointer(0) or an empty slice: %w", device.ErrInvalidValue)
	}
	v := reflect.ValueOf(value)
	switch kind := v.Kind(); kind {
	case reflect.Int, reflect.Uint:
		return 0, fmt.Errorf("%T has no fixed width: convert it to %s32 or %s64, whichever the kernel takes: %w", value, kind, kind, device.ErrInvalidValue)
	case reflect.Uintptr:
		return 0, fmt.Errorf("%T has no fixed width: convert an address to device.Pointer: %w", value, device.ErrInvalidValue)
	case reflect.Slice, reflect.Pointer, reflect.UnsafePointer:
		return 0, fmt.Errorf("%T is memory of the host, which a kernel does not reach: pass a memory.Slice or a *memory.Block: %w", value, device.ErrInvalidValue)
	}
	raw, ok := appendValue(make([]byte, 0, 32), v)
	if !ok {
		return 0, fmt.Errorf("%T cannot be passed to a kernel: pass memory, numbers of a fixed width, bools or arrays of numbers: %w", value, device.ErrInvalidValue)
	}
	bytes = len(raw)
	for len(raw)%8 != 0 {
		raw = append(raw, 0)
	}
	for ; len(raw) > 0; raw = raw[8:] {
		a.slots = append(a.slots, binary.LittleEndian.Uint64(raw))
	}
	return bytes, nil
}

// appendValue appends the bytes of a number, or of an array of numbers, as they
// lie in memory.
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
