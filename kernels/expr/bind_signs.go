package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// besideUint64 returns which of two types is a signed integer if the other one is
// uint64, and otherwise -1. No integer type holds the values of both.
func besideUint64(types []arrow.DataType) int {
	for i, t := range types {
		if isCount(t) && tree.KindOf(t).IsSigned() && tree.KindOf(types[1-i]) == tree.Uint64 {
			return i
		}
	}
	return -1
}

// mirrored is the comparison with its sides exchanged.
var mirrored = map[tree.Op]tree.Op{
	tree.Equal: tree.Equal, tree.NotEqual: tree.NotEqual,
	tree.Less: tree.Greater, tree.LessEqual: tree.GreaterEqual, tree.Greater: tree.Less, tree.GreaterEqual: tree.LessEqual,
}

// comparedSigns compares a uint64 with a signed integer, which is the given operand.
// A negative number is less than every uint64, and any other is compared as a uint64.
// AndStrict and OrStrict give null if either side is null.
func (b *binder) comparedSigns(op tree.Op, operands []operand, signed int) (*tree.Node, error) {
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
	zero := &tree.Node{Op: tree.Literal, Type: arrow.PrimitiveTypes.Int64, Value: int64(0)}
	compared := b.node(op, boolean, natural, b.node(tree.CastWrap, arrow.PrimitiveTypes.Uint64, whole))
	switch op {
	case tree.NotEqual, tree.Greater, tree.GreaterEqual: // true beside a negative number
		return b.node(tree.OrStrict, boolean, b.node(tree.Less, boolean, whole, zero), compared), nil
	}
	return b.node(tree.AndStrict, boolean, b.node(tree.GreaterEqual, boolean, whole, zero), compared), nil
}
