package iceberg_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	parquetfile "github.com/apache/arrow/go/v17/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

func transformedSchema() *arrow.Schema {
	nullable := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, nullable("n", arrow.PrimitiveTypes.Int32), nullable("big", arrow.PrimitiveTypes.Int64),
		nullable("text", arrow.BinaryTypes.String), nullable("bytes", arrow.BinaryTypes.Binary), nullable("fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}),
		nullable("day", arrow.FixedWidthTypes.Date32), nullable("time", arrow.FixedWidthTypes.Time64us), nullable("at", &arrow.TimestampType{Unit: arrow.Microsecond}),
		nullable("zoned", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}), nullable("price", &arrow.Decimal128Type{Precision: 9, Scale: 2}),
		nullable("flag", arrow.FixedWidthTypes.Boolean),
	}, nil)
}

const transformedRows = `[
	{"id": 1, "n": 34, "big": 34, "text": "iceberg", "bytes": "AAECAw==", "fixed": "YWJj", "day": "2017-11-16", "time": "22:31:08", "at": "2017-11-16 22:31:08", "zoned": "2017-11-16 22:31:08Z", "price": "14.20", "flag": true},
	{"id": 2, "n": -1, "big": -11, "text": "ÄÖÜ€𝄞x", "bytes": "", "fixed": "AAAA", "day": "1969-12-31", "time": "00:00:00.000001", "at": "1969-12-31 23:59:59.999999", "zoned": "1969-01-01 00:00:00Z", "price": "-1.28", "flag": false},
	{"id": 3, "n": null, "big": null, "text": null, "bytes": null, "fixed": null, "day": null, "time": null, "at": null, "zoned": null, "price": null, "flag": null},
	{"id": 4, "n": 2147483647, "big": 9223372036854775807, "text": "", "bytes": "/w==", "fixed": "////", "day": "0001-01-01", "time": "23:59:59.999999", "at": "1970-01-01 00:00:00", "zoned": "2024-02-29 10:00:00Z", "price": "0.00", "flag": true},
	{"id": 5, "n": -20, "big": -20, "text": "at 5/=%", "bytes": "AQIDBA==", "fixed": "AQID", "day": "2024-02-29", "time": "10:00:00", "at": "2100-12-31 23:00:00", "zoned": "1959-12-31 23:00:00Z", "price": "-327.68", "flag": false}]`

