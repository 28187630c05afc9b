package codegen

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Arguments appends the words of the argument struct. The columns have the shape for
// which the generator was made. The program is the generator's, or one with the same
// key, possibly with other values of literals.
func (g *Generator) Arguments(words *kernels.Words, program *exprtree.Program, inputs []*column.Column) error {
	begin := len(words.Values)
	for i, c := range inputs {
		if err := addInput(words, c, g.program.Types[i], g.shape.Inputs[i]); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	for i, literal := range program.Literals {
		if err := addLiteral(words, literal, g.shape.Literals[i]); err != nil {
			return fmt.Errorf("literal %d: %w", i, err)
		}
	}
	if len(words.Values) == begin {
		words.Add(0)
	}
	return nil
}

// addInput appends the words in the order of wordPositions.input.
func addInput(words *kernels.Words, c *column.Column, t arrow.DataType, shape Input) error {
	switch {
	case shape.Validity == NoBits:
	case shape.Optional && !op.Nullable(c):
		words.Add(0)
		words.Add(0)
	default:
		addBits(words, c, 0, shape.Validity)
	}
	if dictionary, ok := layout.Storage(t).(*arrow.DictionaryType); ok {
		if err := addFrom(words, c, kindOf(dictionary.IndexType).bytes()); err != nil {
			return err
		}
		words.Add(uint64(c.Dictionary().Len()))
		return addInput(words, c.Dictionary(), dictionary.ValueType, *shape.Dictionary)
	}
	switch k := kindOf(t); k.family {
	case unknown:
		return nil
	case boolean:
		addBits(words, c, 1, shape.Values)
		return nil
	case text:
		return addText(words, c, t)
	default:
		return addFrom(words, c, k.bytes())
	}
}

func addText(words *kernels.Words, c *column.Column, t arrow.DataType) error {
	width := 4
	switch s := layout.Storage(t).(type) {
	case *arrow.FixedSizeBinaryType:
		addAddress(words, c.Buffer(1), c.Offset()*s.ByteWidth)
		addAddress(words, c.Buffer(1), c.Buffer(1).Len())
		return nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		width = 8
	}
	if err := addFrom(words, c, width); err != nil {
		return err
	}
	addAddress(words, c.Buffer(2), 0)
	addAddress(words, c.Buffer(2), c.Buffer(2).Len())
	return nil
}

func addAddress(words *kernels.Words, buffer memory.Slice[uint8], bytes int) {
	if buffer.Bytes() == 0 {
		words.Add(0)
		return
	}
	words.AddAddress(buffer.Pointer()+device.Pointer(bytes), buffer.Block())
}

// addFrom appends the address of a column's first value, code or offset. An unaligned
// load would end all work on the device.
func addFrom(words *kernels.Words, c *column.Column, width int) error {
	values := c.Buffer(1)
	if at := uint64(values.Pointer()); values.Bytes() > 0 && at%uint64(min(width, 8)) != 0 {
		return fmt.Errorf("%v at %#x, which is no multiple of %d: copy the column: %w", c, at, min(width, 8), device.ErrInvalidValue)
	}
	addAddress(words, values, c.Offset()*width)
	return nil
}

// addBits appends the position of a column's bits: an address that is aligned for
// words, and the number of the first bit from there.
func addBits(words *kernels.Words, c *column.Column, buffer int, bits Bits) {
	b := c.Buffer(buffer)
	first, bit := c.Offset()/8, c.Offset()%8
	if bits == WordBits && b.Bytes() > 0 {
		behind := int(uint64(b.Pointer())+uint64(first)) & 3
		first, bit = first-behind, bit+8*behind
	}
	addAddress(words, b, first)
	words.Add(uint64(bit))
}

func addLiteral(words *kernels.Words, literal *exprtree.Node, class Literal) error {
	switch v := literal.Value.(type) {
	case bool:
		if v {
			words.Add(1)
		} else {
			words.Add(0)
		}
		return nil
	case int64:
		words.Add(uint64(v))
		return nil
	case uint64:
		words.Add(v)
		return nil
	case float64:
		if kindOf(literal.Type).bits == 64 {
			words.Add(math.Float64bits(v))
		} else {
			words.Add(uint64(math.Float32bits(float32(v))))
		}
		return nil
	case decimal128.Num:
		words.Add(v.LowBits())
		words.Add(uint64(v.HighBits()))
		return nil
	case string:
		words.Add(uint64(len(v)))
		for i := range class.words() {
			var padded [8]byte
			copy(padded[:], v[min(8*i, len(v)):])
			words.Add(binary.LittleEndian.Uint64(padded[:]))
		}
		return nil
	}
	return fmt.Errorf("%T for %v: %w", literal.Value, literal.Type, device.ErrNotSupported)
}
