package ordertest

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// Types are types with an order: all without children, and some nested ones.
func Types() []arrow.DataType {
	text, number, real := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: text}
	pair := arrow.StructOf(field("text", text), field("real", real))
	var types []arrow.DataType
	for _, t := range arraytest.FlatTypes() {
		if t.ID() != arrow.INTERVAL_DAY_TIME && t.ID() != arrow.INTERVAL_MONTH_DAY_NANO {
			types = append(types, t)
		}
	}
	return append(types,
		dictionary, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: real},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: pair},
		pair, arrow.StructOf(), arrow.StructOf(field("inner", pair), field("dictionary", dictionary), field("null", arrow.Null)),
		arrow.ListOf(number), arrow.LargeListOf(text), arrow.FixedSizeListOf(3, real),
		arrow.ListViewOf(text), arrow.LargeListViewOf(number),
		arrow.ListOf(pair), arrow.ListOf(arrow.ListOf(number)), arrow.ListOf(dictionary), arrow.ListOf(arrow.Null),
		arrow.StructOf(field("list", arrow.ListOf(number)), field("number", number)),
		arraytest.NewTemperature(number), arraytest.NewTemperature(text), arraytest.NewTemperature(arrow.ListOf(text)),
	)
}

// Unordered are types without an order.
func Unordered() []arrow.DataType {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	fields := []arrow.Field{field("text", text), field("number", number)}
	return []arrow.DataType{
		arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval, arrow.MapOf(text, number),
		arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{0, 1}), arrow.RunEndEncodedOf(number, text),
		arrow.ListOf(arrow.FixedWidthTypes.DayTimeInterval), arrow.StructOf(field("map", arrow.MapOf(text, number))),
	}
}

// reals are floats with an order that is easily wrong.
var reals = []float64{
	math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1, -1, 1.5, -1.5, 5e-324, -5e-324, 1e300, -1e300, 100, -100,
}

// texts are strings with an order that is easily wrong.
var texts = []string{
	"", "\x00", "\x00\x00", "a", "a\x00", "a\x00b", "ab", "abcdefg", "abcdefg\x00", "abcdefgh", "abcdefgh\x00", "abcdefghi", "abcdefghij",
	"abcdefgi", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "https://example.com/a/long/common/prefix/1",
	"https://example.com/a/long/common/prefix/2", "https://example.com/a/long/common/prefix/", "日本",
}

// Array draws n rows of a type, with values that repeat, and values with an order that is
// easily wrong.
func Array(g *arraytest.Generator, t arrow.DataType, n int) arrow.Array {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType, *arrow.StringViewType, *arrow.BinaryViewType,
		*arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return sliced(g, n, func(n int) arrow.Array { return special(g, t, n) })
	case *arrow.StructType:
		return g.Array(t, n)
	}
	switch {
	case n == 0 || arrow.IsNested(t.ID()) && g.IntN(2) == 0 || g.IntN(3) == 0 || t.ID() == arrow.DICTIONARY || t.ID() == arrow.EXTENSION || t.ID() == arrow.NULL:
		return g.Array(t, n)
	}
	return sliced(g, n, func(n int) arrow.Array { return repeated(g, t, n) })
}

// sliced draws more rows and slices them, if the generator slices.
func sliced(g *arraytest.Generator, n int, draw func(n int) arrow.Array) arrow.Array {
	if !g.Sliced {
		return draw(n)
	}
	ahead, behind := g.IntN(12), g.IntN(12)
	all := draw(ahead + n + behind)
	defer all.Release()
	return array.NewSlice(all, int64(ahead), int64(ahead+n))
}

// repeated draws rows from few rows of random values.
func repeated(g *arraytest.Generator, t arrow.DataType, n int) arrow.Array {
	from := *g
	from.Sliced = false
	few := from.Array(t, 1+g.IntN(8))
	defer few.Release()
	if n == 0 {
		return array.NewSlice(few, 0, 0)
	}
	rows := make([]arrow.Array, n)
	for i := range rows {
		row := int64(g.IntN(few.Len()))
		rows[i] = array.NewSlice(few, row, row+1)
		defer rows[i].Release()
	}
	all, err := array.Concatenate(rows, arrowmemory.DefaultAllocator)
	if err != nil {
		panic(err)
	}
	return all
}

// special draws rows of strings or floats.
func special(g *arraytest.Generator, t arrow.DataType, n int) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, t)
	defer b.Release()
	for range n {
		if g.Nulls == arraytest.AllNull || g.Nulls == arraytest.SomeNull && g.IntN(5) == 0 {
			b.AppendNull()
			continue
		}
		text, real := texts[g.IntN(len(texts))], reals[g.IntN(len(reals))]
		if g.IntN(4) == 0 {
			real = g.NormFloat64()
		}
		switch b := b.(type) {
		case *array.Float16Builder:
			b.Append(float16.New(float32(real)))
		case *array.Float32Builder:
			b.Append(float32(real))
		case *array.Float64Builder:
			b.Append(real)
		case array.StringLikeBuilder:
			b.Append(text)
		case *array.BinaryBuilder:
			b.Append([]byte(text))
		case *array.BinaryViewBuilder:
			b.Append([]byte(text))
		}
	}
	return b.NewArray()
}
