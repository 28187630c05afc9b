package iceberg_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// everyType are columns of all types that tables of format version 2 have.
func everyType() *arrow.Schema {
	nullable := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	person := arrow.StructOf(nullable("name", arrow.BinaryTypes.String), nullable("age", arrow.PrimitiveTypes.Int32))
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		nullable("flag", arrow.FixedWidthTypes.Boolean), nullable("n", arrow.PrimitiveTypes.Int32), nullable("f", arrow.PrimitiveTypes.Float32),
		nullable("d", arrow.PrimitiveTypes.Float64), nullable("day", arrow.FixedWidthTypes.Date32), nullable("time", arrow.FixedWidthTypes.Time64us),
		nullable("at", &arrow.TimestampType{Unit: arrow.Microsecond}), nullable("zoned", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}),
		nullable("text", arrow.BinaryTypes.String), nullable("bytes", arrow.BinaryTypes.Binary), nullable("fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}),
		nullable("small", &arrow.Decimal128Type{Precision: 7, Scale: 2}), nullable("wide", &arrow.Decimal128Type{Precision: 30, Scale: 4}),
		nullable("person", person), nullable("tags", arrow.ListOf(arrow.BinaryTypes.String)), nullable("notes", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)),
	}, nil)
}

const everyRow = `[
	{"id": 1, "flag": true, "n": -7, "f": 1.5, "d": -2.25, "day": "2024-02-29", "time": "10:00:00.000001", "at": "1969-12-31 23:59:59.999999", "zoned": "2024-02-29 10:00:00Z",
		"text": "a text of more than sixteen characters", "bytes": "AQID", "fixed": "YWJj", "small": "-1.25", "wide": "12345678901234567890.1234",
		"person": {"name": "Ann", "age": 30}, "tags": ["x", null], "notes": [{"key": "k", "value": 1}]},
	{"id": 2, "flag": null, "n": null, "f": null, "d": null, "day": null, "time": null, "at": null, "zoned": null, "text": null, "bytes": null, "fixed": null, "small": null, "wide": null,
		"person": null, "tags": null, "notes": null},
	{"id": 3, "flag": false, "n": 2147483647, "f": -0.5, "d": 1e300, "day": "1969-12-31", "time": "00:00:00", "at": "2100-01-01 00:00:00", "zoned": "1960-01-01 00:00:00Z",
		"text": "", "bytes": "", "fixed": "AAAA", "small": "99999.99", "wide": "-0.0001", "person": {"name": null, "age": null}, "tags": [], "notes": []}]`

const moreRows = `[{"id": 4, "flag": true, "n": 5, "f": 0, "d": 0, "day": "2025-01-01", "time": "01:02:03", "at": "2025-01-01 00:00:00", "zoned": "2025-01-01 00:00:00Z",
	"text": "ÿ", "bytes": "/w==", "fixed": "////", "small": "0.00", "wide": "0.0000", "person": {"name": "Bo", "age": 1}, "tags": ["y"], "notes": [{"key": "m", "value": null}]}]`

func queryOf(t testing.TB, engine *gpuframe.Engine, schema *arrow.Schema, rows string) gpuframe.Query {
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(t, err)
	return engine.Records(schema, record)
}

func createTable(t testing.TB, path string, schema *arrow.Schema) *iceberg.Writer {
	w, err := iceberg.Create(t.Context(), path, schema, iceberg.WriteOptions{})
	require.NoError(t, err)
	return w
}

// tableRows returns the rows of the table in a folder.
func tableRows(t testing.TB, engine *gpuframe.Engine, path string, options iceberg.Options) []string {
	table, err := iceberg.Open(t.Context(), path, options)
	require.NoError(t, err)
	return rowsOf(t, table.Query(engine))
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return all
}

