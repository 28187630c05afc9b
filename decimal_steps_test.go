package gpuframe_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func decimalType(precision, scale int32) *arrow.Decimal128Type {
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}
}

// drawDecimals draws numbers of up to the digits of a type, some of them null.
func drawDecimals(r *rapid.T, t *arrow.Decimal128Type, n int) (values []*big.Int) {
	for range n {
		digits := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), 1, int(t.Precision), -1).Draw(r, "digits")
		v, _ := new(big.Int).SetString(digits, 10)
		switch rapid.IntRange(0, 5).Draw(r, "form") {
		case 0:
			v = nil
		case 1, 2:
			v.Neg(v)
		case 3:
			v.Rem(v, big.NewInt(3))
		}
		values = append(values, v)
	}
	return values
}

func decimalRecord(types []*arrow.Decimal128Type, columns ...[]*big.Int) arrow.Record {
	var fields []arrow.Field
	for i, t := range types {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true})
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, values := range columns {
		for _, v := range values {
			if v == nil {
				b.Field(i).AppendNull()
				continue
			}
			b.Field(i).(*array.Decimal128Builder).Append(decimal128.FromBigInt(v))
		}
	}
	return b.NewRecord()
}

// quotientRule is the type of a quotient by Spark's documentation.
func quotientRule(x, y *arrow.Decimal128Type) (precision, scale int32) {
	scale = max(6, x.Scale+y.Precision+1)
	precision = x.Precision - x.Scale + y.Scale + scale
	if precision > 38 {
		return 38, max(38-(precision-scale), min(scale, 6))
	}
	return precision, scale
}

// TestQuotientsOfDecimals compares quotients of all scales with exact fractions.
func TestQuotientsOfDecimals(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		property.Check(t, func(r *rapid.T) {
			var types []*arrow.Decimal128Type
			for range 2 {
				precision := rapid.Int32Range(1, 38).Draw(r, "precision")
				types = append(types, decimalType(precision, rapid.Int32Range(0, precision).Draw(r, "scale")))
			}
			n := rapid.IntRange(0, 20).Draw(r, "rows")
			a, b := drawDecimals(r, types[0], n), drawDecimals(r, types[1], n)
			record := decimalRecord(types, a, b)
			defer record.Release()
			q := e.Records(nil, record).Select(gpuframe.Col("a").Div(gpuframe.Col("b")).As("q"))
			schema, err := q.Schema(t.Context())
			require.NoError(r, err)
			precision, scale := quotientRule(types[0], types[1])
			require.Equal(r, decimalType(precision, scale).String(), schema.Field(0).Type.String())
			limit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision-scale)), nil))
			for i, row := range cells(r, q) {
				if a[i] == nil || b[i] == nil || b[i].Sign() == 0 {
					require.Nil(r, row[0])
					continue
				}
				exact := new(big.Rat).Quo(ratOf(a[i], types[0].Scale), ratOf(b[i], types[1].Scale))
				rounded, _ := new(big.Rat).SetString(exact.FloatString(int(scale))) // half away from zero
				if new(big.Rat).Abs(rounded).Cmp(limit) >= 0 {
					require.Nil(r, row[0])
					continue
				}
				require.Equal(r, rounded.FloatString(int(scale)), ratOf(row[0].(*big.Int), scale).FloatString(int(scale)), "%v / %v", a[i], b[i])
			}
		})
	})
}

func ratOf(v *big.Int, scale int32) *big.Rat {
	return new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
}

