package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

var int64Type = arrow.PrimitiveTypes.Int64

// position makes the literal of a position or length in a string.
func position(value int) *exprtree.Node {
	return &exprtree.Node{Op: exprtree.Literal, Type: int64Type, Value: int64(value)}
}

// textEnd makes the literal of a position beyond every string.
func textEnd() *exprtree.Node {
	return &exprtree.Node{Op: exprtree.Literal, Type: int64Type, Value: int64(math.MaxInt64)}
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
	case exprtree.Upper, exprtree.Lower, exprtree.Reverse:
		return b.node(op, plainText(x.Type), x), nil
	case exprtree.Replace:
		return b.replace(x, operands[1:])
	case trim:
		return b.byteRange(x, b.node(exprtree.SpaceStart, int64Type, x), b.node(exprtree.SpaceEnd, int64Type, x)), nil
	case trimStart:
		return b.byteRange(x, b.node(exprtree.SpaceStart, int64Type, x), textEnd()), nil
	case trimEnd:
		return b.byteRange(x, position(0), b.node(exprtree.SpaceEnd, int64Type, x)), nil
	case substring:
		return b.substring(x, operands[1].open, operands[2].open)
	case substringAt:
		return b.substringAt(x, operands[1].node, operands[2].node), nil
	case capitalize:
		return b.capitalize(x), nil
	case repeat:
		return b.repeat(x, operands[1].open.value.(int))
	case padStart, padEnd:
		return b.pad(op, x, operands[1].open.value.(int), operands[2].node.Value.(string))
	}
	wanted := operands[1].node
	if wanted == nil || wanted.Op != exprtree.Literal || wanted.Kind() != exprtree.String {
		return nil, fmt.Errorf("what it looks for is %v, it has to be a string literal: %w", operands[1].typeOf(), ErrType)
	}
	if wanted.Value == nil {
		return &exprtree.Node{Op: exprtree.Literal, Type: resultOf(op, x), Slot: -1}, nil
	}
	switch op {
	case splitPart:
		return b.splitPart(x, wanted, operands[2].open.value.(int))
	case count:
		return b.count(x, wanted)
	case trimPrefix, trimSuffix:
		return b.trimLiteral(op, x, wanted), nil
	case contains:
		return b.node(exprtree.GreaterEqual, boolean, b.seek(x, wanted, position(0)), position(0)), nil
	case find:
		return b.find(x, wanted), nil
	}
	return b.like(x, wanted.Value.(string), operands[2:])
}

// resultOf is the type of an operation on a string and a literal.
func resultOf(op exprtree.Op, x *exprtree.Node) arrow.DataType {
	switch op {
	case find, count:
		return int64Type
	case splitPart, trimPrefix, trimSuffix:
		return plainText(x.Type)
	}
	return boolean
}

// byteRange is part of a string. A part of a dictionary's string is plain.
func (b *binder) byteRange(x, begin, end *exprtree.Node) *exprtree.Node {
	return b.node(exprtree.ByteRange, plainText(x.Type), x, begin, end)
}

// plainText is the type of results that are made of strings of a type.
func plainText(t arrow.DataType) arrow.DataType {
	t = layout.Storage(t)
	if dictionary, ok := t.(*arrow.DictionaryType); ok {
		t = layout.Storage(dictionary.ValueType)
	}
	if t.ID() == arrow.FIXED_SIZE_BINARY {
		t = arrow.BinaryTypes.Binary
	}
	return t
}

// allText reports whether all operands are strings.
func allText(operands []operand) bool {
	for _, o := range operands {
		if exprtree.KindOf(o.typeOf()) != exprtree.String {
			return false
		}
	}
	return len(operands) > 0
}

// commonText is the type of a result that is made of several strings: it has large offsets
// if one of them has, and is binary if a column is.
func commonText(operands []operand) arrow.DataType {
	var large, bytes bool
	for _, o := range operands {
		switch plainText(o.node.Type).ID() {
		case arrow.LARGE_STRING:
			large = true
		case arrow.LARGE_BINARY:
			large, bytes = true, true
		case arrow.BINARY:
			bytes = true
		}
	}
	switch {
	case large && bytes:
		return arrow.BinaryTypes.LargeBinary
	case large:
		return arrow.BinaryTypes.LargeString
	case bytes:
		return arrow.BinaryTypes.Binary
	}
	return arrow.BinaryTypes.String
}

