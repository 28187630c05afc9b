package codegen

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// Bits says how a bitmap is read.
type Bits uint8

const (
	// NoBits: there is no bitmap.
	NoBits Bits = iota
	// WordBits: by aligned words of 32 bits, which a warp's lanes share.
	WordBits
	// ByteBits: by bytes, because the memory around it is not known to be readable
	// up to whole words.
	ByteBits
)

// Input is what of an input is part of the code.
type Input struct {
	// Validity is how its bitmap is read. Values is how those of a bool column are.
	Validity, Values Bits
	// Dictionary is the same of the dictionary's values, where there is one.
	Dictionary *Input
	// Wide says that decimals lie at multiples of 16 bytes, and one load takes each.
	Wide bool
	// Type names a type that the program's key does not tell from others.
	Type string
}

// Literal is what of a literal is part of the code: for a string a size class, and
// else ValueLiteral. Strings of class i have up to 2^(i−1) words of 8 bytes.
type Literal uint8

// ValueLiteral is a number or bool.
const ValueLiteral Literal = 0

// mostTextWords bounds the strings among the arguments: of 1,024 bytes.
const mostTextWords = 128

// Shape is what of a program's inputs and literals is part of the code, beside the
// program's own.
type Shape struct {
	Inputs []Input
	// Literals are those of the program, by their slots.
	Literals []Literal
}

// AllNullable is the shape of inputs that all have bitmaps, read word by word: for
// tests and examples.
func AllNullable(program *exprtree.Program) Shape {
	s := Shape{Inputs: make([]Input, len(program.Types)), Literals: literalsOf(program)}
	for i, t := range program.Types {
		s.Inputs[i] = Input{Validity: WordBits}
		if kindOf(t).family == boolean {
			s.Inputs[i].Values = WordBits
		}
		if layout.Storage(t).ID() == arrow.DICTIONARY {
			s.Inputs[i] = Input{Validity: WordBits, Dictionary: &Input{Validity: WordBits, Values: s.Inputs[i].Values}}
		}
	}
	return s
}

// ShapeOf returns the shape of a program that is run on columns.
func ShapeOf(program *exprtree.Program, inputs []*column.Column) (Shape, error) {
	if len(inputs) != len(program.Types) {
		return Shape{}, fmt.Errorf("%d columns for a program of %d: %w", len(inputs), len(program.Types), device.ErrInvalidValue)
	}
	s := Shape{Inputs: make([]Input, len(inputs)), Literals: literalsOf(program)}
	for i, c := range inputs {
		s.Inputs[i] = inputOf(c)
	}
	return s, nil
}

func literalsOf(program *exprtree.Program) []Literal {
	literals := make([]Literal, len(program.Literals))
	for i, literal := range program.Literals {
		literals[i] = literalOf(literal)
	}
	return literals
}

func literalOf(literal *exprtree.Node) Literal {
	value, isText := literal.Value.(string)
	if !isText {
		return ValueLiteral
	}
	class := Literal(1)
	for 8*class.words() < len(value) {
		class++
	}
	return class
}

// words is how many of the arguments hold a string.
func (l Literal) words() int {
	if l == ValueLiteral {
		return 0
	}
	return 1 << (l - 1)
}

func inputOf(c *column.Column) (input Input) {
	if exprtree.KindOf(c.Type()) == exprtree.Other {
		input.Type = c.Type().String()
	}
	if hasNulls(c) {
		input.Validity = bitsOf(c, 0)
	}
	switch layout.Storage(c.Type()).ID() {
	case arrow.BOOL:
		input.Values = bitsOf(c, 1)
	case arrow.DECIMAL128:
		input.Wide = uint64(c.Buffer(1).Pointer())%16 == 0
	}
	if dictionary := c.Dictionary(); dictionary != nil {
		values := inputOf(dictionary)
		input.Dictionary = &values
	}
	return input
}

// hasNulls reports whether the bitmap has to be looked at.
func hasNulls(c *column.Column) bool {
	return c.NullCount() != 0 && c.NumBuffers() > 0 && c.Buffer(0).Bytes() > 0
}

// bitsOf returns how a bitmap is read: by words where the ones that hold the
// column's bits lie in the block from end to end.
func bitsOf(c *column.Column, buffer int) Bits {
	bits := c.Buffer(buffer)
	if bits.Bytes() == 0 {
		return WordBits // of no rows: nothing is read
	}
	first, last := wordsOf(c, bits)
	begin := uint64(bits.Block().Pointer())
	if first < begin || last > begin+bits.Block().Bytes() {
		return ByteBits
	}
	return WordBits
}

// wordsOf returns where the words that hold a column's bits begin and end.
func wordsOf(c *column.Column, bits memory.Slice[uint8]) (first, last uint64) {
	begin := uint64(bits.Pointer())
	first = (begin + uint64(c.Offset()/8)) &^ 3
	end := begin + (uint64(c.Offset()+c.Len())+7)/8
	return first, (end + 3) &^ 3
}

// Append adds the shape in short form to a key.
func (s Shape) Append(key []byte) []byte {
	for i := range s.Inputs {
		key = s.Inputs[i].append(key)
	}
	for _, literal := range s.Literals {
		key = append(key, '0'+byte(literal))
	}
	return key
}

func (i Input) append(key []byte) []byte {
	key = append(key, 'a'+byte(i.Validity)+4*byte(i.Values))
	if i.Wide {
		key = append(key, 'w')
	}
	key = append(key, i.Type...)
	if i.Dictionary != nil {
		key = i.Dictionary.append(append(key, '>'))
	}
	return key
}
