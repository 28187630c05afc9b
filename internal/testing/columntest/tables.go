package columntest

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// TableOf makes a table of columns a, b, …, z, aa, bb and so on, and releases it at the end
// of the test. A count that is not negative is on the device.
func TableOf(t testing.TB, mgr *memory.Manager, count int64, columns ...*column.Column) *buffer.Buffer {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		name := strings.Repeat(string(rune('a'+i%26)), 1+i/26)
		fields[i] = arrow.Field{Name: name, Type: c.Type(), Nullable: true}
	}
	rows := buffer.Rows{Count: int64(columns[0].Len()), Manager: mgr}
	if count >= 0 {
		counter, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		defer counter.Release()
		require.NoError(t, counter.Upload(t.Context(), nil, []int64{count}))
		rows = buffer.Rows{Device: counter}
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, rows)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// DrawTable makes a table of random values of the types: a slice of a longer one, or with a
// row count on the device, or neither. It returns the same rows as arrays.
func DrawTable(t testing.TB, mgr *memory.Manager, g *arraytest.Generator, rows int, types ...arrow.DataType) (*buffer.Buffer, []arrow.Array) {
	t.Helper()
	first, spare, counted := 0, 0, int64(-1)
	switch g.IntN(4) {
	case 0:
		first, spare = g.IntN(20), g.IntN(3)*150
	case 1:
		counted, spare = int64(rows), g.IntN(20)
	}
	columns, arrays := make([]*column.Column, len(types)), make([]arrow.Array, len(types))
	for i, dataType := range types {
		g.Nulls = arraytest.Nulls(g.IntN(3))
		g.Sliced = g.IntN(3) == 0
		in := g.Array(dataType, first+rows+spare)
		defer in.Release()
		end := first + rows
		if counted >= 0 {
			end += spare
		}
		columns[i], arrays[i] = UploadRows(t, mgr, in, first, end)
		if counted >= 0 {
			arrays[i] = array.NewSlice(arrays[i], 0, int64(rows))
			t.Cleanup(arrays[i].Release)
		}
	}
	return TableOf(t, mgr, counted, columns...), arrays
}

// RequireRows checks that a table has the rows of the arrays, one list of them for each part,
// and releases it.
func RequireRows(t testing.TB, table *buffer.Buffer, parts ...[]arrow.Array) {
	t.Helper()
	record := Fetch(t, table)
	for c := range int(record.NumCols()) {
		got, at := record.Column(c), 0
		for _, part := range parts {
			for i := range part[c].Len() {
				require.Less(t, at, got.Len(), "rows of column %d", c)
				if !arraytest.Same(got, at, part[c], i) {
					actual, other := array.NewSlice(got, int64(at), int64(at+1)), array.NewSlice(part[c], int64(i), int64(i+1))
					require.Failf(t, "rows differ", "row %d of column %d is %v instead of %v", at, c, actual, other)
				}
				at++
			}
		}
		require.Equal(t, at, got.Len(), "rows of column %d", c)
	}
}