// Files of transforms of columns have the values of their rows, and conditions leave out none that has matching rows. iceberg-go
// reads the rows, and makes the same values of partitions.
func TestWrittenTransforms(t *testing.T) {
	engine, folder := openEngine(t), t.TempDir()
	query := queryOf(t, engine, transformedSchema(), transformedRows)
	for name, terms := range map[string][]string{
		"buckets":    {"bucket(4, n)", "bucket(7,text)", "bucket(5, price)", "bucket(3, day)", "bucket(16, bytes)", "bucket(3, fixed)", "bucket(8, time)", "bucket(9, at)", "bucket(9, big)"},
		"truncated":  {"truncate(10, n)", "truncate(7, big)", "truncate(3, text)", "truncate(2, bytes)"},
		"times":      {"year(day)", "month(day)", "day(day)", "year(at)", "month(at)", "day(at)", "hour(at)", "day(zoned)", "hour(zoned)"},
		"identities": {"at", "zoned", "time", "bytes", "fixed", "day", "flag"},
		"void":       {"void(text)", "bucket(2, id)"},
		"only_void":  {"void(price)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, "go", name)
			w, err := iceberg.Create(t.Context(), path, transformedSchema(), iceberg.WriteOptions{PartitionBy: terms})
			require.NoError(t, err)
			_, err = w.Append(t.Context(), query)
			require.NoError(t, err)
			table, err := iceberg.Open(t.Context(), path, iceberg.Options{})
			require.NoError(t, err)
			require.Equal(t, rowsOf(t, query), rowsOf(t, table.Query(engine)))
			for id := range 5 {
				only := query.Filter(gpuframe.Col("id").Eq(id + 1))
				for _, column := range []string{"n", "big", "text", "day", "at", "zoned", "price", "flag"} {
					if id == 2 {
						require.Equal(t, rowsOf(t, only), rowsOf(t, table.Query(engine).Filter(gpuframe.Col(column).IsNull())))
						continue
					}
					keys := only.Select(gpuframe.Col(column))
					require.Equal(t, rowsOf(t, query.Join(keys, gpuframe.Semi, gpuframe.Col(column))), rowsOf(t, table.Query(engine).Join(keys, gpuframe.Semi, gpuframe.Col(column))))
				}
			}
			for _, filter := range []gpuframe.Expression{
				gpuframe.Col("n").Eq(34), gpuframe.Col("n").Lt(0), gpuframe.Col("n").Ge(2147483647), gpuframe.Col("big").Le(-11), gpuframe.Col("big").Eq(int64(9223372036854775807)),
				gpuframe.Col("text").Eq("iceberg"), gpuframe.Col("text").Ge("ÄÖÜ"), gpuframe.Col("text").Eq(""), gpuframe.Col("flag").Eq(false),
			} {
				require.Equal(t, rowsOf(t, query.Filter(filter)), rowsOf(t, table.Query(engine).Filter(filter)))
			}
			_, err = w.Append(t.Context(), query)
			require.NoError(t, err)
			_, err = w.Overwrite(t.Context(), query)
			require.NoError(t, err)
			require.Equal(t, rowsOf(t, query), tableRows(t, engine, path, iceberg.Options{}))
			if program := os.Getenv("GPUFRAME_ICEBERG_GO"); program != "" {
				require.Equal(t, rowsOf(t, query), rowsOfIcebergGo(t, program, folder, name))
				command := exec.CommandContext(t.Context(), program, "partitions", folder, name)
				output, err := command.CombinedOutput()
				require.NoError(t, err, string(output))
				lines := strings.Split(strings.TrimSpace(string(output)), "\n")
				require.GreaterOrEqual(t, len(lines), len(terms))
				for _, line := range lines {
					field, values, _ := strings.Cut(line, ": ")
					written, applied, ok := strings.Cut(values, " | ")
					require.True(t, ok, line)
					require.Equal(t, applied, written, field)
				}
			}
		})
	}
}

// A writer opens tables of transforms that others have made, and leaves out files by them.
func TestTransformsLeaveOutFiles(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "table")
	w, err := iceberg.Create(t.Context(), path, transformedSchema(), iceberg.WriteOptions{PartitionBy: []string{"year(day)", "bucket(16, text)"}})
	require.NoError(t, err)
	_, err = w.Append(t.Context(), queryOf(t, engine, transformedSchema(), transformedRows))
	require.NoError(t, err)
	again, err := iceberg.OpenWriter(t.Context(), path, iceberg.WriteOptions{})
	require.NoError(t, err)
	_, err = again.Append(t.Context(), queryOf(t, engine, transformedSchema(), transformedRows))
	require.NoError(t, err)
	table, err := iceberg.Open(t.Context(), path, iceberg.Options{})
	require.NoError(t, err)
	require.Len(t, table.Files(), 10)
	folders, err := os.ReadDir(filepath.Join(path, "data"))
	require.NoError(t, err)
	var names []string
	for _, each := range folders {
		names = append(names, each.Name())
	}
	require.Equal(t, []string{"day_year=0001", "day_year=1969", "day_year=2017", "day_year=2024", "day_year=__HIVE_DEFAULT_PARTITION__"}, names)
	for _, name := range []string{"day_year=2024", "day_year=1969"} { // queries that opened their files would fail
		require.NoError(t, os.RemoveAll(filepath.Join(path, "data", name)))
	}
	for _, filter := range []gpuframe.Expression{gpuframe.Col("text").Eq("iceberg"), gpuframe.Col("day").IsNull()} {
		require.Len(t, rowsOf(t, table.Query(engine).Filter(filter)), 2)
	}
	_, err = linesOf(t.Context(), table.Query(engine))
	require.Error(t, err)
}

