package duckdb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// typesOfDuckDB are values of DuckDB with their types in files, and the texts of gpuframe for them.
var typesOfDuckDB = []struct {
	value string
	want  arrow.DataType
	text  string
}{
	{`time '12:34:56.789'`, arrow.FixedWidthTypes.Time64us, "12:34:56.789000"},
	{`timestamp_s '2020-02-03 04:05:06'`, &arrow.TimestampType{Unit: arrow.Microsecond}, "2020-02-03 04:05:06Z"},
	{`timestamp_ms '2020-02-03 04:05:06.7'`, &arrow.TimestampType{Unit: arrow.Millisecond}, "2020-02-03 04:05:06.7Z"},
	{`timestamp '2020-02-03 04:05:06.7'`, &arrow.TimestampType{Unit: arrow.Microsecond}, "2020-02-03 04:05:06.7Z"},
	{`timestamp_ns '2020-02-03 04:05:06.7'`, &arrow.TimestampType{Unit: arrow.Nanosecond}, "2020-02-03 04:05:06.7Z"},
	{`timestamptz '2020-02-03 04:05:06+00'`, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "2020-02-03 04:05:06Z"},
	{`date '2020-02-03'`, arrow.FixedWidthTypes.Date32, "2020-02-03"},
	{`uuid '12345678-1234-5678-9abc-def012345678'`, &arrow.FixedSizeBinaryType{ByteWidth: 16}, "EjRWeBI0VniavN7wEjRWeA=="},
	{`'{"a": 1}'::json`, arrow.BinaryTypes.String, `{"a": 1}`},
	{`'b'::enum('a', 'b')`, arrow.BinaryTypes.String, "b"},
	{`'\x01\x02'::blob`, arrow.BinaryTypes.Binary, "AQI="},
	{`timetz '12:34:56+00'`, arrow.FixedWidthTypes.Time64us, "12:34:56.000000"},
}

// Logical types of DuckDB's files are no stored numbers and no bytes.
func TestTypesOfDuckDB(t *testing.T) {
	engine, db := engineAndDuckDB(t)
	for _, test := range typesOfDuckDB {
		path := filepath.Join(t.TempDir(), "types.parquet")
		_, err := db.Exec(fmt.Sprintf("copy (select %s as v) to '%s' (format parquet)", test.value, path))
		require.NoError(t, err, test.value)
		f, err := engine.Parquet(path).Collect(t.Context())
		require.NoError(t, err, test.value)
		record, err := f.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, f.Release())
		assert.Equal(t, test.want.String(), record.Column(0).DataType().String(), test.value)
		assert.Equal(t, test.text, record.Column(0).ValueStr(0), test.value)
		record.Release()
	}
}

func engineAndDuckDB(t *testing.T) (*gpuframe.Engine, *sql.DB) {
	engine, err := gpuframe.Open(gpuframe.Device(*deviceName))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	return engine, db
}

// DuckDB reads times without a zone, dates of 64 bits, UUIDs and JSON as what they are.
func TestTypesForDuckDB(t *testing.T) {
	engine, db := engineAndDuckDB(t)
	named := func(name string) arrow.Metadata {
		return arrow.MetadataFrom(map[string]string{"ARROW:extension:name": name})
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.FixedWidthTypes.Time32s}, {Name: "ms", Type: arrow.FixedWidthTypes.Time32ms}, {Name: "us", Type: arrow.FixedWidthTypes.Time64us},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Second}}, {Name: "zone", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Oslo"}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date64}, {Name: "uuid", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Metadata: named("arrow.uuid")},
		{Name: "json", Type: arrow.BinaryTypes.String, Metadata: named("arrow.json")},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Time32Builder).Append(45296)
	b.Field(1).(*array.Time32Builder).Append(45296_789)
	b.Field(2).(*array.Time64Builder).Append(45296_789_000)
	b.Field(3).(*array.TimestampBuilder).Append(1580702706)
	b.Field(4).(*array.TimestampBuilder).Append(1580702706)
	b.Field(5).(*array.Date64Builder).Append(18295 * 86_400_000)
	b.Field(6).(*array.FixedSizeBinaryBuilder).Append([]byte("\x12\x34\x56\x78\x12\x34\x56\x78\x9a\xbc\xde\xf0\x12\x34\x56\x78"))
	b.Field(7).(*array.StringBuilder).Append(`{"a": 1}`)
	record := b.NewRecord()
	defer record.Release()
	path := filepath.Join(t.TempDir(), "types.parquet")
	_, err := engine.Records(schema, record).WriteFile(t.Context(), path, gpuframe.Parquet())
	require.NoError(t, err)
	for name, want := range map[string][2]string{
		"s": {"TIME", "12:34:56"}, "ms": {"TIME", "12:34:56.789"}, "us": {"TIME", "12:34:56.789"}, "at": {"TIMESTAMP", "2020-02-03 04:05:06"}, "zone": {"TIMESTAMP WITH TIME ZONE", ""},
		"day": {"DATE", "2020-02-03"}, "uuid": {"UUID", "12345678-1234-5678-9abc-def012345678"}, "json": {"JSON", `{"a": 1}`},
	} {
		var typeName, text string
		require.NoError(t, db.QueryRow(fmt.Sprintf(`select typeof("%[1]s"), "%[1]s"::varchar from '%[2]s'`, name, path)).Scan(&typeName, &text), name)
		require.Equal(t, want[0], typeName, name)
		if want[1] != "" {
			require.Equal(t, want[1], text, name)
		}
	}
	f, err := engine.Parquet(path).Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Release()) }()
	var types []string
	for _, field := range f.Schema().Fields() {
		types = append(types, field.Type.String())
	}
	require.Equal(t, []string{"time32[ms]", "time32[ms]", "time64[us]", "timestamp[ms]", "timestamp[ms, tz=Europe/Oslo]", "date32", "fixed_size_binary[16]", "utf8"}, types)
}
