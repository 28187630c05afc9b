package gpuframe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
)

// A profile shows row groups that dictionaries have excluded: 5 lies between the values of the
// first one.
func TestProfileNamesDictionaries(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
		defer b.Release()
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{0, 10, 0, 5}, nil)
		rows := b.NewRecord()
		defer rows.Release()
		var file bytes.Buffer
		writer, err := pqarrow.NewFileWriter(rows.Schema(), &file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(2)), pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, writer.Write(rows))
		require.NoError(t, writer.Close())
		var p gpuframe.Profile
		f, err := e.ParquetReaderAt("n", bytes.NewReader(file.Bytes()), int64(file.Len())).Filter(gpuframe.Col("n").Eq(5)).Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.EqualValues(t, 1, f.NumRows())
		require.Contains(t, p.String(), "1 of 2 row groups skipped (1 by dictionaries)")
		require.NoError(t, f.Release())
	})
}

// Explain shows what statistics leave out, which it knows from the footers.
func TestExplainShowsSkippedRowGroups(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	folder := t.TempDir()
	write := func(name string, options []parquet.WriterProperty, values ...int64) {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
		defer b.Release()
		b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
		rows := b.NewRecord()
		defer rows.Release()
		to, err := os.Create(filepath.Join(folder, name))
		require.NoError(t, err)
		writer, err := pqarrow.NewFileWriter(rows.Schema(), to, parquet.NewWriterProperties(append(options, parquet.WithMaxRowGroupLength(2))...), pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, writer.Write(rows))
		require.NoError(t, writer.Close())
	}
	write("a.parquet", nil, 0, 10, 3, 7)
	write("b.parquet", nil, 20, 30, 40, 50)
	plain := []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}
	write("plain", plain, 0, 10, 20, 30)
	n := gpuframe.Col("n")
	both, one := e.Parquet(filepath.Join(folder, "*.parquet")), e.Parquet(filepath.Join(folder, "plain"))
	for _, c := range []struct {
		q    gpuframe.Query
		want string
	}{
		{both, "scan parquet DIR/*.parquet (2 files)  [8 rows, 64 B]"},
		{both.Filter(n.Gt(8)), "scan parquet DIR/*.parquet (2 files), may skip rows unless n > 8  [8 rows, 64 B] [at least 1 of 4 row groups and 0 of 2 files left out by statistics]"},
		{both.Filter(n.Lt(5)), "scan parquet DIR/*.parquet (2 files), may skip rows unless n < 5  [8 rows, 64 B] [at least 2 of 4 row groups and 1 of 2 files left out by statistics]"},
		{both.Filter(n.Eq(5)), "scan parquet DIR/*.parquet (2 files), may skip rows unless n == 5  [8 rows, 64 B] [at least 2 of 4 row groups and 1 of 2 files left out by statistics, more perhaps by dictionaries and Bloom filters]"},
		{one.Filter(n.Eq(5)), "scan parquet DIR/plain, may skip rows unless n == 5  [4 rows, 32 B] [at least 1 of 2 row groups left out by statistics]"},
	} {
		text, err := c.q.Explain(t.Context())
		require.NoError(t, err)
		_, run, _ := strings.Cut(strings.ReplaceAll(text, folder, "DIR"), "as run on ")
		var scans []string
		for line := range strings.Lines(run) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "scan ") {
				scans = append(scans, line)
			}
		}
		require.Equal(t, []string{c.want}, scans)
	}
}

// Explain and a profile show what page indices leave out.
func TestPageIndicesAreShown(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
		defer b.Release()
		for i := range int64(200) {
			b.Field(0).(*array.Int64Builder).Append(i)
		}
		rows := b.NewRecord()
		defer rows.Release()
		var file bytes.Buffer
		properties := parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(100), parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(80), parquet.WithBatchSize(10))
		writer, err := pqarrow.NewFileWriter(rows.Schema(), &file, properties, pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, writer.Write(rows))
		require.NoError(t, writer.Close())
		data := pagestest.WithIndex(t, file.Bytes(), nil)
		q := e.ParquetReaderAt("n", bytes.NewReader(data), int64(len(data))).Filter(gpuframe.Col("n").Lt(15))
		text, err := q.Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, text, "[at least 1 of 2 row groups left out by statistics, 80 of 100 other rows by page indices]")
		var p gpuframe.Profile
		f, err := q.Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.EqualValues(t, 15, f.NumRows())
		require.Contains(t, p.String(), "1 of 2 row groups skipped, 8 of 10 pages skipped")
		require.NoError(t, f.Release())
	})
}

// A profile shows the rows that conditions on dictionaries left out, before their values were made.
func TestProfileNamesRowsLeftOutByCodes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
			{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
		defer b.Release()
		for i := range 5000 {
			b.Field(0).(*array.StringBuilder).Append([]string{"Oslo", "Rome", "Lima"}[i/100%3])
			b.Field(1).(*array.Int64Builder).Append(int64(i))
		}
		rows := b.NewRecord()
		defer rows.Release()
		path := filepath.Join(t.TempDir(), "cities.parquet")
		_, err := e.Records(rows.Schema(), rows).WriteFile(t.Context(), path, gpuframe.Parquet())
		require.NoError(t, err)
		var p gpuframe.Profile
		f, err := e.Parquet(path).Filter(gpuframe.Col("city").Contains(gpuframe.Lit("im"))).Select(gpuframe.Col("n")).Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Release()) }()
		record, err := f.Record(t.Context())
		require.NoError(t, err)
		defer record.Release()
		require.EqualValues(t, 1600, record.NumRows())
		require.Equal(t, "[200 201 202]", array.NewSlice(record.Column(0), 0, 3).String())
		require.Contains(t, p.String(), "3,400 of 5,000 rows left out by dictionaries of 3 values")
	})
}
