package gpuframe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
)

// undeclaredNulls returns the record of x: 1, null, 3 and l: [1, null], null, [] with a schema
// that declares no nulls.
func undeclaredNulls(t *testing.T) arrow.Record {
	list := arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "l", Type: list}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 0, 3}, []bool{true, false, true})
	l := b.Field(1).(*array.ListBuilder)
	l.Append(true)
	l.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{1, 0}, []bool{true, false})
	l.AppendNull()
	l.Append(true)
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// TestUndeclaredNulls has nulls in columns with fields that are not nullable, as arrow.Field is
// unless its writer sets Nullable.
func TestUndeclaredNulls(t *testing.T) {
	record := undeclaredNulls(t)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(record.Schema()))
	require.NoError(t, w.Write(record))
	require.NoError(t, w.Close())
	file := filepath.Join(t.TempDir(), "x.arrows")
	require.NoError(t, os.WriteFile(file, stream.Bytes(), 0o600))
	x, l := gpuframe.Col("x"), gpuframe.Col("l")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		table, err := buffer.FromRecord(e.Manager(), record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		require.True(t, table.Schema().Field(0).Nullable)
		unknown := uncounted(t, table, record.Schema())
		defer func() { require.NoError(t, unknown.Release()) }()
		for name, q := range map[string]func() gpuframe.Query{
			"records": func() gpuframe.Query { return e.Records(nil, record) },
			"records, the first without nulls": func() gpuframe.Query {
				return e.Records(nil, record.NewSlice(0, 1), record.NewSlice(1, 3))
			},
			"reader": func() gpuframe.Query {
				reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
				require.NoError(t, err)
				return e.Reader(reader)
			},
			"table":                  func() gpuframe.Query { return e.Table(table) },
			"table of unknown nulls": func() gpuframe.Query { return e.Table(unknown) },
			"file":                   func() gpuframe.Query { return e.IPC(file) },
		} {
			t.Run(name, func(t *testing.T) {
				require.Equal(t, []string{"(null)"}, collect(t, q().Filter(x.IsNull()).Select(x)))
				require.Equal(t, []string{"1", "3"}, collect(t, q().Select(x).DropNulls()))
				require.Equal(t, []string{"1", "-1", "3"}, collect(t, q().FillNull(-1, "x").Select(x)))
				require.Equal(t, []string{"1", "7", "3"}, collect(t, q().Select(gpuframe.Coalesce(x, 7))))
				require.Equal(t, []string{"2 1 4"}, collect(t, q().Select(x.Count().As("c"), x.NullCount().As("n"), x.Sum())))
				require.Equal(t, []string{"1", "5", "5", "5"}, collect(t, q().Explode("l").Select(l.FillNull(5))))
				require.Equal(t, []string{"1", "5"}, collect(t, q().Explode("l").Filter(l.FillNull(5).Ge(0).And(x.IsValid()).And(x.Eq(1))).Select(l.FillNull(5))))
				f, err := q().Select(x).Collect(t.Context())
				require.NoError(t, err)
				require.True(t, f.Schema().Field(0).Nullable)
				require.NoError(t, f.Release())
			})
		}
	})
}

// uncounted returns a table of the same columns without the numbers of their nulls, as imports
// have it, with a schema that declares no nulls.
func uncounted(t *testing.T, table *buffer.Buffer, schema *arrow.Schema) *buffer.Buffer {
	columns := make([]*column.Column, table.NumColumns())
	for i := range columns {
		data := table.Column(i).Data()
		data.NullCount = column.UnknownNullCount
		c, err := column.New(data)
		require.NoError(t, err)
		columns[i] = c
	}
	made, err := buffer.New(schema, columns, table.Rows())
	require.NoError(t, err)
	for _, c := range columns {
		require.NoError(t, c.Release())
	}
	return made
}

// A member that an object does not have is null, also if the schema declares no nulls.
func TestUndeclaredNullsOfJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"x":1}`+"\n"+`{}`+"\n"), 0o600))
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		require.Equal(t, []string{"1", "0"}, collect(t, e.JSONLinesWith(schema, path).FillNull(0, "x")))
	})
}
