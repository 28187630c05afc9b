package source_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// parquetOf returns records as a Parquet file with row groups of groupRows rows.
func parquetOf(t testing.TB, groupRows int64, records ...arrow.Record) []byte {
	t.Helper()
	var file bytes.Buffer
	writer, err := pqarrow.NewFileWriter(records[0].Schema(), &file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(groupRows)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	table := array.NewTableFromRecords(records[0].Schema(), records)
	defer table.Release()
	require.NoError(t, writer.WriteTable(table, groupRows))
	require.NoError(t, writer.Close())
	return file.Bytes()
}

func write(t testing.TB, data []byte, elements ...string) string {
	t.Helper()
	name := filepath.Join(elements...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, data, 0o644))
	return name
}

func openedParquet(t testing.TB, paths ...string) source.Source {
	t.Helper()
	s, err := source.Files{}.Parquet(paths)
	require.NoError(t, err)
	return s
}

func TestParquet(t *testing.T) {
	folder := t.TempDir()
	one := write(t, parquetOf(t, 7, numbered(0, 40)), folder, "a.parquet")
	write(t, parquetOf(t, 13, numbered(40, 60)), folder, "b.parquet")
	write(t, []byte("not a file of the source"), folder, "_SUCCESS")
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for name, s := range map[string]source.Source{
			"folder": openedParquet(t, folder), "pattern": openedParquet(t, folder+"/*.parquet"),
			"list": openedParquet(t, one, filepath.Join(folder, "b.parquet")),
		} {
			assert.Contains(t, s.String(), "(2 files)")
			rows, exact := s.Rows(t.Context())
			assert.True(t, exact)
			assert.EqualValues(t, 100, rows)
			random := rand.New(rand.NewPCG(3, 4))
			for range 15 {
				request := source.Request{Counters: &source.Counters{}}
				if random.IntN(2) == 0 {
					request.BatchRows = 1 + random.Int64N(60)
				}
				rows := int64(100)
				if random.IntN(2) == 0 {
					request.Limit = 1 + random.Int64N(120)
					rows = min(rows, request.Limit)
				}
				if random.IntN(2) == 0 {
					request.Columns = [][]string{{"n"}, {"text", "n"}}[random.IntN(2)]
				}
				require.Equal(t, count(0, rows), numbers(t, read(t, s, m, request)), "%s %+v", name, request)
				if request.Limit == 0 {
					assert.EqualValues(t, 6+5, request.Counters.RowGroups.Load())
					assert.EqualValues(t, 2, request.Counters.Files.Load())
				}
			}
			low, high, ok := s.Bounds(t.Context(), "n")
			assert.True(t, ok)
			assert.Equal(t, []any{int64(0), int64(99)}, []any{low, high})
			_, _, ok = s.Bounds(t.Context(), "text")
			assert.False(t, ok)
		}
	})
}

