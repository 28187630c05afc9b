package sql

import (
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// nullOf returns the null of a type.
func (t *translation) nullOf(dataType arrow.DataType) value {
	v := value{expr: gpuframe.LitOf(concreteType(dataType), nil), dataType: dataType, null: true, uses: columnSet{}}
	switch x := dataType.(type) {
	case arrow.ListLikeType:
		v.expr = t.repeated(t.nullOf(x.Elem()), gpuframe.LitOf(int64Type, nil))
	case *arrow.StructType:
		fields := make([]gpuframe.Expression, x.NumFields())
		for i, f := range x.Fields() {
			fields[i] = t.nullOf(f.Type).expr.As(f.Name)
		}
		v.expr = t.repeated(value{expr: gpuframe.Struct(fields...)}, gpuframe.LitOf(int64Type, int64(0))).ListGet(0)
	}
	return v
}

// settled returns a value with a type: a null without one is an integer.
func (t *translation) settled(v value) value {
	if v.dataType == nil && v.null {
		return t.nullOf(arrow.PrimitiveTypes.Int32)
	}
	return v
}

// unified gives nulls and texts among values the type of the others.
func (t *translation) unified(at tree.Node, values ...value) []value {
	var common arrow.DataType
	for _, v := range values {
		if v.interval != nil {
			t.fail(at, "intervals cannot be compared or chosen: compare dates and timestamps with them added")
		}
		if _, isWritten := v.constant.(string); v.dataType != nil && !isWritten {
			if common == nil || !v.isConstant() || isText(v.dataType) {
				common = v.dataType
			}
		}
	}
	result := make([]value, len(values))
	for i, v := range values {
		written, isWritten := v.constant.(string)
		switch {
		case v.null && common != nil:
			v = t.nullOf(common)
		case v.null && hasText(values):
			v = t.nullOf(textType)
		case v.null:
			v = t.settled(v)
		case isWritten && common != nil && !isText(common):
			v = t.convertText(at, v, written, common)
		case isDecimal(common):
			v = inDecimal(v, common.(*arrow.Decimal128Type))
		case isDate(common):
			v = midnight(v)
		case isTimestamp(common):
			v = inZone(v, common)
		}
		result[i] = v
	}
	return result
}

// hasText reports whether a value is text.
func hasText(values []value) bool {
	for _, v := range values {
		if isText(v.dataType) {
			return true
		}
	}
	return false
}

// midnight returns a timestamp literal at midnight as a date, which row groups are left out by.
func midnight(v value) value {
	const day = 24 * 3600 * 1e6
	if at, ok := v.constant.(arrow.Timestamp); ok && at%day == 0 {
		return constant(arrow.Date32(at / day))
	}
	return v
}

// inDecimal returns a literal as a decimal of a type that holds it, so that nothing is converted in each row.
func inDecimal(v value, to *arrow.Decimal128Type) value {
	digits, ok := v.constant.(decimalText)
	if own, isOwn := v.dataType.(*arrow.Decimal128Type); ok && isOwn && own.Scale <= to.Scale && own.Precision-own.Scale <= to.Precision-to.Scale {
		v.expr, v.dataType = gpuframe.LitOf(to, string(digits)), to
	}
	return v
}

// inZone returns a date or timestamp literal with the time zone of a type, and with its unit if nothing is lost.
// The constant stays in microseconds.
func inZone(v value, dataType arrow.DataType) value {
	at, ok := v.constant.(arrow.Timestamp)
	to := dataType.(*arrow.TimestampType)
	if date, isDate := v.constant.(arrow.Date32); isDate && to.TimeZone != "" {
		at, ok = arrow.Timestamp(date.ToTime().UnixMicro()), true
	}
	if !ok {
		return v
	}
	number, unit := at, arrow.Microsecond
	switch part := (map[arrow.TimeUnit]arrow.Timestamp{arrow.Second: 1e6, arrow.Millisecond: 1e3})[to.Unit]; {
	case part > 0 && at%part == 0:
		number, unit = at/part, to.Unit
	case to.Unit == arrow.Nanosecond && max(at, -at) < math.MaxInt64/1000:
		number, unit = at*1000, to.Unit
	}
	v.dataType = &arrow.TimestampType{Unit: unit, TimeZone: to.TimeZone}
	v.expr, v.constant = gpuframe.LitOf(v.dataType, number), at
	return v
}

// convertText returns a literal text as a value of a type.
func (t *translation) convertText(at tree.Node, v value, written string, to arrow.DataType) value {
	if known, ok := t.parsed(at, written, to); ok {
		return known
	}
	if isNested(to) {
		t.fail(at, "the text %q cannot be converted to %s: write [1, 2] or {'name': value}", written, typeName(to))
	}
	return t.cast(at, v, to)
}

// castValue is CAST or TRY_CAST. A literal that is wrong is an error of CAST.
func (t *translation) castValue(at *tree.Cast, v value) value {
	to := t.dataType(at.Type)
	if written, ok := v.constant.(string); ok && at.Try && !isText(to) {
		if _, _, wrong := t.readLiteral(at, written, to); wrong != "" {
			return t.nullOf(to)
		}
	}
	return t.convert(at, v, to)
}

// convert converts as CAST does.
func (t *translation) convert(at tree.Node, v value, to arrow.DataType) value {
	if written, ok := v.constant.(string); ok && !isText(to) {
		known := t.convertText(at, v, written, to)
		if arrow.TypeEqual(known.dataType, to) {
			return known
		}
		v = known
	}
	if written := literalAsText(v); written != "" && isText(to) {
		return constant(written)
	}
	switch {
	case v.null:
		return t.nullOf(to)
	case v.interval != nil:
		t.fail(at, "an interval cannot be converted to %s", typeName(to))
	case arrow.TypeEqual(v.dataType, to):
		return v
	case isList(v.dataType) && isList(to):
		return t.ofElements(at, v, elementOf(to))
	case isStruct(v.dataType) && isStruct(to):
		return t.convertStruct(at, v, to.(*arrow.StructType))
	case isNested(v.dataType) || isNested(to):
		t.fail(at, "%s cannot be converted to %s", typeName(v.dataType), typeName(to))
	case isFloat(v.dataType) && isInteger(to):
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Round().Cast(to) }, v)
	case isFloat(v.dataType) && isText(to):
		t.fail(at, "floats as text are not supported: round and convert to decimal first, or use format_float, which has another form than DuckDB's")
	case isDecimal(v.dataType) && isText(to):
		return t.decimalAsText(at, v)
	case isDate(v.dataType) && isText(to):
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].FormatTime("%Y-%m-%d") }, v)
	case isTimestamp(v.dataType) && isText(to):
		return t.timestampAsText(at, v)
	case isNumber(v.dataType) && (isDate(to) || isTimestamp(to)), isNumber(to) && (isDate(v.dataType) || isTimestamp(v.dataType)):
		t.fail(at, "%s cannot be converted to %s", typeName(v.dataType), typeName(to))
	}
	return t.cast(at, v, to)
}

