package arrow18_test

import (
	"fmt"
	"testing"

	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrow18"
)

// numbers returns a record of columns of int64.
func numbers(columns, rows int) arrow17.Record {
	var fields []arrow17.Field
	var arrays []arrow17.Array
	for i := range columns {
		b := array17.NewInt64Builder(memory17.DefaultAllocator)
		b.AppendValues(make([]int64, rows), nil)
		fields, arrays = append(fields, arrow17.Field{Name: fmt.Sprint("column ", i), Type: arrow17.PrimitiveTypes.Int64}), append(arrays, b.NewArray())
	}
	return array17.NewRecord(arrow17.NewSchema(fields, nil), arrays, int64(rows))
}

// BenchmarkRecord converts records of v17 to v18 and back. The time does not depend on the number of rows.
func BenchmarkRecord(b *testing.B) {
	for _, size := range []struct{ columns, rows int }{{1, 1000}, {10, 1000}, {10, 1_000_000}, {100, 1000}} {
		record := numbers(size.columns, size.rows)
		exported, err := arrow18.Export(record)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("export/columns=%d/rows=%d", size.columns, size.rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := arrow18.Export(record)
				require.NoError(b, err)
				r.Release()
			}
		})
		b.Run(fmt.Sprintf("import/columns=%d/rows=%d", size.columns, size.rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := arrow18.Import(exported)
				require.NoError(b, err)
				r.Release()
			}
		})
		exported.Release()
		record.Release()
	}
}

// BenchmarkReader converts readers of ten records of ten columns: the schema is converted once.
func BenchmarkReader(b *testing.B) {
	record := numbers(10, 1000)
	defer record.Release()
	list := make([]arrow17.Record, 10)
	for i := range list {
		list[i] = record
	}
	b.ReportAllocs()
	for b.Loop() {
		from, err := array17.NewRecordReader(record.Schema(), list)
		require.NoError(b, err)
		to, err := arrow18.ExportReader(from)
		require.NoError(b, err)
		for to.Next() {
		}
		to.Release()
		from.Release()
	}
}
