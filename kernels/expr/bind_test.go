package expr_test

import (
	"errors"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func schemaOf(types ...arrow.DataType) *arrow.Schema {
	fields := make([]arrow.Field, len(types))
	for i, t := range types {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

var (
	a, b = expr.Col("a"), expr.Col("b")

	i8, i16, i32, i64 = arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	u8, u16, u32, u64 = arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64
	f32, f64          = arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	boolean           = arrow.FixedWidthTypes.Boolean
	date32, date64    = arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64
	text              = arrow.BinaryTypes.String
)

func decimal(precision, scale int32) arrow.DataType {
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}
}

func stamp(unit arrow.TimeUnit, zone string) arrow.DataType {
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}
}

func span(unit arrow.TimeUnit) arrow.DataType { return &arrow.DurationType{Unit: unit} }

const (
	second      = arrow.Second
	millisecond = arrow.Millisecond
	microsecond = arrow.Microsecond
	nanosecond  = arrow.Nanosecond
)

func TestResultTypes(t *testing.T) {
	day := time.Date(2020, 2, 3, 0, 0, 0, 0, time.UTC)
	cases := []struct {
		a, b arrow.DataType
		e    expr.Expr
		want arrow.DataType
	}{
		{i8, i16, a.Add(b), i16},
		{u8, u32, a.Sub(b), u32},
		{i8, u8, a.Mul(b), i16},
		{i32, u32, a.Div(b), i64},
		{i64, u64, a.Mod(b), i64},
		{i64, f32, a.Add(b), f32},
		{f32, f64, a.Add(b), f64},
		{i32, i32, a.Div(b), i32},
		{i16, i16, a.Add(expr.Lit(1)), i16},
		{i16, i16, expr.Lit(1).Add(a), i16},
		{i16, i16, a.Add(expr.Lit(40_000)), i32},
		{u8, i16, a.Add(expr.Lit(-1)), i16},
		{i16, i16, a.Add(expr.Lit(int64(1))), i64},
		{i16, i16, a.Add(expr.LitOf(i8, 1)), i16},
		{i16, i16, a.Mul(expr.Lit(0.5)), f64},
		{f32, i16, a.Mul(expr.Lit(0.1)), f32},
		{f32, i16, a.Mul(expr.Lit(2)), f32},
		{f32, i16, expr.Lit(1).Add(expr.Lit(2)), i64},
		{f32, i16, expr.Lit(1).Add(expr.Lit(2.5)), f64},
		{i32, i32, a.Sqrt(), f64},
		{f32, f32, a.Sqrt(), f32},
		{f32, i32, a.Pow(b), f64},
		{f32, i32, a.Pow(expr.Lit(2)), f32},
		{i32, i32, a.Floor(), f64},
		{decimal(10, 2), i32, a.Sqrt(), f64},

		{decimal(10, 2), decimal(8, 4), a.Add(b), decimal(13, 4)},
		{decimal(10, 2), decimal(8, 4), a.Mul(b), decimal(19, 6)},
		{decimal(38, 2), decimal(8, 4), a.Sub(b), decimal(38, 4)},
		{decimal(10, 2), i32, a.Add(b), decimal(13, 2)},
		{decimal(10, 2), i32, a.Add(expr.Lit(1)), decimal(11, 2)},
		{decimal(10, 2), i32, a.Mul(expr.Lit(3)), decimal(21, 2)},
		{decimal(10, 2), f32, a.Mul(b), f32},
		{decimal(10, 2), i32, a.Sign(), i64},
		{decimal(10, 2), decimal(8, 4), expr.Max(a, b), decimal(12, 4)},

		{stamp(second, ""), stamp(millisecond, ""), a.Sub(b), span(millisecond)},
		{stamp(second, "UTC"), span(microsecond), a.Add(b), stamp(microsecond, "UTC")},
		{span(microsecond), stamp(second, "UTC"), a.Add(b), stamp(microsecond, "UTC")},
		{stamp(second, ""), i32, a.Sub(expr.Lit(time.Hour)), stamp(second, "")},
		{stamp(second, ""), i32, a.Sub(expr.Lit(time.Microsecond)), stamp(microsecond, "")},
		{date32, date32, a.Sub(b), span(second)},
		{date32, date64, a.Sub(b), span(millisecond)},
		{date32, span(second), a.Add(b), stamp(second, "")},
		{arrow.FixedWidthTypes.Time32s, span(microsecond), a.Add(b), arrow.FixedWidthTypes.Time64us},
		{arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time32s, a.Sub(b), span(microsecond)},
		{span(second), span(nanosecond), a.Add(b), span(nanosecond)},
		{span(second), i32, a.Mul(b), span(second)},
		{u16, span(second), a.Mul(b), span(second)},
		{span(second), i32, a.Div(expr.Lit(3)), span(second)},
		{span(second), span(millisecond), a.Mod(b), span(millisecond)},
		{date32, date64, expr.Min(a, b), date64},
		{date32, stamp(millisecond, "UTC"), expr.If(b.Gt(a), a, b), stamp(millisecond, "UTC")},
		{date32, i32, expr.Coalesce(a, expr.Lit(day)), date32},
		{stamp(millisecond, "Europe/Berlin"), i32, a.FillNull(expr.Lit(day)), stamp(millisecond, "Europe/Berlin")},
		{stamp(nanosecond, "Europe/Berlin"), i32, a.FillNull(expr.Lit(day.Add(time.Millisecond))), stamp(nanosecond, "Europe/Berlin")},

		{text, arrow.BinaryTypes.LargeBinary, a.Eq(b), boolean},
		{text, i32, a.HasPrefix(expr.Lit("x")), boolean},
		{&arrow.DictionaryType{IndexType: u8, ValueType: text}, i32, expr.Lit([]byte("x")).Ne(a), boolean},
		{arrow.ListOf(i8), i32, a.IsNull(), boolean},
		{i8, i8, a.Clamp(expr.Lit(0), expr.Lit(9)), i8},
		{boolean, i8, expr.If(a, b, expr.Lit(0)), i8},
		{boolean, i8, expr.If(a, expr.Lit(nil), b), i8},
		{boolean, text, expr.If(a, b, expr.Lit(nil)), text},
		{boolean, decimal(5, 2), expr.If(a, expr.Lit(nil), b), decimal(5, 2)},
		{boolean, boolean, expr.If(a, expr.Lit(1), expr.Lit(nil)), i64},
		{boolean, i8, expr.Coalesce(expr.Null(i8), expr.Lit(0)), i8},
		{boolean, boolean, a.Lt(b), boolean},
		{arrow.FixedWidthTypes.Time32s, i8, a.Gt(expr.Lit(3 * time.Hour)), boolean},
		{text, f32, expr.Hash(a, b), u64},
		{date64, f32, a.Year(), i64},
		{f32, i8, a.Cast(i8), i8},
		{date32, i8, a.Cast(i8), i8},
		{stamp(second, ""), i8, a.Cast(arrow.FixedWidthTypes.Time64ns), arrow.FixedWidthTypes.Time64ns},
	}
	for _, c := range cases {
		t.Run(c.e.String(), func(t *testing.T) {
			program := exprtest.Program(t, schemaOf(c.a, c.b), c.e)
			require.Equal(t, c.want.String(), program.Outputs[0].Type.String())
		})
	}
}

func TestRefusals(t *testing.T) {
	cases := []struct {
		a, b arrow.DataType
		e    expr.Expr
		is   error
		says string
	}{
		{i64, i64, a.Gt(expr.Lit("x")), expr.ErrType, `a > "x": cannot compare int64 with utf8`},
		{i64, i64, a.Gt(expr.Lit("x")).And(b.Gt(expr.Lit(1))), expr.ErrType, `in (a > "x") and (b > 1): a > "x": cannot`},
		{i64, i64, expr.Col("nobody").Add(a), buffer.ErrSchema, `no column is called "nobody": there are "b", "a"`},
		{i64, i64, expr.Expr{}, expr.ErrMissing, "zero Expr"},
		{i64, i64, a.Add(expr.Expr{}), expr.ErrMissing, "zero Expr"},
		{i64, i64, a.Add(expr.Lit(nil)), expr.ErrLiteral, "nil has no type here, use LitOf(type, nil)"},
		{boolean, i64, expr.If(a, expr.Lit(nil), expr.Lit(nil)), expr.ErrLiteral, "nil has no type here"},
		{boolean, i64, expr.If(expr.Lit(nil), b, b), expr.ErrLiteral, "nil has no type here"},
		{i64, i64, a.Add(expr.LitOf(decimal(3, 2), "0.125")), expr.ErrLiteral, "does not fit"},
		{i64, i64, a.Add(expr.LitOf(decimal(3, 2), "1.-5")), expr.ErrLiteral, "does not fit"},
		{i64, i64, a.Add(expr.LitOf(decimal(3, 2), ".")), expr.ErrLiteral, "does not fit"},
		{i64, i64, a.Add(expr.Lit(struct{}{})), expr.ErrLiteral, "struct {}"},
		{i64, i64, a.Add(expr.LitOf(i8, 1000)), expr.ErrLiteral, "does not fit int8"},
		{i64, i64, a.Add(expr.LitOf(decimal(3, 2), decimal128.FromI64(1000))), expr.ErrLiteral, "does not fit"},
		{i64, i64, expr.Null(arrow.ListOf(i8)), expr.ErrLiteral, "list"},
		{i64, boolean, a.Add(b), expr.ErrType, "cannot add int64 and bool"},
		{i64, boolean, a.And(b), expr.ErrType, "and of int64"},
		{decimal(3, 2), i64, a.Mod(b), expr.ErrType, "cast them to float64"},
		{decimal(30, 30), decimal(30, 20), a.Mul(b), expr.ErrType, "scale of 50"},
		{stamp(second, ""), stamp(second, "UTC"), a.Lt(b), expr.ErrType, "of which one has a time zone: take LocalTime of it, or InstantIn of the other one"},
		{date32, text, a.Lt(b), expr.ErrType, "cannot compare date32 with utf8, expected a time instead of text"},
		{stamp(second, ""), stamp(second, "UTC"), a.Sub(b), expr.ErrType, "cannot subtract"},
		{stamp(second, ""), stamp(second, ""), a.Add(b), expr.ErrType, "cannot add"},
		{stamp(second, "Europe/Berlin"), i8, a.Hour(), expr.ErrType, "in UTC"},
		{date32, i8, a.Hour(), expr.ErrType, "hour of date32"},
		{span(second), f64, a.Mul(b), expr.ErrType, "cannot multiply"},
		{text, i64, a.Lt(b), expr.ErrType, "cannot compare"},
		{text, text, a.HasPrefix(b), expr.ErrType, "a column and a literal"},
		{text, text, expr.Lit("x").Eq(expr.Lit("y")), expr.ErrType, "two string literals"},
		{text, i64, expr.Coalesce(a, b), expr.ErrType, "no common type"},
		{text, i64, expr.Concat(a, b), expr.ErrType, "int64, it is of strings"},
		{text, text, expr.Concat(), expr.ErrMissing, "of nothing"},
		{text, text, a.Replace(b, expr.Lit("x")), expr.ErrType, "one string literal by another"},
		{text, text, a.SplitPart(expr.Lit(""), 1), expr.ErrLiteral, "the separator is empty"},
		{text, text, a.SplitPart(expr.Lit("x"), 0), expr.ErrLiteral, "number 0"},
		{text, text, a.Count(expr.Lit("")), expr.ErrLiteral, "empty string"},
		{text, text, a.PadEnd(2000, 'x'), expr.ErrLiteral, "in 0 to 1024"},
		{text, text, a.Contains(b), expr.ErrType, "has to be a string literal"},
		{i64, text, a.Contains(expr.Lit("x")), expr.ErrType, "contains(a, \"x\"): int64, it is of strings"},
		{text, text, expr.Lit("x").LengthChars(), expr.ErrType, "a string literal"},
		{text, text, a.Like("50!", '!'), expr.ErrLiteral, "ends with its escape"},
		{text, text, a.Like("\xff"), expr.ErrLiteral, "not valid UTF-8"},
		{text, text, a.Like("a", '!', '?'), expr.ErrLiteral, "2 escape characters"},
		{text, text, a.Substring(1, -1), expr.ErrLiteral, "the length is -1"},
		{text, text, expr.Lit(1).In(1), expr.ErrType, "it is of a column"},
		{date32, f64, a.AddMonths(b), expr.ErrType, "the number is float64"},
		{i64, i64, a.AddDays(b), expr.ErrType, "int64, it is of dates"},
		{stamp(second, "Europe/Berlin"), i8, a.AddDays(b), expr.ErrType, "those of UTC"},
		{date32, i8, a.Truncate("fortnight"), expr.ErrLiteral, `no unit is called "fortnight": there are year`},
		{i64, text, a.In("x"), expr.ErrType, "cannot compare int64 with utf8"},
		{text, text, expr.Coalesce(), expr.ErrMissing, "of nothing"},
		{text, text, expr.Hash(), expr.ErrMissing, "of nothing"},
		{text, text, a.CastWrap(f64), expr.ErrType, "cannot cast utf8 to float64"},
		{i8, text, a.Cast(nil), expr.ErrMissing, "type to cast to"},
		{decimal(3, 2), text, a.CastWrap(i8), expr.ErrType, "cannot cast"},
		{f64, text, a.Cast(text), expr.ErrType, "cannot cast float64 to utf8, use FormatFloat"},
		{date32, text, a.Cast(text), expr.ErrType, "use FormatTime"},
		{span(second), text, a.Cast(text), expr.ErrType, "use FormatDuration"},
		{stamp(second, "Europe/Oslo"), text, a.Hour(), expr.ErrType, "take LocalTime"},
		{f32, f32, a.BitAnd(b), expr.ErrType, "of integers"},
		{i8, i8, expr.If(a, b, b), expr.ErrType, "condition is int8"},
		{arrow.FixedWidthTypes.Float16, i8, a.Add(b), expr.ErrType, "float16"},
		{arrow.SparseUnionOf(nil, nil), i8, a.IsNull(), expr.ErrType, "no validity bitmap"},
		{i8, i8, expr.Lit(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)), expr.ErrLiteral, "does not fit"},
	}
	for _, c := range cases {
		t.Run(c.e.String(), func(t *testing.T) {
			_, err := expr.Bind(schemaOf(c.a, c.b), c.e)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
			var located *expr.Error
			require.True(t, errors.As(err, &located))
			require.Equal(t, c.e.String(), located.Expression)
		})
	}
	_, err := expr.Bind(nil, a)
	require.ErrorIs(t, err, expr.ErrMissing)
}
