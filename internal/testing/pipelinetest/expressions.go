package pipelinetest

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// numeric accepts what expressions compute with.
var numeric = Is(arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
	arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128)

// textual accepts types that are compared by bytes.
var textual = Is(arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY)

// temporal accepts dates, times, timestamps and durations.
var temporal = Is(arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION)

func (d *Draw) columnOf(accepts func(arrow.DataType) bool) (expr.Expr, bool) {
	i, ok := d.Column(accepts)
	if !ok {
		return expr.Expr{}, false
	}
	return expr.Col(d.Schema.Field(i).Name), true
}

// Condition draws a bool expression. Its operands may have types that do not fit: then
// both devices must refuse it.
func (d *Draw) Condition(depth int) expr.Expr {
	if depth > 0 {
		switch d.IntN(6) {
		case 0:
			return d.Condition(depth - 1).And(d.Condition(depth - 1))
		case 1:
			return d.Condition(depth - 1).Or(d.Condition(depth - 1))
		case 2:
			return d.Condition(depth - 1).AndStrict(d.Condition(depth - 1)).Not()
		case 3:
			return d.Condition(depth - 1).Xor(d.Condition(depth - 1))
		}
	}
	compare := []func(x, y expr.Expr) expr.Expr{expr.Expr.Eq, expr.Expr.Ne, expr.Expr.Lt, expr.Expr.Le, expr.Expr.Gt, expr.Expr.Ge}
	switch d.IntN(6) {
	case 0:
		if c, ok := d.columnOf(Is(arrow.BOOL)); ok {
			return c
		}
	case 1:
		if c, ok := d.columnOf(textual); ok {
			word := expr.Lit(words[d.IntN(len(words))])
			return []expr.Expr{c.Eq(word), c.Ne(word), c.HasPrefix(word), c.HasSuffix(word)}[d.IntN(4)]
		}
	case 2:
		if c, ok := d.columnOf(Any); ok {
			return []expr.Expr{c.IsNull(), c.IsValid()}[d.IntN(2)]
		}
	case 3:
		x, ok := d.columnOf(temporal)
		if y, too := d.columnOf(temporal); ok && too {
			return compare[d.IntN(len(compare))](x, y)
		}
	}
	return compare[d.IntN(len(compare))](d.Number(depth), d.Number(depth))
}

// Number draws a numeric expression.
func (d *Draw) Number(depth int) expr.Expr {
	if depth > 0 {
		x := func() expr.Expr { return d.Number(depth - 1) }
		casts := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int64,
			arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
		switch d.IntN(11) {
		case 0:
			return x().Add(x())
		case 1:
			return x().Sub(x())
		case 2:
			return x().Mul(x())
		case 3:
			return x().Div(x())
		case 4:
			return x().Mod(x())
		case 5:
			return x().Neg()
		case 6:
			return x().Cast(casts[d.IntN(len(casts))])
		case 7:
			return expr.If(d.Condition(depth-1), x(), x())
		case 8:
			return expr.Coalesce(x(), x())
		case 9:
			return []expr.Expr{expr.Min(x(), x()), expr.Max(x(), x())}[d.IntN(2)]
		case 10:
			if c, ok := d.columnOf(func(t arrow.DataType) bool { return numeric(t) || textual(t) }); ok {
				return expr.Hash(c)
			}
		}
	}
	if c, ok := d.columnOf(numeric); ok && d.IntN(4) > 0 {
		return c
	}
	return []expr.Expr{expr.Lit(d.IntN(10) - 5), expr.Lit(2.5), expr.Lit(uint64(1) << 63), expr.Lit(int8(3))}[d.IntN(4)]
}
