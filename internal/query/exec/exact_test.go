package exec_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/exec"
)

// TestExact copies parts of tables, but not tables with separate memory.
func TestExact(t *testing.T) {
	settings := settingsOn(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 5000 {
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		b.Field(1).(*array.StringBuilder).Append("some text")
		b.Field(2).(*array.BooleanBuilder).Append(i%3 == 0)
	}
	record := b.NewRecord()
	defer record.Release()
	whole, err := buffer.FromRecord(settings.Manager, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, whole.Release()) }()
	check := func(table *buffer.Buffer, copied bool) {
		t.Helper()
		require.NoError(t, table.Retain())
		before := settings.Manager.Stats().InUse
		exact, err := exec.Exact(t.Context(), table, settings)
		require.NoError(t, err)
		require.Equal(t, copied, exact != table)
		require.Equal(t, copied, settings.Manager.Stats().InUse > before)
		rows, known := exact.HostRows()
		require.True(t, known)
		want, _ := table.HostRows()
		require.Equal(t, want, rows)
		require.NoError(t, exact.Release())
	}
	check(whole, false)
	for _, part := range [][2]int64{{0, 10}, {4000, 1000}, {0, 4000}} {
		slice, err := whole.Slice(part[0], part[1])
		require.NoError(t, err)
		check(slice, true)
		for name := range 3 {
			one, err := slice.Select(schema.Field(name).Name)
			require.NoError(t, err)
			check(one, true)
			require.NoError(t, one.Release())
		}
		require.NoError(t, slice.Release())
	}
	other := settingsOn(t)
	require.NoError(t, whole.Retain())
	copied, err := exec.Exact(t.Context(), whole, other)
	require.NoError(t, err)
	require.NotSame(t, whole, copied, "a table of another manager")
	require.NoError(t, copied.Release())
}
