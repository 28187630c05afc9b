package gpuframe_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// appendExtremes appends six values, of the ends of the type of a builder and near 0.
func appendExtremes(b array.Builder) {
	integers := []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, 2}
	switch b := b.(type) {
	case *array.Int8Builder:
		b.AppendValues([]int8{math.MinInt8, math.MaxInt8, 0, -1, 1, 2}, nil)
	case *array.Int32Builder:
		b.AppendValues([]int32{math.MinInt32, math.MaxInt32, 0, -1, 1, 2}, nil)
	case *array.Int64Builder:
		b.AppendValues(integers, nil)
	case *array.Uint16Builder:
		b.AppendValues([]uint16{0, math.MaxUint16, 1, 2, 3, 4}, nil)
	case *array.Uint64Builder:
		b.AppendValues([]uint64{0, math.MaxUint64, 1, 2, 3, math.MaxInt64}, nil)
	case *array.Float32Builder:
		b.AppendValues([]float32{float32(math.Inf(1)), float32(math.NaN()), 0, -1, math.MaxFloat32, math.SmallestNonzeroFloat32}, nil)
	case *array.Float64Builder:
		b.AppendValues([]float64{math.Inf(-1), math.NaN(), 0, -1, math.MaxFloat64, math.SmallestNonzeroFloat64}, nil)
	case *array.Decimal128Builder:
		b.AppendValues([]decimal128.Num{decimal128.FromI64(999_999_999), decimal128.FromI64(-999_999_999), {}, decimal128.FromI64(1), decimal128.FromI64(-1), decimal128.FromI64(100)}, nil)
	case *array.BooleanBuilder:
		b.AppendValues([]bool{true, false, true, false, true, false}, nil)
	case *array.StringBuilder:
		b.AppendValues([]string{"", "a", "12", "nan", "\x00ab", "2020-02-30"}, nil)
	case *array.LargeStringBuilder:
		b.AppendValues([]string{"", "a", "12", "nan", "\x00ab", "2020-02-30"}, nil)
	case *array.BinaryBuilder:
		b.AppendValues([][]byte{{}, {'a'}, {'1', '2'}, {0xff}, {0}, []byte("2020-01-01")}, nil)
	case *array.Date32Builder:
		b.AppendValues([]arrow.Date32{math.MinInt32, math.MaxInt32, 0, -1, 1, 20000}, nil)
	case *array.Date64Builder:
		b.AppendValues([]arrow.Date64{math.MinInt64 / 86_400_000 * 86_400_000, math.MaxInt64 / 86_400_000 * 86_400_000, 0, -86_400_000, 86_400_000, 20000 * 86_400_000}, nil)
	case *array.TimestampBuilder:
		b.AppendValues([]arrow.Timestamp{math.MinInt64, math.MaxInt64, 0, -1, 1, 2}, nil)
	case *array.Time32Builder:
		b.AppendValues([]arrow.Time32{0, 86_399, 1, 2, 3, 4}, nil)
	case *array.Time64Builder:
		b.AppendValues([]arrow.Time64{0, 86_399_999_999_999, 1, 2, 3, 4}, nil)
	case *array.DurationBuilder:
		b.AppendValues([]arrow.Duration{math.MinInt64, math.MaxInt64, 0, -1, 1, 2}, nil)
	case *array.ListBuilder:
		for i := range 6 {
			b.Append(true)
			if i == 0 {
				continue
			}
			appendExtremes(b.ValueBuilder())
			if i == 1 {
				b.ValueBuilder().AppendNull()
			}
		}
	default:
		panic(b.Type())
	}
}

// TestFunctionsThatAreNull computes each function of the catalog of columns without nulls: if the
// result has nulls, its field is nullable. The optimizer replaces is_null(f(x)) by false if the field
// is not.
func TestFunctionsThatAreNull(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	checked := 0
	for _, f := range functionsOfValues() {
		for _, word := range wordsOf["any"] {
			for _, operandType := range typesByWord[word] {
				called := callOf(t, f.Go, operandType)
				if f.Section == "Windows" {
					called = called.Over(gpuframe.By().OrderBy(gpuframe.Col("x")))
				}
				if checkNullability(t, e, f.Go, operandType, called) {
					checked++
				}
			}
		}
	}
	for _, from := range wordsOf["any"] {
		for _, of := range typesByWord[from] {
			for _, to := range wordsOf["any"] {
				for _, target := range typesByWord[to] {
					if checkNullability(t, e, "cast to "+target.String(), of, gpuframe.Col("x").Cast(target)) {
						checked++
					}
				}
			}
		}
	}
	require.Greater(t, checked, 500)
}