// Tables have the rows that were appended and overwritten, of all types, and old snapshots have theirs.
func TestWrite(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "sales")
	w := createTable(t, path, everyType())
	require.Empty(t, tableRows(t, engine, path, iceberg.Options{}))
	first, second := queryOf(t, engine, everyType(), everyRow), queryOf(t, engine, everyType(), moreRows)
	s1, err := w.Append(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, rowsOf(t, first), tableRows(t, engine, path, iceberg.Options{}))
	reopened, err := iceberg.OpenWriter(t.Context(), path, iceberg.WriteOptions{})
	require.NoError(t, err)
	s2, err := reopened.Append(t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, sorted(rowsOf(t, first), rowsOf(t, second)), tableRows(t, engine, path, iceberg.Options{}))
	s3, err := w.Overwrite(t.Context(), second)
	require.NoError(t, err)
	s4, err := w.Append(t.Context(), first.Filter(gpuframe.Col("id").Gt(100)))
	require.NoError(t, err, "no rows")
	require.Equal(t, rowsOf(t, second), tableRows(t, engine, path, iceberg.Options{}))
	require.Equal(t, rowsOf(t, first), tableRows(t, engine, path, iceberg.Options{Snapshot: &s1.ID}))
	table, err := iceberg.Open(t.Context(), path, iceberg.Options{})
	require.NoError(t, err)
	require.Equal(t, []iceberg.Snapshot{s1, s2, s3, s4}, table.Snapshots())
	require.Equal(t, []iceberg.Ref{{Name: "main", Snapshot: s4.ID, Branch: true}}, table.Refs())
	require.Equal(t, "overwrite", s3.Operation)
	require.Equal(t, s2.ID, *s3.Parent)
	for name, want := range map[string]string{"added-records": "1", "deleted-records": "4", "deleted-data-files": "2", "total-records": "1", "total-data-files": "1"} {
		require.Equal(t, want, s3.Summary[name], name)
	}
	require.Equal(t, "4", s2.Summary["total-records"])
	hint, err := os.ReadFile(filepath.Join(path, "metadata/version-hint.text"))
	require.NoError(t, err)
	require.Equal(t, "5", string(hint))
}

