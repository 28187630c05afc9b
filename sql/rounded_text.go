package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// roundedPoint is the integer nearest to the number of a text with a point: of a half, the one further from zero. It is
// null for other texts, and for those below zero if the type has no sign, as in DuckDB. The digits decide, because a
// double holds 15 of them only.
func roundedPoint(text gpuframe.Expr, to arrow.DataType) gpuframe.Expr {
	form := `^[+-]?([0-9]+\.[0-9]*|\.[0-9]+)$`
	if arrow.IsUnsignedInteger(to.ID()) {
		form = `^(-0+|\+?([0-9]+\.?[0-9]*|\.[0-9]+))$` // the engine's unsigned integers have no signs
	}
	exact := &arrow.Decimal128Type{Precision: 20}
	digits := gpuframe.Concat("0", text.ExtractRegex(`^[+-]?([0-9]*)`, 1))
	magnitude := digits.Cast(arrow.PrimitiveTypes.Uint64).Cast(exact)
	unit := gpuframe.If(text.MatchesRegex(`\.[5-9]`), gpuframe.LitOf(exact, int64(1)), gpuframe.LitOf(exact, int64(0)))
	rounded := magnitude.Add(unit)
	signed := gpuframe.If(text.HasPrefix("-"), rounded.Neg(), rounded)
	return gpuframe.If(text.MatchesRegex(form), signed, gpuframe.LitOf(&arrow.Decimal128Type{Precision: 21}, nil)).Cast(to)
}

// roundedExponent is roundedPoint of a text with an exponent. It is null for those that a double may not have exactly.
func roundedExponent(text gpuframe.Expr, to arrow.DataType) gpuframe.Expr {
	const most, characters = 1 << 52, 16
	x := text.Cast(floatType)
	magnitude := x.Abs()
	whole := magnitude.Floor()
	rounded := gpuframe.If(magnitude.Sub(whole).Lt(0.5), whole, whole.Add(1.0))
	isExact := magnitude.Lt(float64(most)).And(text.LengthBytes().Le(characters)).And(text.Lower().Contains("e"))
	if arrow.IsUnsignedInteger(to.ID()) {
		isExact = isExact.And(text.HasPrefix("-").Not())
	}
	return gpuframe.If(isExact, gpuframe.If(x.Lt(0.0), rounded.Neg(), rounded), gpuframe.LitOf(floatType, nil)).Cast(to)
}
