package column

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// chunk is a part of a host array that is uploaded. A sequence of chunks makes a
// column. The array is not trusted: every buffer is read through a method that checks
// its length.
type chunk struct {
	data arrow.ArrayData
	// offset is the number of elements before the chunk in the array's buffers,
	// including those that the array skips.
	offset, length int
	// nulls is the number of nulls, or UnknownNullCount.
	nulls int
	// first and last are the bounds of the chunk's elements in a data buffer or a
	// child.
	first, last int
}

// newChunk returns length elements of an array, from position from on.
func newChunk(data arrow.ArrayData, from, length int) (chunk, error) {
	if isNil(data) {
		return chunk{}, fmt.Errorf("the array is nil: %w", ErrInvalid)
	}
	offset, total, nulls := data.Offset(), data.Len(), data.NullN()
	if _, ok := add(max(offset, 0), max(total, 0)); offset < 0 || total < 0 || !ok {
		return chunk{}, fmt.Errorf("its offset is %d and its length %d, expected zero or more: %w", offset, total, ErrInvalid)
	}
	if nulls < UnknownNullCount || nulls > total {
		return chunk{}, fmt.Errorf("it claims %d nulls in %d elements: %w", nulls, total, ErrInvalid)
	}
	if from < 0 || length < 0 || from > total || length > total-from {
		return chunk{}, fmt.Errorf("it has %d elements, %d from %d on are needed: %w", total, length, from, ErrInvalid)
	}
	if nulls != 0 && length != total {
		nulls = UnknownNullCount
	}
	return chunk{data: data, offset: offset + from, length: length, nulls: nulls}, nil
}

// isNil also detects a nil pointer in an interface.
func isNil(data arrow.ArrayData) bool {
	if pointer, ok := data.(*array.Data); ok {
		return pointer == nil
	}
	return data == nil
}

// buffer returns buffer i of the format, or nil if the array lacks it.
func (c *chunk) buffer(l layout.Layout, i int) []byte {
	buffers := c.data.Buffers()
	if i = l.InArrow(i); i >= len(buffers) || buffers[i] == nil {
		return nil
	}
	return buffers[i].Bytes()
}

// elements returns the bytes of the chunk's elements in buffer i; of offsets one more.
func (c *chunk) elements(l layout.Layout, i int) ([]byte, error) {
	buffer, kind := c.buffer(l, i), l.Buffer(i)
	count, ok := c.offset+c.length, true
	if kind == layout.Offsets {
		count, ok = add(count, 1)
	}
	width := l.ElementBytes(kind)
	end, fits := multiply(count, width)
	if !ok || !fits || end > len(buffer) {
		return nil, shortBuffer(l, i, len(buffer), c.length, c.offset, count)
	}
	return buffer[c.offset*width : end], nil
}

// shortBuffer is the error for a buffer that is too short.
func shortBuffer(l layout.Layout, i, have, length, offset, count int) error {
	kind := l.Buffer(i)
	width := l.ElementBytes(kind)
	needed := fmt.Sprintf("%d × %d bytes", count, width)
	if kind == layout.Validity || kind == layout.ValueBits {
		needed = fmt.Sprint(bitmapBytes(count))
	} else if product, ok := multiply(count, width); ok {
		needed = fmt.Sprint(product)
	}
	return fmt.Errorf("buffer %d (%s) has %d bytes, %d elements of %v at offset %d need %s: %w",
		i, kind, have, length, l.Storage, offset, needed, ErrInvalid)
}

// bits returns buffer i, which holds one bit for each element.
func (c *chunk) bits(l layout.Layout, i int) ([]byte, error) {
	buffer := c.buffer(l, i)
	if bitmapBytes(c.offset+c.length) > len(buffer) {
		return nil, shortBuffer(l, i, len(buffer), c.length, c.offset, c.offset+c.length)
	}
	return buffer, nil
}

// validity returns the validity bitmap, or nil if no element is null. It counts the
// nulls if the count is unknown.
func (c *chunk) validity(l layout.Layout) ([]byte, error) {
	if c.length == 0 || c.nulls == 0 {
		c.nulls = 0
		return nil, nil
	}
	if len(c.buffer(l, 0)) == 0 {
		if claimed := c.data.NullN(); claimed > 0 {
			return nil, fmt.Errorf("buffer 0 (validity) is absent, but %d nulls are claimed: %w", claimed, ErrInvalid)
		}
		c.nulls = 0
		return nil, nil
	}
	bits, err := c.bits(l, 0)
	if err != nil {
		return nil, err
	}
	if c.nulls == UnknownNullCount {
		c.nulls = c.length - bitutil.CountSetBits(bits, c.offset, c.length)
	}
	if c.nulls == 0 {
		return nil, nil
	}
	return bits, nil
}

// child returns length elements of child i, from position from on.
func (c *chunk) child(i, from, length int) (chunk, error) {
	return newChunk(c.data.Children()[i], from, length)
}

// childLen returns the length of child i.
func (c *chunk) childLen(i int) int { return c.data.Children()[i].Len() }

// check checks the parts of the array, except the contents of its buffers.
func (c *chunk) check(l layout.Layout) error {
	if err := sameLayout(l, c.data.DataType()); err != nil {
		return err
	}
	children := c.data.Children()
	if want := l.Children(); len(children) != want {
		return fmt.Errorf("it has %d children, %v needs %d: %w", len(children), l.Storage, want, ErrInvalid)
	}
	for i, child := range children {
		if isNil(child) {
			_, name := l.Child(i)
			return fmt.Errorf("child %d (%s) is nil: %w", i, name, ErrInvalid)
		}
	}
	return nil
}
