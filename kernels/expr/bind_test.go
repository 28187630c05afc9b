package expr_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
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
		{date32, stamp(microsecond, "UTC"), expr.If(b.Gt(a), a, b), stamp(microsecond, "UTC")},
		{date32, i32, expr.Coalesce(a, expr.Lit(day)), date32},
		{stamp(millisecond, "Europe/Berlin"), i32, a.FillNull(expr.Lit(day)), stamp(millisecond, "Europe/Berlin")},
		{stamp(second, "Europe/Berlin"), i32, a.FillNull(expr.Lit(day.Add(time.Millisecond))), stamp(millisecond, "Europe/Berlin")},

		{text, arrow.BinaryTypes.LargeBinary, a.Eq(b), boolean},
		{text, i32, a.HasPrefix(expr.Lit("x")), boolean},
		{&arrow.DictionaryType{IndexType: u8, ValueType: text}, i32, expr.Lit([]byte("x")).Ne(a), boolean},
		{arrow.ListOf(i8), i32, a.IsNull(), boolean},
		{i8, i8, a.Clamp(expr.Lit(0), expr.Lit(9)), i8},
		{boolean, i8, expr.If(a, b, expr.Lit(0)), i8},
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
			program, err := expr.Bind(schemaOf(c.a, c.b), c.e)
			require.NoError(t, err)
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
		{i64, i64, expr.Col("nobody").Add(a), buffer.ErrSchema, `no column is called "nobody"`},
		{i64, i64, expr.Expr{}, expr.ErrMissing, "zero Expr"},
		{i64, i64, a.Add(expr.Expr{}), expr.ErrMissing, "zero Expr"},
		{i64, i64, a.Add(expr.Lit(nil)), expr.ErrLiteral, "nil"},
		{i64, i64, a.Add(expr.Lit(struct{}{})), expr.ErrLiteral, "struct {}"},
		{i64, i64, a.Add(expr.LitOf(i8, 1000)), expr.ErrLiteral, "does not fit int8"},
		{i64, i64, a.Add(expr.LitOf(decimal(3, 2), decimal128.FromI64(1000))), expr.ErrLiteral, "does not fit"},
		{i64, i64, expr.Null(arrow.ListOf(i8)), expr.ErrLiteral, "list"},
		{i64, boolean, a.Add(b), expr.ErrType, "cannot add int64 and bool"},
		{i64, boolean, a.And(b), expr.ErrType, "and of int64"},
		{decimal(3, 2), i64, a.Div(b), expr.ErrType, "cast them to float64"},
		{decimal(30, 30), decimal(30, 20), a.Mul(b), expr.ErrType, "scale of 50"},
		{stamp(second, ""), stamp(second, "UTC"), a.Lt(b), expr.ErrType, "cannot compare"},
		{stamp(second, ""), stamp(second, "UTC"), a.Sub(b), expr.ErrType, "cannot subtract"},
		{stamp(second, ""), stamp(second, ""), a.Add(b), expr.ErrType, "cannot add"},
		{stamp(second, "Europe/Berlin"), i8, a.Hour(), expr.ErrType, "in UTC"},
		{date32, i8, a.Hour(), expr.ErrType, "hour of date32"},
		{span(second), f64, a.Mul(b), expr.ErrType, "cannot multiply"},
		{text, text, a.Lt(b), expr.ErrType, "equality only"},
		{text, text, a.HasPrefix(b), expr.ErrType, "a column and a literal"},
		{text, text, expr.Lit("x").Eq(expr.Lit("y")), expr.ErrType, "two string literals"},
		{text, text, expr.Coalesce(a, b), expr.ErrType, "no common type"},
		{text, text, expr.Lit("x"), expr.ErrType, "string literal"},
		{text, text, expr.Coalesce(), expr.ErrMissing, "of nothing"},
		{text, text, expr.Hash(), expr.ErrMissing, "of nothing"},
		{text, text, a.Cast(i8), expr.ErrType, "cannot cast utf8 to int8"},
		{i8, text, a.Cast(nil), expr.ErrMissing, "type to cast to"},
		{decimal(3, 2), text, a.CastWrap(i8), expr.ErrType, "cannot cast"},
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

