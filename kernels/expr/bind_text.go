package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/layout"
)

var int64Type = arrow.PrimitiveTypes.Int64

// position makes the literal of a position or length in a string.
func position(value int) *exprtree.Node {
	return &exprtree.Node{Op: exprtree.Literal, Type: int64Type, Value: int64(value)}
}

// binaryLiteral makes the literal of bytes that are no value of the user's.
func binaryLiteral(value string) *exprtree.Node {
	return &exprtree.Node{Op: exprtree.Literal, Type: arrow.BinaryTypes.Binary, Value: value}
}

// text binds the operations on a string and literals. A null literal gives null.
func (b *binder) text(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	x := operands[0].node
	if exprtree.KindOf(operands[0].typeOf()) != exprtree.String {
		return nil, fmt.Errorf("%v, it is of strings: %w", operands[0].typeOf(), ErrType)
	}
	if x.Op == exprtree.Literal {
		return nil, fmt.Errorf("a string literal, it is of columns: %w", ErrType)
	}
	switch op {
	case exprtree.LengthBytes, exprtree.LengthChars:
		return b.node(op, int64Type, x), nil
	case trim:
		return b.byteRange(x, b.node(exprtree.SpaceStart, int64Type, x), b.node(exprtree.SpaceEnd, int64Type, x)), nil
	case trimStart:
		return b.byteRange(x, b.node(exprtree.SpaceStart, int64Type, x), position(math.MaxInt64)), nil
	case trimEnd:
		return b.byteRange(x, position(0), b.node(exprtree.SpaceEnd, int64Type, x)), nil
	case substring:
		return b.substring(x, operands[1].open, operands[2].open)
	}
	wanted := operands[1].node
	if wanted == nil || wanted.Op != exprtree.Literal || wanted.Kind() != exprtree.String {
		return nil, fmt.Errorf("what it looks for is %v, it has to be a string literal: %w", operands[1].typeOf(), ErrType)
	}
	if wanted.Value == nil {
		return &exprtree.Node{Op: exprtree.Literal, Type: map[bool]arrow.DataType{true: int64Type, false: boolean}[op == find], Slot: -1}, nil
	}
	switch op {
	case contains:
		return b.node(exprtree.GreaterEqual, boolean, b.seek(x, wanted, position(0)), position(0)), nil
	case find:
		return b.find(x, wanted), nil
	}
	return b.like(x, wanted.Value.(string), operands[2:])
}

// byteRange is part of a string. A part of a dictionary's string is plain.
func (b *binder) byteRange(x, begin, end *exprtree.Node) *exprtree.Node {
	t := layout.Storage(x.Type)
	if dictionary, ok := t.(*arrow.DictionaryType); ok {
		t = layout.Storage(dictionary.ValueType)
	}
	if t.ID() == arrow.FIXED_SIZE_BINARY {
		t = arrow.BinaryTypes.Binary
	}
	return b.node(exprtree.ByteRange, t, x, begin, end)
}

func (b *binder) seek(x, wanted, from *exprtree.Node) *exprtree.Node {
	return b.node(exprtree.Seek, int64Type, x, wanted, from)
}

// find counts the characters before the first occurrence.
func (b *binder) find(x, wanted *exprtree.Node) *exprtree.Node {
	behind := b.seek(x, wanted, position(0))
	begin := b.node(exprtree.Subtract, int64Type, behind, position(len(wanted.Value.(string))))
	before := b.node(exprtree.LengthChars, int64Type, b.byteRange(x, position(0), begin))
	number := b.node(exprtree.Add, int64Type, before, position(1))
	return b.node(exprtree.IfElse, int64Type, b.node(exprtree.Less, boolean, behind, position(0)), position(0), number)
}

// substring is the bytes between two characters.
func (b *binder) substring(x *exprtree.Node, start, length *node) (*exprtree.Node, error) {
	first, count := start.value.(int), length.value.(int)
	switch {
	case count < 0:
		return nil, fmt.Errorf("the length is %d, it has to be 0 or more: %w", count, ErrLiteral)
	case first > 0:
		first-- // CharOffset counts from 0
	case first == 0: // number 0 does not exist, but counts
		count = max(count-1, 0)
	}
	begin := b.node(exprtree.CharOffset, int64Type, x, position(first))
	end := position(math.MaxInt64)
	// Beyond the last character, and beyond the largest int, is the end.
	if behind := first + count; (behind < 0) == (first < 0) {
		end = b.node(exprtree.CharOffset, int64Type, x, position(behind))
	}
	return b.byteRange(x, begin, end), nil
}

// textOp reports whether text binds an operation.
func textOp(op exprtree.Op) bool {
	switch op {
	case exprtree.LengthBytes, exprtree.LengthChars, contains, find, like, substring, trim, trimStart, trimEnd:
		return true
	}
	return false
}