// chosenText binds the operations that return one of several strings. Minimum and Maximum
// become comparisons; literals come last, so that their comparisons are with columns.
func (b *binder) chosenText(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	t := commonText(operands)
	var nodes, literals []*exprtree.Node
	for _, o := range operands {
		switch {
		case op == exprtree.Coalesce || o.node.Op != exprtree.Literal:
			nodes = append(nodes, o.node)
		case o.node.Value != nil: // nulls are skipped
			literals = append(literals, o.node)
		}
	}
	if op == exprtree.Coalesce {
		return b.node(op, t, nodes...), nil
	}
	if len(literals) > 0 {
		first := literals[0]
		for _, literal := range literals[1:] {
			if (literal.Value.(string) < first.Value.(string)) == (op == exprtree.Minimum) {
				first = literal
			}
		}
		nodes = append(nodes, first)
	}
	if len(nodes) == 0 {
		return b.node(exprtree.Coalesce, t, operands[0].node), nil // all are null
	}
	best := b.node(exprtree.Coalesce, t, nodes[0])
	comparison := map[exprtree.Op]exprtree.Op{exprtree.Minimum: exprtree.LessEqual, exprtree.Maximum: exprtree.GreaterEqual}[op]
	for i, next := range nodes[1:] {
		stays := b.node(comparison, boolean, best, next)
		if i == 0 {
			stays = b.node(comparison, boolean, nodes[0], next)
		}
		stays = b.node(exprtree.Coalesce, boolean, stays, b.node(exprtree.IsValid, boolean, best))
		best = b.node(exprtree.IfElse, t, stays, best, next)
	}
	return best, nil
}

// join is the strings one after the other.
func (b *binder) join(operands []operand) (*exprtree.Node, error) {
	if len(operands) == 0 {
		return nil, fmt.Errorf("concat of nothing: %w", ErrMissing)
	}
	nodes := make([]*exprtree.Node, len(operands))
	for i, o := range operands {
		if exprtree.KindOf(o.typeOf()) != exprtree.String {
			return nil, fmt.Errorf("%v, it is of strings: %w", o.typeOf(), ErrType)
		}
		nodes[i] = o.node
	}
	return b.node(exprtree.Join, commonText(operands), nodes...), nil
}

func (b *binder) replace(x *exprtree.Node, operands []operand) (*exprtree.Node, error) {
	for _, o := range operands {
		if o.node == nil || o.node.Op != exprtree.Literal || o.node.Kind() != exprtree.String || o.node.Value == nil {
			return nil, fmt.Errorf("it replaces one string literal by another: %w", ErrType)
		}
	}
	return b.node(exprtree.Replace, plainText(x.Type), x, operands[0].node, operands[1].node), nil
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
	end := textEnd()
	// Beyond the last character, and beyond the largest int, is the end.
	if behind := first + count; (behind < 0) == (first < 0) {
		end = b.node(exprtree.CharOffset, int64Type, x, position(behind))
	}
	return b.byteRange(x, begin, end), nil
}

// substringAt is substring of columns: a negative length is 0.
func (b *binder) substringAt(x, start, length *exprtree.Node) *exprtree.Node {
	isPositive := b.node(exprtree.Less, boolean, position(0), start)
	first := b.node(exprtree.IfElse, int64Type, isPositive, b.node(exprtree.Subtract, int64Type, start, position(1)), start)
	isBefore := b.node(exprtree.Equal, boolean, start, position(0))
	shorter := b.node(exprtree.IfElse, int64Type, isBefore, b.node(exprtree.Subtract, int64Type, length, position(1)), length)
	count := b.node(exprtree.IfElse, int64Type, b.node(exprtree.Less, boolean, shorter, position(0)), position(0), shorter)
	behind := b.node(exprtree.Add, int64Type, first, count)
	isCounted := b.node(exprtree.Equal, boolean, b.node(exprtree.Less, boolean, behind, position(0)), b.node(exprtree.Less, boolean, first, position(0)))
	end := b.node(exprtree.IfElse, int64Type, isCounted, b.node(exprtree.CharOffset, int64Type, x, behind), textEnd())
	return b.byteRange(x, b.node(exprtree.CharOffset, int64Type, x, first), end)
}

// textOp reports whether text binds an operation.
func textOp(op exprtree.Op) bool {
	switch op {
	case splitPart, padStart, padEnd, capitalize, repeat, count, trimPrefix, trimSuffix:
		return true
	case exprtree.LengthBytes, exprtree.LengthChars, exprtree.Upper, exprtree.Lower, exprtree.Reverse, exprtree.Replace, contains, find, like, substring, substringAt, trim, trimStart, trimEnd:
		return true
	}
	return false
}
