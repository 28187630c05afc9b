package gpuframe

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// atExtreme returns the value in the row with the extreme of another expression: the extreme of structs of
// both. Rows in which one of them is null are skipped.
func (e Expr) atExtreme(by Expr, extreme func(Expr) Expr) Expr {
	pairs := structOf([]Expr{by.As("by"), e.As("value")})
	return extreme(pairs).Where(by.IsValid().And(e.IsValid())).field("value")
}

// regression is the line y = slope · x + intercept with the least squares, of the rows in which both are
// valid. Its results are null if x has one value.
type regression struct{ x, y Expr }

func (r regression) slope() Expr {
	spread := r.x.Variance().Where(r.y.IsValid())
	return If(spread.Ne(0), Covariance(r.x, r.y).Div(spread), nil)
}

func (r regression) intercept() Expr {
	return r.y.Mean().Where(r.x.IsValid()).Sub(r.slope().Mul(r.x.Mean().Where(r.y.IsValid())))
}

// determination is R², which is 1 if y has one value.
func (r regression) determination() Expr {
	constant := r.y.Variance().Where(r.x.IsValid()).Eq(0)
	squared := Correlation(r.x, r.y).Pow(2)
	return If(r.x.Variance().Where(r.y.IsValid()).Ne(0), If(constant, 1.0, squared), nil)
}

// medianDeviation is [Expr.Mad].
func (e Expr) medianDeviation() Expr {
	values := e.List().SkipNulls()
	return middle(values.ListEval(Element().Sub(middle(values)).Abs()))
}

// middle is the median of the elements of a list without nulls, null of none.
func middle(list Expr) Expr {
	n := list.ListLength()
	isMiddle := ElementIndex().Ge(n.Sub(1).Div(2)).And(ElementIndex().Le(n.Div(2)))
	return list.ListSort().ListFilter(isMiddle).ListMean()
}

// factorial is [Expr.Factorial], of the numbers that int64 holds.
func (e Expr) factorial() Expr {
	const most = 20
	e = e.BitOr(0) // the same, of integers only
	result, product := LitOf(arrow.PrimitiveTypes.Int64, nil), int64(1)
	for n := range int64(most + 1) {
		product *= max(n, 1)
		result = If(e.Eq(n), LitOf(arrow.PrimitiveTypes.Int64, product), result)
	}
	return result
}

// concatWith joins the strings that are not null with a separator between them.
func concatWith(separator string, values []any) Expr {
	return apply(func(list []expr.Expr) expr.Expr {
		parts := make([]expr.Expr, len(list))
		for i, e := range list {
			parts[i] = expr.Coalesce(expr.Concat(expr.Lit(separator), e), expr.Lit(""))
		}
		return expr.Concat(parts...).TrimPrefix(expr.Lit(separator))
	}, operands(values)...)
}

// formatted is a text with values in the places of a pattern.
func formatted(f func(pattern string, values ...expr.Expr) expr.Expr, pattern string, values []any) Expr {
	if len(values) == 0 {
		return unary(Lit(true), func(expr.Expr) expr.Expr { return f(pattern) })
	}
	return apply(func(list []expr.Expr) expr.Expr { return f(pattern, list...) }, operands(values)...)
}

// operands returns expressions of values.
func operands(values []any) []Expr {
	list := make([]Expr, len(values))
	for i, v := range values {
		list[i] = operand(v)
	}
	return list
}
