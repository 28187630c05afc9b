package selection_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// upload makes a column on the device that is sliced as the array is: the elements
// before the first and after the last are moved too.
func upload(t testing.TB, mgr *memory.Manager, values arrow.Array, ahead, behind int) *column.Column {
	t.Helper()
	columns, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{{values}}, column.UploadOptions{})
	require.NoError(t, err)
	if ahead == 0 && behind == 0 {
		release(t, columns[0])
		return columns[0]
	}
	defer columns[0].Release()
	part, err := columns[0].Slice(ahead, columns[0].Len()-ahead-behind)
	require.NoError(t, err)
	release(t, part)
	return part
}

// eachType calls f for each type on each device, with as many seeds as rounds.
func eachType(t *testing.T, rounds int, f func(t *testing.T, mgr *memory.Manager, of arrow.DataType, seed uint64)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for i, of := range arraytest.AllTypes() {
			t.Run(fmt.Sprint(of), func(t *testing.T) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				for round := range rounds {
					f(t, mgr, of, uint64(100*i+round))
				}
			})
		}
	})
}

// slice makes a random array of n elements, which is a slice of a longer one, and its
// column.
func slice(t testing.TB, mgr *memory.Manager, g *arraytest.Generator, of arrow.DataType, n int) (arrow.Array, *column.Column) {
	t.Helper()
	ahead, behind := g.IntN(10), g.IntN(3)
	values := g.Array(of, ahead+n+behind)
	t.Cleanup(values.Release)
	seen := array.NewSlice(values, int64(ahead), int64(ahead+n))
	t.Cleanup(seen.Release)
	return seen, upload(t, mgr, values, ahead, behind)
}

// requireChosen checks that a result has a's row where the mask is true and b's row
// where it is false.
func requireChosen(t testing.TB, got, mask, a, b arrow.Array, rows int) {
	t.Helper()
	require.Equal(t, rows, got.Len())
	for i := range rows {
		switch {
		case mask.IsNull(i):
			requireRow(t, got, i, a, -1)
		case mask.(*array.Boolean).Value(i):
			requireRow(t, got, i, a, i)
		default:
			requireRow(t, got, i, b, i)
		}
	}
}

// release releases a result when the test ends.
func release(t testing.TB, each interface{ Release() error }) {
	t.Cleanup(func() { require.NoError(t, each.Release()) })
}

// download copies a column to the host and releases both.
func download(t testing.TB, c *column.Column) arrow.Array {
	t.Helper()
	defer func() { require.NoError(t, c.Release()) }()
	values, err := c.Array(t.Context())
	require.NoError(t, err)
	t.Cleanup(values.Release)
	return values
}

// rounds returns how often a test repeats: less often in short tests.
func rounds(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}

// requireRow checks that row i of the result equals row j of the input, or is null if j
// is negative.
func requireRow(t require.TestingT, got arrow.Array, i int, from arrow.Array, j int) {
	null := arraytest.IsNull(got, i)
	if j < 0 || arraytest.IsNull(from, j) {
		if !null {
			require.Failf(t, "a row is not null", "row %d", i)
		}
		return
	}
	if null {
		require.Failf(t, "a row is null", "row %d, it is row %d of the input", i, j)
	}
	if !arraytest.Same(got, i, from, j) {
		one, two := array.NewSlice(got, int64(i), int64(i+1)), array.NewSlice(from, int64(j), int64(j+1))
		defer one.Release()
		defer two.Release()
		require.Failf(t, "rows differ", "row %d is %v, row %d of the input %v", i, one, j, two)
	}
}

// requireRows checks that a result has the rows of the input that the model selects.
func requireRows(t require.TestingT, got, from arrow.Array, rows []int) {
	require.Equal(t, len(rows), got.Len())
	for i, j := range rows {
		requireRow(t, got, i, from, j)
	}
}

// tableOf makes a table of columns. Its count may be on the device.
func tableOf(t testing.TB, mgr *memory.Manager, rows int64, onDevice bool, columns ...*column.Column) *buffer.Buffer {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: c.Type(), Nullable: true}
	}
	count := buffer.Rows{Count: rows}
	if onDevice {
		one, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		defer one.Release()
		require.NoError(t, one.Upload(t.Context(), nil, []int64{rows}))
		count = buffer.Rows{Device: one}
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, count)
	require.NoError(t, err)
	release(t, table)
	return table
}

// requireTable checks the rows of a table's columns, and releases it.
func requireTable(t testing.TB, table *buffer.Buffer, rows []int, columns ...arrow.Array) {
	t.Helper()
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.NoError(t, table.Release())
	require.Equal(t, len(columns), int(record.NumCols()))
	for i, from := range columns {
		requireRows(t, record.Column(i), from, rows)
	}
}
