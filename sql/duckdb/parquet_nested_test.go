package duckdb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// drawNestedType draws a type that DuckDB has too, with up to depth lists and structs around values.
func drawNestedType(r *rapid.T, depth int) arrow.DataType {
	kind := rapid.IntRange(0, 3).Draw(r, "kind")
	if depth == 0 || kind == 0 {
		types := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint32, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString}
		return rapid.SampledFrom(types).Draw(r, "type")
	}
	part := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: drawNestedType(r, depth-1), Nullable: true}
	}
	if kind == 1 {
		return arrow.StructOf(part("f0"), part("f1"))
	}
	return arrow.ListOf(drawNestedType(r, depth-1))
}

// drawNestedFile draws a table of nested columns and how it is written.
func drawNestedFile(r *rapid.T) (arrow.Record, sink.ParquetOptions) {
	g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	rows := rapid.SampledFrom([]int{1, 9, 500, 5000}).Draw(r, "rows")
	options := sink.ParquetOptions{
		Compression:    rapid.SampledFrom([]string{"snappy", "zstd", "none"}).Draw(r, "compression"),
		GroupRows:      rapid.SampledFrom([]int64{0, 700}).Draw(r, "rows of a row group"),
		PageRows:       rapid.SampledFrom([]int64{0, 1, 100}).Draw(r, "rows of a page"),
		NoDictionaries: rapid.Bool().Draw(r, "no dictionaries"),
	}
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range rapid.IntRange(1, 3).Draw(r, "columns") {
		g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
		g.Sliced = rapid.Bool().Draw(r, "sliced")
		field := arrow.Field{Name: fmt.Sprint("c", i), Type: drawNestedType(r, 3), Nullable: true}
		fields, columns = append(fields, field), append(columns, g.Array(field.Type, rows))
		if rapid.Bool().Draw(r, "Bloom filter") {
			options.Bloom = append(options.Bloom, field.Name)
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows)), options
}

// nestedValue returns the text of an element as DuckDB's casts to VARCHAR have it for values without quotes.
func nestedValue(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "NULL"
	}
	var parts []string
	switch a := a.(type) {
	case *array.Struct:
		for n, field := range a.DataType().(*arrow.StructType).Fields() {
			parts = append(parts, fmt.Sprintf("'%s': %s", field.Name, nestedValue(a.Field(n), i)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *array.List:
		from, to := a.ValueOffsets(i)
		for ; from < to; from++ {
			parts = append(parts, nestedValue(a.ListValues(), int(from)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return a.ValueStr(i)
}

// DuckDB reads the lists and structs that were written, and finds rows by values within structs.
func TestNestedParquetFiles(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, *deviceName), memory.Options{})
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	property.Check(t, func(r *rapid.T) {
		record, options := drawNestedFile(r)
		path := filepath.Join(t.TempDir(), "mine.parquet")
		s, err := source.Records(record.Schema(), record)
		require.NoError(r, err)
		reader, err := s.Open(t.Context(), m, source.Request{BatchRows: rapid.SampledFrom([]int64{100, 1 << 20}).Draw(r, "rows of a table")})
		require.NoError(r, err)
		_, err = sink.ToPath(t.Context(), path, sink.Parquet(options), reader)
		require.NoError(r, err)
		require.NoError(r, reader.Close())
		_, err = db.Exec(fmt.Sprintf("create or replace table file as select * from read_parquet('%s')", path))
		require.NoError(r, err)
		for c, field := range record.Schema().Fields() {
			requireTexts(r, db, field, record.Column(c))
			if parts, ok := field.Type.(*arrow.StructType); ok {
				for _, part := range parts.Fields() {
					if !arrow.IsNested(part.Type.ID()) {
						requireFinds(r, db, path, arrow.Field{Name: field.Name + "." + part.Name, Type: part.Type})
					}
				}
			}
		}
	})
}

// requireTexts compares a column with that of DuckDB's table.
func requireTexts(r *rapid.T, db *sql.DB, field arrow.Field, want arrow.Array) {
	rows, err := db.Query("select coalesce(" + field.Name + "::varchar, 'NULL') from file order by rowid")
	require.NoError(r, err)
	defer rows.Close()
	for i := range want.Len() {
		require.True(r, rows.Next())
		var text string
		require.NoError(r, rows.Scan(&text))
		require.Equal(r, nestedValue(want, i), strings.NewReplacer("''", "").Replace(text), "column %q of %v, row %d", field.Name, field.Type, i)
	}
	require.False(r, rows.Next())
	require.NoError(r, rows.Err())
}