// checkNullability computes a function of columns without nulls.
func checkNullability(t *testing.T, e *gpuframe.Engine, name string, of arrow.DataType, made gpuframe.Expr) bool {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: of}, {Name: "y", Type: of}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	appendExtremes(b.Field(0))
	appendExtremes(b.Field(1))
	together := b.NewRecord()
	defer together.Release()
	const shift = 1 // so that pairs of values differ
	x, y := array.NewSlice(together.Column(0), 0, together.NumRows()-shift), array.NewSlice(together.Column(1), shift, together.NumRows())
	defer x.Release()
	defer y.Release()
	other := array.NewRecord(schema, []arrow.Array{x, y}, -1)
	defer other.Release()
	return checkNullable(t, e.Records(schema, together, other).Select(made.As("z")), name, of) &&
		checkNullable(t, e.Records(schema).Select(made.As("z")), name+" without rows", of)
}

func checkNullable(t *testing.T, q gpuframe.Query, name string, of arrow.DataType) bool {
	result, err := q.Schema(t.Context())
	if err != nil {
		return false
	}
	f, err := q.Collect(t.Context())
	if !assert.NoError(t, err, "%s of %v", name, of) {
		return false
	}
	defer func() { require.NoError(t, f.Release()) }()
	got, err := f.Record(t.Context())
	require.NoError(t, err)
	defer got.Release()
	if nulls := got.Column(0).NullN(); nulls > 0 {
		assert.True(t, result.Field(0).Nullable, "%s of %v has %d nulls, and its field is not nullable", name, of, nulls)
	}
	return true
}

// TestChoicesOfNullConditions has SQL's meaning of null: a condition that is null is not true.
func TestChoicesOfNullConditions(t *testing.T) {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, -1, 0, 9}, []bool{true, true, false, true})
	record := b.NewRecord()
	defer record.Release()
	x, null := gpuframe.Col("x"), gpuframe.LitOf(arrow.FixedWidthTypes.Boolean, nil)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for name, c := range map[string]struct {
			of   gpuframe.Expr
			want []string
		}{
			"numbers":          {gpuframe.If(x.Gt(0), x, 7), []string{"1", "7", "7", "9"}},
			"bools":            {gpuframe.If(x.Gt(0), true, false), []string{"true", "false", "false", "true"}},
			"literals of text": {gpuframe.If(x.Gt(0), "p", "n"), []string{"p", "n", "n", "p"}},
			"text":             {gpuframe.If(x.Gt(0), x.Cast(arrow.BinaryTypes.String), "n"), []string{"1", "n", "n", "9"}},
			"a null literal":   {gpuframe.If(null, 1, x), []string{"1", "-1", "(null)", "9"}},
			"a nil":            {gpuframe.If(x.Gt(0), nil, 2), []string{"(null)", "2", "2", "(null)"}},
			"cases":            {gpuframe.Case().When(x.Gt(5), "much").When(x.Gt(0), "more").When(x.IsNull(), nil).Else("less"), []string{"more", "less", "(null)", "much"}},
			"cases, else null": {gpuframe.Case().When(x.Gt(5), 1.5).When(x.Gt(0), 2).Else(nil), []string{"2", "(null)", "(null)", "1.5"}},
			"no cases":         {gpuframe.Case().Else(x), []string{"1", "-1", "(null)", "9"}},
		} {
			require.Equal(t, c.want, collect(t, e.Records(nil, record).Select(c.of.As("y"))), name)
		}
		// The branches of a case do not change one that is used again.
		begun := gpuframe.Case().When(x.Gt(5), 1)
		first, second := begun.When(x.Gt(0), 2).Else(0), begun.When(x.Gt(0), 3).Else(0)
		require.Equal(t, []string{"2 3", "0 0", "0 0", "1 1"}, collect(t, e.Records(nil, record).Select(first.As("a"), second.As("b"))))
	})
}