// TestQuotientsOfLiterals divides by numbers without a type, integers and floats.
func TestQuotientsOfLiterals(t *testing.T) {
	price := decimalType(10, 2)
	record := decimalRecord([]*arrow.Decimal128Type{price}, []*big.Int{big.NewInt(1000), big.NewInt(-1), nil})
	defer record.Release()
	a := gpuframe.Col("a")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, c := range []struct {
			e    gpuframe.Expr
			want string
			rows []string
		}{
			{a.Div(3), "decimal(14, 6)", []string{"3.333333", "-0.003333", "(null)"}},
			{a.Div(0), "decimal(14, 6)", []string{"(null)", "(null)", "(null)"}},
			{a.Div(0.25), "decimal(16, 6)", []string{"40", "-0.04", "(null)"}},
			{a.Div(int8(-4)), "decimal(14, 6)", []string{"-2.5", "0.0025", "(null)"}},
			{gpuframe.Lit(1).Div(a), "decimal(14, 11)", []string{"0.1", "-100", "(null)"}},
			{a.Div(a.Cast(arrow.PrimitiveTypes.Float64)), "float64", []string{"1", "1", "(null)"}},
		} {
			q := e.Records(nil, record).Select(c.e.As("q"))
			schema, err := q.Schema(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, schema.Field(0).Type.String(), "%v", c.e)
			require.Equal(t, c.rows, shortest(exactLines(t, q)), "%v", c.e)
		}
		require.Len(t, lines(t, e.Records(nil, record).Filter(a.Div(3).Gt(1)).GroupBy(a.Div(3).As("k")).Agg(a.Div(7).Sum().As("s"))), 1, "in other verbs")
	})
}

// shortest takes zeros behind the point from numbers.
func shortest(numbers []string) []string {
	for i, text := range numbers {
		if strings.Contains(text, ".") {
			numbers[i] = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
	}
	return numbers
}

// TestDecimalsAsText casts decimals to text and back: all digits are the same.
func TestDecimalsAsText(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		property.Check(t, func(r *rapid.T) {
			precision := rapid.Int32Range(1, 38).Draw(r, "precision")
			narrow := decimalType(precision, rapid.Int32Range(0, precision).Draw(r, "scale"))
			values := drawDecimals(r, narrow, rapid.IntRange(0, 20).Draw(r, "rows"))
			record := decimalRecord([]*arrow.Decimal128Type{narrow}, values)
			defer record.Release()
			a := gpuframe.Col("a")
			text, wide := a.Cast(arrow.BinaryTypes.String), &arrow.Decimal256Type{Precision: 76, Scale: narrow.Scale}
			got := cells(r, e.Records(nil, record).Select(text.As("text"), text.Cast(narrow).As("back"), a.Cast(wide).Cast(arrow.BinaryTypes.LargeString).As("wide"), text.Cast(wide).Cast(narrow).As("narrow")))
			for i, row := range got {
				if values[i] == nil {
					require.Equal(r, []any{nil, nil, nil, nil}, row)
					continue
				}
				want := ratOf(values[i], narrow.Scale).FloatString(int(narrow.Scale))
				require.Equal(r, []any{want, values[i].String(), want, values[i].String()}, []any{row[0], row[1].(*big.Int).String(), row[2], row[3].(*big.Int).String()})
			}
		})
	})
}

// TestTextAsDecimals reads texts of many forms.
func TestTextAsDecimals(t *testing.T) {
	texts := map[string]string{
		"1": "1", "+1.25": "1.25", "-.5": "-0.5", "7.": "7", "1.005": "1.01", "-1.005": "-1.01", "1.0049": "1", "12e2": "1200", "125e-2": "1.25", "1E+1": "10", "99999.99": "99999.99",
		"99999.995": "(null)", "100000": "(null)", "": "(null)", ".": "(null)", "-": "(null)", "1,5": "(null)", " 1": "(null)", "1 ": "(null)", "--1": "(null)", "1e": "(null)", "1e999": "(null)",
		"1e5x": "(null)", "0x10": "(null)", "NaN": "(null)", "1_000": "(null)", "1.2.3": "(null)", strings.Repeat("0", 50) + "3": "3", "٣": "(null)", "1e-99": "0",
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	var want []string
	for text, number := range texts {
		b.Field(0).(*array.StringBuilder).Append(text)
		want = append(want, number)
	}
	record := b.NewRecord()
	defer record.Release()
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		require.Equal(t, want, shortest(exactLines(t, e.Records(nil, record).Select(gpuframe.Col("t").Cast(decimalType(7, 2))))))
	})
}

