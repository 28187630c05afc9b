package dictionary_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// repeated makes an array of n elements that are drawn from a few of a type.
func repeated(t testing.TB, g *arraytest.Generator, of arrow.DataType, few, n int) arrow.Array {
	t.Helper()
	pool := g.Array(of, few)
	defer pool.Release()
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(rand.IntN(few))
	}
	indices := array.NewInt32Builder(compute.GetAllocator(t.Context()))
	defer indices.Release()
	indices.AppendValues(at, nil)
	positions := indices.NewArray()
	defer positions.Release()
	values, err := compute.TakeArray(t.Context(), pool, positions)
	require.NoError(t, err)
	t.Cleanup(values.Release)
	return values
}

// upload moves an array to the device whole and slices it there, so that the column
// has an offset.
func upload(t testing.TB, mgr *memory.Manager, in arrow.Array, from, to int) (*column.Column, arrow.Array) {
	t.Helper()
	whole, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
	require.NoError(t, err)
	sliced, err := whole.Slice(from, to-from)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	t.Cleanup(func() { require.NoError(t, sliced.Release()) })
	same := array.NewSlice(in, int64(from), int64(to))
	t.Cleanup(same.Release)
	return sliced, same
}

const null = "(null)"

// texts are the elements as strings that are equal where the values are.
func texts(values arrow.Array) []string {
	found := make([]string, values.Len())
	for i := range found {
		switch text := values.ValueStr(i); {
		case values.IsNull(i):
			found[i] = null
		case text == "-0":
			found[i] = "0"
		default:
			found[i] = text
		}
	}
	return found
}

// model is what is to be found: the distinct values in their order, and how often
// each occurs.
func model(values []string) (order []string, counts map[string]int64) {
	counts = map[string]int64{}
	for _, value := range values {
		if counts[value] == 0 {
			order = append(order, value)
		}
		counts[value]++
	}
	return order, counts
}

// fetch brings a table to the host and releases it.
func fetch(t testing.TB, table *buffer.Buffer) arrow.Record {
	t.Helper()
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	require.NoError(t, table.Release())
	t.Cleanup(record.Release)
	return record
}

// withRows returns a column of which only as many rows count as the device says. The
// elements behind them stay, and must not be seen.
func withRows(t testing.TB, mgr *memory.Manager, c *column.Column, rows int64) *column.Column {
	t.Helper()
	one, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, one.Upload(t.Context(), nil, []int64{rows}))
	count, err := column.NewRowCount(one, int64(c.Len()))
	require.NoError(t, err)
	require.NoError(t, one.Release())
	counted, err := c.WithRows(count)
	require.NoError(t, err)
	count.Release()
	t.Cleanup(func() { require.NoError(t, counted.Release()) })
	return counted
}
