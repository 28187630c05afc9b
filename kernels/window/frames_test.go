package window_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// framesRecord draws rows with a partition and an order.
func framesRecord(r *rand.Rand, rows int, sorted bool) arrow.Record {
	b := array.NewRecordBuilder(arrowalloc.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "t", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	for i := range rows {
		k, at := r.IntN(4), r.IntN(30)
		if sorted {
			k, at = 4*i/rows, i
		}
		b.Field(0).(*array.Int32Builder).Append(int32(k))
		b.Field(1).(*array.Int64Builder).Append(int64(at))
	}
	return b.NewRecord()
}

// TestFramesOf compares the rows of frames of rows and ranges with a model, of tables that are sorted, too.
func TestFramesOf(t *testing.T) {
	r := property.Random(t)
	windows := window.Windows{PartitionBy: []order.Key{{Column: "k"}}, OrderBy: []order.Key{{Column: "t"}}}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i := range 12 {
			record, low := framesRecord(r, r.IntN(60), i%3 == 0), int64(r.IntN(9)-6)
			high := low + int64(r.IntN(7))
			defer record.Release()
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			function := window.CountAll().Rows(low, high)
			if i%2 == 0 {
				function = window.CountAll().Range(low, high)
			}
			frames, err := window.FramesOf(t.Context(), table, windows, function)
			require.NoError(t, err)
			firsts, counts, listed := frameNumbers(t, frames.First), frameNumbers(t, frames.Count), frameNumbers(t, frames.Rows)
			k, at := record.Column(0).(*array.Int32), record.Column(1).(*array.Int64)
			require.Len(t, listed, int(record.NumRows()))
			place := make([]int, len(listed))
			for p, row := range listed {
				place[row] = p
			}
			for row := range place {
				var want []int
				for p, other := range listed {
					distance := int64(p - place[row])
					if i%2 == 0 {
						distance = at.Value(other) - at.Value(row)
					}
					if k.Value(other) == k.Value(row) && distance >= low && distance <= high {
						want = append(want, other)
					}
				}
				require.Equal(t, len(want), counts[row], "row %d of %v", row, record)
				if len(want) > 0 {
					require.Equal(t, want, listed[firsts[row]:firsts[row]+counts[row]], "row %d of %v", row, record)
				}
			}
			require.NoError(t, frames.Release())
			require.NoError(t, table.Release())
		}
		_, err := window.FramesOf(t.Context(), nil, windows, window.CountAll())
		require.ErrorContains(t, err, "window: frames: buffer: nil buffer")
	})
}

// frameNumbers returns a column of numbers, with zeros for nulls.
func frameNumbers(t *testing.T, c *column.Column) []int {
	t.Helper()
	values, err := c.Array(t.Context())
	require.NoError(t, err)
	defer values.Release()
	numbers := make([]int, values.Len())
	for i := range numbers {
		switch values := values.(type) {
		case *array.Uint32:
			numbers[i] = int(values.Value(i))
		case *array.Int64:
			if values.IsValid(i) {
				numbers[i] = int(values.Value(i))
			}
		}
	}
	return numbers
}
