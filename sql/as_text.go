package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// mostTextDigits is the number of digits up to which a decimal is an integer of 64 bits and a scale.
const mostTextDigits = 18

// decimalAsText is the digits of a decimal, with as many behind the point as its type has.
func (t *translation) decimalAsText(at tree.Node, v value) value {
	from := v.dataType.(*arrow.Decimal128Type)
	if from.Precision > mostTextDigits {
		t.fail(at, "decimals of more than %d digits as text are not supported: convert to bigint or double first", mostTextDigits)
	}
	scale := int(from.Scale)
	unit := int64(1)
	for range scale {
		unit *= 10
	}
	factor := gpuframe.LitOf(&arrow.Decimal128Type{Precision: int32(scale + 1)}, unit)
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		units := list[0].Mul(factor).Cast(int64Type)
		if scale == 0 {
			return units.Cast(textType)
		}
		sign := gpuframe.If(units.Lt(0), "-", "")
		whole, fraction := units.Abs().FloorDiv(unit), units.Abs().Mod(unit)
		return gpuframe.Concat(sign, whole.Cast(textType), ".", fraction.Cast(textType).PadStart(scale, '0'))
	}, v)
}

// timestampAsText is a date and a time, with as many digits of the fraction as it has.
func (t *translation) timestampAsText(at tree.Node, v value) value {
	from := v.dataType.(*arrow.TimestampType)
	if from.TimeZone != "" || from.Unit == arrow.Nanosecond {
		t.fail(at, "%s as text is not supported: use strftime(value, '%%Y-%%m-%%d %%H:%%M:%%S')", typeName(from))
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		seconds := list[0].FormatTime("%Y-%m-%d %H:%M:%S")
		if from.Unit == arrow.Second {
			return seconds
		}
		fraction := list[0].Sub(list[0].Truncate("second")).TotalMicroseconds()
		digits := fraction.Cast(textType).PadStart(6, '0').ReplaceRegex("0+$", "")
		return gpuframe.Concat(seconds, gpuframe.If(fraction.Eq(0), "", gpuframe.Concat(".", digits)))
	}, v)
}
