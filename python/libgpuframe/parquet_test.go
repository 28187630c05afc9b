//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

var nestedSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	{Name: "struct", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
	{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64), Nullable: true},
	{Name: "decimal", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}, Nullable: true},
	{Name: "lists of structs", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 7, Scale: 1}, Nullable: true})), Nullable: true},
}, nil)

func nestedRecord(rows int) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, nestedSchema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%7 == 3 {
			for _, each := range b.Fields()[1:] {
				each.AppendNull()
			}
			continue
		}
		list := b.Field(1).(*array.ListBuilder)
		list.Append(true)
		for k := range i % 3 {
			list.ValueBuilder().(*array.StringBuilder).Append(string(rune('a' + k)))
		}
		structs := b.Field(2).(*array.StructBuilder)
		structs.Append(true)
		structs.FieldBuilder(0).(*array.Int32Builder).Append(int32(i))
		structs.FieldBuilder(1).(*array.StringBuilder).Append("text")
		entries := b.Field(3).(*array.MapBuilder)
		entries.Append(true)
		entries.KeyBuilder().(*array.StringBuilder).Append("key")
		entries.ItemBuilder().(*array.Float64Builder).Append(float64(i))
		b.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i)))
		nested := b.Field(5).(*array.ListBuilder)
		nested.Append(true)
		inner := nested.ValueBuilder().(*array.StructBuilder)
		inner.Append(true)
		inner.FieldBuilder(0).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i)))
	}
	return b.NewRecord()
}

// TestParquetOfNestedTypes reads lists, structs, maps and decimals of several row
// groups and pages.
func TestParquetOfNestedTypes(t *testing.T) {
	for name, test := range map[string]struct {
		rows, group, page int64
	}{
		"one row group":            {100, 1000, 1 << 20},
		"several row groups":       {1000, 100, 1 << 20},
		"small pages":              {5000, 5000, 512},
		"more than a batch's rows": {200_000, 150_000, 1 << 14},
	} {
		t.Run(name, func(t *testing.T) {
			record := nestedRecord(int(test.rows))
			defer record.Release()
			path := filepath.Join(t.TempDir(), "nested.parquet")
			out, err := os.Create(path)
			require.NoError(t, err)
			writer, err := pqarrow.NewFileWriter(nestedSchema, out, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(test.group),
				parquet.WithDataPageSize(test.page)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
			require.NoError(t, err)
			require.NoError(t, writer.WriteBuffered(record))
			require.NoError(t, writer.Close())

			m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
			b, err := reading{}.read(m, path, openParquet)
			require.NoError(t, err)
			defer b.Release()
			back, err := b.Record(t.Context())
			require.NoError(t, err)
			defer back.Release()
			for i := range int(record.NumCols()) {
				assert.True(t, array.ApproxEqual(record.Column(i), back.Column(i)), record.ColumnName(i))
			}
		})
	}
}
