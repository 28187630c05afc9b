package expr

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// comparedUnits compares two instants or durations of different units, if the type of the finer
// one does not hold all values of the coarser one: a date of the year 9999 is no timestamp in
// nanoseconds. The finer one is rounded down to the coarser unit. It reports false for others,
// which are converted to a common type without a loss.
func (b *binder) comparedUnits(op exprtree.Op, operands []operand) (*exprtree.Node, bool) {
	coarse, fine := operands[0].node, operands[1].node
	if coarse == nil || fine == nil || !exprtree.IsTemporal(coarse.Type) || !exprtree.IsTemporal(fine.Type) {
		return nil, false
	}
	if exprtree.DayOf(coarse.Type) > exprtree.DayOf(fine.Type) {
		coarse, fine, op = fine, coarse, mirrored[op]
	}
	if exprtree.HoldsTimes(fine.Type, coarse.Type) {
		return nil, false
	}
	if coarse.Kind() == exprtree.Int32 { // no instant in days has 64 bits
		coarse = b.cast(coarse, stamped(fine.Type, arrow.Second))
	}
	if fine.Type.ID() == arrow.DATE64 { // a cast to it rounds to days
		fine = b.cast(fine, stamped(coarse.Type, arrow.Millisecond))
	}
	floor := b.cast(fine, coarse.Type)
	// If the product is below the least value it wraps around, and is unequal as it should be.
	exact := b.node(exprtree.Equal, boolean, b.node(exprtree.CastWrap, fine.Type, floor), fine)
	above := b.node(exprtree.NotEqual, boolean, b.node(exprtree.CastWrap, fine.Type, floor), fine)
	same := b.node(exprtree.Equal, boolean, coarse, floor)
	switch op {
	case exprtree.Equal:
		return b.node(exprtree.AndStrict, boolean, same, exact), true
	case exprtree.NotEqual:
		return b.node(exprtree.OrStrict, boolean, b.node(exprtree.NotEqual, boolean, coarse, floor), above), true
	case exprtree.Less: // of equal floors, only if fine is later than its floor
		return b.node(exprtree.OrStrict, boolean, b.node(exprtree.Less, boolean, coarse, floor), b.node(exprtree.AndStrict, boolean, same, above)), true
	case exprtree.GreaterEqual:
		return b.node(exprtree.OrStrict, boolean, b.node(exprtree.Greater, boolean, coarse, floor), b.node(exprtree.AndStrict, boolean, same, exact)), true
	}
	return b.node(op, boolean, coarse, floor), true // LessEqual and Greater
}

// commonChoice is common for operations that return one of their operands: they cannot return one
// that the common type does not hold.
func (b *binder) commonChoice(op exprtree.Op, operands []operand) (arrow.DataType, error) {
	t, err := b.common(op, operands)
	if err != nil || !exprtree.IsTemporal(t) {
		return t, err
	}
	for _, o := range operands {
		if o.node != nil && !exprtree.HoldsTimes(t, o.node.Type) && !literalFits(o.node, t) {
			return nil, fmt.Errorf("%v does not hold all values of %v: cast it to %v, which gives null for these, or the other operands to %v: %w", t, o.node.Type, t, o.node.Type, ErrType)
		}
	}
	return t, nil
}

// literalFits reports whether a node is a temporal literal that a type holds, or null.
func literalFits(n *exprtree.Node, t arrow.DataType) bool {
	value, ok := n.Value.(int64)
	if n.Op != exprtree.Literal || !ok {
		return n.IsNullLiteral()
	}
	factor := exprtree.DayOf(t) / exprtree.DayOf(n.Type)
	return value*factor/factor == value
}