// TestKeyIsTheShape checks that programs differ in their keys where their code has to
// differ, and only there.
func TestKeyIsTheShape(t *testing.T) {
	key := func(schema *arrow.Schema, expressions ...expr.Expr) string {
		program, err := expr.Bind(schema, expressions...)
		require.NoError(t, err)
		return program.Key
	}
	numbers := schemaOf(i32, i32, f32, text)
	plus := key(numbers, a.Add(expr.Lit(1)))
	require.Equal(t, plus, key(numbers, b.Add(expr.Lit(2))))
	require.Equal(t, plus, key(numbers, b.Add(expr.Lit(2)).As("sum")))
	require.Equal(t, key(numbers, a.Gt(expr.Lit(1)).And(b.Lt(expr.Lit(1)))), key(numbers, a.Gt(expr.Lit(1)).And(b.Lt(expr.Lit(7)))))
	require.Equal(t, key(schemaOf(stamp(second, "UTC")), a.Year()), key(schemaOf(stamp(second, "")), a.Year()))
	c, d := expr.Col("c"), expr.Col("d")
	require.Equal(t, key(numbers, d.Eq(expr.Lit("x"))), key(numbers, d.Eq(expr.Lit("longer"))))
	differ := []string{
		plus,
		key(numbers, a.Add(b)),
		key(numbers, a.Add(a)),
		key(numbers, a.Sub(expr.Lit(1))),
		key(numbers, c.Add(expr.Lit(1))),
		key(numbers, a.Add(expr.Lit(int64(1)))),
		key(numbers, a.Add(expr.Null(i32))),
		key(numbers, a.Add(expr.Lit(1)), b),
		key(numbers, a.Add(b).Mul(b)),
		key(numbers, a.Add(b.Mul(b))),
		key(numbers, d.Eq(expr.Lit("x"))),
		key(schemaOf(arrow.BinaryTypes.LargeString), a.Eq(expr.Lit("x"))),
		key(schemaOf(stamp(second, "")), a.Year()),
		key(schemaOf(stamp(millisecond, "")), a.Year()),
		key(schemaOf(decimal(9, 2)), a.Cast(i32)),
		key(schemaOf(decimal(9, 3)), a.Cast(i32)),
	}
	for i := range differ {
		for j := range i {
			require.NotEqual(t, differ[i], differ[j])
		}
	}
}

func TestCommonPartsAreOneNode(t *testing.T) {
	schema := schemaOf(i32, i64)
	program, err := expr.Bind(schema, a.Mul(b).Add(a.Mul(b)), a.Mul(b), b.Neg())
	require.NoError(t, err)
	require.Same(t, program.Outputs[0].Arguments[0], program.Outputs[0].Arguments[1])
	require.Same(t, program.Outputs[0].Arguments[0], program.Outputs[1])
	require.Equal(t, []int{0, 1}, program.Inputs)
	require.Len(t, program.Nodes, 6, "two columns, cast, product, sum, negation")
	for i, n := range program.Nodes {
		for _, argument := range n.Arguments {
			require.Contains(t, program.Nodes[:i], argument)
		}
	}

	shared := a.Add(expr.Lit(1))
	program, err = expr.Bind(schema, shared.Mul(shared))
	require.NoError(t, err)
	require.Len(t, program.Literals, 1)
}

func TestLiteralValues(t *testing.T) {
	cases := []struct {
		e    expr.Expr
		a    arrow.DataType
		want any
	}{
		{a.Eq(expr.Lit(3)), f32, float64(3)},
		{a.Eq(expr.Lit(0.1)), f32, float64(float32(0.1))},
		{a.Eq(expr.Lit(3)), u8, uint64(3)},
		{a.Eq(expr.Lit(3)), decimal(5, 2), decimal128.FromI64(300)},
		{a.Eq(expr.Lit(uint64(math.MaxUint64))), u64, uint64(math.MaxUint64)},
		{a.Eq(expr.Lit("x")), text, "x"},
		{a.Eq(expr.Lit([]byte("x"))), text, "x"},
		{a.Eq(expr.Lit(true)), boolean, true},
		{a.Eq(expr.Lit(time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC))), date32, int64(-1)},
		{a.Eq(expr.Lit(time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC))), date64, int64(-86_400_000)},
		{a.Eq(expr.Lit(time.Date(1969, 12, 31, 23, 59, 59, 5e8, time.UTC))), stamp(millisecond, ""), int64(-500)},
		{a.Eq(expr.Lit(time.Date(1970, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600)))), stamp(second, ""), int64(0)},
		{a.Eq(expr.Lit(90 * time.Second)), span(second), int64(90)},
		{a.Eq(expr.Lit(arrow.Date32(7))), date32, int64(7)},
		{a.Eq(expr.LitOf(stamp(second, ""), arrow.Timestamp(8))), stamp(second, ""), int64(8)},
		{a.Eq(expr.Null(i8)), i16, nil},
	}
	for _, c := range cases {
		t.Run(c.e.String(), func(t *testing.T) {
			program, err := expr.Bind(schemaOf(c.a), c.e)
			require.NoError(t, err)
			literal := program.Outputs[0].Arguments[1]
			require.Equal(t, tree.Literal, literal.Op)
			require.Equal(t, c.want, literal.Value)
			require.Equal(t, c.want == nil, literal.Slot == -1)
			require.Equal(t, c.want == nil, len(program.Literals) == 0)
			require.True(t, arrow.TypeEqual(program.Outputs[0].Arguments[0].Type, literal.Type) || c.a == text)
		})
	}
}

