package checks

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Buffer is memory as bytes.
type Buffer = memory.Slice[uint8]

// Elements are Count elements of a buffer from element First on. Elements beyond them
// are not read. If Count is zero the buffer may be absent.
type Elements struct {
	Buffer       Buffer
	First, Count int
}

// Validity holds the null slots: slot i of a check is bit Offset + i, counted from the
// lowest of the first byte, and 0 for null. Without Bits no slot is null.
type Validity struct {
	Bits   Buffer
	Offset int
}

// bytes returns n elements of the given width from the first on, or none if Count is
// zero.
func (e Elements) bytes(width, n int) (Buffer, error) {
	have := e.Buffer.Len() / width
	if e.First < 0 || e.Count < 0 || n < 0 || e.First > have || n > have-e.First {
		return Buffer{}, fmt.Errorf("%d elements of %d bytes from element %d on, in a buffer of %d bytes: %w",
			n, width, e.First, e.Buffer.Len(), memory.ErrRange)
	}
	return e.Buffer.Slice(e.First*width, (e.First+n)*width)
}

// bytes returns the bytes that contain the bits of n slots, and the index of the first
// slot's bit in them. They are empty without a bitmap.
func (v Validity) bytes(n int) (bits Buffer, offset int, err error) {
	if n >= 0 && v.Bits.Block() == nil {
		return Buffer{}, 0, nil
	}
	if have := 8 * v.Bits.Len(); v.Offset < 0 || n < 0 || v.Offset > have || n > have-v.Offset {
		return Buffer{}, 0, fmt.Errorf("validity bits of %d slots from bit %d on, in %d bytes: %w", n, v.Offset, v.Bits.Len(), memory.ErrRange)
	}
	bits, err = v.Bits.Slice(v.Offset/8, (v.Offset+n+7)/8)
	return bits, v.Offset % 8, err
}

// valid reports whether slot i is not null.
func valid(bits []byte, i int) bool { return len(bits) == 0 || bits[i/8]>>(i%8)&1 != 0 }

// widthIn returns an error unless the width is one of widths.
func widthIn(width int, widths ...int) error {
	for _, w := range widths {
		if w == width {
			return nil
		}
	}
	return fmt.Errorf("a width of %d bytes: expected one of %v: %w", width, widths, device.ErrInvalidValue)
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// load reads element i at any alignment.
func load[T integer](values []byte, i int) T {
	var zero T
	switch unsafe.Sizeof(zero) {
	case 1:
		return T(values[i])
	case 2:
		return T(binary.NativeEndian.Uint16(values[2*i:]))
	case 4:
		return T(binary.NativeEndian.Uint32(values[4*i:]))
	}
	return T(binary.NativeEndian.Uint64(values[8*i:]))
}

// signed reads element i of a width that is known only at run time.
func signed(values []byte, i, width int) int64 {
	switch width {
	case 1:
		return int64(load[int8](values, i))
	case 2:
		return int64(load[int16](values, i))
	case 4:
		return int64(load[int32](values, i))
	}
	return load[int64](values, i)
}
