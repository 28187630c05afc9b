package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// signedWithUint64 returns the index of the signed integer of two types if the other one is
// uint64, and otherwise -1. No integer type holds the values of both.
func signedWithUint64(types []arrow.DataType) int {
	for i, t := range types {
		if isCount(t) && exprtree.KindOf(t).IsSigned() && exprtree.KindOf(types[1-i]) == exprtree.Uint64 {
			return i
		}
	}
	return -1
}

// mirrored has each comparison with its sides exchanged.
var mirrored = map[exprtree.Op]exprtree.Op{
	exprtree.Equal: exprtree.Equal, exprtree.NotEqual: exprtree.NotEqual,
	exprtree.Less: exprtree.Greater, exprtree.LessEqual: exprtree.GreaterEqual, exprtree.Greater: exprtree.Less, exprtree.GreaterEqual: exprtree.LessEqual,
}

// comparedSigns compares a uint64 with a signed integer, which is the given operand.
// A negative number is less than every uint64, and any other is compared as a uint64.
// AndStrict and OrStrict give null if either side is null.
func (b *binder) comparedSigns(op exprtree.Op, operands []operand, signed int) (*exprtree.Node, error) {
	whole, err := b.as(operands[signed], arrow.PrimitiveTypes.Int64)
	if err != nil {
		return nil, err
	}
	natural, err := b.as(operands[1-signed], arrow.PrimitiveTypes.Uint64)
	if err != nil {
		return nil, err
	}
	if signed == 0 {
		op = mirrored[op] // natural is the left side from here on
	}
	zero := &exprtree.Node{Op: exprtree.Literal, Type: arrow.PrimitiveTypes.Int64, Value: int64(0)}
	compared := b.node(op, boolean, natural, b.node(exprtree.CastWrap, arrow.PrimitiveTypes.Uint64, whole))
	switch op {
	case exprtree.NotEqual, exprtree.Greater, exprtree.GreaterEqual: // true if the other side is negative
		return b.node(exprtree.OrStrict, boolean, b.node(exprtree.Less, boolean, whole, zero), compared), nil
	}
	return b.node(exprtree.AndStrict, boolean, b.node(exprtree.GreaterEqual, boolean, whole, zero), compared), nil
}

// exceeds is value − low > gap. The difference of two integers of one type fits the unsigned one
// if value is greater than low. A difference of times that overflows is greater than every gap if
// value is greater than low.
func (b *binder) exceeds(operands []operand) (*exprtree.Node, error) {
	value, low, gap := operands[0], operands[1], operands[2]
	above, err := b.comparison(exprtree.Greater, []operand{value, low})
	if err != nil {
		return nil, err
	}
	types := chosen(exprtree.Subtract, operands[:2])
	if isCount(types[0]) && isCount(types[1]) && exprtree.KindOf(types[0]).IsSigned() == exprtree.KindOf(types[1]).IsSigned() {
		wide := arrow.DataType(arrow.PrimitiveTypes.Int64)
		if exprtree.KindOf(types[0]).IsUnsigned() {
			wide = arrow.PrimitiveTypes.Uint64
		}
		nodes, err := b.all(operands[:2], wide)
		if err != nil {
			return nil, err
		}
		difference := b.node(exprtree.Subtract, wide, nodes...)
		if wide.ID() == arrow.INT64 {
			difference = b.node(exprtree.CastWrap, arrow.PrimitiveTypes.Uint64, difference)
		}
		further, err := b.comparison(exprtree.Greater, []operand{{node: difference}, gap})
		if err != nil {
			return nil, err
		}
		return b.node(exprtree.AndStrict, boolean, above, further), nil
	}
	difference, err := b.arithmetic(exprtree.Subtract, operands[:2])
	if err != nil {
		return nil, err
	}
	further, err := b.comparison(exprtree.Greater, []operand{{node: difference}, gap})
	if err != nil || !exprtree.IsTemporal(difference.Type) {
		return further, err
	}
	return b.node(exprtree.Coalesce, boolean, further, above), nil
}
