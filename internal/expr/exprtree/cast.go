package exprtree

import "github.com/apache/arrow/go/v17/arrow"

// CanCast reports whether Cast, or CastWrap if wrap is set, converts values of one type
// to another. CastWrap does not support Decimals, because the low bits of their excess
// digits have no meaning.
func CanCast(from, to arrow.DataType, wrap bool) bool {
	source, target := KindOf(from), KindOf(to)
	switch {
	case IsTemporal(from) && IsTemporal(to):
		_, ok := TemporalCastOf(from, to)
		return ok
	case IsTemporal(from):
		return target.IsInteger()
	case IsTemporal(to):
		return source.IsInteger()
	case source == Decimal || target == Decimal:
		return !wrap && (source == Decimal || source.IsNumber()) && (target == Decimal || target.IsNumber())
	case source == Bool || target == Bool:
		return (source == Bool || source.IsNumber()) && (target == Bool || target.IsNumber())
	}
	return source.IsNumber() && target.IsNumber()
}