// Terms that are no columns or transforms, and transforms of other types, are refused.
func TestTransformsThatAreRefused(t *testing.T) {
	for _, terms := range [][]string{
		{"bucket(0, id)"}, {"bucket(id)"}, {"bucket(4, absent)"}, {"bucket(4, flag)"}, {"truncate(2, day)"}, {"truncate(2, price)"}, {"year(id)"}, {"hour(day)"}, {"month(text)"}, {"day(time)"},
		{"cube(id)"}, {"year(at"}, {"id", "id"}, {"price"}, {""},
	} {
		_, err := iceberg.Create(t.Context(), filepath.Join(t.TempDir(), "table"), transformedSchema(), iceberg.WriteOptions{PartitionBy: terms})
		require.ErrorIs(t, err, iceberg.ErrColumns, terms)
	}
	odd := arrow.NewSchema([]arrow.Field{{Name: "year(at)", Type: arrow.PrimitiveTypes.Int64}, {Name: "at_year", Type: arrow.PrimitiveTypes.Int64}, {Name: "at", Type: arrow.FixedWidthTypes.Date32}}, nil)
	path := filepath.Join(t.TempDir(), "table")
	w, err := iceberg.Create(t.Context(), path, odd, iceberg.WriteOptions{PartitionBy: []string{"year(at)", "month(at)", "at_year"}})
	require.NoError(t, err)
	engine := openEngine(t)
	query := queryOf(t, engine, odd, `[{"year(at)": 5, "at_year": 6, "at": "2024-02-29"}]`)
	_, err = w.Append(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, rowsOf(t, query), tableRows(t, engine, path, iceberg.Options{}))
}

// uuidSchema has a column of UUIDs by the mark of Arrow, and with a list if it is nested.
func uuidSchema(nested bool) *arrow.Schema {
	mark := arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"}, []string{"arrow.uuid", ""})
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "u", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Nullable: true, Metadata: mark}}
	if nested {
		fields = append(fields, arrow.Field{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// Columns of UUIDs are written with their mark, as values and as keys of partitions.
func TestWrittenUUIDs(t *testing.T) {
	engine, folder := openEngine(t), t.TempDir()
	for name, test := range map[string]struct {
		nested bool
		terms  []string
	}{
		"plain": {}, "with_lists": {nested: true}, "keys": {terms: []string{"u"}}, "hashed": {terms: []string{"bucket(4, u)"}}, "none": {terms: []string{"void(u)"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, "go", name)
			w, err := iceberg.Create(t.Context(), path, uuidSchema(test.nested), iceberg.WriteOptions{PartitionBy: test.terms})
			require.NoError(t, err)
			metadata, err := os.ReadFile(filepath.Join(path, "metadata", "v1.metadata.json"))
			require.NoError(t, err)
			require.Contains(t, string(metadata), `"type":"uuid"`)
			rows := `[{"id": 1, "u": "95w+CWd8S72keT80nLeF5w=="}, {"id": 2, "u": "AAAAAAAAAAAAAAAAAAAAAA=="}, {"id": 3, "u": null}]`
			if test.nested {
				rows = strings.ReplaceAll(rows, "}", `, "tags": ["x"]}`)
			}
			query := queryOf(t, engine, uuidSchema(test.nested), rows)
			for range 2 {
				_, err = w.Append(t.Context(), query)
				require.NoError(t, err)
			}
			want := sorted(rowsOf(t, query), rowsOf(t, query))
			require.Equal(t, want, tableRows(t, engine, path, iceberg.Options{}))
			files, err := filepath.Glob(filepath.Join(path, "data", "*.parquet"))
			require.NoError(t, err)
			if test.terms == nil {
				require.Len(t, files, 2)
			}
			for _, each := range files {
				opened, err := parquetfile.OpenParquetFile(each, false)
				require.NoError(t, err)
				require.Equal(t, "UUID", opened.MetaData().Schema.Column(1).LogicalType().String())
				require.NoError(t, opened.Close())
			}
			if program := os.Getenv("GPUFRAME_ICEBERG_GO"); program != "" {
				require.Len(t, rowsOfIcebergGo(t, program, folder, name), 6)
				output, err := exec.CommandContext(t.Context(), program, "partitions", folder, name).CombinedOutput()
				require.NoError(t, err, string(output))
				for line := range strings.Lines(string(output)) {
					_, values, _ := strings.Cut(strings.TrimSpace(line), ": ")
					written, applied, _ := strings.Cut(values, " | ")
					require.Equal(t, applied, written, line)
				}
			}
		})
	}
}