// TestScalesBelowZero writes decimals with a negative scale, of which the digits end before the point.
func TestScalesBelowZero(t *testing.T) {
	record := decimalRecord([]*arrow.Decimal128Type{decimalType(5, -2)}, []*big.Int{big.NewInt(1), big.NewInt(-25), new(big.Int), nil})
	defer record.Release()
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		got := cells(t, e.Records(nil, record).Select(gpuframe.Col("a").Cast(arrow.BinaryTypes.String).As("s")))
		require.Equal(t, [][]any{{"100"}, {"-2500"}, {"0"}, {nil}}, got)
	})
}

// TestLongTextAsDecimals reads numbers with many zeros and far exponents.
func TestLongTextAsDecimals(t *testing.T) {
	zeros := strings.Repeat("0", 3000)
	texts := map[string]any{
		"1e-100": "0.00", "1e-101": "0.00", "-1e-99999999999999999999": "0.00", "0e99999999999999999999": "0.00", "1e101": nil, "1e99999999999999999999": nil,
		zeros + "1.5": "1.50", "1.5" + zeros: "1.50", "0." + zeros + "15e3001": "1.50", "-15" + zeros + "e-3001": nil, zeros: "0.00", "." + zeros: "0.00",
		"0.004999": "0.00", "0.005": "0.01", "-0.005": "-0.01", "1e": nil, "e5": nil, ".": nil, "-": nil, "+.5": "0.50", "1e1e1": nil,
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	var expected [][]any
	for text, want := range texts {
		b.Field(0).(*array.StringBuilder).Append(text)
		expected = append(expected, []any{want})
	}
	record := b.NewRecord()
	defer record.Release()
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		decimal := gpuframe.Col("s").Cast(decimalType(9, 2))
		require.Equal(t, expected, cells(t, e.Records(nil, record).Select(decimal.Cast(arrow.BinaryTypes.String).As("d"))))
	})
}

// TestWideDecimals casts decimals of 256 bits and refuses other operations.
func TestWideDecimals(t *testing.T) {
	wide := &arrow.Decimal256Type{Precision: 60, Scale: 3}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "w", Type: wide, Nullable: true}, {Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	large, _ := new(big.Int).SetString("123456789012345678901234567890123456789012345", 10)
	b.Field(0).(*array.Decimal256Builder).AppendValues([]decimal256.Num{decimal256.FromI64(-12345), decimal256.FromBigInt(large), {}}, []bool{true, true, false})
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{1, -2, 3}, nil)
	record := b.NewRecord()
	defer record.Release()
	w, i := gpuframe.Col("w"), gpuframe.Col("i")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record)
		require.Equal(t, []string{"-12.345 -12.35 1", "123456789012345678901234567890123456789012.345 (null) -2", "(null) (null) 3"},
			exactLines(t, q.Select(w.Cast(arrow.BinaryTypes.String).As("text"), w.Cast(decimalType(38, 2)).As("narrow"), i.Cast(wide).Cast(arrow.BinaryTypes.String).SplitPart(".", 1).As("of an integer"))))
		for message, refused := range map[string]gpuframe.Expr{
			"cannot add decimal256(60, 3) and decimal256(60, 3)": w.Add(w),
			"cannot cast decimal256(60, 3) to int64":             w.Cast(arrow.PrimitiveTypes.Int64),
			"decimal256(90, 3)":                                  i.Cast(&arrow.Decimal256Type{Precision: 90, Scale: 3}),
		} {
			_, err := q.Select(refused.As("x")).Schema(t.Context())
			require.ErrorContains(t, err, message)
		}
	})
}
