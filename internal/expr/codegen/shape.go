package codegen

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// Bits is the way in which a bitmap is read.
type Bits uint8

const (
	// NoBits: the bitmap is absent.
	NoBits Bits = iota
	// WordBits: by aligned words of 32 bits, which a warp's lanes share.
	WordBits
	// ByteBits: by bytes, because whole words may extend into memory that is not
	// readable.
	ByteBits
)

// Input is the part of an input that the code depends on.
type Input struct {
	// Validity is the way in which its bitmap is read, Values the same for the values
	// of a bool column.
	Validity, Values Bits
	// Dictionary describes the dictionary's values, if it is a dictionary.
	Dictionary *Input
	// Optional means that the address of the bitmap may be zero; all rows are then valid.
	Optional bool
	// Wide means that decimals are at multiples of 16 bytes, so one load reads each.
	Wide bool
	// Type names a type that the program's key does not distinguish from others.
	Type string
	// decimal means that the values are decimals, as the program's key does.
	decimal bool
}

// Literal is the part of a literal that the code depends on: for a string its size
// class, and ValueLiteral for others. Strings of class i have up to 2^(i−1) words of 8
// bytes.
type Literal uint8

// ValueLiteral is a number or bool.
const ValueLiteral Literal = 0

// mostTextWords limits strings among the arguments to 1,024 bytes.
const mostTextWords = 128

// Shape is the part of a program's inputs and literals that the code depends on, in
// addition to the program's key.
type Shape struct {
	Inputs []Input
	// Literals are the program's literals, by slot.
	Literals []Literal
}

// AllNullable returns the shape of inputs that all have bitmaps, read by words, for
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

// ShapeOf returns the shape of a program that runs on columns.
func ShapeOf(program *exprtree.Program, inputs []*column.Column) (Shape, error) {
	if len(inputs) != len(program.Types) {
		return Shape{}, fmt.Errorf("%d columns for a program of %d: %w", len(inputs), len(program.Types), device.ErrInvalidValue)
	}
	s := Shape{Inputs: make([]Input, len(inputs)), Literals: literalsOf(program)}
	for i, c := range inputs {
		s.Inputs[i] = inputOf(c)
	}
	share(s.Inputs)
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

// words returns the number of argument words that hold a string.
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
	if op.Nullable(c) {
		input.Validity = bitsOf(c, 0)
	}
	switch layout.Storage(c.Type()).ID() {
	case arrow.BOOL:
		input.Values = bitsOf(c, 1)
	case arrow.DECIMAL128:
		input.decimal, input.Wide = true, uint64(c.Buffer(1).Pointer())%16 == 0
	}
	if dictionary := c.Dictionary(); dictionary != nil {
		values := inputOf(dictionary)
		input.Dictionary = &values
	}
	return input
}

// bitsOf returns the way in which a bitmap is read: by words if all words with the
// column's bits are inside the block.
func bitsOf(c *column.Column, buffer int) Bits {
	bits := c.Buffer(buffer)
	if bits.Bytes() == 0 {
		return WordBits // without rows nothing is read
	}
	first, last := wordsOf(c, bits)
	begin := uint64(bits.Block().Pointer())
	if first < begin || last > begin+bits.Block().Bytes() {
		return ByteBits
	}
	return WordBits
}

// wordsOf returns the bounds of the words with a column's bits.
func wordsOf(c *column.Column, bits memory.Slice[uint8]) (first, last uint64) {
	begin := uint64(bits.Pointer())
	first = (begin + uint64(c.Offset()/8)) &^ 3
	end := begin + (uint64(c.Offset()+c.Len())+7)/8
	return first, (end + 3) &^ 3
}

// Append appends a short form of the shape to a key.
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
	if i.Optional {
		key = append(key, 'o')
	}
	if i.Wide {
		key = append(key, 'w')
	}
	key = append(key, i.Type...)
	if i.Dictionary != nil {
		key = i.Dictionary.append(append(key, '>'))
	}
	return key
}
