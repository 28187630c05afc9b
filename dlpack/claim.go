package dlpack

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/address"
)

// claim is what a tensor says of itself, as far as it can be checked without
// asking the driver.
type claim struct {
	dataType arrow.DataType
	kind     device.MemoryKind
	pointer  device.Pointer
	length   int
	bytes    uint64
}

func (c claim) isBool() bool { return c.dataType.ID() == arrow.BOOL }

// inspect checks all fields of a tensor for a device.
func inspect(dev *device.Device, t *cabi.Tensor) (c claim, err error) {
	if c.kind, err = kindOf(dev, t.Device); err != nil {
		return c, err
	}
	if c.dataType, err = fromDLPack(t.DataType); err != nil {
		return c, err
	}
	if c.length, err = lengthOf(t); err != nil {
		return c, err
	}
	width := uint64(t.DataType.Bits) / 8
	high, bytes := bits.Mul64(uint64(c.length), width)
	if high != 0 || bytes > math.MaxInt {
		return c, faulty("shape[0]", "%d elements of %d bytes exceed the address space: %w", c.length, width, ErrInvalid)
	}
	c.bytes = bytes
	c.pointer, err = pointerTo(t, c.bytes, width)
	return c, err
}

// lengthOf returns the number of elements of a tensor of one dimension or none,
// which lie one after the other.
func lengthOf(t *cabi.Tensor) (int, error) {
	switch {
	case t.NDim < 0:
		return 0, faulty("ndim", "%d: %w", t.NDim, ErrInvalid)
	case t.NDim == 0:
		return 1, nil
	case t.NDim > 1:
		return 0, faulty("ndim", "%d: a column has one dimension; reshape the tensor first: %w", t.NDim, ErrUnsupported)
	case t.Shape == 0:
		return 0, faulty("shape", "it is NULL: %w", ErrInvalid)
	}
	length := *(*int64)(address.Pointer(t.Shape))
	if length < 0 {
		return 0, faulty("shape[0]", "%d: %w", length, ErrInvalid)
	}
	if length > 1 && t.Strides != 0 {
		if stride := *(*int64)(address.Pointer(t.Strides)); stride != 1 {
			return 0, faulty("strides[0]", "%d: the elements must lie one after the other; make the tensor contiguous first: %w", stride, ErrUnsupported)
		}
	}
	return int(length), nil
}

// pointerTo returns where the first element is.
func pointerTo(t *cabi.Tensor, bytes, width uint64) (device.Pointer, error) {
	if bytes == 0 {
		return 0, nil
	}
	if t.Data == 0 {
		return 0, faulty("data", "it is NULL, but there are %d bytes of elements: %w", bytes, ErrInvalid)
	}
	first, carry := bits.Add64(uint64(t.Data), t.ByteOffset, 0)
	if carry != 0 {
		return 0, faulty("byte_offset", "%d past %#x exceeds the address space: %w", t.ByteOffset, t.Data, ErrInvalid)
	}
	if _, carry := bits.Add64(first, bytes, 0); carry != 0 {
		return 0, faulty("shape[0]", "%d bytes from %#x exceed the address space: %w", bytes, first, ErrInvalid)
	}
	if first%width != 0 {
		return 0, faulty("data", "%#x with byte_offset %d is not aligned to elements of %d bytes: %w", t.Data, t.ByteOffset, width, ErrInvalid)
	}
	return device.Pointer(first), nil
}
