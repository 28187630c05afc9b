package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestResampleAnyType requires nulls in windows without rows for values of types that expressions
// cannot choose from: dictionaries and lists.
func TestResampleAnyType(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "at", Type: arrow.PrimitiveTypes.Int64},
		{Name: "city", Type: dictionary, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i, at := range []int64{0, 31, 10, 42, 11} {
		if i < 3 {
			b.Field(0).(*array.StringBuilder).Append("k")
		} else {
			b.Field(0).AppendNull()
		}
		b.Field(1).(*array.Int64Builder).Append(at)
		require.NoError(t, b.Field(2).(*array.BinaryDictionaryBuilder).AppendString([]string{"Oslo", "Rome", "Bonn"}[i%3]))
	}
	record := b.NewRecord()
	defer record.Release()
	at, city := gpuframe.Col("at"), gpuframe.Col("city")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := e.Records(nil, record)
		q := rows.Resample(at, 10, gpuframe.Col("key")).Agg(city.First().As("first"), at.List().As("list"), gpuframe.Count().As("n"))
		require.Equal(t, []string{
			"k 0 Oslo [0] 1",
			"k 10 Bonn [10] 1",
			"k 20 (null) (null) 0",
			"k 30 Rome [31] 1",
			"(null) 10 Rome [11] 1",
			"(null) 20 (null) (null) 0",
			"(null) 30 (null) (null) 0",
			"(null) 40 Oslo [42] 1",
		}, collect(t, q))
		require.Empty(t, collect(t, rows.Filter(at.Lt(0)).Resample(at, 10).Agg(city.First().As("first"))))
	})
}

// TestResampleOfNoRows has expressions of aggregates of windows without rows.
func TestResampleOfNoRows(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		_, records := nullableRows(t, property.Random(t), 20, 2)
		id, text := gpuframe.Col("id"), gpuframe.Col("text")
		q := e.Records(nil, records...).Filter(id.Ne(7)).Resample(id, 1).Agg(
			gpuframe.Count().As("rows"), text.Count().As("values"), id.Count().Add(1).As("more"), id.Sum().As("sum"), id.Sum().FillNull(0).As("filled"),
			id.Sum().IsNull().As("empty"), id.Max().Sub(id.Count()).As("both"), gpuframe.Coalesce(text.First(), "none").As("first"), id.Gt(3).All().As("all"),
			id.List().As("list"), id.List().ListLength().As("length"), id.Mean().Add(id.Sum().Over(gpuframe.By()).Max()).As("window"))
		require.Equal(t, "7|0|0|1|(null)|0|true|(null)|none|(null)|(null)|(null)|(null)|", lines(t, q)[7])
	})
}