func TestParquetContents(t *testing.T) {
	record := numbered(0, 1000)
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	data := parquetOf(t, 300, record)
	s, err := source.ParquetReaderAt("memory", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	assert.Equal(t, "parquet memory", s.String())
	back := read(t, s, m, source.Request{})
	require.Len(t, back, 1, "small row groups make one table")
	assert.True(t, array.RecordEqual(record, back[0]))
	assert.Len(t, read(t, s, m, source.Request{BatchRows: 100}), 10, "row groups are cut")
}

func TestUnusedColumnsAreNotRead(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	s := openedParquet(t, write(t, parquetOf(t, 100, numbered(0, 1000)), t.TempDir(), "a.parquet"))
	var all, one source.Counters
	read(t, s, m, source.Request{Counters: &all})
	read(t, s, m, source.Request{Counters: &one, Columns: []string{"text"}})
	assert.Less(t, one.FileBytes.Load(), all.FileBytes.Load()/2)
	assert.Positive(t, one.FileBytes.Load())
}

func TestRowGroupsAreLeftOut(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	folder := t.TempDir()
	for i := range int64(4) {
		write(t, parquetOf(t, 10, numbered(i*50, 50)), folder, fmt.Sprintf("%d.parquet", i))
	}
	s := openedParquet(t, folder)
	n := expr.Col("n")
	for _, test := range []struct {
		where          []expr.Expr
		groups, files  int64
		first, through int64
	}{
		{[]expr.Expr{n.Ge(expr.Lit(85)), n.Lt(expr.Lit(95))}, 2, 1, 80, 99},
		{[]expr.Expr{n.Eq(expr.Lit(120))}, 1, 1, 120, 129},
		{[]expr.Expr{n.Gt(expr.Lit(1000))}, 0, 0, 0, -1},
		{[]expr.Expr{n.IsNull()}, 0, 0, 0, -1},
		{[]expr.Expr{expr.Col("text").Eq(expr.Lit("~"))}, 0, 0, 0, -1},
		{[]expr.Expr{n.Lt(expr.Lit(45)).Or(n.Lt(expr.Lit(52)))}, 6, 2, 0, 59},
	} {
		var counters source.Counters
		got := numbers(t, read(t, s, m, source.Request{Where: test.where, Counters: &counters}))
		assert.Equal(t, count(test.first, test.through-test.first+1), got, "%v", test.where)
		assert.Equal(t, test.groups, counters.RowGroups.Load())
		assert.Equal(t, 20-test.groups, counters.SkippedRowGroups.Load())
		assert.Equal(t, test.files, counters.Files.Load())
		assert.Equal(t, 4-test.files, counters.SkippedFiles.Load())
	}
}

func TestPartitions(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	folder := t.TempDir()
	for i, name := range []string{"year=2023/city=Oslo", "year=2024/city=New%20York", "year=2024/city=__HIVE_DEFAULT_PARTITION__"} {
		write(t, parquetOf(t, 10, numbered(int64(i)*20, 20)), folder, filepath.FromSlash(name), "a.parquet")
	}
	for name, s := range map[string]source.Source{"folder": openedParquet(t, folder), "pattern": openedParquet(t, folder+"/*/*/*.parquet"), "folders": openedParquet(t, folder+"/year*")} {
		schema, err := s.Schema(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []arrow.Field{
			{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
			{Name: "year", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		}, schema.Fields(), name)
		var counters source.Counters
		records := read(t, s, m, source.Request{Columns: []string{"city", "n", "year"}, Counters: &counters})
		require.Len(t, records, 1)
		require.Equal(t, count(0, 60), numbers(t, records))
		years, cities := records[0].Column(2).(*array.Int64), records[0].Column(0).(*array.String)
		assert.Equal(t, []int64{2023, 2024, 2024}, []int64{years.Value(0), years.Value(20), years.Value(40)})
		assert.Equal(t, []string{"Oslo", "New York"}, []string{cities.Value(19), cities.Value(20)})
		assert.True(t, cities.IsNull(40))
		got := numbers(t, read(t, s, m, source.Request{Where: []expr.Expr{expr.Col("city").Eq(expr.Lit("New York"))}}))
		assert.Equal(t, count(20, 20), got)
		got = numbers(t, read(t, s, m, source.Request{Columns: []string{"n"}, Where: []expr.Expr{expr.Col("year").Gt(expr.Lit(2023)), expr.Col("city").IsNull()}}))
		assert.Equal(t, count(40, 20), got)
		low, high, ok := s.Bounds(t.Context(), "year")
		assert.Equal(t, []any{int64(2023), int64(2024), true}, []any{low, high, ok})
		read(t, s, m, source.Request{Columns: []string{"year"}})
	}
	write(t, parquetOf(t, 10, numbered(0, 1)), folder, "b.parquet")
	_, err := source.Files{}.Parquet([]string{folder})
	require.ErrorIs(t, err, source.ErrContents)
}

func TestFilesThatCannotBeRead(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	folder := t.TempDir()
	other := func() arrow.Record {
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
		builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		builder.Field(0).AppendEmptyValue()
		builder.Field(1).AppendEmptyValue()
		return builder.NewRecord()
	}()
	good := write(t, parquetOf(t, 10, numbered(0, 20)), folder, "good.parquet")
	data := parquetOf(t, 10, numbered(0, 20))
	short := write(t, data[:len(data)-20], folder, "short.parquet")
	text := write(t, []byte("city,price\nOslo,3\n"), folder, "text.parquet")
	types := write(t, parquetOf(t, 10, other), folder, "types.parquet")
	fewer := write(t, parquetOf(t, 10, numbered(0, 20).NewSlice(0, 5)), folder, "fewer.parquet")
	for _, test := range []struct {
		paths     []string
		condition error
		path      string
	}{
		{[]string{filepath.Join(folder, "none.parquet")}, fs.ErrNotExist, filepath.Join(folder, "none.parquet")},
		{[]string{filepath.Join(folder, "*.none")}, fs.ErrNotExist, filepath.Join(folder, "*.none")},
		{[]string{t.TempDir()}, fs.ErrNotExist, ""},
		{nil, source.ErrArgument, ""},
		{[]string{short}, source.ErrContents, short},
		{[]string{good, text}, source.ErrContents, text},
		{[]string{good, types}, buffer.ErrSchema, types},
		{[]string{good, fewer}, nil, ""},
	} {
		s, err := source.Files{}.Parquet(test.paths)
		var reader buffer.Reader
		if err == nil {
			reader, err = s.Open(t.Context(), m, source.Request{})
		}
		if test.condition == nil {
			require.NoError(t, err)
			require.NoError(t, reader.Close())
			continue
		}
		var typed *source.Error
		require.ErrorAs(t, err, &typed, "%v", test.paths)
		require.ErrorIs(t, err, test.condition)
		if test.path != "" {
			assert.Equal(t, test.path, typed.Path, "%v", err)
		}
	}
}

func TestDamagedColumnsNameTheRowGroup(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	data := parquetOf(t, 50, numbered(0, 200))
	copy(data[4:], bytes.Repeat([]byte{0xff}, 60))
	name := write(t, data, t.TempDir(), "a.parquet")
	reader, err := openedParquet(t, name).Open(t.Context(), m, source.Request{BatchRows: 50})
	require.NoError(t, err)
	for err == nil {
		var table *buffer.Buffer
		if table, err = reader.Next(t.Context()); err == nil {
			require.NoError(t, table.Release())
		}
	}
	var typed *source.Error
	require.ErrorAs(t, err, &typed)
	require.ErrorIs(t, err, source.ErrContents)
	assert.Equal(t, name, typed.Path)
	assert.Zero(t, typed.RowGroup)
	_, again := reader.Next(t.Context())
	assert.Equal(t, err.Error(), again.Error(), "the error stays")
	require.NoError(t, reader.Close())
}

func TestChangedFilesAreReadAgain(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	folder := t.TempDir()
	s := openedParquet(t, write(t, parquetOf(t, 10, numbered(0, 20)), folder, "a.parquet"))
	require.Equal(t, count(0, 20), numbers(t, read(t, s, m, source.Request{})))
	write(t, parquetOf(t, 10, numbered(5, 35)), folder, "a.parquet")
	require.Equal(t, count(5, 35), numbers(t, read(t, s, m, source.Request{})))
}

func TestReadersOfFilesEndEarly(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	s := openedParquet(t, write(t, parquetOf(t, 10, numbered(0, 1000)), t.TempDir(), "a.parquet"))
	for read := range 3 {
		reader, err := s.Open(t.Context(), m, source.Request{BatchRows: 10})
		require.NoError(t, err)
		for range read {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			require.NoError(t, table.Release())
		}
		require.NoError(t, reader.Close())
		require.NoError(t, reader.Close())
	}
}

// Files that arrow-go has written from dictionaries have minima without empty texts: the row
// groups with these are read nevertheless.
func TestEmptyTextsOfDictionaries(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	schema := arrow.NewSchema([]arrow.Field{{Name: "city", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}}}, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	for _, text := range []string{"", "Oslo", "Bern"} {
		require.NoError(t, builder.Field(0).(*array.BinaryDictionaryBuilder).AppendString(text))
	}
	record := builder.NewRecord()
	defer record.Release()
	s := openedParquet(t, write(t, parquetOf(t, 10, record), t.TempDir(), "a.parquet"))
	for text, rows := range map[string]int64{"": 3, "A": 0, "Oslo": 3, "P": 0} {
		found := int64(0)
		for _, r := range read(t, s, m, source.Request{Where: []expr.Expr{expr.Col("city").Eq(expr.Lit(text))}}) {
			found += r.NumRows()
		}
		require.Equal(t, rows, found, "rows of the row groups that may have %q", text)
	}
}

// Folders have odd values, and one name twice.
func TestOddPartitions(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	file := parquetOf(t, 10, numbered(0, 1))
	folder := t.TempDir()
	odd := map[string]string{
		"a=": "", "a=b=c": "b=c", "a=%zz": "%zz", "a=9223372036854775808": "9223372036854775808", "a=007": "007", "a= 7": " 7", "a=%2F": "/", "a=-0": "-0", "a=%ff": "%ff",
	}
	for name := range odd {
		write(t, file, folder, name, "x.parquet")
	}
	s := openedParquet(t, folder)
	for name, value := range odd {
		records := read(t, s, m, source.Request{Columns: []string{"a", "n"}, Where: []expr.Expr{expr.Col("a").Eq(expr.Lit(value))}})
		require.Len(t, records, 1, name)
		found := records[0].Column(0).(*array.String)
		require.Equal(t, value, found.Value(found.Len()-1), name) // behind those of the empty text, which may be read, too
		require.LessOrEqual(t, found.Len(), 2, name)
	}
	folder = t.TempDir()
	write(t, file, folder, "a=1", "a=2", "x.parquet")
	_, err := source.Files{}.Parquet([]string{folder})
	var typed *source.Error
	require.ErrorAs(t, err, &typed)
	require.ErrorIs(t, err, source.ErrContents)
}
