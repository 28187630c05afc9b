package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// If is a in rows with a true condition, and b in rows in which it is false or null, as in
// SQL. A null in the operand that is not selected has no effect. Lit(nil) is the null of the
// type of the other one.
func If(condition, a, b Expr) Expr { return makeMany(exprtree.IfElse, condition, a, b) }

// Case is a choice by several conditions: pairs of a condition and a value, and the value of all other rows behind
// them. It is the value of the first condition that is true; one that is null counts as false. The number of
// expressions is odd. See [If].
func Case(expressions ...Expr) Expr { return makeMany(exprtree.IfElse, expressions...) }

// Coalesce is the first of the expressions that is not null.
func Coalesce(expressions ...Expr) Expr { return makeMany(exprtree.Coalesce, expressions...) }

// Min is the least of the expressions. It skips nulls, and NaN if there are numbers.
func Min(expressions ...Expr) Expr { return makeMany(exprtree.Minimum, expressions...) }

// Max is the greatest of the expressions; see Min.
func Max(expressions ...Expr) Expr { return makeMany(exprtree.Maximum, expressions...) }

// Hash is a uint64 hash of the values of a row. It is never null: a null has a hash too.
// Equal numbers of different widths have one hash. It is the same on all devices and in
// all releases. It does not resist attacks.
func Hash(expressions ...Expr) Expr { return makeMany(exprtree.Hash, expressions...) }

// FillNull is e with x in place of nulls.
func (e Expr) FillNull(x Expr) Expr { return make2(fillNull, e, x) }

// Clamp is low if e is less than low, high if e is greater than high, and e otherwise. NaN
// stays NaN. It is null if e is null, or if a bound that is compared is null; low is
// compared first.
func (e Expr) Clamp(low, high Expr) Expr { return makeMany(clamp, e, low, high) }

// Exceeds is whether e is more than gap above low: numbers or times, of which the difference
// need not fit their type. The gap is not negative.
func (e Expr) Exceeds(low, gap Expr) Expr { return makeMany(exceeds, e, low, gap) }

// Cast converts e to a type. Values that the type cannot represent become null: numbers out
// of range, NaN as an integer, decimals with too many digits before the point. Decimals are
// rounded half away from zero, also those of floats; the fractions of floats that become
// integers are cut off. Instants are rounded down to the coarser unit. Strings become integers,
// written as strconv.ParseInt takes them, bools, "true" and "false", and date32, "2006-01-02";
// other strings become null. Integers and bools become utf8 in the same form.
func (e Expr) Cast(to arrow.DataType) Expr {
	return Expr{linked(&node{op: exprtree.Cast, arguments: []*node{e.node}, to: to})}
}

// CastWrap is Cast without nulls for values out of range: integers keep their low bits,
// floats become the nearest integer of the type, NaN becomes zero. It is not defined for
// decimals.
func (e Expr) CastWrap(to arrow.DataType) Expr {
	return Expr{linked(&node{op: exprtree.CastWrap, arguments: []*node{e.node}, to: to})}
}
