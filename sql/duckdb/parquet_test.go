package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/gpuframe/gpuframe/compression/brotli"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// fileTypes are types of Parquet files that DuckDB has too.
var fileTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, &arrow.TimestampType{Unit: arrow.Microsecond},
	&arrow.Decimal128Type{Precision: 8, Scale: 2}, &arrow.Decimal128Type{Precision: 15, Scale: 2},
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString,
}

// drawFile draws a table and how it is written.
func drawFile(t testing.TB, r *rapid.T) (arrow.Record, sink.ParquetOptions) {
	g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	rows := rapid.SampledFrom([]int{1, 9, 500, 5000}).Draw(r, "rows")
	options := sink.ParquetOptions{
		Compression: rapid.SampledFrom([]string{"snappy", "zstd", "gzip", "brotli", "lz4_raw", "none"}).Draw(r, "compression"),
		GroupRows:   rapid.SampledFrom([]int64{0, 700}).Draw(r, "rows of a row group"),
		PageRows:    rapid.SampledFrom([]int64{0, 1, 100}).Draw(r, "rows of a page"),
	}
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range rapid.IntRange(1, 4).Draw(r, "columns") {
		dataType := rapid.SampledFrom(fileTypes).Draw(r, "type")
		g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
		few := rapid.SampledFrom([]int{1, 3, 200, rows}).Draw(r, "distinct values")
		values := columntest.Repeated(t, g, dataType, few, rows)
		switch dataType.ID() {
		case arrow.DATE32, arrow.TIMESTAMP, arrow.DECIMAL128:
			values = near(values)
		case arrow.STRING, arrow.LARGE_STRING:
			values = readable(values)
		}
		name := fmt.Sprint("c", i)
		fields, columns = append(fields, arrow.Field{Name: name, Type: dataType, Nullable: true}), append(columns, pagestest.Fitting(values))
		if rapid.Bool().Draw(r, "Bloom filter") {
			options.Bloom = append(options.Bloom, name)
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows)), options
}

// DuckDB reads the rows that were written, and finds them by their values, with the statistics and Bloom
// filters of the file.
func TestParquetFiles(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, *deviceName), memory.Options{})
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	property.Check(t, func(r *rapid.T) {
		record, options := drawFile(t, r)
		folder := t.TempDir()
		mine, theirs := filepath.Join(folder, "mine.parquet"), filepath.Join(folder, "theirs.parquet")
		s, err := source.Records(record.Schema(), record)
		require.NoError(r, err)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(r, err)
		_, err = sink.ToPath(t.Context(), mine, sink.Parquet(options), reader)
		require.NoError(r, err)
		require.NoError(r, reader.Close())
		execute := func(text string, values ...any) {
			_, err := db.Exec(fmt.Sprintf(text, values...))
			require.NoError(r, err)
		}
		execute("create or replace table file as select * from read_parquet('%s')", mine)
		execute("copy file to '%s' (format parquet)", theirs)
		requireRows(r, m, record, theirs)
		for _, field := range record.Schema().Fields() {
			requireFinds(r, db, mine, field)
		}
	})
}

// requireRows compares a record with a file that DuckDB wrote.
func requireRows(r *rapid.T, m *memory.Manager, want arrow.Record, path string) {
	s, err := source.Files{}.Parquet([]string{path})
	require.NoError(r, err)
	reader, err := s.Open(context.Background(), m, source.Request{BatchRows: 1 << 20})
	require.NoError(r, err)
	table, err := reader.Next(context.Background())
	require.NoError(r, err)
	got, err := table.Record(context.Background())
	require.NoError(r, err)
	require.NoError(r, table.Release())
	require.NoError(r, reader.Close())
	require.Equal(r, want.NumRows(), got.NumRows())
	for c, field := range want.Schema().Fields() {
		for i := range int(want.NumRows()) {
			require.Equal(r, want.Column(c).ValueStr(i), got.Column(c).ValueStr(i), "column %q of %v, row %d", field.Name, field.Type, i)
		}
	}
}

// requireFinds compares how often DuckDB finds values in the file and in its table.
func requireFinds(r *rapid.T, db *sql.DB, path string, field arrow.Field) {
	if arrow.IsFloating(field.Type.ID()) {
		return // no text has all digits
	}
	rows, err := db.Query(fmt.Sprintf("select v::varchar, typeof(v) from (select distinct %[1]s as v from file where %[1]s is not null) order by hash(v) limit 5", field.Name))
	require.NoError(r, err)
	type value struct{ text, typeName string }
	var values []value
	for rows.Next() {
		var v value
		require.NoError(r, rows.Scan(&v.text, &v.typeName))
		values = append(values, v)
	}
	require.NoError(r, rows.Close())
	for _, v := range values {
		for _, comparison := range []string{"=", "<", ">"} {
			literal := fmt.Sprintf("'%s'::%s", strings.ReplaceAll(v.text, "'", "''"), v.typeName)
			var inFile, inTable int
			for text, to := range map[string]*int{"read_parquet('" + path + "')": &inFile, "file": &inTable} {
				require.NoError(r, db.QueryRow(fmt.Sprintf("select count(*) from %s where %s %s %s", text, field.Name, comparison, literal)).Scan(to))
			}
			require.Equal(r, inTable, inFile, "column %q of %v %s %s", field.Name, field.Type, comparison, literal)
		}
	}
}

// near returns dates, times and decimals that DuckDB has too.
func near(values arrow.Array) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, values.DataType())
	defer b.Release()
	for i := range values.Len() {
		if values.IsNull(i) {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Date32Builder:
			b.Append(values.(*array.Date32).Value(i) % 40_000)
		case *array.TimestampBuilder:
			b.Append(values.(*array.Timestamp).Value(i) % (1 << 51))
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(values.(*array.Decimal128).Value(i).HighBits() % 100_000_000))
		}
	}
	return b.NewArray()
}

// readable returns texts of characters in place of random bytes.
func readable(values arrow.Array) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, values.DataType()).(array.StringLikeBuilder)
	defer b.Release()
	for i := range values.Len() {
		if values.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(fmt.Sprintf("%x", values.ValueStr(i)))
		}
	}
	return b.NewArray()
}
