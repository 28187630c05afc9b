package source_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Files of Polars and DuckDB that arrow-go alone does not read: LZ4 with checksums of blocks,
// bytes of floats apart, and LZ4 without a frame.
func TestFilesOfOtherWriters(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for name, c := range map[string]struct {
		open func([]string) (source.Source, error)
		rows int64
	}{
		"polars-lz4.arrow": {source.Files{}.IPC, 3}, "duckdb-byte-stream-split.parquet": {source.Files{}.Parquet, 200}, "lz4-raw.parquet": {source.Files{}.Parquet, 100},
	} {
		s, err := c.open([]string{filepath.Join("testdata", "others", name)})
		require.NoError(t, err, name)
		rows := int64(0)
		for _, record := range read(t, s, m, source.Request{}) {
			rows += record.NumRows()
		}
		assert.Equal(t, c.rows, rows, name)
	}
}

// Views of text and bytes are read as text and bytes, also in lists and structs and of slices.
func TestViewsAreText(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	text, bytes := arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView
	of := func(text, bytes arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{
			{Name: "text", Type: text, Nullable: true}, {Name: "bytes", Type: bytes, Nullable: true}, {Name: "list", Type: arrow.ListOf(text), Nullable: true},
			{Name: "struct", Type: arrow.StructOf(arrow.Field{Name: "list", Type: arrow.FixedSizeListOf(2, bytes), Nullable: true}), Nullable: true},
		}, nil)
	}
	const rows = `[{"text":"a","bytes":"YQ==","list":["longer than what a view has inside",null],"struct":{"list":["YQ==","Yg=="]}},
		{"text":null,"bytes":null,"list":null,"struct":null},
		{"text":"another text that is longer than twelve bytes","bytes":"YWJj","list":[],"struct":{"list":null}}]`
	record := func(schema *arrow.Schema) arrow.Record {
		made, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(rows))
		require.NoError(t, err)
		return made.NewSlice(1, 3)
	}
	views, want := record(of(text, bytes)), record(of(arrow.BinaryTypes.String, arrow.BinaryTypes.Binary))
	reader, err := array.NewRecordReader(views.Schema(), []arrow.Record{views})
	require.NoError(t, err)
	path := write(t, ipcOf(t, true, views), t.TempDir(), "a.arrow")
	for name, open := range map[string]func() (source.Source, error){
		"records": func() (source.Source, error) { return source.Records(nil, views) },
		"reader":  func() (source.Source, error) { return source.RecordReader(reader) },
		"IPC":     func() (source.Source, error) { return source.Files{}.IPC([]string{path}) },
	} {
		s, err := open()
		require.NoError(t, err, name)
		schema, err := s.Schema(t.Context())
		require.NoError(t, err)
		require.True(t, schema.Equal(want.Schema()), "%s: %v", name, schema)
		for _, columns := range [][]string{{"text", "bytes", "list", "struct"}, nil} {
			if columns != nil && name == "reader" {
				continue // it is read once
			}
			got := read(t, s, m, source.Request{Columns: columns})
			require.Len(t, got, 1, name)
			require.True(t, array.RecordEqual(want, got[0]), "%s: %v", name, got[0])
		}
	}
}
