package duckdb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// folderTexts are texts that folders cannot have as they are.
var folderTexts = []string{"plain", "a/b", "..", "x=y", "50% off", "%41", "São Paulo", "_hidden", "a b", "*?[", "", "tab\tline\n", "日本", "'quoted'"}

// drawFolder draws a table with columns to partition by.
func drawFolder(r *rapid.T) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "number", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil))
	defer b.Release()
	for i := range rapid.IntRange(1, 200).Draw(r, "rows") {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Int32Builder).AppendValues([]int32{rapid.Int32Range(-2, 2).Draw(r, "number")}, []bool{rapid.IntRange(0, 4).Draw(r, "null") > 0})
		b.Field(2).(*array.StringBuilder).AppendValues([]string{rapid.SampledFrom(folderTexts).Draw(r, "city")}, []bool{rapid.IntRange(0, 4).Draw(r, "null") > 0})
		b.Field(3).(*array.Date32Builder).AppendValues([]arrow.Date32{arrow.Date32(rapid.IntRange(19000, 19003).Draw(r, "day"))}, []bool{rapid.IntRange(0, 4).Draw(r, "null") > 0})
		b.Field(4).(*array.StringBuilder).AppendValues([]string{rapid.SampledFrom([]string{"x", "y z"}).Draw(r, "note")}, []bool{rapid.Bool().Draw(r, "null")})
	}
	return b.NewRecord()
}

// DuckDB reads the partitions that were written, and gpuframe those of DuckDB.
func TestFolders(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device(*deviceName))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	property.Check(t, func(r *rapid.T) {
		record := drawFolder(r)
		want := make([]string, record.NumRows())
		for row := range want {
			for i := range int(record.NumCols()) {
				want[row] += textOf(record.Column(i), row) + "|"
			}
		}
		slices.Sort(want)
		keys := rapid.SampledFrom([][]string{{"number"}, {"city"}, {"day", "city"}, {"number", "city", "day"}}).Draw(r, "keys")
		folder := filepath.Join(t.TempDir(), "mine")
		_, err := engine.Records(record.Schema(), record).WriteFiles(t.Context(), folder, gpuframe.Parquet(), gpuframe.FolderOptions{
			PartitionBy: keys, FileRows: rapid.SampledFrom([]int64{0, 3}).Draw(r, "rows of a file"), MostOpen: rapid.SampledFrom([]int{0, 2}).Draw(r, "open files"),
		})
		require.NoError(r, err)
		require.Equal(r, want, duckRows(r, db, folder))
		theirs := filepath.Join(t.TempDir(), "theirs")
		_, err = db.Exec(fmt.Sprintf(`copy (select * from %s) to '%s' (format parquet, partition_by ("%s"))`, scanOf(folder), theirs, strings.Join(keys, `", "`)))
		require.NoError(r, err)
		require.Equal(r, want, gpuRows(r, engine, theirs))
	})
}

func textOf(values arrow.Array, row int) string {
	if values.IsNull(row) {
		return "∅"
	}
	return values.ValueStr(row)
}

// scanOf is a folder as a table of DuckDB, with all keys as texts. DuckDB reads the name of nulls as a text.
func scanOf(folder string) string {
	return `(select id, nullif(number::varchar, '__HIVE_DEFAULT_PARTITION__') as number, nullif(city, '__HIVE_DEFAULT_PARTITION__') as city,
		nullif("day"::varchar, '__HIVE_DEFAULT_PARTITION__') as "day", note
		from read_parquet('` + folder + `/**/*.parquet', hive_partitioning = true, hive_types_autocast = false))`
}

func duckRows(r *rapid.T, db *sql.DB, folder string) (list []string) {
	rows, err := db.Query("from " + scanOf(folder))
	require.NoError(r, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		var texts [4]sql.NullString
		require.NoError(r, rows.Scan(&id, &texts[0], &texts[1], &texts[2], &texts[3]))
		line := fmt.Sprint(id, "|")
		for _, each := range texts {
			if each.Valid {
				line += each.String + "|"
			} else {
				line += "∅|"
			}
		}
		list = append(list, line)
	}
	require.NoError(r, rows.Err())
	slices.Sort(list)
	return list
}

func gpuRows(r *rapid.T, engine *gpuframe.Engine, folder string) (list []string) {
	q := engine.Parquet(folder).Select(gpuframe.Col("id"), gpuframe.Col("number"), gpuframe.Col("city"), gpuframe.Col("day"), gpuframe.Col("note"))
	frame, err := q.Collect(r.Context())
	require.NoError(r, err)
	defer func() { require.NoError(r, frame.Release()) }()
	record, err := frame.Record(r.Context())
	require.NoError(r, err)
	defer record.Release()
	list = make([]string, record.NumRows())
	for row := range list {
		for i := range int(record.NumCols()) {
			text := textOf(record.Column(i), row)
			if text == "NULL" { // DuckDB calls folders of nulls so
				text = "∅"
			}
			list[row] += text + "|"
		}
	}
	slices.Sort(list)
	return list
}
