package dlpack

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// claim is a tensor's description of itself, as far as it can be checked without the
// driver.
type claim struct {
	placement
	// element is the type of one element, width its length in bytes.
	element  arrow.DataType
	dataType cabi.DataType
	width    uint64
	kind     device.MemoryKind
	pointer  device.Pointer
	// bytes is the length from the first element to the end of the last.
	bytes uint64
}

func (c *claim) isBool() bool { return c.dataType == boolType }

// inspect checks all fields of a tensor for a device.
func (c *claim) inspect(dev *device.Device, t *cabi.Tensor, as form) (err error) {
	if c.kind, err = kindOf(dev, t.Device); err != nil {
		return err
	}
	if c.element, err = fromDLPack(t.DataType); err != nil {
		return err
	}
	c.dataType, c.width = t.DataType, uint64(t.DataType.Bits)/8
	if as != oneColumn || !c.vector(t) {
		if err := c.examine(t, as); err != nil {
			return err
		}
	}
	high, bytes := bits.Mul64(c.extent, c.width)
	if high != 0 || bytes > math.MaxInt {
		return faulty("shape[0]", "%d elements of %d bytes exceed the address space: %w", c.extent, c.width, ErrInvalid)
	}
	c.bytes = bytes
	c.pointer, err = c.pointerTo(t)
	return err
}

// pointerTo returns the address of the first element.
func (c *claim) pointerTo(t *cabi.Tensor) (device.Pointer, error) {
	if c.bytes == 0 {
		return 0, nil
	}
	if t.Data == 0 {
		return 0, faulty("data", "NULL, but the elements have %d bytes: %w", c.bytes, ErrInvalid)
	}
	first, carry := bits.Add64(uint64(t.Data), t.ByteOffset, 0)
	if carry != 0 {
		return 0, faulty("byte_offset", "%d past %#x exceeds the address space: %w", t.ByteOffset, t.Data, ErrInvalid)
	}
	if _, carry := bits.Add64(first, c.bytes, 0); carry != 0 {
		return 0, faulty("shape[0]", "%d bytes from %#x exceed the address space: %w", c.bytes, first, ErrInvalid)
	}
	alignment := c.width
	if isComplex(c.dataType) {
		alignment /= 2 // in Arrow the two parts are separate values
	}
	if first%alignment != 0 {
		return 0, faulty("data", "%#x with byte_offset %d is not aligned to values of %d bytes: %w", t.Data, t.ByteOffset, alignment, ErrInvalid)
	}
	return device.Pointer(first), nil
}