// Columns of another order, and dictionaries of text, are those of the table. Others are refused, and leave no file.
func TestWrittenColumns(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "t")
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	w := createTable(t, path, schema)
	query := queryOf(t, engine, schema, `[{"id": 1, "s": "a"}, {"id": 2, "s": null}]`)
	_, err := w.Append(t.Context(), query.Select(gpuframe.Col("s"), gpuframe.Col("id")))
	require.NoError(t, err)
	before := filesIn(t, path)
	id := gpuframe.Col("id")
	for text, q := range map[string]gpuframe.Query{
		`0 columns "s"`:                          query.Select(id),
		`a column "more", which the table lacks`: query.With(id.As("more")),
		`column "s" of the query is`:             query.Select(id, id.As("s")),
		`column "id" has 1 nulls, but`:           queryOf(t, engine, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, schema.Field(1)}, nil), `[{"id": null, "s": "a"}]`),
	} {
		_, err := w.Append(t.Context(), q)
		require.ErrorIs(t, err, iceberg.ErrColumns)
		require.ErrorContains(t, err, text)
		var failed *iceberg.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "append", failed.Operation)
		require.Equal(t, before, filesIn(t, path))
	}
	for _, bad := range []arrow.DataType{arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Timestamp_ns, arrow.ListOf(arrow.PrimitiveTypes.Int8)} {
		_, err := iceberg.Create(t.Context(), path+"2", arrow.NewSchema([]arrow.Field{{Name: "c", Type: bad}}, nil), iceberg.WriteOptions{})
		require.ErrorIs(t, err, iceberg.ErrColumns)
		require.NoDirExists(t, path+"2")
	}
	_, err = iceberg.Create(t.Context(), path, schema, iceberg.WriteOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = iceberg.OpenWriter(t.Context(), path+"2", iceberg.WriteOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// filesIn returns the files below a folder.
func filesIn(t testing.TB, folder string) (files []string) {
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// Bounds and counts leave out files, and filters give the same rows as on the rows that were written.
func TestWrittenBounds(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "t")
	schema := everyType()
	w := createTable(t, path, schema)
	var all []gpuframe.Query
	for i := range 6 {
		rows := strings.ReplaceAll(everyRow, `"id": `, fmt.Sprintf(`"id": %d`, i+1))
		query := queryOf(t, engine, schema, rows)
		if i%2 == 1 {
			query = query.Filter(gpuframe.Col("n").IsNull())
		}
		all = append(all, query)
		_, err := w.Append(t.Context(), query)
		require.NoError(t, err)
	}
	union := all[0].Union(all[1:]...)
	table, err := iceberg.Open(t.Context(), path, iceberg.Options{})
	require.NoError(t, err)
	require.Len(t, table.Files(), 6)
	for _, filter := range []gpuframe.Expression{
		gpuframe.Col("id").Gt(50), gpuframe.Col("id").Eq(32), gpuframe.Col("n").Lt(0), gpuframe.Col("n").IsNull(), gpuframe.Col("n").IsNull().Not(), gpuframe.Col("d").Gt(1e299), gpuframe.Col("f").Lt(-0.25),
		gpuframe.Col("text").Eq("a text of more than sixteen characters"), gpuframe.Col("text").Gt("a text of more than t"), gpuframe.Col("text").Gt("b"), gpuframe.Col("text").Eq(""), gpuframe.Col("flag").Eq(true),
	} {
		require.Equal(t, rowsOf(t, union.Filter(filter)), rowsOf(t, table.Query(engine).Filter(filter)))
	}
	plan, err := table.Query(engine).Filter(gpuframe.Col("id").Gt(60)).Explain(t.Context())
	require.NoError(t, err)
	require.Contains(t, plan, "5 of 6 files left out")
}

// The metadata keep members that this package does not know.
func TestWrittenMetadataKeepOthers(t *testing.T) {
	engine, path := openEngine(t), filepath.Join(t.TempDir(), "t")
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	w := createTable(t, path, schema)
	file := filepath.Join(path, "metadata/v1.metadata.json")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(data, &members))
	members["statistics"], members["properties"] = []any{map[string]any{"a": 1.0}}, map[string]any{"owner": "me"}
	members["refs"] = map[string]any{"main": map[string]any{"snapshot-id": -1, "type": "branch", "max-ref-age-ms": 1000000000000001}}
	data, err = json.Marshal(members)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o666))
	s, err := w.Append(t.Context(), queryOf(t, engine, schema, `[{"id": 1}]`))
	require.NoError(t, err)
	data, err = os.ReadFile(filepath.Join(path, "metadata/v2.metadata.json"))
	require.NoError(t, err)
	var after map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &after))
	require.JSONEq(t, `[{"a": 1}]`, string(after["statistics"]))
	require.JSONEq(t, `{"owner": "me"}`, string(after["properties"]))
	require.JSONEq(t, fmt.Sprintf(`{"main": {"snapshot-id": %d, "type": "branch", "max-ref-age-ms": 1000000000000001}}`, s.ID), string(after["refs"]))
	require.JSONEq(t, "1", string(after["last-sequence-number"]))
	require.JSONEq(t, fmt.Sprintf(`[{"timestamp-ms": %v, "metadata-file": %q}]`, int64(members["last-updated-ms"].(float64)), file), string(after["metadata-log"]))
}

// Metadata with null in place of branches get the branch main.
func TestWritesWithoutBranches(t *testing.T) {
	engine := openEngine(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for _, refs := range []any{nil, map[string]any{}} {
		path := filepath.Join(t.TempDir(), "t")
		w := createTable(t, path, schema)
		file := filepath.Join(path, "metadata/v1.metadata.json")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var members map[string]any
		require.NoError(t, json.Unmarshal(data, &members))
		members["refs"] = refs
		data, err = json.Marshal(members)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, data, 0o666))
		s, err := w.Append(t.Context(), queryOf(t, engine, schema, `[{"id": 1}]`))
		require.NoError(t, err)
		data, err = os.ReadFile(filepath.Join(path, "metadata/v2.metadata.json"))
		require.NoError(t, err)
		var after struct{ Refs json.RawMessage }
		require.NoError(t, json.Unmarshal(data, &after))
		require.JSONEq(t, fmt.Sprintf(`{"main": {"type": "branch", "snapshot-id": %d}}`, s.ID), string(after.Refs))
	}
}