// literalAsText returns the text of a literal number or bool, or nothing.
func literalAsText(v value) string {
	switch x := v.constant.(type) {
	case int64, bool, decimalText:
		return fmt.Sprint(x)
	}
	return ""
}

// cast converts as gpuframe does. Spaces around the text of a number or a time do not matter, as in DuckDB.
func (t *translation) cast(at tree.Node, v value, to arrow.DataType) value {
	if v.null {
		return t.nullOf(to)
	}
	if isText(v.dataType) && !v.isConstant() && (isNumber(to) || isDate(to) || isTimestamp(to)) {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
			if trimmed := list[0].Trim(); isInteger(to) {
				return gpuframe.Coalesce(trimmed.Cast(to), roundedPoint(trimmed, to), roundedExponent(trimmed, to))
			}
			return list[0].Trim().Cast(to)
		}, v)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Cast(to) }, v)
}

// placeholder returns a value of a type, to find types with.
func placeholder(dataType arrow.DataType) value {
	if dataType.ID() == arrow.NULL {
		return value{null: true, uses: columnSet{}}
	}
	return value{expr: gpuframe.Col("placeholder"), dataType: dataType, uses: columnSet{}}
}

// whole returns the integer of a literal.
func (t *translation) whole(at tree.Node, v value, what string) int {
	n, ok := v.constant.(int64)
	if !ok || int64(int(n)) != n {
		t.fail(at, "%s is not a literal integer: other expressions are not supported here", what)
	}
	return int(n)
}

// literalText returns the text of a literal.
func (t *translation) literalText(at tree.Node, v value, what string) string {
	written, ok := v.constant.(string)
	if !ok {
		t.fail(at, "%s is not a literal text: other expressions are not supported here", what)
	}
	return written
}

// float returns the number of a literal.
func (t *translation) float(at tree.Node, v value, what string) float64 {
	switch x := v.constant.(type) {
	case int64:
		return float64(x)
	case float64:
		return x
	case decimalText:
		f, _ := strconv.ParseFloat(string(x), 64)
		return f
	}
	t.fail(at, "%s is not a literal number: other expressions are not supported here", what)
	return 0
}
