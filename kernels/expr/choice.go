package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// If is a where the condition is true, b where it is false, and null where it is
// null. A null of the side that is not chosen does not matter.
func If(condition, a, b Expr) Expr { return makeMany(exprtree.IfElse, condition, a, b) }

// Coalesce is the first of the expressions that is not null.
func Coalesce(expressions ...Expr) Expr { return makeMany(exprtree.Coalesce, expressions...) }

// Min is the least of the expressions, passing over nulls, and over NaN beside
// numbers.
func Min(expressions ...Expr) Expr { return makeMany(exprtree.Minimum, expressions...) }

// Max is the greatest of the expressions; see Min.
func Max(expressions ...Expr) Expr { return makeMany(exprtree.Maximum, expressions...) }

// Hash is a uint64 hash of the values together, never null: a null has a hash too.
// It is the same for equal numbers of different widths, on all devices, and from one
// release to the next. It is not meant to withstand attacks.
func Hash(expressions ...Expr) Expr { return makeMany(exprtree.Hash, expressions...) }

// FillNull is e with x in place of nulls.
func (e Expr) FillNull(x Expr) Expr { return make2(fillNull, e, x) }

// Clamp is low where e is less than low, high where e is greater than high, and e
// elsewhere; NaN stays. It is null where e is, and where a bound is null that has to be
// looked at, which is low first.
func (e Expr) Clamp(low, high Expr) Expr { return makeMany(clamp, e, low, high) }

// Cast converts e to a type. What the type cannot represent is null: numbers out of
// range, NaN as integer, decimals with too many digits ahead of the point. Fractions
// are cut off, instants are rounded down to the coarser unit.
func (e Expr) Cast(to arrow.DataType) Expr {
	return Expr{&node{op: exprtree.Cast, arguments: []*node{e.node}, to: to}}
}

// CastWrap is Cast that does not give nulls: integers keep their low bits, floats
// become the nearest integer of the type, NaN zero. It is not of decimals.
func (e Expr) CastWrap(to arrow.DataType) Expr {
	return Expr{&node{op: exprtree.CastWrap, arguments: []*node{e.node}, to: to}}
}
