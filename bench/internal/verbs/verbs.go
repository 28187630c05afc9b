// Package verbs has the table and the query of five verbs that small calls are measured with.
package verbs

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
)

// Table returns a table of 100 keys, a value and a row number. Tables of different factors
// have their keys and values in another order. The caller releases the table.
func Table(e *gpuframe.Engine, rows, factor int) (*buffer.Buffer, error) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int32}, {Name: "value", Type: arrow.PrimitiveTypes.Float64}, {Name: "row", Type: arrow.PrimitiveTypes.Int32},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int32Builder).Append(int32(i * factor % 100))
		b.Field(1).(*array.Float64Builder).Append(float64(i*factor%rows) / 3)
		b.Field(2).(*array.Int32Builder).Append(int32(i))
	}
	record := b.NewRecord()
	defer record.Release()
	return buffer.FromRecord(e.Manager(), record)
}

// Query filters, computes, groups, sorts and cuts a table.
func Query(e *gpuframe.Engine, table *buffer.Buffer) gpuframe.Query {
	value := gpuframe.Col("value")
	return e.Table(table).
		Filter(value.Gt(10.0)).
		With(value.Mul(2.0).As("double")).
		GroupBy(gpuframe.Col("key")).Agg(gpuframe.Col("double").Sum().As("sum")).
		Sort(gpuframe.Col("sum").Desc()).
		Head(10)
}
