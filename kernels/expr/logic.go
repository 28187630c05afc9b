package expr

import "github.com/gpuframe/gpuframe/internal/expr/exprtree"

// Eq is e == x, of numbers, decimals, bools, temporal values or strings. All comparisons have
// the order of keys and sorts: NaN equals itself and is greater than every number, and −0
// equals 0. EqIEEE and the others of this name compare as IEEE 754 does.
func (e Expr) Eq(x Expr) Expr { return make2(exprtree.Equal, e, x) }

// Ne is e != x; see Eq.
func (e Expr) Ne(x Expr) Expr { return make2(exprtree.NotEqual, e, x) }

// Lt is e < x, of numbers, decimals, temporal values, strings by their bytes, and bools,
// false before true.
func (e Expr) Lt(x Expr) Expr { return make2(exprtree.Less, e, x) }

// Le is e <= x; see Lt.
func (e Expr) Le(x Expr) Expr { return make2(exprtree.LessEqual, e, x) }

// Gt is e > x; see Lt.
func (e Expr) Gt(x Expr) Expr { return make2(exprtree.Greater, e, x) }

// Ge is e >= x; see Lt.
func (e Expr) Ge(x Expr) Expr { return make2(exprtree.GreaterEqual, e, x) }

// EqIEEE is [Expr.Eq] of numbers without NaN: false if e or x is NaN.
func (e Expr) EqIEEE(x Expr) Expr { return e.Eq(x).And(e.IsNaN().Not()) }

// NeIEEE is [Expr.Ne] of numbers, and true if e or x is NaN.
func (e Expr) NeIEEE(x Expr) Expr { return e.Ne(x).Or(e.IsNaN()) }

// LtIEEE is [Expr.Lt] of numbers without NaN: false if e or x is NaN.
func (e Expr) LtIEEE(x Expr) Expr { return e.Lt(x).And(x.IsNaN().Not()) }

// LeIEEE is [Expr.Le] of numbers; see LtIEEE.
func (e Expr) LeIEEE(x Expr) Expr { return e.Le(x).And(x.IsNaN().Not()) }

// GtIEEE is [Expr.Gt] of numbers; see LtIEEE.
func (e Expr) GtIEEE(x Expr) Expr { return e.Gt(x).And(e.IsNaN().Not()) }

// GeIEEE is [Expr.Ge] of numbers; see LtIEEE.
func (e Expr) GeIEEE(x Expr) Expr { return e.Ge(x).And(e.IsNaN().Not()) }

// And is e and x by Kleene's three-valued logic, as in SQL: false if either side is
// false, otherwise null if either side is null.
func (e Expr) And(x Expr) Expr { return make2(exprtree.And, e, x) }

// Or is e or x by Kleene's three-valued logic, as in SQL: true if either side is true,
// otherwise null if either side is null.
func (e Expr) Or(x Expr) Expr { return make2(exprtree.Or, e, x) }

// AndStrict is e and x, null if either side is null. Arrow calls it "and".
func (e Expr) AndStrict(x Expr) Expr { return make2(exprtree.AndStrict, e, x) }

// OrStrict is e or x, null if either side is null. Arrow calls it "or".
func (e Expr) OrStrict(x Expr) Expr { return make2(exprtree.OrStrict, e, x) }

// Xor reports whether exactly one of e and x is true. It is null if either side is null.
func (e Expr) Xor(x Expr) Expr { return make2(exprtree.Xor, e, x) }

// Not is the opposite of e, a bool.
func (e Expr) Not() Expr { return make1(exprtree.Not, e) }

// IsNull is whether e is null. It is of columns of any type but unions and run-end
// encoded ones, which have no validity bitmap. A row of a dictionary of strings is
// null also where the dictionary's value is.
func (e Expr) IsNull() Expr { return make1(exprtree.IsNull, e) }

// IsValid is whether e is not null; see IsNull.
func (e Expr) IsValid() Expr { return make1(exprtree.IsValid, e) }

// IsNaN is whether e, a number, is not a number. Integers never are.
func (e Expr) IsNaN() Expr { return make1(exprtree.IsNaN, e) }
