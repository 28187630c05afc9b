package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// decimalAsText is the digits of a decimal, with as many behind the point as its type has.
func (t *translation) decimalAsText(at tree.Node, v value) value {
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Cast(textType) }, v)
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