func TestBindIsKept(t *testing.T) {
	schema, other := schemaOf(i32, i64), schemaOf(i64, i64)
	e := a.Add(b)
	first, err := expr.Bind(schema, e, b)
	require.NoError(t, err)
	second, err := expr.Bind(schema, e, b)
	require.NoError(t, err)
	require.Same(t, first, second)
	for _, differs := range []func() (*tree.Program, error){
		func() (*tree.Program, error) { return expr.Bind(other, e, b) },
		func() (*tree.Program, error) { return expr.Bind(schema, e) },
		func() (*tree.Program, error) { return expr.Bind(schema, e, a) },
	} {
		third, err := differs()
		require.NoError(t, err)
		require.NotSame(t, first, third)
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { _, _ = expr.Bind(schema, e, b) }))
}

func BenchmarkBindAgain(bench *testing.B) {
	schema := schemaOf(i32, i64)
	e := a.Add(b).Gt(expr.Lit(3))
	for bench.Loop() {
		if _, err := expr.Bind(schema, e); err != nil {
			bench.Fatal(err)
		}
	}
}

func BenchmarkBindAnew(bench *testing.B) {
	schema := schemaOf(i32, i64)
	for bench.Loop() {
		if _, err := expr.Bind(schema, a.Add(b).Gt(expr.Lit(3))); err != nil {
			bench.Fatal(err)
		}
	}
}

func TestText(t *testing.T) {
	c := expr.Col("two words")
	cases := map[string]expr.Expr{
		"a + b":                              a.Add(b),
		"(a + b) * 2":                        a.Add(b).Mul(expr.Lit(2)),
		"`two words` == \"x\"":               c.Eq(expr.Lit("x")),
		"fill_null(a, null of int8)":         a.FillNull(expr.Null(i8)),
		"if_else(a, clamp(b, 0, 1), <none>)": expr.If(a, b.Clamp(expr.Lit(0), expr.Lit(1)), expr.Expr{}),
		"cast(a as decimal(5, 2))":           a.Cast(decimal(5, 2)),
		"negate(a) and not(b)":               a.Neg().As("x").And(b.Not()),
		"1970-01-01T00:00:01Z":               expr.Lit(time.Unix(1, 0)),
		"3 of int8":                          expr.LitOf(i8, 3),
		`x"ab"`:                              expr.Lit([]byte("ab")),
	}
	for want, e := range cases {
		require.Equal(t, want, e.String())
		require.Equal(t, want, e.Name())
	}
	require.Equal(t, "x", a.As("x").Name())
	require.Equal(t, "two words", c.Name())
}

// TestSharedPartsAreCheap binds an expression whose tree would have 2^60 leaves.
func TestSharedPartsAreCheap(t *testing.T) {
	e := a
	for range 60 {
		e = e.Add(e)
	}
	program, err := expr.Bind(schemaOf(i64), e)
	require.NoError(t, err)
	require.Len(t, program.Nodes, 61)
	require.True(t, strings.HasSuffix(e.String(), "…"))
	_, err = expr.Bind(schemaOf(text), e)
	require.ErrorIs(t, err, expr.ErrType)
	require.Less(t, len(err.Error()), 10_000)
}
